"""How a ranking changes with the confidence weight λ, from 0 to 1.

    score(λ) = (1−λ)·base + λ·confidence

is a straight line for each memory, so all that can happen is that two lines cross.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memory_core.records import KINDS, Kind
from memory_core.retrieval import Retrieval

STEPS = 20
"""Stretches between the weights at which the cut is told."""


@dataclass(frozen=True, slots=True)
class Course:
    """The score of one memory over λ."""

    memory_id: int
    at_0: float
    """Similarity, blended with the lexical score where that has a weight."""
    at_1: float
    """Confidence."""

    def at(self, weight: float) -> float:
        return (1 - weight) * self.at_0 + weight * self.at_1


@dataclass(frozen=True, slots=True)
class Crossing:
    """The λ within (0, 1) above which one memory is ahead of another that led below it."""

    weight: float
    score: float
    """Of both, there."""
    overtaking: int
    """Ids of the two."""
    overtaken: int


@dataclass(frozen=True, slots=True)
class Cut:
    """What the last hit scores over λ: whoever scores less is not in."""

    kind: Kind | None
    """Of the memories that it parts; None for all."""
    weights: tuple[float, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The courses of some memories, where they cross, and the cut of the whole bank."""

    courses: tuple[Course, ...]
    crossings: tuple[Crossing, ...]
    """By ascending λ."""
    cuts: tuple[Cut, ...]
    """One; with `per_kind` one for each kind that has eligible memories."""


def sweep(found: Retrieval, ids: Iterable[int], *, steps: int = STEPS) -> Sweep:
    """Follow memories over λ, all else as it was asked. Raises MemoryNotFoundError."""
    asked = tuple(dict.fromkeys(ids))
    rows = np.array([found.snapshot.row_of(memory_id) for memory_id in asked], dtype=np.int64)
    at_0 = found.scoring.reweighted(0.0).exact(rows)
    at_1 = found.snapshot.columns.confidence[rows]
    courses = tuple(map(Course, asked, at_0.tolist(), at_1.tolist()))
    found_crossings = (_crossing(*pair) for pair in combinations(courses, 2))
    crossings = [crossing for crossing in found_crossings if crossing is not None]
    crossings.sort(key=lambda c: (c.weight, c.overtaking, c.overtaken))
    return Sweep(courses, tuple(crossings), _cuts(found, steps))


def _crossing(one: Course, other: Course) -> Crossing | None:
    lead_at_0, lead_at_1 = one.at_0 - other.at_0, one.at_1 - other.at_1
    if lead_at_0 * lead_at_1 >= 0:
        return None
    weight = lead_at_0 / (lead_at_0 - lead_at_1)
    rising, falling = (one, other) if lead_at_0 < 0 else (other, one)
    return Crossing(weight, rising.at(weight), rising.memory_id, falling.memory_id)


def _cuts(found: Retrieval, steps: int) -> tuple[Cut, ...]:
    settings = found.settings
    kinds: tuple[Kind | None, ...] = (settings.kinds or KINDS) if settings.per_kind else (None,)
    limit = settings.per_kind or settings.limit
    weights = tuple(step / steps for step in range(steps + 1))
    cuts = []
    for kind in kinds:
        scores = []
        for weight in weights:
            scoring = found.scoring.reweighted(weight)
            last = scoring.best(limit, kind)[-1:]
            scores += scoring.exact(last).tolist()
        if scores:
            cuts.append(Cut(kind, weights, tuple(scores)))
    return tuple(cuts)
