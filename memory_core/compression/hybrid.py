"""Hybrid: drop what is least useful, by confidence, age and distance together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.compression.remaining import Remaining
from memory_core.compression.selection import (
    Selection,
    excess,
    keep_all_but,
    nothing_to_do,
    worth_order,
)
from memory_core.compression.temporal import time_weights
from memory_core.neighbours import distinct
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class UtilityReasons:
    """U = α·c^β·w^γ·d^δ of each memory: when it was dropped, or in the end for what is kept."""

    alpha: float
    confidence: NDArray[np.float64]
    """c^β."""
    weight: NDArray[np.float64]
    """w^γ."""
    distance: NDArray[np.float64]
    """d^δ; infinite where there was no other memory."""
    utility: NDArray[np.float64]
    """The product of the four."""
    nearest_distance: NDArray[np.float64]
    """d, the L2 distance to the nearest other memory."""
    neighbour: NDArray[np.int64]
    """Id of the memory that d was measured to; 0 where there was none."""
    order: NDArray[np.int64]
    """1 for the first that was dropped; 0 for what is kept."""

    def sentence(self, row: int) -> str:
        when = f", dropped as number {self.order[row]}" if self.order[row] else ""
        return (
            f"Utility {self.utility[row]:.3g} = {self.alpha:.3g} × {self.confidence[row]:.3g} "
            f"(confidence) × {self.weight[row]:.3g} (age) × {self.distance[row]:.3g} (distance "
            f"{self.nearest_distance[row]:.3g} to memory {self.neighbour[row]}){when}."
        )


def hybrid(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """Drop the unpinned in ascending utility, down to the capacity; of equals the less confident,
    less used, older and later one first.

    With `rescore`, d is the distance to the nearest of those that are left; otherwise it is
    measured once, so that of two twins both go.
    """
    count = excess(snapshot, settings)
    pruning = _Pruning(snapshot, settings)
    if settings.rescore:
        pruning.one_by_one(count)
    else:
        pruning.at_once(count)
    kept = keep_all_but(snapshot, pruning.dropped)
    notes = () if count else nothing_to_do(snapshot, settings)
    if not settings.rescore:
        notes += _lost_twins(snapshot, kept)
    return Selection(kept, pruning.reasons(), notes)


class _Pruning:
    """The memories in ascending worth, so that the first of equal utilities is the one to go."""

    def __init__(self, snapshot: Snapshot, settings: CompressionSettings) -> None:
        self._settings = settings
        self._order = worth_order(snapshot)
        columns = snapshot.columns.take(self._order)
        self._ids, self._free = columns.ids, ~columns.pinned
        self._confidence = columns.confidence**settings.beta
        self._weight = time_weights(snapshot, settings.decay)[self._order] ** settings.gamma
        self._remaining = Remaining(snapshot.vectors[self._order])
        self._distance = self._remaining.distances()
        self._neighbour = np.full(len(columns), -1, dtype=np.int64)
        self._gone: list[int] = []

    @property
    def dropped(self) -> NDArray[np.int64]:
        """Rows of the snapshot, in the order in which they went."""
        return self._order[self._gone]

    def _utility(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            fixed = self._settings.alpha * self._confidence[rows] * self._weight[rows]
            utility = fixed * self._distance[rows] ** self._settings.delta
        # An infinite weight at distance 0 is worth nothing, as every twin is.
        return np.where(self._distance[rows] == 0, 0.0, utility)

    def at_once(self, count: int) -> None:
        """Drop by the distances as they are."""
        self._note_neighbours(range(len(self._order)))
        free = np.flatnonzero(self._free)
        self._gone = free[np.argsort(self._utility(free), kind="stable")][:count].tolist()

    def one_by_one(self, count: int) -> None:
        """Drop the least useful, and measure again those that it was nearest to."""
        left = self._free.copy()
        utility = self._utility(np.arange(len(left)))
        utility[~left] = np.inf
        for _ in range(count):
            row = int(utility.argmin())
            if not left[row]:  # utilities of the others are infinite
                row = int(np.flatnonzero(left)[0])
            self._note_neighbours([row])
            self._gone.append(row)
            left[row], utility[row] = False, np.inf
            moved = self._remaining.drop(row)
            self._distance[moved] = self._remaining.distances(moved)
            moved = moved[left[moved]]
            utility[moved] = self._utility(moved)
        self._note_neighbours(np.flatnonzero(~np.isin(np.arange(len(left)), self._gone)).tolist())

    def _note_neighbours(self, rows: Iterable[int]) -> None:
        for row in rows:
            self._neighbour[row] = self._remaining.neighbour(row)

    def reasons(self) -> UtilityReasons:
        """The columns, back in the order of the snapshot's rows."""
        back = np.argsort(self._order)
        place = np.zeros(len(back), dtype=np.int64)
        place[self._gone] = np.arange(1, len(self._gone) + 1)
        neighbour = np.where(self._neighbour < 0, 0, self._ids[self._neighbour])
        return UtilityReasons(
            alpha=self._settings.alpha,
            confidence=self._confidence[back],
            weight=self._weight[back],
            distance=self._distance[back] ** self._settings.delta,
            utility=self._utility(np.arange(len(back)))[back],
            nearest_distance=self._distance[back],
            neighbour=neighbour[back],
            order=place[back],
        )


def _lost_twins(snapshot: Snapshot, kept: NDArray[np.bool_]) -> tuple[str, ...]:
    groups = distinct(snapshot.vectors)
    stay = np.bincount(groups.group[kept], minlength=len(groups.count))
    lost = int(np.count_nonzero((groups.count > 1) & (stay == 0)))
    if not lost:
        return ()
    which = "1 lesson is lost with every copy of it" if lost == 1 else (
        f"{lost} lessons are lost with every copy of them"
    )  # fmt: skip
    return (f"{which}: by the literal rule copies are 0 apart, and so of utility 0.",)
