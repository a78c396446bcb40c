"""A model's reply, read: its entries, and what could not be read of it.

Structured output comes as the arguments of a tool call or as JSON text; but models also wrap it in
a fence, add words around it, stop in the middle, or answer in labelled text. All that is complete
is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_core.reflection.labelled import labelled_entries, says_nothing

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

LONGEST_REPLY = 400_000
"""Characters of a reply that are read."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_LISTS = ("lessons", "operations", "memories", "experiences")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    raw: str
    """As it was said, without thoughts."""
    values: tuple[object, ...] = ()
    """Its entries as plain values, in order."""
    cut: bool = False
    """Whether it ended at the token limit."""
    problem: str = ""
    """Why no entry could be read, where none could and the reply does not say *nothing*."""


def read_response(response: ModelResponse) -> Reply:
    """The reply in a model's response."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    text = "\n".join(
        [
            part.args if isinstance(part.args, str) else json.dumps(part.args)
            for part in calls
            if part.args
        ]
        or texts
    )
    return read_reply(text, cut=response.finish_reason == "length")


def read_reply(text: str, *, cut: bool = False) -> Reply:
    """The reply in a text. `cut`: the model stopped at its token limit."""
    raw = _THOUGHTS.sub("", text)[:LONGEST_REPLY].strip()
    cut = cut or len(text) > LONGEST_REPLY
    if not raw:
        why = "It used up its tokens before it said anything." if cut else "The reply is empty."
        return Reply(raw, cut=cut, problem=why)
    values = _json_entries(raw)
    labelled = labelled_entries(raw) if values is None else None
    if values is not None or labelled is not None:
        return Reply(raw, tuple(values or labelled or ()), cut=cut)
    if says_nothing(raw):
        return Reply(raw, cut=cut)
    why = "The reply is neither in the form that was asked for nor in labelled text."
    return Reply(raw, cut=cut, problem=why)


def _json_entries(raw: str) -> list[object] | None:
    """The entries of a JSON reply, of a broken one those that are whole; None for prose."""
    whole = _decoded(raw, raw.find("{"), raw.find("["))
    if whole is not None:
        return _entries_in(whole)
    name = next((at for name in _LISTS if (at := raw.find(f'"{name}"')) >= 0), -1)
    start = raw.find("[", max(name, 0))
    if start < 0:
        return None
    found = _whole_items(raw, start + 1)
    return found if found or name >= 0 else None


def _decoded(raw: str, *places: int) -> Any:
    """The first JSON object or list that begins at one of the places; None without one."""
    decoder = json.JSONDecoder(strict=False)
    for at in sorted(place for place in places if place >= 0):
        try:
            value, _ = decoder.raw_decode(raw, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or any(isinstance(item, dict) for item in value) or value == []:
            return value
    return None


def _entries_in(value: Any) -> list[object] | None:
    if isinstance(value, list):
        return value
    for name in _LISTS:
        inner = value.get(name)
        if isinstance(inner, list):
            return inner
        if isinstance(inner, Mapping):
            return [inner]
        if isinstance(inner, str):  # JSON text in JSON: some models quote it twice
            return _json_entries(inner)
    return [value] if {"text", "lesson", "content", "action"} & set(value) else None


def _whole_items(raw: str, at: int) -> list[object]:
    """The items of a list that breaks off, as far as they are whole."""
    decoder = json.JSONDecoder(strict=False)
    items: list[object] = []
    while True:
        at = raw.find("{", at)
        if at < 0:
            return items
        try:
            item, at = decoder.raw_decode(raw, at)
        except (ValueError, RecursionError):
            return items
        items.append(item)
