"""Diversity: of each cluster of similar memories, keep the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.compression.clustering import cluster
from memory_core.compression.selection import Selection, excess, nothing_to_do
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ClusterReasons:
    """Each memory's cluster, and the one that stays for all of it."""

    cluster: NDArray[np.int64]
    """From 0; −1 for the pinned, and where there is no room for a cluster."""
    size: NDArray[np.int64]
    """Memories in its cluster; 0 where it has none."""
    winner: NDArray[np.int64]
    """Id of the memory of its cluster that stays; 0 where it has none."""
    confidence: NDArray[np.float64]
    winner_confidence: NDArray[np.float64]

    def sentence(self, row: int) -> str:
        if self.cluster[row] < 0:
            return "The pinned memories leave no room."
        if self.size[row] == 1:
            return f"Alone in cluster {self.cluster[row]}."
        own, best = self.confidence[row], self.winner_confidence[row]
        return (
            f"In cluster {self.cluster[row]} of {self.size[row]}, memory {self.winner[row]} stays "
            f"with confidence {best:.3g}; this one has {own:.3g}"
            + (" as well, and is less used, older or later." if own == best else ".")
        )


def diversity(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """K-means on the unit vectors of the unpinned, K = capacity − pinned; of each cluster keep the
    highest confidence (of equals the more used, then the newest, then the lowest id).
    """
    c = snapshot.columns
    n = len(c)
    labels = np.full(n, -1, dtype=np.int64)
    free = np.flatnonzero(~c.pinned)
    notes: tuple[str, ...] = ()
    if excess(snapshot, settings):
        room = settings.capacity - (n - len(free))
        labels[free] = cluster(snapshot.vectors[free], room)
        notes = _notes(room, int(labels.max()) + 1, len(free))
    else:
        labels[free] = np.arange(len(free))
        notes = nothing_to_do(snapshot, settings)
    winner = _winners(snapshot, labels)
    kept = c.pinned | (winner == np.arange(n))
    inside = labels >= 0
    size = np.where(inside, np.bincount(labels[inside], minlength=1)[labels], 0)
    reasons = ClusterReasons(
        cluster=labels,
        size=size,
        winner=np.where(inside, c.ids[winner], 0),
        confidence=c.confidence,
        winner_confidence=np.where(inside, c.confidence[winner], np.nan),
    )
    return Selection(kept, reasons, notes)


def _winners(snapshot: Snapshot, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) the row of each row's cluster that stays; −1 outside of clusters."""
    c = snapshot.columns
    # The best of each cluster is the first of its run.
    order = np.lexsort((np.arange(len(c)), -c.epoch, -c.usage_count, -c.confidence, labels))
    order = order[labels[order] >= 0]
    best = order[np.flatnonzero(np.diff(labels[order], prepend=-1))]
    return np.where(labels >= 0, best[labels] if len(best) else -1, -1)


def _notes(room: int, clusters: int, free: int) -> tuple[str, ...]:
    if room == 0:
        return (f"The pinned memories fill the capacity; the other {free} go.",)
    if clusters < room:
        return (
            f"Only {clusters} of the {free} vectors differ, so there are {clusters} clusters for "
            f"{room} places.",
        )
    return ()
