"""Clusters of memories in the embedding space, not on the map: the map tears some apart.

HDBSCAN, by the first principal components scaled to length 1: in all 384 dimensions nothing is
dense, and it would leave out nearly everything. Where "excess of mass" makes one cluster of most of
all, as it now and then does, the leaves of the tree are taken instead. Measured by the labels of
MetaTool's queries (2,000 and 10,000) and by the demo's domains: 10 components lose clusters, and 25
win little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.columns import KIND_CODES
from memory_core.compression.clustering import cluster
from memory_core.map_records import ClusterName
from memory_core.projection.fitting import Progress, silent
from memory_core.projection.naming import carried_over
from memory_core.projection.words import labels_of
from memory_core.records import Kind
from memory_core.settings import ClusterSettings
from memory_core.snapshot import Snapshot

DIMENSIONS = 15
"""Principal components in which HDBSCAN looks for dense places."""
CLOSE = 2
"""How near the second of a place must be (itself counts) for it to be dense; with 5, a third more
are left out."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that belong together."""

    number: int
    """From 0, the largest first."""
    ids: tuple[int, ...]
    words: tuple[str, ...]
    """What sets it apart, the most telling first."""
    name: str
    """What a person called it; empty when nobody did."""
    mean_confidence: float
    kinds: dict[Kind, int]
    """Memories of each kind, the most frequent first; so are domains."""
    domains: dict[str, int]

    @property
    def label(self) -> str:
        """Its name, or its first words."""
        return self.name or " · ".join(self.words[:3]) or f"cluster {self.number + 1}"

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """All memories of a snapshot in clusters."""

    settings: ClusterSettings
    ids: NDArray[np.int64]
    """(n,) as in the snapshot."""
    labels: NDArray[np.int64]
    """(n,) number of the cluster; −1 for what belongs to none."""
    clusters: tuple[Cluster, ...]

    @property
    def left_out(self) -> int:
        """Memories that belong to no cluster."""
        return int(np.count_nonzero(self.labels < 0))

    def named(self, names: Sequence[ClusterName]) -> Clustering:
        """The same with the names that people gave."""
        given = carried_over([c.ids for c in self.clusters], names, self.ids.tolist())
        named = (
            replace(cluster, name=name) for cluster, name in zip(self.clusters, given, strict=True)
        )
        return replace(self, clusters=tuple(named))


def clusters(
    snapshot: Snapshot, settings: ClusterSettings | None = None, *, progress: Progress = silent
) -> Clustering:
    """The clusters of a snapshot's unit vectors, the largest first."""
    settings = settings or ClusterSettings()
    found = np.full(len(snapshot), -1, dtype=np.int64)
    if len(snapshot):
        progress("Looking for clusters", 0.0)
        found = METHODS[settings.method](snapshot.vectors, settings)
    labels = _largest_first(found)
    progress("Finding words for them", 0.9)
    words = labels_of(snapshot.texts(), labels)
    return Clustering(
        settings,
        snapshot.ids,
        labels,
        tuple(_cluster(snapshot, labels, number, words[number]) for number in range(len(words))),
    )


def _hdbscan(vectors: NDArray[np.float32], settings: ClusterSettings) -> NDArray[np.int64]:
    """HDBSCAN over the first principal components, scaled to length 1."""
    from sklearn.cluster import HDBSCAN

    n = len(vectors)
    size = settings.minimum_size or smallest_cluster(n)
    if n < max(2 * size, 5):
        return np.full(n, -1, dtype=np.int64)
    reduced = _reduced(vectors)
    labels = np.full(n, -1, dtype=np.int64)
    for selection in ("eom", "leaf"):
        found = HDBSCAN(
            min_cluster_size=size, min_samples=CLOSE, cluster_selection_method=selection, copy=True
        )
        labels = np.asarray(found.fit(reduced).labels_, dtype=np.int64)
        if 2 * np.bincount(labels + 1)[1:].max(initial=0) <= n:
            break
    return labels


def smallest_cluster(size: int) -> int:
    """The fewest memories of a cluster where nobody says."""
    return max(5, round(size / 200))


def _reduced(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    centred = vectors.astype(np.float64)
    centred -= centred.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    flat = centred @ axes[:, ::-1][:, :DIMENSIONS]
    lengths = np.linalg.norm(flat, axis=1, keepdims=True)
    reduced: NDArray[np.float64] = flat / np.where(lengths == 0, 1.0, lengths)
    return reduced


def _kmeans(vectors: NDArray[np.float32], settings: ClusterSettings) -> NDArray[np.int64]:
    return cluster(vectors, min(settings.count or usual_count(len(vectors)), len(vectors)))


def usual_count(size: int) -> int:
    """How many clusters k-means makes where nobody says: √(n/2)."""
    return max(1, round(float(np.sqrt(size / 2))))


METHODS = {"hdbscan": _hdbscan, "kmeans": _kmeans}


def _largest_first(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels renumbered from 0 by size, of equals by the first member; −1 stays."""
    numbers, first, sizes = np.unique(found[found >= 0], return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    renumbered = np.full(int(numbers.max(initial=-1)) + 2, -1, dtype=np.int64)  # the last for −1
    renumbered[numbers[order]] = np.arange(len(order))
    labels: NDArray[np.int64] = renumbered[found]
    return labels


def _cluster(
    snapshot: Snapshot, labels: NDArray[np.int64], number: int, words: tuple[str, ...]
) -> Cluster:
    rows = np.flatnonzero(labels == number)
    columns = snapshot.columns
    of_kind = np.bincount(columns.kind[rows], minlength=len(KIND_CODES))
    codes = Counter(columns.domain[rows].tolist())
    domains = {snapshot.pool.domains.value(code): count for code, count in codes.items()}
    return Cluster(
        number=number,
        ids=tuple(snapshot.ids[rows].tolist()),
        words=words,
        name="",
        mean_confidence=float(columns.confidence[rows].mean()),
        kinds={
            kind: int(of_kind[code])
            for kind, code in sorted(KIND_CODES.items(), key=lambda item: -of_kind[item[1]])
            if of_kind[code]
        },
        domains=dict(sorted(domains.items(), key=lambda item: (-item[1], item[0]))),
    )
