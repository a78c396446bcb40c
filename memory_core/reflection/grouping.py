"""Several rollouts of one task against each other: lessons, and what they say against memories."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.operations import Add, Operation
from memory_core.reflection.advantages import advantages
from memory_core.reflection.context import Drafts, ReflectionContext, Run
from memory_core.reflection.corrections import corrections
from memory_core.reflection.domains import domain_of
from memory_core.reflection.lessons import admitted
from memory_core.reflection.rollouts import by_task, name_of, parted
from memory_core.reflection_records import RefusedDraft

MOST_OF_A_GROUP = 4
"""Lessons that one comparison gives."""


def compared(runs: Sequence[Run], context: ReflectionContext) -> Drafts:
    """Lessons from each set of runs that have the same task."""
    operations: list[Operation] = []
    refused: list[RefusedDraft] = []
    notes: list[str] = []
    alone = 0
    groups = by_task(runs)
    for place, same in enumerate(groups):
        context.progress(f"Comparing group {place + 1} of {len(groups)}", place / len(groups))
        group, note = parted(same)
        if len(same) == 1 and len(groups) > 1:
            alone += 1
            continue
        if note:
            notes.append(note)
        if group is None:
            continue
        lessons = advantages(group)[:MOST_OF_A_GROUP]
        calls = [call for one in (*group.better, *group.worse) for call in one.calls]
        domain = domain_of(calls, group.gist, same[0].trajectory.task, context)
        kept, others = admitted(lessons, domain)
        operations += _with_corrections(kept, context)
        refused += others
        if not kept:
            notes.append(
                f"{name_of(same)}: {group.told}, and the rules see no difference in their calls "
                "that goes with it."
            )
    if alone:
        notes.append(
            f"{alone} of the {len(runs)} runs are the only ones of their task: there is nothing to "
            "compare them with."
        )
    context.progress("Done", 1.0)
    return Drafts(tuple(operations), tuple(refused), tuple(dict.fromkeys(notes)))


def _with_corrections(kept: Sequence[Add], context: ReflectionContext) -> list[Operation]:
    """The drafts, and what they say against memories that advise otherwise."""
    return [operation for add in kept for operation in corrections(add, context)]
