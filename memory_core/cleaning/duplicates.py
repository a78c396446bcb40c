"""Near duplicates: the groups that memories form at a similarity threshold.

Two memories belong together when their cosine is at least the threshold, and so do all that are
joined through others: the connected components. Groups at any threshold come from one maximum
spanning forest, which is built block by block; n² numbers are never in memory, nor are the edges
of a bank that is one big cluster.

Two that a person called distinct are not joined with each other. A third one may still join them,
if it is close to both: then they stay in one group, which names them in `apart`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_core.cleaning.forest import Edges, connected, spanning_forest
from memory_core.cleaning.likeness import NEAR
from memory_core.neighbours import blocks, cosines
from memory_core.operations import Merge
from memory_core.records import Memory
from memory_core.settings import SettingsError
from memory_core.snapshot import Snapshot

FLOOR = 0.8
"""Lowest threshold that pairs are kept for, unless another is asked for."""


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two memories, by ascending id, and their cosine."""

    first: int
    second: int
    similarity: float

    @property
    def ids(self) -> tuple[int, int]:
        return self.first, self.second


@dataclass(frozen=True)
class DuplicateGroup:
    """Memories that say almost the same."""

    ids: tuple[int, ...]
    """Ascending; two or more."""
    snapshot: Snapshot = field(repr=False, compare=False)
    apart: tuple[tuple[int, int], ...] = ()
    """Pairs in it that a person called distinct, and that others join."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def memories(self) -> tuple[Memory, ...]:
        return tuple(self.snapshot.by_id(memory_id) for memory_id in self.ids)

    @cached_property
    def tightest(self) -> SimilarPair:
        """The two of all that are most similar."""
        return self._extremes[0]

    @cached_property
    def loosest(self) -> SimilarPair:
        """The two of all that are least similar; below the threshold where others join them."""
        return self._extremes[1]

    @cached_property
    def _extremes(self) -> tuple[SimilarPair, SimilarPair]:
        rows = np.array([self.snapshot.row_of(memory_id) for memory_id in self.ids])
        vectors = self.snapshot.vectors[rows]
        best, worst = (-np.inf, 0, 1), (np.inf, 0, 1)
        for block in blocks(len(vectors), len(vectors)):
            products = vectors[block] @ vectors.T
            own = np.arange(len(products))
            products[own, own + block.start] = -np.inf
            best = max(best, _cell(int(products.argmax()), block, products))
            products[own, own + block.start] = np.inf
            worst = min(worst, _cell(int(products.argmin()), block, products))
        return self._pair(vectors, *best[1:]), self._pair(vectors, *worst[1:])

    def _pair(self, vectors: NDArray[np.float32], one: int, other: int) -> SimilarPair:
        first, second = sorted((one, other))
        exact = cosines(vectors, np.array([first]), vectors, np.array([second]))
        return SimilarPair(self.ids[first], self.ids[second], float(exact[0]))

    def draft(self) -> Merge:
        """A merge of all into one, with the text of the most confident; to be edited."""
        leader = most_confident(self.memories)
        return Merge(
            self.ids,
            leader.text,
            rationale=(
                f"{len(self)} near copies, from {self.loosest.similarity:.2f} to "
                f"{self.tightest.similarity:.2f} alike; the text is that of memory {leader.id}."
            ),
        )


def _cell(place: int, block: slice, products: NDArray[np.float32]) -> tuple[float, int, int]:
    """What stands in one place of a block of products, and for which two rows."""
    row, column = divmod(place, products.shape[1])
    return float(products[row, column]), row + block.start, column


def most_confident(memories: Iterable[Memory]) -> Memory:
    """The one whose text a merge takes: the highest confidence, then usage, then the oldest."""
    return min(memories, key=lambda m: (-m.confidence, -m.usage_count, m.id < 0, abs(m.id)))


@dataclass(frozen=True, slots=True)
class NearPairs:
    """What joins the memories of a snapshot, for every threshold from `floor` on."""

    snapshot: Snapshot
    floor: float
    edges: Edges
    """A maximum spanning forest over the rows, the most similar first."""
    distinct: tuple[tuple[int, int], ...]
    """Pairs of ids that were not to be joined."""

    def counts(self, threshold: float) -> GroupCounts:
        """How many groups there are at a threshold, and memories in them; in milliseconds.

        Raises SettingsError below the floor.
        """
        sizes = np.unique(self._labels(threshold), return_counts=True)[1]
        return GroupCounts(int((sizes > 1).sum()), int(sizes[sizes > 1].sum()))

    def groups(self, threshold: float) -> tuple[DuplicateGroup, ...]:
        """The groups at a threshold, the largest first, then by their first id."""
        labels = self._labels(threshold)
        order = np.argsort(labels, kind="stable")
        ends = np.flatnonzero(np.diff(labels[order])) + 1
        runs = [run for run in np.split(order, ends) if len(run) > 1]
        ids = sorted(
            (tuple(self.snapshot.ids[run].tolist()) for run in runs),
            key=lambda group: (-len(group), group[0] < 0, abs(group[0])),
        )
        return tuple(DuplicateGroup(group, self.snapshot, self._apart(group)) for group in ids)

    def _labels(self, threshold: float) -> NDArray[np.int64]:
        if threshold < self.floor:
            raise SettingsError(
                f"These pairs were collected from a similarity of {self.floor} on; for "
                f"{threshold}, collect them anew."
            )
        kept = self.edges.take(self.edges.weight >= threshold)
        return connected(len(self.snapshot), kept)

    def _apart(self, group: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        members = set(group)
        return tuple(pair for pair in self.distinct if members.issuperset(pair))


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """How much a threshold joins."""

    groups: int
    memories: int
    """In all groups together."""


def near_pairs(
    snapshot: Snapshot, floor: float = FLOOR, *, distinct: Iterable[tuple[int, int]] = ()
) -> NearPairs:
    """What joins the memories of a snapshot at any threshold from `floor` on.

    `distinct` names pairs of ids that are no duplicates; ids that are not there do not matter.
    Raises SettingsError unless 0 < floor <= 1.
    """
    if not 0 < floor <= 1:
        raise SettingsError(f"A similarity to join memories from lies in (0, 1]; it was {floor}.")
    pairs = tuple(sorted({_ascending(pair) for pair in distinct if pair[0] != pair[1]}))
    rows = [
        (snapshot.row_of(a), snapshot.row_of(b))
        for a, b in pairs
        if a in snapshot and b in snapshot
    ]
    edges = spanning_forest(snapshot.vectors, floor, cut=rows)
    return NearPairs(snapshot, floor, edges, pairs)


def _ascending(pair: tuple[int, int]) -> tuple[int, int]:
    first, second = pair
    return (first, second) if first <= second else (second, first)


def duplicate_groups(
    snapshot: Snapshot, threshold: float = NEAR, *, distinct: Iterable[tuple[int, int]] = ()
) -> tuple[DuplicateGroup, ...]:
    """The groups of near duplicates at a threshold, the largest first."""
    return near_pairs(snapshot, threshold, distinct=distinct).groups(threshold)
