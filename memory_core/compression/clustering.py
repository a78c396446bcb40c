"""K-means on unit vectors: Ward's tree gives the start, Lloyd's iterations the optimum.

Ward linkage merges, again and again, the two clusters whose union adds least to the inertia, here
only along a graph of nearest neighbours. Where clusters are small it starts K-means much better,
and sooner, than K random points do (K-means++ reads all vectors once for each of K).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from memory_core.neighbours import blocks, distinct, neighbour_lists

LINKS = 8
"""Nearest neighbours that each cluster may merge with."""
ITERATIONS = 100


def cluster(vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """(n,) the cluster, from 0, of each of `vectors` (n, d); min(k, distinct vectors) of them."""
    if k <= 0 or not len(vectors):
        return np.full(len(vectors), -1, dtype=np.int64)
    groups = distinct(vectors)
    points, mass = np.ascontiguousarray(vectors[groups.first]), groups.count.astype(np.float32)
    if k >= len(points):
        return groups.group
    labels = _lloyd(points, mass, _ward(points, mass, k), k)
    return labels[groups.group]


# -- Ward -----------------------------------------------------------------------------------------


def _ward(points: NDArray[np.float32], mass: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """(n,) labels of k clusters of distinct points of some mass."""
    forest = _Forest(points, mass)
    while forest.size > k:
        forest.link()
        forest.merge(k)
    return forest.labels()


class _Forest:
    """Clusters that merge. Each lives in the slot of one of its points."""

    def __init__(self, points: NDArray[np.float32], mass: NDArray[np.float32]) -> None:
        self.size = len(points)
        self._centre = points.copy()
        self._mass = mass.copy()
        self._parent = np.arange(len(points))
        self._merges = [0] * len(points)
        """How often a slot has changed; −1 when it was merged into another."""
        self._linked: list[set[int]] = [set() for _ in points]
        self._heap: list[tuple[float, int, int, int, int]] = []

    def link(self) -> None:
        """Join each cluster with its nearest ones. Again when parts of the graph stand alone."""
        slots = np.flatnonzero(np.array(self._merges) >= 0)
        lists = neighbour_lists(self._centre[slots], min(LINKS, len(slots) - 1))
        of = np.repeat(slots, np.diff(lists.starts))
        others = slots[lists.columns]
        pairs = np.unique(np.sort(np.stack([of, others], axis=1), axis=1), axis=0)
        for a, b in pairs.tolist():
            self._linked[a].add(b)
            self._linked[b].add(a)
        costs = self._costs(pairs[:, 0], pairs[:, 1]).tolist()
        self._heap = [
            (cost, a, b, self._merges[a], self._merges[b])
            for cost, (a, b) in zip(costs, pairs.tolist(), strict=True)
        ]
        heapify(self._heap)

    def _costs(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
        """What merging each pair would add to the inertia."""
        result = np.empty(len(a), dtype=np.float32)
        for part in blocks(len(a), self._centre.shape[1]):
            gap = self._centre[a[part]] - self._centre[b[part]]
            m, o = self._mass[a[part]], self._mass[b[part]]
            result[part] = np.einsum("ij,ij->i", gap, gap) * (m * o / (m + o))
        return result

    def merge(self, k: int) -> None:
        """Merge the cheapest pairs until k clusters are left, or no two are linked."""
        heap, merges = self._heap, self._merges
        while heap and self.size > k:
            _, a, b, at_a, at_b = heappop(heap)
            if merges[a] != at_a or merges[b] != at_b:
                continue
            self._join(a, b)
            around = np.fromiter(self._linked[a], dtype=np.int64)
            around.sort()
            costs = self._costs(np.full(len(around), a), around).tolist()
            for other, cost in zip(around.tolist(), costs, strict=True):
                low, high = (a, other) if a < other else (other, a)
                heappush(heap, (cost, low, high, merges[low], merges[high]))

    def _join(self, a: int, b: int) -> None:
        total = self._mass[a] + self._mass[b]
        self._centre[a] += (self._centre[b] - self._centre[a]) * (self._mass[b] / total)
        self._mass[a] = total
        self._parent[b] = a
        self._merges[a] += 1
        self._merges[b] = -1
        self.size -= 1
        for other in self._linked[b]:
            self._linked[other].discard(b)
            if other != a:
                self._linked[other].add(a)
                self._linked[a].add(other)
        self._linked[b] = set()

    def labels(self) -> NDArray[np.int64]:
        """(n,) cluster of each point, numbered by their first points."""
        root = self._parent
        while not np.array_equal(root, root[root]):
            root = root[root]
        return np.unique(root, return_inverse=True)[1].astype(np.int64)


# -- Lloyd ----------------------------------------------------------------------------------------


def _lloyd(
    points: NDArray[np.float32], mass: NDArray[np.float32], labels: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """K-means from a start, until no point moves. Only what can have changed is measured again:
    points of a cluster that changed against all centres, the others against changed centres.
    """
    labels = labels.copy()
    changed = np.ones(k, dtype=bool)
    for _ in range(ITERATIONS):
        centres = _centres(points, mass, labels, k)
        before = labels.copy()
        own = changed[labels]
        everything, some = np.arange(k), np.flatnonzero(changed)
        _assign(points, centres, labels, np.flatnonzero(own), everything)
        _assign(points, centres, labels, np.flatnonzero(~own), some)
        _fill(points, centres, labels, k)
        moved = before != labels
        if not moved.any():
            break
        changed = np.zeros(k, dtype=bool)
        changed[before[moved]] = changed[labels[moved]] = True
    return labels


def _centres(
    points: NDArray[np.float32], mass: NDArray[np.float32], labels: NDArray[np.int64], k: int
) -> NDArray[np.float32]:
    """(k, d) the mean of each cluster."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(k))
    sums = np.add.reduceat(points[order] * mass[order, None], starts, axis=0)
    masses = np.bincount(labels, weights=mass, minlength=k).astype(np.float32)
    means: NDArray[np.float32] = (sums / masses[:, None]).astype(np.float32, copy=False)
    return means


def _assign(
    points: NDArray[np.float32],
    centres: NDArray[np.float32],
    labels: NDArray[np.int64],
    rows: NDArray[np.int64],
    among: NDArray[np.int64],
) -> None:
    """Give each of some rows the nearest of some centres, where that is nearer than its own."""
    if not len(rows) or not len(among):
        return
    half = (centres * centres).sum(axis=1) / 2
    some, halves = centres[among], half[among]
    for block in blocks(len(rows), len(among)):
        part = rows[block]
        products = points[part] @ some.T
        products -= halves
        best = products.argmax(axis=1)
        own = np.einsum("ij,ij->i", points[part], centres[labels[part]]) - half[labels[part]]
        nearer = products[np.arange(len(part)), best] > own + 1e-6
        labels[part[nearer]] = among[best[nearer]]


def _fill(
    points: NDArray[np.float32], centres: NDArray[np.float32], labels: NDArray[np.int64], k: int
) -> None:
    """Give each empty cluster the point that lies farthest from its centre."""
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0).tolist():
        gap = points - centres[labels]
        far = np.einsum("ij,ij->i", gap, gap)
        far[sizes[labels] < 2] = -1.0
        taken = int(far.argmax())
        sizes[labels[taken]] -= 1
        labels[taken], sizes[empty] = empty, 1
        centres[empty] = points[taken]
