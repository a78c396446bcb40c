"""Codex CLI: JSONL of {timestamp, type, payload}; what counts are items of the Responses API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import (
    Pictures,
    first_string,
    mapping,
    string,
    text_of,
)
from memory_core.trajectories.source import Source

_PUT_IN = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|collaboration_mode"
    r"|skills_instructions|apps_instructions|INSTRUCTIONS)|# AGENTS\.md instructions)"
)
"""Words in a user's name that no user has typed."""
_SPOKEN = {"user_message": "user", "agent_message": "assistant"}


def _is_record(value: Any) -> bool:
    record = mapping(value)
    return isinstance(record.get("payload"), dict) and isinstance(record.get("type"), str) and (
        "timestamp" in record or record["type"] in ("session_meta", "response_item", "event_msg")
    )  # fmt: skip


def matches(source: Source) -> bool:
    return any(_is_record(value) for value in source.head)


def read(source: Source) -> Iterator[Trajectory]:
    run, spoken, begun = _new(source), _new(source), False
    for value in source.records():
        if not _is_record(value):
            continue
        kind, payload = value["type"], value["payload"]
        if kind == "session_meta" and begun and string(payload.get("id")) != run.name:
            yield from _finished(run, spoken)
            run, spoken, begun = _new(source), _new(source), False
        if kind == "session_meta":
            run.name = run.name or string(payload.get("id"))
        elif kind == "turn_context":
            run.model = run.model or string(payload.get("model"))
        elif kind == "response_item":
            begun = True
            run.outcome = Outcome() if payload.get("role") == "user" else run.outcome
            read_message(run, _as_put_in(payload))
        elif kind == "event_msg":
            _read_event(run, spoken, payload)
        elif kind == "compacted":
            run.say("system", text_of(payload.get("message"), run.pictures))
    yield from _finished(run, spoken)


def _new(source: Source) -> Run:
    return Run(source.pictures, agent="Codex CLI")


def _finished(run: Run, spoken: Run) -> Iterator[Trajectory]:
    """A log without items still tells in its events who said what."""
    trajectory = run.finish()
    if not trajectory.steps:
        spoken.name, spoken.model, spoken.outcome = run.name, run.model, run.outcome
        trajectory = spoken.finish()
    if trajectory.steps:
        yield trajectory


def _as_put_in(payload: dict[str, Any]) -> dict[str, Any]:
    if payload.get("role") == "user" and _PUT_IN.match(
        text_of(payload.get("content"), Pictures())  # counted when it is read
    ):
        return {**payload, "role": "system"}
    return payload


def _read_event(run: Run, spoken: Run, payload: dict[str, Any]) -> None:
    kind = string(payload.get("type"))
    if kind in _SPOKEN:
        read_message(spoken, {"role": _SPOKEN[kind], "content": payload.get("message")})
    elif kind == "turn_aborted":
        run.outcome = Outcome(reason=f"turn aborted: {string(payload.get('reason'))}".rstrip(": "))
    elif kind in ("error", "stream_error"):
        run.outcome = Outcome(None, None, first_string(payload, "message") or kind)


FORMAT = Format("Codex CLI", matches, read)
