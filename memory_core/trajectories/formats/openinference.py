"""OpenInference, as Phoenix exports it: spans with flattened attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.formats.opentelemetry import (
    attributes_of,
    failure_of_span,
    parent_id,
    span_id,
    start_of,
    traces_in,
)
from memory_core.trajectories.messages import is_message, messages_in
from memory_core.trajectories.shapes import (
    first_string,
    items,
    json_text,
    mapping,
    parsed,
    string,
    text_of,
)
from memory_core.trajectories.source import Source, found_in
from memory_core.trajectories.spans import Span, SpanKind, nested, ordered, read_spans

_KINDS: dict[str, SpanKind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}


def _flat(span: dict[str, Any]) -> dict[str, Any]:
    """All attributes under their long names, whether they lie in an object or in columns."""
    inner = attributes_of(span)
    columns = {
        name.removeprefix("attributes."): value
        for name, value in span.items()
        if name.startswith("attributes.") and value is not None
    }
    return {**inner, **columns}


def _kind(span: dict[str, Any]) -> str:
    flat = _flat(span)
    tree = mapping(mapping(flat.get("openinference")).get("span"))
    named = flat.get("openinference.span.kind") or tree.get("kind") or span.get("span_kind")
    return string(named).upper()


def _is_span(value: dict[str, Any]) -> bool:
    return bool(span_id(value) and _kind(value))


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_span, 8))


def read(source: Source) -> Iterator[Trajectory]:
    for name, found in traces_in(source, _is_span).items():
        spans = ordered(_span(one) for one in found)
        known = {span.id for span in spans}
        roots = [one for one in found if parent_id(one) not in known]
        run = Run(source.pictures, name=name, outcome=_outcome(roots))
        run.agent = next((s.name for s in spans if s.kind == "agent"), "")
        if not any(span.kind in ("model", "tool") for span in spans) and roots:
            tree = nested(_flat(roots[0]))
            run.say("user", _value(tree, "input"))
            run.say("assistant", _value(tree, "output"))
        yield read_spans(spans, run)


def _outcome(roots: list[dict[str, Any]]) -> Outcome:
    told = next((text for one in roots if (text := failure_of_span(one))), "")
    return Outcome(False, None, told) if told else Outcome()


def _value(tree: dict[str, Any], end: str) -> str:
    return text_of(mapping(tree.get(end)).get("value"), Run().pictures)


def _span(one: dict[str, Any]) -> Span:
    tree = nested(_flat(one))
    span = Span(span_id(one), parent_id(one), _KINDS.get(_kind(one), "other"),
                string(one.get("name")), start_of(one), error=failure_of_span(one))  # fmt: skip
    if span.kind == "model":
        talk = mapping(tree.get("llm"))
        span.model = first_string(talk, "model_name")
        span.asked = _messages(talk.get("input_messages")) or _plain(tree, "input", "user")
        span.answered = _messages(talk.get("output_messages")) or _plain(
            tree, "output", "assistant"
        )
    elif span.kind == "tool":
        tool = mapping(tree.get("tool"))
        span.name = string(tool.get("name")) or span.name
        given = _value(tree, "input") or tool.get("parameters") or ""
        span.arguments = json_text(given)
        span.result = _value(tree, "output")
        span.call_id = first_string(mapping(mapping(tree.get("tool_call"))), "id")
    return span


def _messages(value: Any) -> list[Any]:
    """`message.` stands before each field, and `message_content.` before those of its parts."""
    found = []
    for one in items(parsed(value)):
        message = dict(mapping(mapping(one).get("message"))) or dict(mapping(one))
        parts = [mapping(mapping(part).get("message_content")) or mapping(part)
                 for part in items(message.pop("contents", None))]  # fmt: skip
        if parts and not message.get("content"):
            message["content"] = parts
        found.append({"content": "", **message})
    return [message for message in found if is_message(message)]


def _plain(tree: dict[str, Any], end: str, role: str) -> list[Any]:
    text = _value(tree, end)
    said = messages_in(parsed(text))
    return said or ([{"role": role, "content": text}] if text else [])


FORMAT = Format("OpenInference", matches, read)
