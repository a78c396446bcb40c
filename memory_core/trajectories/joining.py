"""Several readings as one; a run that was split over files is put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memory_core.run_records import Step, Trajectory
from memory_core.trajectories.masked import Masked

_RAW = "raw text"
_SESSIONS = ("ATIF", "Claude Code", "Codex CLI", "Gemini CLI", "OpenClaw / pi")
"""Formats in which a run's name is that of a session, the same in each of its files."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, without secrets."""

    trajectories: tuple[Trajectory, ...]
    format: str
    """One of TRAJECTORY_FORMATS."""
    warnings: tuple[str, ...] = ()
    """What was left out, mended or guessed, each in a sentence."""
    masked: tuple[Masked, ...] = ()
    """The secrets that were masked."""


def joined(readings: Iterable[Reading]) -> Reading:
    """Several readings as one, in the format of the first that is more than raw text."""
    known = list(readings)
    kept: list[Trajectory] = []
    masked: list[Masked] = []
    for reading in known:
        places = []
        shifts = []
        for run in reading.trajectories:
            place = _same_session(run, kept) if reading.format in _SESSIONS else None
            shift = 0
            if place is None:
                place = len(kept)
                kept.append(run)
            else:
                kept[place], shift = _continued(kept[place], run)
            places.append(place)
            shifts.append(shift)
        for told in reading.masked:
            steps = tuple(step + shifts[told.trajectory] for step in told.steps)
            masked.append(Masked(places[told.trajectory], told.kind, told.count, steps))
    names = [one.format for one in known if one.format != _RAW] or [_RAW]
    warnings = dict.fromkeys(text for one in known for text in one.warnings)
    return Reading(tuple(kept), names[0], tuple(warnings), tuple(masked))


def _same_session(run: Trajectory, kept: Sequence[Trajectory]) -> int | None:
    same = (i for i, other in enumerate(kept) if (other.name, other.agent) == (run.name, run.agent))
    return next(same, None) if run.name else None


def _continued(first: Trajectory, second: Trajectory) -> tuple[Trajectory, int]:
    """The run and what followed, and by how much the numbers of the latter's steps move.

    A session that was resumed may tell the earlier part again.
    """
    if second.steps[: len(first.steps)] == first.steps:
        steps: tuple[Step, ...] = second.steps
        shift = 0
    else:
        shift = len(first.steps)
        steps = (*first.steps, *(replace(s, number=s.number + shift) for s in second.steps))
    last = second.outcome
    told = last.success is not None or last.reward is not None or last.reason
    return replace(
        first,
        steps=steps,
        outcome=last if told else first.outcome,
        model=first.model or second.model,
        children=tuple(dict.fromkeys((*first.children, *second.children))),
    ), shift
