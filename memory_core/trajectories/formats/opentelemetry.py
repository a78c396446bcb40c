"""OpenTelemetry's GenAI conventions: spans whose attributes begin with `gen_ai.`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import is_message, messages_in
from memory_core.trajectories.shapes import (
    first_string,
    items,
    json_text,
    mapping,
    objects,
    parsed,
    string,
)
from memory_core.trajectories.source import Source, found_in
from memory_core.trajectories.spans import Span, SpanKind, nested, ordered, read_spans

_KINDS: dict[str, SpanKind] = {
    "chat": "model", "call_llm": "model", "text_completion": "model",
    "generate_content": "model", "completion": "model",
    "execute_tool": "tool", "invoke_agent": "agent", "create_agent": "agent",
}  # fmt: skip
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.args", "gen_ai.tool.arguments",
              "gen_ai.tool.input")  # fmt: skip
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.output", "gen_ai.tool.result",
            "gen_ai.tool.output")  # fmt: skip


def attributes_of(span: dict[str, Any]) -> dict[str, Any]:
    """A span's attributes; OTLP writes them as a list of keys and typed values."""
    found = span.get("attributes")
    if isinstance(found, list):
        return {string(one.get("key")): _typed(one.get("value")) for one in objects(found)}
    return mapping(found)


def _typed(value: Any) -> Any:
    typed = mapping(value)
    for name, inner in typed.items():
        if name == "arrayValue":
            return [_typed(one) for one in items(mapping(inner).get("values"))]
        if name == "intValue":
            return int(inner) if str(inner).lstrip("-").isdecimal() else inner
        if name.endswith("Value"):
            return inner
    return value


def _is_span(value: dict[str, Any]) -> bool:
    return any(name.startswith("gen_ai.") for name in attributes_of(value))


def traces_in(
    source: Source, is_span: Callable[[dict[str, Any]], bool]
) -> dict[str, list[dict[str, Any]]]:
    """The spans of a file by their trace, in the order in which they come."""
    traces: dict[str, list[dict[str, Any]]] = {}
    for value in source.records():
        for span in found_in(value, is_span, 8):
            traces.setdefault(trace_id(span), []).append(span)
    return traces


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_span, 8))


def read(source: Source) -> Iterator[Trajectory]:
    for name, found in traces_in(source, _is_span).items():
        spans = ordered(_span(one) for one in found)
        run = Run(source.pictures, name=name, outcome=_outcome(found))
        run.agent = next((s.name for s in spans if s.kind == "agent"), "")
        yield read_spans(spans, run)


def trace_id(span: dict[str, Any]) -> str:
    context = mapping(span.get("context"))
    return first_string(span, "traceId", "trace_id", "context.trace_id") or first_string(
        context, "trace_id", "traceId"
    )


def span_id(span: dict[str, Any]) -> str:
    context = mapping(span.get("context"))
    return first_string(span, "spanId", "span_id", "context.span_id") or first_string(
        context, "span_id", "spanId"
    )


def parent_id(span: dict[str, Any]) -> str:
    parent = span.get("parent")
    if isinstance(parent, dict):
        return first_string(parent, "span_id", "spanId")
    return first_string(span, "parentSpanId", "parent_span_id", "parent_id", "parent")


def start_of(span: dict[str, Any]) -> Any:
    start = first_string(span, "start_time", "startTimeUnixNano", "start_time_unix_nano",
                         "startTime")  # fmt: skip
    return int(start) if start.isdecimal() and len(start) < 30 else start


def failure_of_span(span: dict[str, Any]) -> str:
    """What a span's status says went wrong."""
    status = span.get("status")
    code = string(mapping(status).get("status_code") or mapping(status).get("code") or status)
    code = code or string(span.get("status_code"))
    if code.rpartition("_")[2].rpartition(".")[2].lower() not in ("error", "2"):
        return ""
    told = first_string(mapping(status), "description", "message")
    return told or string(span.get("status_message")) or "error"


def _span(one: dict[str, Any]) -> Span:
    flat = attributes_of(one)
    first_word = "".join(string(one.get("name")).split()[:1])
    operation = string(flat.get("gen_ai.operation.name")) or first_word
    kind = _KINDS.get(operation, "other")
    if kind == "other" and "gen_ai.tool.name" in flat:
        kind = "tool"
    elif kind == "other" and "gen_ai.request.model" in flat:
        kind = "model"
    span = Span(span_id(one), parent_id(one), kind, string(one.get("name")), start_of(one),
                error=failure_of_span(one))  # fmt: skip
    span.model = first_string(flat, "gen_ai.response.model", "gen_ai.request.model")
    if kind == "agent":
        span.name = string(flat.get("gen_ai.agent.name")) or span.name
    elif kind == "tool":
        span.name = string(flat.get("gen_ai.tool.name")) or span.name
        span.call_id = string(flat.get("gen_ai.tool.call.id"))
        span.arguments = _written(flat, _ARGUMENTS)
        span.result = _written(flat, _RESULTS)
    elif kind == "model":
        _read_talk(span, one, flat)
    return span


def _written(flat: dict[str, Any], names: Sequence[str]) -> str:
    return next((json_text(flat[name]) for name in names if flat.get(name) is not None), "")


def _read_talk(span: Span, one: dict[str, Any], flat: dict[str, Any]) -> None:
    tree = mapping(nested(flat).get("gen_ai"))
    instructions = parsed(flat.get("gen_ai.system_instructions"))
    if instructions:
        span.asked.append({"role": "system", "content": instructions})
    asked = parsed(flat.get("gen_ai.input.messages") or flat.get("gen_ai.prompt"))
    span.asked += _messages(asked, "user") or _messages(tree.get("prompt"), "user")
    answer = next((parsed(flat[n]) for n in ("gen_ai.output.messages", "gen_ai.output",
                                             "gen_ai.completion") if n in flat), None)  # fmt: skip
    span.answered = _messages(answer, "assistant") or _messages(tree.get("completion"), "assistant")
    for event in objects(one.get("events")):
        _read_event(span, event)


def _messages(value: Any, role: str) -> list[Any]:
    """Messages, calls as {tool.name, tool.args}, or plain text."""
    if isinstance(value, str) and value:
        return [{"role": role, "content": value}]
    calls = [one for one in objects(value) if "tool.name" in one]
    if calls:
        told = [{"name": c["tool.name"], "arguments": c.get("tool.args", "")} for c in calls]
        return [{"role": role, "content": "", "tool_calls": told}]
    parts = [{"role": role, **m} if isinstance(m, dict) else m for m in items(value)]
    if parts:
        return [message for message in parts if is_message(message)]
    return messages_in(value) or ([value] if is_message(value) else [])


def _read_event(span: Span, event: dict[str, Any]) -> None:
    """Messages as events of a span, by an earlier version of the conventions."""
    name = first_string(event, "name", "event.name")
    fields = attributes_of(event)
    content = {**fields, **mapping(parsed(event.get("body") or fields.get("event_body")))}
    if name == "gen_ai.choice":
        span.answered.append({"role": "assistant", **mapping(parsed(content.get("message")))})
    elif name.startswith("gen_ai.") and name.endswith(".message"):
        span.asked.append({"role": name.split(".")[1], **content})
    elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
        role = "user" if name.endswith("prompt") else "assistant"
        kept = fields.get("gen_ai.prompt") or fields.get("gen_ai.completion")
        (span.asked if role == "user" else span.answered).extend(_messages(parsed(kept), role))


def _outcome(found: list[dict[str, Any]]) -> Outcome:
    """A root span that failed is a run that failed; one that did not says nothing of success."""
    known = {span_id(one) for one in found}
    for one in found:
        told = failure_of_span(one)
        if told and parent_id(one) not in known:
            return Outcome(False, None, told)
    return Outcome()


FORMAT = Format("OpenTelemetry GenAI", matches, read)
