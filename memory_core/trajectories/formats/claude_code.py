"""Claude Code: JSONL of a session; sub-agents lie beside it as side chains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import (
    Pictures,
    first_string,
    mapping,
    objects,
    string,
    text_of,
)
from memory_core.trajectories.source import Source
from memory_core.trajectories.threads import Record, threads

_PUT_IN = re.compile(
    r"\s*(?:<(?:command-|local-command|system-reminder|bash-(?:input|stdout|stderr)|user-prompt"
    r"|task-notification)|Caveat: The messages below)"
)
"""Words in a user's name that no user has typed."""


def _is_record(value: Any) -> bool:
    record = mapping(value)
    linked = "parentUuid" in record or "uuid" in record or "isSidechain" in record
    return linked and isinstance(record.get("message"), dict) and "sessionId" in record


def matches(source: Source) -> bool:
    return any(_is_record(value) for value in source.head)


def read(source: Source) -> Iterator[Trajectory]:
    sessions: dict[str, dict[str, list[Record]]] = {}
    session, seen = "", set[str]()
    models: dict[str, str] = {}
    for value in source.records():
        record = mapping(value)
        session = string(record.get("sessionId")) or session
        models[session] = models.get(session) or _model(record)
        kept = _record(record)
        if kept is None or (kept.id and kept.id in seen):  # a resumed session repeats the earlier
            continue
        seen.add(kept.id)
        chains = sessions.setdefault(session, {})
        chains.setdefault(_chain(record, chains), []).append(kept)
    for name, chains in sessions.items():
        main = chains.pop("", [])
        if not main and len(chains) == 1:  # the file of a sub-agent
            main = chains.popitem()[1]
        trajectory = _run(main, source, name, models[name])
        children = [_run(chain, source, chain_name, "") for chain_name, chain in chains.items()]
        told = [child for child in children if child.steps]
        if trajectory.steps or told:
            yield replace(trajectory, children=(*trajectory.children, *told))


def _model(record: dict[str, Any]) -> str:
    model = string(mapping(record.get("message")).get("model"))
    return "" if model.startswith("<") else model


def _record(record: dict[str, Any]) -> Record | None:
    """What of a line is needed; the rest of it need not be held."""
    message, kind = mapping(record.get("message")), string(record.get("type"))
    if kind == "system" and string(record.get("content")):
        content: dict[str, Any] = {"role": "system", "content": record["content"]}
        if record.get("subtype") not in ("compact_boundary", None):
            content = {}
    elif kind in ("user", "assistant", "summary") and message:
        names = ("id", "type", "role", "content", "model")
        content = {name: message[name] for name in names if name in message}
        if kind == "summary" or record.get("isCompactSummary") or _is_put_in(record, content):
            content["role"] = "system"
    elif record.get("uuid"):
        content = {}  # no part of the talk, yet others may name it as their parent
    else:
        return None
    parent = first_string(record, "parentUuid", "logicalParentUuid")
    return Record(string(record.get("uuid")), parent, _turn(kind, record, message), content)


def _is_put_in(record: dict[str, Any], message: dict[str, Any]) -> bool:
    if message.get("role") != "user":
        return False
    content = message.get("content")
    text = content if isinstance(content, str) else first_string(
        next(iter(objects(content)), {}), "text"
    )  # fmt: skip
    return record.get("isMeta") is True or bool(_PUT_IN.match(text))


def _turn(kind: str, record: dict[str, Any], message: dict[str, Any]) -> str:
    """Only what a user asks and what the model answers can fork; results lie side by side."""
    if kind == "assistant":
        return string(message.get("id")) or string(record.get("uuid"))
    parts = objects(message.get("content"))
    if kind != "user" or any(part.get("type") == "tool_result" for part in parts):
        return ""
    return "" if record.get("isMeta") else string(record.get("uuid"))


def _chain(record: dict[str, Any], chains: dict[str, list[Record]]) -> str:
    """Under which name a record is collected: empty for the main chain."""
    if record.get("isSidechain") is not True:
        return ""
    if agent := string(record.get("agentId")):
        return agent
    parent = string(record.get("parentUuid"))
    for name, chain in chains.items():
        if name and parent and any(known.id == parent for known in chain[-200:]):
            return name
    return string(record.get("uuid")) or "side chain"


def _run(records: list[Record], source: Source, name: str, model: str) -> Trajectory:
    main, given_up = threads(records)
    run = Run(source.pictures, name=name, agent="Claude Code", model=model)
    _read(run, main)
    for branch in given_up:
        other = Run(source.pictures, name="a branch that was given up", agent="Claude Code")
        _read(other, branch)
        trajectory = other.finish()
        if trajectory.steps:
            run.children.append(trajectory)
    if run.children:
        source.warn(f"{len(run.children)} branches of session {name} were given up; they are kept "
                    "beside it.")  # fmt: skip
    return run.finish()


def _read(run: Run, records: Iterable[Record]) -> None:
    for record in records:
        text = text_of(record.content.get("content"), Pictures())  # counted when it is read
        if text.startswith("[Request interrupted by user"):
            run.outcome = Outcome(reason="interrupted by the user")
        elif record.content.get("role") == "user":
            run.outcome = Outcome()
        read_message(run, record.content)


FORMAT = Format("Claude Code", matches, read)
