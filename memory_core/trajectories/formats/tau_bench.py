"""tau-bench: one file of many tasks and trials, each a chat with its reward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.outcomes import outcome_in
from memory_core.trajectories.shapes import first_string, mapping, objects, string
from memory_core.trajectories.source import Source, found_in


def _is_record(value: dict[str, Any]) -> bool:
    return isinstance(value.get("traj"), list) and "reward" in value


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_record, depth=2))


def read(source: Source) -> Iterator[Trajectory]:
    for value in source.records():
        for record in found_in(value, _is_record, depth=2):
            yield _run(record, source)


def _run(record: dict[str, Any], source: Source) -> Trajectory:
    task = mapping(mapping(record.get("info")).get("task"))
    run = Run(
        source.pictures,
        name=named(record),
        task=first_string(task, "instruction", "description"),
        outcome=outcome_in(record),
    )
    for message in objects(record.get("traj")):
        if message.get("role") == "tool":  # an error is text that says so, and nothing else
            failed = string(message.get("content")).startswith("Error")
            message = {"is_error": failed, **message}
        read_message(run, message)
    return run.finish()


def named(record: dict[str, Any]) -> str:
    """What a task and its trial are called."""
    parts = [
        f"{word} {record[name]}"
        for word, name in (("task", "task_id"), ("trial", "trial"))
        if isinstance(record.get(name), int | str)
    ]
    return ", ".join(parts)


FORMAT = Format("tau-bench", matches, read)
