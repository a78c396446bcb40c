"""The memories that a reflector is shown: those nearest to what the runs are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memory_core.records import Memory
from memory_core.reflection.context import ReflectionContext, Run
from memory_core.reflection.prompt import memory_length
from memory_core.reflection.telling import told_steps

MOST_CANDIDATES = 20
_MOST_TOOLS = 8
_MOST_ERRORS = 6


def near_memories(
    runs: Sequence[Run], context: ReflectionContext, *, room: int
) -> dict[int, Memory]:
    """By id, the nearest first: at most 20, in at most `room` characters."""
    if not len(context.snapshot):
        return {}
    asked = list(dict.fromkeys(text for run in runs for text in _about(run) if text.strip()))
    if not asked:
        return {}
    best = np.full(len(context.snapshot), -1.0, dtype=np.float32)
    for vector in context.embed(asked):
        np.maximum(best, context.snapshot.similarities(vector), out=best)
    found: dict[int, Memory] = {}
    for row in np.argsort(-best, kind="stable")[:MOST_CANDIDATES].tolist():
        memory = context.snapshot.at(row)
        room -= memory_length(memory)
        if room < 0:
            break
        found[memory.id] = memory
    return found


def _about(run: Run) -> Iterable[str]:
    """What a run is about, as texts to look memories up by."""
    yield run.trajectory.task[:600]
    yield run.trajectory.outcome.reason[:300]
    tools: dict[str, None] = {}
    errors: dict[str, str] = {}
    for told in told_steps(run.trajectory):
        if told.step.tool:
            tools[told.step.tool] = None
        if told.failed:
            said = told.step.error or told.step.observation
            errors.setdefault(told.failure, f"{told.step.tool} {said[:200]}".strip())
    for tool in list(tools)[:_MOST_TOOLS]:
        yield f"how to use the tool {tool[:80]}"
    yield from list(errors.values())[:_MOST_ERRORS]
