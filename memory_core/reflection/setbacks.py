"""Lessons from what never worked, and from changes that changed nothing."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.records import Evidence, ToolDetail
from memory_core.reflection.calls import Call
from memory_core.reflection.context import Run
from memory_core.reflection.differences import told_difference, usage_of
from memory_core.reflection.gists import Gist
from memory_core.reflection.lessons import Lesson, opened
from memory_core.reflection.phrases import code, listed, quoted, says_what_failed, shape_of, told_by
from memory_core.reflection.recoveries import Recovery, unmended

_OFTEN = 3
"""Calls that failed alike and never worked, from which that is a lesson."""


def of_dead_end(run: Run, calls: Sequence[Call], gist: Gist) -> Lesson | None:
    """Of a tool that failed alike again and again, and never worked."""
    alike: dict[tuple[str, str], list[Call]] = {}
    for call in unmended(calls):
        if says_what_failed(call.error):
            alike.setdefault((call.tool, shape_of(call.error)), []).append(call)
    worked = {call.tool for call in calls if not call.failed}
    for (tool, shape), failures in alike.items():
        if len(failures) < _OFTEN or tool in worked:
            continue
        error = quoted(told_by(failures[0].error))
        numbers = tuple(call.number for call in failures)
        body = (
            f"{code(tool)} answered {error} to all {len(failures)} calls; after the second, look "
            "for another way."
        )
        text = opened(gist, [body])
        return Lesson(
            text,
            "tool",
            ToolDetail(tool, ""),
            f"Steps {listed(map(str, numbers))} failed alike, and no call of the tool worked.",
            (Evidence(run.id, numbers),),
            (tool, shape, "stuck"),
        )
    return None


def of_second_thought(
    run: Run, recovery: Recovery, gist: Gist, said: tuple[int, str] | None
) -> Lesson | None:
    first, second, idle = recovery.failed, recovery.worked, recovery.between[0]
    told = told_difference(first, second, "")
    if not told:
        return None
    levels = [[f"{told}; the first changed nothing in the result."]]
    if said:
        levels[:0] = [[f"{said[1]}; {told} changed the result."], [f"{said[1]}."]]
    text = opened(gist, *levels)
    if not text:
        return None
    steps = {first.number, idle.number, second.number}
    rationale = (
        f"After step {first.number} the answer of step {idle.number} was as before; step "
        f"{second.number} put {told}, and it was another."
    )
    if said and said[1] in text:
        steps.add(said[0])
        rationale += f" The reason is the run's own, from step {said[0]}."
    return Lesson(
        text,
        "tool",
        ToolDetail(first.tool, usage_of(second)),
        rationale,
        (Evidence(run.id, tuple(sorted(steps))),),
        (first.tool, "second thought", told),
    )
