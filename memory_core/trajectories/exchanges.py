"""Logs of requests and replies: each request repeats the talk so far, the last reply ends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory_core.trajectories.messages import is_message
from memory_core.trajectories.shapes import items, mapping, objects, parsed, string


@dataclass
class Exchange:
    """One talk, as its last request and reply show it."""

    messages: list[Any] = field(default_factory=list)
    reply: list[Any] = field(default_factory=list)
    model: str = ""
    system: Any = None


def is_exchange(value: Any) -> bool:
    record = mapping(value)
    return bool(asked_in(record)) and any(
        name in record for name in ("response", "reply", "output", "request")
    )


def asked_in(record: dict[str, Any]) -> list[Any]:
    """The messages of a request."""
    return _said(_body(record.get("request", record)))


def _said(body: dict[str, Any]) -> list[Any]:
    for name in ("messages", "input", "contents"):
        said = body.get(name)
        if isinstance(said, str):
            return [{"role": "user", "content": said}]
        if any(is_message(message) for message in items(said)[:10]):
            return items(said)
    return []


def _body(value: Any) -> dict[str, Any]:
    """Request or reply without what HTTP puts around it."""
    outer = mapping(parsed(value))
    for name in ("body", "json", "json_body", "data", "content"):
        inner = parsed(outer.get(name))
        if isinstance(inner, dict):
            return inner
    return outer


def answer_of(record: dict[str, Any]) -> list[Any]:
    """The messages of the reply to a request, under any of its names."""
    return reply_in(record.get("response", record.get("reply", record.get("output"))))


def reply_in(body: Any) -> list[Any]:
    """The messages of a reply of OpenAI's, Anthropic's or Gemini's."""
    reply = _body(body)
    choices = [mapping(choice.get("message")) for choice in objects(reply.get("choices"))]
    if any(choices):
        return choices[:1]
    if string(reply.get("object")) == "response" or isinstance(reply.get("output"), list):
        return items(reply.get("output"))
    candidates = objects(reply.get("candidates"))
    if candidates:
        return [{"role": "model", **mapping(candidates[0].get("content"))}]
    return [reply] if is_message(reply) and reply.get("role") in ("assistant", "model") else []


def exchanges(records: Iterator[Any]) -> Iterator[Exchange]:
    """The talks in a log. A request that does not go on from the last one begins a new talk."""
    talk = Exchange()
    for record in records:
        if not is_exchange(record):
            continue
        asked = asked_in(record)
        body = _body(record.get("request", record))
        reply = record.get("response", record.get("reply", record.get("output")))
        goes_on = len(asked) >= len(talk.messages) and asked[: len(talk.messages)] == talk.messages
        if talk.messages and not goes_on:
            yield talk
            talk = Exchange()
        model = string(body.get("model")) or string(_body(reply).get("model"))
        system = body.get("system", body.get("instructions"))
        talk = Exchange(asked, reply_in(reply), model or talk.model, system)
    if talk.messages:
        yield talk
