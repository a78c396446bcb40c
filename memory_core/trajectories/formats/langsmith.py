"""LangSmith: runs with inputs, outputs and child runs."""

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
    items,
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

_KINDS: dict[str, SpanKind] = {"llm": "model", "chat_model": "model", "tool": "tool"}


def _is_run(value: dict[str, Any]) -> bool:
    return "run_type" in value and any(
        name in value for name in ("dotted_order", "trace_id", "child_runs", "parent_run_id")
    )


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_run, 2))


def read(source: Source) -> Iterator[Trajectory]:
    traces: dict[str, list[dict[str, Any]]] = {}
    for value in source.records():
        for run in found_in(value, _is_run, 2):
            for one in _with_children(run, 0):
                name = string(run.get("trace_id")) or string(run.get("id"))
                traces.setdefault(name, []).append(one)
    for name, found in traces.items():
        yield _run(name, _once(found), source)


def _with_children(run: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    yield run
    if depth < 40:
        for child in objects(run.get("child_runs")):
            yield from _with_children({"parent_run_id": run.get("id"), **child}, depth + 1)


def _once(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run may be told twice: once as it began, and once as it ended."""
    whole: dict[str, dict[str, Any]] = {}
    for index, one in enumerate(found):
        name = string(one.get("id")) or f"#{index}"
        told = {field: value for field, value in one.items() if value not in (None, {}, [])}
        whole[name] = {**whole.get(name, {}), **told}
    return list(whole.values())


def _run(name: str, found: list[dict[str, Any]], source: Source) -> Trajectory:
    spans = ordered(_span(one) for one in found)
    known = {string(one.get("id")) for one in found}
    roots = [one for one in found if string(one.get("parent_run_id")) not in known] or found[:1]
    run = Run(source.pictures, name=name, agent=string(roots[0].get("name")),
              outcome=_outcome(roots[0]), task=_task(roots[0]))  # fmt: skip
    trajectory = read_spans(spans, run)
    if trajectory.steps:
        return trajectory
    asked = {k: v for k, v in mapping(roots[0].get("inputs")).items() if v}
    run.say("user", json_text(asked) if asked else "")
    run.say("assistant", json_text(roots[0].get("outputs") or "") or string(roots[0].get("name")))
    if run.last is not None:
        run.last.error = string(roots[0].get("error"))
    return run.finish()


def _outcome(root: dict[str, Any]) -> Outcome:
    stats = mapping(root.get("feedback_stats"))
    rated = (number(mapping(stats.get(name)).get("avg")) for name in
             ("reward", "correctness", "success", "score", "user_score"))  # fmt: skip
    reward = next((value for value in rated if value is not None), None)
    error = string(root.get("error"))
    success = False if error else (reward >= 1 if reward is not None else None)
    return Outcome(success, reward, error)


def _span(one: dict[str, Any]) -> Span:
    kind = _KINDS.get(string(one.get("run_type")).lower(), "other")
    put_in, put_out = mapping(one.get("inputs")), mapping(one.get("outputs"))
    started = string(one.get("dotted_order")) or string(one.get("start_time"))
    span = Span(string(one.get("id")), string(one.get("parent_run_id")), kind,
                string(one.get("name")), started, error=string(one.get("error")))  # fmt: skip
    facts = mapping(mapping(one.get("extra")).get("metadata"))
    span.model = string(facts.get("ls_model_name"))
    if kind == "model":
        span.asked = _messages(put_in) or _text(put_in, "user")
        span.answered = _messages(put_out) or _text(put_out, "assistant")
    elif kind == "tool":
        given = parsed(put_in.get("input", put_in))
        span.arguments = json_text(given)
        answer = put_out.get("output", put_out)
        held = mapping(mapping(answer).get("kwargs")) or mapping(answer)
        shown = held.get("content", answer) if held else answer
        span.result = text_of(shown, Run().pictures)
        span.call_id = string(held.get("tool_call_id"))
    return span


def _messages(value: dict[str, Any]) -> list[Any]:
    """Messages of an input or output, which may lie in lists of lists, or in generations."""
    for batch in items(value.get("generations")):
        for generation in batch if isinstance(batch, list) else [batch]:
            message = mapping(generation).get("message")
            return [message] if is_message(message) else _text(mapping(generation), "assistant")
    said = value.get("messages", value.get("input", value.get("output")))
    if isinstance(said, list) and said and isinstance(said[0], list):
        said = said[0]
    found = messages_in(said) or messages_in(value) or reply_in(value)
    return found or ([said] if is_message(said) else [])


def _text(value: dict[str, Any], role: str) -> list[Any]:
    names = ("text", "input", "prompt", "question", "query", "output", "content", "answer")
    text = first_string(value, *names)
    return [{"role": role, "content": text}] if text else []


def _task(root: dict[str, Any]) -> str:
    return first_string(mapping(root.get("inputs")), "input", "question", "query", "task", "prompt")


FORMAT = Format("LangSmith", matches, read)
