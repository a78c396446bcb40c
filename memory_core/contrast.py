"""One task under two settings: what moves, and how far the two rankings agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_core.metrics import overlap_at, rank_biased_overlap
from memory_core.records import Memory
from memory_core.retrieval import Retrieval

DEPTH = 50
"""Ranks that rank-biased overlap looks at: all but 0.5 % of its weight."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands in one ranking of all that is eligible."""

    rank: int
    score: float
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Move:
    """A memory that one of two retrievals found, or both."""

    memory: Memory
    one: Place | None
    """None where it is not eligible. So is `other`."""
    other: Place | None

    @property
    def steps(self) -> int | None:
        """Places that it rises (above 0) or falls from one to the other; None without both."""
        return None if self.one is None or self.other is None else self.one.rank - self.other.rank


@dataclass(frozen=True, slots=True)
class Contrast:
    """What separates two retrievals."""

    moves: tuple[Move, ...]
    """By their rank in the first, then in the other."""
    limit: int
    """Hits of the longer of the two."""
    overlap: float
    """Share of the hits in common."""
    rank_biased_overlap: float
    """RBO_EXT, p 0.9, of the first 50 by score."""


def contrast(one: Retrieval, other: Retrieval) -> Contrast:
    """Compare two retrievals from the same snapshot."""
    ids = [[hit.memory.id for hit in found.hits] for found in (one, other)]
    limit = max(len(ids[0]), len(ids[1]))
    memories = {hit.memory.id: hit.memory for found in (one, other) for hit in found.hits}
    moves = [
        Move(memory, _place(one, memory.id, ids[0]), _place(other, memory.id, ids[1]))
        for memory in memories.values()
    ]
    return Contrast(
        moves=tuple(sorted(moves, key=_order)),
        limit=limit,
        overlap=overlap_at(ids[0], ids[1], limit),
        rank_biased_overlap=rank_biased_overlap(_first(one), _first(other)),
    )


def _place(found: Retrieval, memory_id: int, hits: list[int]) -> Place | None:
    scoring, row = found.scoring, found.snapshot.row_of(memory_id)
    if scoring.rows is not None and row not in scoring.rows:
        return None
    score = scoring.parts(np.array([row]))[0].total
    return Place(scoring.rank(row), score, memory_id in hits)


def _order(move: Move) -> tuple[float, float]:
    none = float("inf")
    return (move.one.rank if move.one else none, move.other.rank if move.other else none)


def _first(found: Retrieval) -> list[int]:
    ids: list[int] = found.snapshot.ids[found.scoring.best(DEPTH)].tolist()
    return ids
