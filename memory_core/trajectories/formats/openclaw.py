"""OpenClaw and pi: JSONL, a head line of type "session", then entries that name their parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import first_string, mapping, string, text_of
from memory_core.trajectories.source import Source
from memory_core.trajectories.threads import Record, threads

_SUMMARIES = ("compaction", "branch_summary")


def _is_head(value: Any) -> bool:
    record = mapping(value)
    return record.get("type") == "session" and "version" in record


def _is_entry(value: Any) -> bool:
    record = mapping(value)
    message = mapping(record.get("message"))
    return record.get("type") == "message" and "role" in message and "parentId" in record


def matches(source: Source) -> bool:
    # The head line may be damaged or gone.
    return any(_is_head(value) or _is_entry(value) for value in source.head)


def read(source: Source) -> Iterator[Trajectory]:
    name = ""
    entries: list[Record] = []
    for value in source.records():
        record = mapping(value)
        if _is_head(value):
            yield from _run(entries, source, name)
            name, entries = string(record.get("id")), []
        elif _is_entry(value) or record.get("type") in _SUMMARIES or "parentId" in record:
            entries.append(_entry(record))
    yield from _run(entries, source, name)


def _entry(record: dict[str, Any]) -> Record:
    message = mapping(record.get("message"))
    role = string(message.get("role"))
    turn = string(record.get("id")) if role in ("user", "assistant") else ""
    if record.get("type") in _SUMMARIES:
        message = {"role": "system", "content": record.get("summary")}
    return Record(string(record.get("id")), string(record.get("parentId")), turn, message)


def _run(entries: list[Record], source: Source, name: str) -> Iterator[Trajectory]:
    main, given_up = threads(entries)
    run = Run(source.pictures, name=name, agent="OpenClaw / pi")
    _read(run, main)
    for branch in given_up:
        other = Run(source.pictures, name="a branch that was given up", agent=run.agent)
        _read(other, branch)
        trajectory = other.finish()
        if trajectory.steps:
            run.children.append(trajectory)
    trajectory = run.finish()
    if trajectory.steps:
        yield trajectory


def _read(run: Run, entries: Iterable[Record]) -> None:
    for entry in entries:
        message = entry.content
        if message.get("role") == "bashExecution":
            run.call("bash", string(message.get("command")))
            run.result("", text_of(message.get("output"), run.pictures))
        elif message.get("role") == "custom":
            run.say("system", text_of(message.get("content"), run.pictures))
        else:
            read_message(run, message)
        if message.get("role") == "assistant":
            _note(run, message)


def _note(run: Run, message: dict[str, Any]) -> None:
    if string(message.get("provider")) != "openclaw":  # its own words, in no model's name
        run.model = run.model or string(message.get("model"))
    ended = string(message.get("stopReason"))
    told = first_string(message, "errorMessage") or ended
    run.outcome = Outcome(reason=told) if ended in ("error", "aborted") else Outcome()


FORMAT = Format("OpenClaw / pi", matches, read)
