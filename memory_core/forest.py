"""The maximum spanning forest of all pairs of vectors above a similarity.

At any threshold, its edges join exactly what all pairs would join, and it has fewer edges than
there are vectors. Products are of float32, so a pair within 0.00005 of a threshold may fall to
either side; equal vectors are exactly 1 alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.neighbours import blocks, cosines, distinct
from memory_core.scoring import slack

_HELD = 2**21
"""Edges that are collected before they are thinned out to a forest: 48 MB."""
_STEP = 0.01
"""Width of the bands of similarity in which edges are dropped that join nothing new."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs of rows with their cosine."""

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
            np.concatenate([np.empty(0, np.int64), *(part.first for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.second for part in parts)]),
            np.concatenate([np.empty(0), *(part.weight for part in parts)]),
        )


def spanning_forest(
    vectors: NDArray[np.float32], floor: float, *, cut: Iterable[tuple[int, int]] = ()
) -> Edges:
    """The forest over the rows of (n, d) unit vectors, the most similar edges first.

    `cut` names pairs of rows between which there is no edge.
    """
    nodes = _Nodes.of(vectors, cut)
    held: list[Edges] = [nodes.twins()]
    count = len(held[0])
    for edges in _near(vectors, nodes, floor):
        edges = _useful(len(vectors), held[0], edges, floor)
        held.append(edges)
        count += len(edges)
        if count > _HELD:
            held = [_thinned(len(vectors), Edges.joined(held))]
            count = len(held[0])
    forest = _thinned(len(vectors), Edges.joined(held))
    exact = cosines(vectors, forest.first, vectors, forest.second)
    same = forest.weight == 1.0  # by being equal, rather than by a product
    forest = Edges(forest.first, forest.second, np.where(same, 1.0, exact))
    return forest.take(np.argsort(-forest.weight, kind="stable"))


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The rows that stand for all: of equal vectors one, and each row that is cut from another."""

    rows: NDArray[np.int64]
    """Ascending."""
    twin_of: NDArray[np.int64]
    """(n,) for each row the one that stands for it."""
    cut: NDArray[np.int64]
    """Pairs (a < b) as a·n + b, ascending."""

    @classmethod
    def of(cls, vectors: NDArray[np.float32], cut: Iterable[tuple[int, int]]) -> _Nodes:
        n = len(vectors)
        ordered = sorted({(min(pair), max(pair)) for pair in cut})
        lone = np.unique(np.array([row for pair in ordered for row in pair], dtype=np.int64))
        codes = np.array([a * n + b for a, b in ordered], dtype=np.int64)
        twin_of = np.arange(n)
        others = np.delete(np.arange(n), lone)
        if len(others):
            groups = distinct(vectors[others])
            twin_of[others] = others[groups.first[groups.group]]
        return cls(np.unique(twin_of), twin_of, codes)

    def twins(self) -> Edges:
        """Each row with the one that stands for it."""
        rows = np.flatnonzero(self.twin_of != np.arange(len(self.twin_of)))
        return Edges(self.twin_of[rows], rows, np.ones(len(rows)))


def _near(vectors: NDArray[np.float32], nodes: _Nodes, floor: float) -> Iterator[Edges]:
    """All pairs of nodes from `floor` on, block by block."""
    n, rows = len(vectors), nodes.rows
    among = vectors[rows] if len(rows) < n else vectors
    for block in blocks(len(rows), len(rows)):
        # Each pair once: only the columns from the block's own on.
        products = among[block] @ among[block.start :].T
        below = floor - slack(vectors.shape[1])
        near, place = np.divmod(np.flatnonzero(products >= below), products.shape[1])
        weight = products[near, place].astype(np.float64)
        later = place > near
        near, place, weight = near[later], place[later], weight[later]
        close = np.abs(weight - floor) <= slack(vectors.shape[1])
        if close.any():
            weight[close] = cosines(among[block], near[close], among[block.start :], place[close])
        first, second = rows[near + block.start], rows[place + block.start]
        edges = Edges(first, second, np.minimum(weight, 1 - 1e-9)).take(weight >= floor)
        if len(nodes.cut):
            edges = edges.take(~np.isin(edges.first * n + edges.second, nodes.cut))
        yield edges


def _useful(n: int, forest: Edges, edges: Edges, floor: float) -> Edges:
    """The edges, without those between rows that the forest joins more closely anyway."""
    if len(edges) <= n:
        return edges
    keep = np.zeros(len(edges), dtype=bool)
    bands = np.floor((edges.weight - floor) / _STEP).astype(np.int64)
    for band in np.unique(bands).tolist():
        inside = np.flatnonzero(bands == band)
        labels = connected(n, forest.take(forest.weight >= floor + (band + 1) * _STEP))
        apart = labels[edges.first[inside]] != labels[edges.second[inside]]
        keep[inside[apart]] = True
    return edges.take(keep)


def _thinned(n: int, edges: Edges) -> Edges:
    """A maximum spanning forest of some edges."""
    if len(edges) < 2:
        return edges
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    order = np.argsort(-edges.weight, kind="stable")
    # By rank, so that no weight is 0 (which would be no edge) and none is rounded.
    ranks = np.empty(len(edges))
    ranks[order] = np.arange(1, len(edges) + 1)
    tree = minimum_spanning_tree(coo_array((ranks, (edges.first, edges.second)), (n, n)).tocsr())
    return edges.take(order[tree.data.astype(np.int64) - 1])


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
