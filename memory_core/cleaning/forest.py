"""The maximum spanning forest of all pairs of vectors above a similarity.

At any threshold, its edges join exactly what all pairs would join, and there are fewer of them than
vectors. Pairs come block by block, and one that the forest joins more closely anyway is dropped at
once, so that a bank which is one big cluster needs no more memory than another.

Products are of float32: a pair within 0.00005 of a threshold may fall to either side of it. Equal
vectors are exactly 1 alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.neighbours import cosines, distinct
from memory_core.scoring import slack

_BLOCK = 2**21
"""Products in one block: 8 MB, and ten times that for the pairs of a block that all count."""
_HELD = 2**20
"""Edges that are collected before they are thinned out to a forest."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs of rows, the lower one first, with their cosine."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Edges:
        return Edges(self.first[chosen], self.second[chosen], self.weight[chosen])

    @classmethod
    def joined(cls, parts: Sequence[Edges]) -> Edges:
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )


def spanning_forest(
    vectors: NDArray[np.float32], floor: float, *, cut: Iterable[tuple[int, int]] = ()
) -> Edges:
    """The forest over the rows of (n, d) unit vectors, the most similar edges first.

    `cut` names pairs of rows between which there is no edge.
    """
    n, nodes = len(vectors), _Nodes.of(vectors, cut)
    held, count = [nodes.twins()], 0
    closeness: _Closeness | None = None
    for edges in _near(vectors, nodes, floor):
        if closeness is not None:
            edges = edges.take(edges.weight > closeness.between(edges.first, edges.second))
        held.append(edges)
        count += len(edges)
        if count > _HELD:
            held, count = [_thinned(n, Edges.joined(held))], 0
            closeness = _Closeness.of(n, held[0])
    forest = _thinned(n, Edges.joined(held))
    equal = forest.weight == 1.0  # which no product is
    exact = cosines(vectors, forest.first, vectors, forest.second)
    forest = Edges(forest.first, forest.second, np.where(equal, 1.0, exact))
    return forest.take(np.argsort(-forest.weight, kind="stable"))


def connected(n: int, edges: Edges) -> NDArray[np.int64]:
    """(n,) the number of the component that each row is in."""
    if not len(edges):
        return np.arange(n)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(edges), dtype=np.int8)
    graph = coo_array((ones, (edges.first, edges.second)), (n, n))
    labels: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The rows that stand for all: of equal vectors one, and each row that is cut from another."""

    rows: NDArray[np.int64]
    """Ascending."""
    stands_for: NDArray[np.int64]
    """(n,) the row that stands for each."""
    cut: NDArray[np.int64]
    """Pairs (a < b) as a·n + b."""

    @classmethod
    def of(cls, vectors: NDArray[np.float32], cut: Iterable[tuple[int, int]]) -> _Nodes:
        n = len(vectors)
        pairs = {(min(pair), max(pair)) for pair in cut}
        alone = np.array(sorted({row for pair in pairs for row in pair}), dtype=np.int64)
        stands_for = np.arange(n)
        others = np.delete(np.arange(n), alone)
        if len(others):
            groups = distinct(vectors[others])
            stands_for[others] = others[groups.first[groups.group]]
        codes = np.array([a * n + b for a, b in pairs], dtype=np.int64)
        return cls(np.unique(stands_for), stands_for, codes)

    def twins(self) -> Edges:
        """Each row with the one that stands for it."""
        rows = np.flatnonzero(self.stands_for != np.arange(len(self.stands_for)))
        return Edges(self.stands_for[rows], rows, np.ones(len(rows)))


def _near(vectors: NDArray[np.float32], nodes: _Nodes, floor: float) -> Iterator[Edges]:
    """All pairs of nodes from `floor` on, block by block."""
    n, rows, off = len(vectors), nodes.rows, slack(vectors.shape[1])
    among = vectors[rows] if len(rows) < n else vectors
    start = 0
    while start < len(rows):
        later = among[start:]  # each pair once: nobody looks back
        height = max(16, _BLOCK // len(later))
        products = later[:height] @ later.T
        products[np.tril_indices(len(products), m=len(later))] = -1
        near, place = np.divmod(np.flatnonzero(products >= floor - off), len(later))
        weight = products[near, place].astype(np.float64)
        unsure = np.abs(weight - floor) <= off
        weight[unsure] = cosines(later, near[unsure], later, place[unsure])
        edges = Edges(rows[near + start], rows[place + start], np.minimum(weight, _BELOW_ONE))
        edges = edges.take(weight >= floor)
        if len(nodes.cut):
            edges = edges.take(~np.isin(edges.first * n + edges.second, nodes.cut))
        yield edges
        start += height


_BELOW_ONE = 1 - 1e-9


def _thinned(n: int, edges: Edges) -> Edges:
    """A maximum spanning forest of some edges."""
    if len(edges) < 2:
        return edges
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    order = np.argsort(-edges.weight, kind="stable")
    ranks = np.empty(len(edges))  # a weight of 0 would be no edge
    ranks[order] = np.arange(1, len(edges) + 1)
    tree = minimum_spanning_tree(coo_array((ranks, (edges.first, edges.second)), (n, n)).tocsr())
    return edges.take(order[tree.data.astype(np.int64) - 1])


@dataclass(frozen=True, slots=True)
class _Closeness:
    """How closely a forest joins any two rows: by the weakest edge between them.

    The rows are laid in a line in which each component of each threshold is a run. Then the
    weakest edge between two rows is the least gap between their places, and the least of any run
    of gaps comes from two runs of a length that is a power of two.
    """

    place: NDArray[np.int64]
    """(n,) where each row lies in the line."""
    least: NDArray[np.float64]
    """(k, n) the least of the 2ᵏ gaps from a place on; the gap at a place is before it."""

    @classmethod
    def of(cls, n: int, forest: Edges) -> _Closeness:
        line, gaps = _line(n, forest)
        place = np.empty(n, dtype=np.int64)
        place[line] = np.arange(n)
        levels = [gaps]
        width = 1
        while 2 * width <= n:
            last = levels[-1]
            levels.append(np.minimum(last, np.append(last[width:], np.full(width, -np.inf))))
            width *= 2
        return cls(place, np.array(levels))

    def between(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weight of the weakest edge between two rows each; −∞ where nothing joins them."""
        one, other = self.place[first], self.place[second]
        start, end = np.minimum(one, other) + 1, np.maximum(one, other) + 1
        level = np.frexp((end - start).astype(np.float64))[1] - 1
        one_run, other_run = self.least[level, start], self.least[level, end - (1 << level)]
        weakest: NDArray[np.float64] = np.minimum(one_run, other_run)
        return weakest


def _line(n: int, forest: Edges) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows in a line, and the gap before each: components are joined end to start, closest
    first."""
    leader, tail, after = list(range(n)), list(range(n)), [-1] * n
    gap = np.full(n, -np.inf)

    def find(row: int) -> int:
        while leader[row] != row:
            leader[row] = row = leader[leader[row]]
        return row

    order = np.argsort(-forest.weight, kind="stable")
    for a, b, weight in zip(
        forest.first[order].tolist(), forest.second[order].tolist(),
        forest.weight[order].tolist(), strict=True,
    ):  # fmt: skip
        one, other = find(a), find(b)  # a leader is the first of its run
        after[tail[one]], gap[other] = other, weight
        tail[one], leader[other] = tail[other], one
    line: list[int] = []
    for row in range(n):
        if leader[row] == row:
            while row >= 0:
                line.append(row)
                row = after[row]
    placed = np.array(line, dtype=np.int64)
    gaps: NDArray[np.float64] = gap[placed]
    return placed, gaps
