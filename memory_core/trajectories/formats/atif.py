"""ATIF, the interchange format of Harbor: one document a run, and one for each sub-agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Role, Trajectory
from memory_core.trajectories.building import Run, give
from memory_core.trajectories.calls import read_call
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.normal_form import MAX_DEPTH
from memory_core.trajectories.outcomes import outcome_of
from memory_core.trajectories.shapes import (
    first_string,
    items,
    mapping,
    objects,
    string,
    text_of,
    verdict_of,
)
from memory_core.trajectories.source import Source, found_in

_TASK = re.compile(
    r"^Task Description:\s*(.+?)\s*(?:^Current terminal state:|\Z)", re.DOTALL | re.MULTILINE
)
_ROLES: dict[str, Role] = {"user": "user", "agent": "assistant", "assistant": "assistant"}


def _is_atif(value: dict[str, Any]) -> bool:
    return string(value.get("schema_version")).startswith("ATIF-") and "steps" in value


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_atif, depth=4))


def read(source: Source) -> Iterator[Trajectory]:
    documents = _joined(found_in(list(source.records()), _is_atif, depth=4))
    by_name: dict[str, dict[str, Any]] = {}
    for document in documents:
        for name in _names(document):
            by_name.setdefault(name, document)
    called = {
        name for document in documents for name in _references(document)
        if by_name.get(name) is not document
    }  # fmt: skip
    roots = [document for document in documents if not called & set(_names(document))]
    for document in roots or documents[:1]:
        yield _run(document, by_name, source, seen=())


def _names(document: dict[str, Any]) -> list[str]:
    fields = ("session_id", "trajectory_id", "trajectory_path")
    return [name for field in fields if (name := string(document.get(field)))]


def _joined(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs that were continued in another file, put together."""
    whole: dict[str, dict[str, Any]] = {}
    for index, document in enumerate(documents):
        name = first_string(document, "trajectory_id", "session_id") or f"#{index}"
        earlier = whole.get(name)
        if earlier is None:
            whole[name] = document
        elif earlier.get("steps") != document.get("steps"):
            steps = [*items(earlier.get("steps")), *items(document.get("steps"))]
            whole[name] = {**earlier, **document, "steps": steps}
    return list(whole.values())


def _references(document: dict[str, Any]) -> list[str]:
    return [
        name
        for step in objects(document.get("steps"))
        for result in objects(mapping(step.get("observation")).get("results"))
        for reference in _as_list(result.get("subagent_trajectory_ref"))
        for name in _names(mapping(reference))
    ]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _run(
    document: dict[str, Any],
    by_name: dict[str, dict[str, Any]],
    source: Source,
    seen: tuple[int, ...],
) -> Trajectory:
    agent = mapping(document.get("agent"))
    run = Run(
        source.pictures,
        name=first_string(document, "session_id", "trajectory_id"),
        agent=string(agent.get("name")),
        model=string(agent.get("model_name")),
        outcome=outcome_of(document),
    )
    for step in objects(document.get("steps")):
        _read_step(run, step)
        run.model = run.model or string(step.get("model_name"))
    if len(seen) < MAX_DEPTH:
        known = (by_name[name] for name in _references(document) if name in by_name)
        below = [*objects(document.get("subagent_trajectories")), *known]
        told = {id(child): child for child in below if id(child) not in (*seen, id(document))}
        path = (*seen, id(document))
        run.children += [_run(child, by_name, source, path) for child in told.values()]
    trajectory = run.finish()
    if stated := _TASK.search(trajectory.task):  # Terminus puts it into a long instruction
        run.task = stated[1]
    return run.finish()


def _read_step(run: Run, step: dict[str, Any]) -> None:
    role = _ROLES.get(string(step.get("source")), "system")
    text = text_of(step.get("message"), run.pictures)
    calls = objects(step.get("tool_calls"))
    if role != "assistant":
        run.say(role, text)
    else:
        run.think(text_of(step.get("reasoning_content"), run.pictures))
        run.speak(text)
    for call in calls:
        read_call(run, call)
    run.flush()
    results = objects(mapping(step.get("observation")).get("results"))
    for index, result in enumerate(results):
        _read_result(run, result, calls, index)


def _read_result(run: Run, result: dict[str, Any], calls: list[dict[str, Any]], index: int) -> None:
    text = text_of(result.get("content"), run.pictures)
    error = verdict_of(result, text)
    if not error and "parsing errors" in text[:80]:  # an answer that was no call, said back to it
        error = text
    call_id = string(result.get("source_call_id"))
    if not call_id and index < len(calls):
        call_id = string(calls[index].get("tool_call_id"))
    if call_id or calls or run.last is None:
        run.result(call_id, text, error)
    else:
        give(run.last, text, error)


FORMAT = Format("ATIF", matches, read)
