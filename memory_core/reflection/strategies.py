"""Strategies: what a run did about a task of some shape, and how that ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.records import Evidence, StrategicDetail
from memory_core.reflection.calls import Call
from memory_core.reflection.context import Run
from memory_core.reflection.gists import Gist
from memory_core.reflection.lessons import Lesson
from memory_core.reflection.phrases import code, first_fitting, listed, quoted, told_by, words_of
from memory_core.reflection.procedures import said_to
from memory_core.reflection.slicing import Needed
from memory_core.run_records import Outcome

_LOOKING = words_of(
    "find search get list show read look check compare summarize answer tell explain describe "
    "calculate count identify determine analyze figure locate view examine"
)
_HANDS_OVER = re.compile(r"transfer|escalat|hand_?off|human", re.IGNORECASE)


def strategy(run: Run, calls: Sequence[Call], kept: Sequence[Needed], gist: Gist) -> Lesson | None:
    """What the end of a run says about its way; None where it ended nowhere or taught nothing."""
    success = run.trajectory.outcome.success
    if success is None or not gist.text or not calls:
        return None
    if not success:
        return _of_failure(run, calls, gist)
    return _of_chain(run, kept, gist) or _of_restraint(run, calls, gist)


def told_outcome(outcome: Outcome) -> str:
    """`succeeded (reward 1)`."""
    told = "succeeded" if outcome.success else "failed"
    return told if outcome.reward is None else f"{told} (reward {outcome.reward:g})"


def _lesson(
    run: Run, texts: Sequence[str], gist: Gist, steps: Sequence[int], why: str, key: tuple[str, ...]
) -> Lesson | None:
    openings = [start for words in (12, 10, 8, 6, 5) if (start := gist.opening(words))]
    text = first_fitting(*(start + body for start in openings for body in texts))
    if not text:
        return None
    evidence = (Evidence(run.id, tuple(sorted(set(steps)))),)
    return Lesson(text, "strategic", StrategicDetail(gist.text), why, evidence, key)


def _of_failure(run: Run, calls: Sequence[Call], gist: Gist) -> Lesson | None:
    if not gist.is_action:
        return None
    end = told_outcome(run.trajectory.outcome)
    changes = [c for c in calls if not c.only_reads and not c.failed and not c.ends_the_run]
    changes = [call for call in changes if not _HANDS_OVER.search(call.tool)]
    last = calls[-1]
    if last.failed and not last.refused_by_user:
        error = quoted(told_by(last.error, words=8))
        return _lesson(
            run,
            [f"do not end on a failing {code(last.tool)} ({error}); a run that did {end}."],
            gist,
            [last.number],
            f"The last call, step {last.number}, failed, and the run {end}.",
            (),
        )
    if not changes:
        looked = listed(dict.fromkeys(code(c.tool) for c in calls if not c.failed and c.only_reads))
        if not looked or gist.text.split()[0] in _LOOKING:
            return None
        return _lesson(
            run,
            [f"looking up with {looked} is not enough; a run that changed nothing {end}."],
            gist,
            [call.number for call in calls],
            f"No call of the run changed anything, and it {end}.",
            (),
        )
    final = changes[-1]
    looked_back = [
        c for c in calls if c.number > final.number and c.only_reads and not c.only_thinks
    ]
    if looked_back or _is_written_work(final):
        return None
    return _lesson(
        run,
        [
            f"compare what {code(final.tool)} returns with every wish of the task before ending; "
            f"a run that did not look again {end}.",
            f"check the result of {code(final.tool)} before ending; a run that did not {end}.",
        ],
        gist,
        [final.number],
        f"Step {final.number} was the last that changed something, nothing was looked up after it, "
        f"and the run {end}.",
        ("unchecked", final.tool),
    )


def _is_written_work(call: Call) -> bool:
    """A command or a move in a text world: what it returns is no record to compare."""
    return call.written or bool(call.command)


def _of_restraint(run: Run, calls: Sequence[Call], gist: Gist) -> Lesson | None:
    """Of a run that was asked to change something, changed nothing, and was right."""
    changes = [call for call in calls if not call.only_reads and not call.failed]
    handed_over = [call for call in changes if _HANDS_OVER.search(call.tool)]
    if len(changes) > len(handed_over) or not gist.is_action or gist.text.split()[0] in _LOOKING:
        return None
    looked = listed(dict.fromkeys(code(c.tool) for c in calls if c.only_reads and not c.failed))
    if not looked or any(call.written or call.command for call in calls):
        return None
    after = f" before {code(handed_over[-1].tool)}" if handed_over else ""
    end = told_outcome(run.trajectory.outcome)
    return _lesson(
        run,
        [
            f"look with {looked} first; a run that then changed nothing{after} {end}.",
            f"a run that changed nothing after {looked} {end}.",
        ],
        gist,
        [call.number for call in calls],
        f"The run only looked things up{', then handed over' * bool(handed_over)}, and it {end}.",
        (),
    )


def _of_chain(run: Run, kept: Sequence[Needed], gist: Gist) -> Lesson | None:
    """Of names that were looked up one after the other."""
    calls = [one.call for one in kept]
    tools = {call.tool for call in calls}
    if len(calls) < 2 or len(tools) != 1 or any(c.only_value is None or c.command for c in calls):
        return None
    if not all(call.only_reads for call in calls):
        return None
    given = said_to(run.trajectory).lower()
    known = [_plain(call.only_value or "") in given for call in calls]
    tool = code(calls[0].tool)
    end = told_outcome(run.trajectory.outcome)
    numbers = [call.number for call in calls]
    told = listed(map(str, numbers))
    if all(known):
        body = f"{tool} each name in the question, then compare; a run that did so {end}."
        why = f"Steps {told} looked up names that the task gives, and the run {end}."
        return _lesson(run, [body], gist, numbers, why, ("chain", calls[0].tool, "each"))
    if known[0] and not any(known[1:]):
        body = (
            f"{tool} the name in the question, then {tool} the name that its page gives; a run "
            f"that did so {end}."
        )
        why = (
            f"Step {numbers[0]} looked up a name that the task gives, the next one a name that its "
            f"result gave, and the run {end}."
        )
        return _lesson(run, [body], gist, numbers, why, ("chain", calls[0].tool, "found"))
    return None


def _plain(name: str) -> str:
    return re.sub(r"\s*\([^)]*\)", "", name).strip(" \"'").lower()
