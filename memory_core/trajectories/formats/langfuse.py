"""Langfuse: a trace and its observations, whose inputs and outputs are usually JSON text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.exchanges import reply_in
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import is_message, messages_in
from memory_core.trajectories.shapes import (
    first_string,
    json_text,
    mapping,
    number,
    objects,
    parsed,
    string,
    text_of,
)
from memory_core.trajectories.source import Source, found_in
from memory_core.trajectories.spans import Span, SpanKind, ordered, read_spans

_KINDS: dict[str, SpanKind] = {"GENERATION": "model", "TOOL": "tool", "AGENT": "agent"}
_VERDICTS = ("reward", "success", "correctness", "correct", "accuracy", "task_success", "passed")


def _is_export(value: dict[str, Any]) -> bool:
    beside = isinstance(value.get("trace"), dict) and isinstance(value.get("observations"), list)
    return beside or _is_trace(value)


def _is_trace(value: dict[str, Any]) -> bool:
    seen = objects(value.get("observations"))
    return any("parentObservationId" in one and "type" in one for one in seen[:5])


def _is_observation(value: Any) -> bool:
    return "parentObservationId" in mapping(value) and "type" in mapping(value)


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_export, 2)) or any(map(_is_observation, source.head))


def read(source: Source) -> Iterator[Trajectory]:
    loose: dict[str, list[dict[str, Any]]] = {}
    for value in source.records():
        for export in found_in(value, _is_export, 2):
            trace = mapping(export.get("trace")) or export
            seen = objects(export.get("observations")) or objects(trace.get("observations"))
            yield _run(trace, seen, source)
        if _is_observation(value):
            loose.setdefault(string(value.get("traceId")), []).append(value)
    for name, seen in loose.items():
        yield _run({"id": name}, seen, source)


def _run(trace: dict[str, Any], seen: list[dict[str, Any]], source: Source) -> Trajectory:
    spans = ordered(_span(one) for one in seen)
    tools = {span.name for span in spans if span.kind == "tool"}
    asked = {call for span in spans for call in _tools_asked(span)}
    for span in spans:  # LangGraph and Koog write a tool as a plain span
        if span.kind == "other" and _tool_name(span.name) in asked - tools:
            span.kind, span.name = "tool", _tool_name(span.name)
    run = Run(
        source.pictures,
        name=string(trace.get("id")),
        agent=string(trace.get("name")),
        task=_task(trace),
        outcome=_outcome(trace),
    )
    run.agent = run.agent or next((span.name for span in spans if span.kind == "agent"), "")
    if not any(span.kind in ("model", "tool") for span in spans):
        _read_ends(run, trace, seen)
    return read_spans(spans, run)


def _span(one: dict[str, Any]) -> Span:
    kind = _KINDS.get(string(one.get("type")).upper(), "other")
    error = string(one.get("statusMessage")) or "error"
    span = Span(
        string(one.get("id")),
        string(one.get("parentObservationId")),
        kind,
        string(one.get("name")),
        string(one.get("startTime")),
        error=error if string(one.get("level")).upper() == "ERROR" else "",
        model=string(one.get("model")),
    )
    put_in, put_out = parsed(one.get("input")), parsed(one.get("output"))
    span.asked, span.answered = _messages(put_in), _messages(put_out)
    if kind == "model":
        span.asked = [*_instructions(put_in), *span.asked] or _plain(put_in, "user")
        span.answered = span.answered or _plain(put_out, "assistant")
    else:
        span.name = _tool_name(span.name) if kind == "tool" else span.name
        given = mapping(put_in)
        arguments = given["input"] if set(given) == {"input"} else put_in
        span.arguments = "" if arguments is None else json_text(arguments)
        answer = mapping(put_out)
        shown = answer.get("content", put_out)
        span.result = text_of(parsed(shown) if kind == "tool" else shown, Run().pictures)
        span.call_id = string(answer.get("tool_call_id"))
    return span


def _tool_name(name: str) -> str:
    return name.removeprefix("execute_tool ").removeprefix("tool.")


def _instructions(put_in: Any) -> list[Any]:
    """What Gemini's requests tell the model before they begin."""
    config = mapping(mapping(put_in).get("config"))
    told = config.get("system_instruction") or mapping(put_in).get("system_instruction")
    text = text_of(told, Run().pictures)
    return [{"role": "system", "content": text}] if text else []


def _plain(value: Any, role: str) -> list[Any]:
    """Words that are no message: text, or a field that usually holds it."""
    asked, answered = ("prompt", "query", "text"), ("text", "completion", "output")
    names = asked if role == "user" else answered
    text = value if isinstance(value, str) else first_string(mapping(value), *names)
    return [{"role": role, "content": text}] if text.strip() else []


def _messages(value: Any) -> list[Any]:
    """The messages in an input or output; definitions of tools among them are none."""
    found = reply_in(value) or messages_in(value) or ([value] if is_message(value) else [])
    return [message for message in found if not _is_definition(mapping(message))]


def _is_definition(message: dict[str, Any]) -> bool:
    content = mapping(message.get("content"))
    return content.get("type") == "function" and "tool_call_id" not in message


def _tools_asked(span: Span) -> list[str]:
    if span.kind != "model":
        return []
    quiet = Run()
    from memory_core.trajectories.messages import read_messages

    read_messages(quiet, span.answered)
    return [step.tool for step in quiet.finish().steps if step.tool]


def _task(trace: dict[str, Any]) -> str:
    given = parsed(trace.get("input"))
    said = [mapping(m) for m in _messages(given)]
    users = (m for m in said if first_string(m, "role", "type") in ("user", "human"))
    asked = next(users, None)
    if asked is not None:
        return text_of(asked.get("content"), Run().pictures)
    if isinstance(given, str):
        return given
    return first_string(mapping(given), "prompt", "input", "query", "question", "task", "message")


def _outcome(trace: dict[str, Any]) -> Outcome:
    scores = {string(score.get("name")).lower(): score for score in objects(trace.get("scores"))}
    for name in _VERDICTS:
        score = scores.get(name, {})
        value = number(score.get("value"))
        if value is not None:
            told = string(score.get("comment"))
            return Outcome(value >= 1, value, f"{name}: {told}" if told else name)
    return Outcome()


def _read_ends(run: Run, trace: dict[str, Any], seen: list[dict[str, Any]]) -> None:
    """A trace without model calls: what went in and what came out."""
    for end in (trace, *seen[:1]):
        if end.get("input") is not None or end.get("output") is not None:
            run.say("user", text_of(parsed(end.get("input")), run.pictures))
            run.say("assistant", text_of(parsed(end.get("output")), run.pictures))
            return


FORMAT = Format("Langfuse", matches, read)
