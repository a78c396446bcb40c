"""Procedures: the shortest sequence of calls by which a run got where it did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from memory_core.records import Evidence, ProceduralDetail
from memory_core.reflection.calls import Call
from memory_core.reflection.context import Run
from memory_core.reflection.gists import Gist
from memory_core.reflection.labels import is_telling, short_step, step_of
from memory_core.reflection.lessons import Lesson
from memory_core.reflection.phrases import first_fitting
from memory_core.reflection.slicing import Needed, is_text_world, needed
from memory_core.run_records import Trajectory

FEWEST, MOST = 3, 12
"""Steps of a procedure that is worth keeping, and that can be followed."""
_TELLING = 0.5
"""Least share of the steps that tell what is done."""
_EDITS = re.compile(r"edit|write|replace|patch|^create$", re.IGNORECASE)
_SLOT = re.compile(r"\{[^{}]*\}")
_LEADS_TO_PLACE = re.compile(r"\b(?:from|to|in|on|in/on|with|open|close|at|under)\s*$")


def kept_calls(run: Run, calls: Sequence[Call]) -> tuple[Needed, ...]:
    """The calls that a run's result rests on."""
    return needed(calls, ending_of(run.trajectory), said_to(run.trajectory))


def procedure(run: Run, calls: Sequence[Call], kept: Sequence[Needed], gist: Gist) -> Lesson | None:
    """The procedure of a run that did not fail; None where there is none to tell."""
    outcome = run.trajectory.outcome
    if outcome.success is False or not gist.text or not kept:
        return None
    if outcome.success is None and _ended_badly(calls):
        return None
    given = said_to(run.trajectory)
    steps = tuple(step for step, _ in groupby(step_of(one.call, given) for one in kept))
    telling = [one for one in kept if is_telling(one.call)]
    short = tuple(dict.fromkeys(short_step(one.call, given) for one in telling))
    if len(short) < FEWEST or len(steps) > MOST or len(telling) < _TELLING * len(kept):
        return None
    edits = [one for one in kept if _EDITS.search(one.call.tool)]
    if edits and edits[-1] not in telling:
        return None  # without the change itself, the rest leads nowhere
    text = _text(telling, gist, given)
    if not text:
        return None
    success = outcome.success is True
    return Lesson(
        text,
        "procedural",
        ProceduralDetail(steps, _preconditions(kept[0].call, given)),
        _rationale(calls, kept, success),
        (Evidence(run.id, tuple(one.call.number for one in kept)),),
        ("procedure", *(_SLOT.sub("{}", short_step(one.call, given)) for one in kept)),
        usage_count=1,
        success_count=int(success),
        weight=float(success),
    )


def generalized(lessons: Iterable[Lesson], joined: Lesson) -> Lesson:
    """Procedures of several runs as one: where their steps have different slots, a common one."""
    details = [one.detail for one in lessons if isinstance(one.detail, ProceduralDetail)]
    first = joined.detail
    if not isinstance(first, ProceduralDetail):
        return joined
    alike = [one for one in details if len(one.steps) == len(first.steps)]
    steps = tuple(
        _common(step, [one.steps[place] for one in alike]) for place, step in enumerate(first.steps)
    )
    known = set(first.preconditions).intersection(*(one.preconditions for one in details))
    detail = ProceduralDetail(steps, tuple(one for one in first.preconditions if one in known))
    return replace(joined, detail=detail)


def _common(step: str, others: Sequence[str]) -> str:
    """A step, with the slots in which others differ called an object or a place."""
    slots = [_SLOT.findall(other) for other in (step, *others)]
    if len({len(one) for one in slots}) != 1 or len({_SLOT.sub("{}", s) for s in others}) != 1:
        return step
    differs = [len(set(names)) > 1 for names in zip(*slots, strict=True)]
    places = iter(differs)

    def named(found: re.Match[str]) -> str:
        if not next(places):
            return found[0]
        return "{place}" if _LEADS_TO_PLACE.search(step[: found.start()]) else "{object}"

    return _SLOT.sub(named, step)


def said_to(trajectory: Trajectory) -> str:
    """The task and what the user said, bounded."""
    said = [step.text[:4_000] for step in trajectory.steps if step.role == "user"]
    return "\n".join([trajectory.task[:8_000], *said[:40]])


def ending_of(trajectory: Trajectory) -> str:
    """What the agent said last."""
    texts = (s.text for s in reversed(trajectory.steps) if s.role == "assistant" and s.text)
    return next(texts, "")


def _ended_badly(calls: Sequence[Call]) -> bool:
    doing = [call for call in calls if not call.ends_the_run and not call.only_thinks]
    return not doing or all(call.failed for call in doing[-2:])


def _rationale(calls: Sequence[Call], kept: Sequence[Needed], success: bool) -> str:
    left_out = len(calls) - len(kept)
    failed = sum(call.failed for call in calls)
    told = f"The run made {len(calls)} calls" + (f", of which {failed} failed" if failed else "")
    told += f"; {len(kept)} of them carry its result." if left_out else ", all of them needed."
    return told + (
        " It succeeded."
        if success
        else " The log does not say how it ended, so it counts as no success yet."
    )


def _text(kept: Sequence[Needed], gist: Gist, given: str) -> str:
    """`To …: a, b, then c`; where that is too long, less of the task, or fewer of the steps."""
    whole = [(short_step(one.call, given), one.matters) for one in kept]
    may_drop = not is_text_world([one.call for one in kept])
    found: list[tuple[int, str]] = []
    for less, words in enumerate((12, 10, 8, 6, 5)):
        start = gist.opening(words)
        parts = list(whole)
        while start and len(parts) >= FEWEST:
            if text := first_fitting(start + _in_order([step for step, _ in parts])):
                found.append((2 * (len(whole) - len(parts)) + less, text))
                break
            if not may_drop:
                break
            reads = [place for place, (_, matters) in enumerate(parts[:-1]) if not matters]
            del parts[reads[0] if reads else 0]
    return min(found)[1] if found else ""


def _in_order(steps: Sequence[str]) -> str:
    """`call a, b, then c.`; each step once, the last one last."""
    last = steps[-1]
    said = [*dict.fromkeys(step for step in steps if step != last), last]
    verb = "call " if said[0].startswith("`") else ""
    return f"{verb}{', '.join(said[:-1])}, then {last}."


def _preconditions(first: Call, given: str) -> tuple[str, ...]:
    """What must be known before the first step."""
    known = [
        re.sub(r"\.\d+(?=\.|$)", "", name).rsplit(".", 1)[-1].replace("_", " ")
        for name, value in first.values.items()
        if name and not first.command and 1 < len(value) <= 60
        if value in given and re.search(r"\d|_", value)
    ]
    return tuple(f"The {name} is known." for name in dict.fromkeys(known))
