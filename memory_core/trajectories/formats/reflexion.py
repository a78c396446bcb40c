"""Reflexion's results: whether each task was solved, and what was remembered of the failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.outcomes import verdict
from memory_core.trajectories.shapes import items, string, text_of
from memory_core.trajectories.source import Source, found_in


def _is_result(value: dict[str, Any]) -> bool:
    return isinstance(value.get("memory"), list) and "is_success" in value


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_result, 1))


def read(source: Source) -> Iterator[Trajectory]:
    told = 0
    for value in source.records():
        for result in found_in(value, _is_result, 1):
            solved = result["is_success"]
            run = Run(
                source.pictures,
                name=string(result.get("name")),
                task=string(result.get("task")) or string(result.get("name")),
                outcome=Outcome(verdict(solved)),
            )
            for memory in items(result["memory"]):
                run.say("assistant", text_of(memory, run.pictures).strip())
                told += 1
            yield run.finish()
    if told:
        source.warn(f"These results hold {told} lessons already; they can be imported as memories.")


FORMAT = Format("Reflexion results", matches, read)
