"""Gemini CLI: a session as one document, or as JSONL with a head line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import mapping, objects, string, text_of
from memory_core.trajectories.source import Source

_ASIDES = ("info", "error", "warning", "compression", "about")


def _is_session(value: Any) -> bool:
    record = mapping(value)
    messages = objects(record.get("messages"))
    return "projectHash" in record or any(_is_answer(message) for message in messages[:10])


def _is_answer(value: Any) -> bool:
    return mapping(value).get("type") == "gemini"


def matches(source: Source) -> bool:
    return any(_is_session(value) or _is_answer(value) for value in source.head)


def read(source: Source) -> Iterator[Trajectory]:
    run = _new(source, "")
    for value in source.records():
        record = mapping(value)
        session = string(record.get("sessionId"))
        if session and session != run.name:
            if run.name:
                yield from _finished(run)
                run = _new(source, session)
            run.name = session
        for message in objects(record.get("messages")) or [record]:
            _read(run, message)
    yield from _finished(run)


def _new(source: Source, name: str) -> Run:
    return Run(source.pictures, name=name, agent="Gemini CLI")


def _finished(run: Run) -> Iterator[Trajectory]:
    trajectory = run.finish()
    if trajectory.steps:
        yield trajectory


def _read(run: Run, message: dict[str, Any]) -> None:
    kind = string(message.get("type"))
    if kind in _ASIDES:
        run.say("system", text_of(message.get("content"), run.pictures))
    elif kind in ("user", "gemini"):
        run.model = run.model or string(message.get("model"))
        read_message(run, {**message, "role": "user" if kind == "user" else "assistant"})


FORMAT = Format("Gemini CLI", matches, read)
