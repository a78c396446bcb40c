"""Nearest neighbours, exactly, by blocked matrix products: never n² numbers in memory.

A float32 product finds which vectors can be nearest; those are measured again in float64, so that
twins are exactly 0 apart and a tie is a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.scoring import slack

BLOCK = 2**24
"""Numbers in one block of products: 64 MB."""
PAIRS = 2**14
"""Pairs of vectors measured in float64 at a time."""
IN_CACHE = 2**8
"""The same where there are many: few, so that they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """Which rows are exactly the same vector."""

    first: NDArray[np.int64]
    """(u,) the first row of each distinct vector, ascending."""
    group: NDArray[np.int64]
    """(n,) position in `first` of each row's vector."""
    count: NDArray[np.int64]
    """(u,) rows that are this vector."""


def distinct(vectors: NDArray[np.float32]) -> Distinct:
    """Group the equal rows of (n, d) vectors."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32) + np.float32(0)  # −0 equals 0
    whole = rows.view(np.dtype((np.void, 4 * rows.shape[1]))).ravel()
    _, first, group, count = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Distinct(first[order], place[group.ravel()], count[order])


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of `rows` that with all `columns` make one block each."""
    height = max(16, BLOCK // max(columns, 1))
    for start in range(0, rows, height):
        yield slice(start, min(start + height, rows))


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each row, the nearest of some others."""

    rows: NDArray[np.int64]
    """−1 where there is none."""
    similarity: NDArray[np.float64]
    """Cosine; NaN where there is none."""


def nearest_among(vectors: NDArray[np.float32], others: NDArray[np.float32]) -> Nearest:
    """The row of `others` (m, d) most similar to each of `vectors` (n, d); of equals the first."""
    rows = np.full(len(vectors), -1, dtype=np.int64)
    similarity = np.full(len(vectors), np.nan)
    if len(vectors) and len(others):
        first = distinct(others).first  # or many twins would all be candidates
        among = others[first]
        for block in blocks(len(vectors), len(among)):
            products = vectors[block] @ among.T
            best = _best(vectors[block], among, products)
            rows[block], similarity[block] = first[best.rows], best.similarity
    return Nearest(rows, similarity)


def nearest_similarity(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n,) cosine of each of `vectors` (n, d) to the nearest other; NaN for a lone one."""
    groups = distinct(vectors)
    among = vectors[groups.first]
    nearest = np.full(len(among), np.nan)
    if len(among) > 1:
        for block in blocks(len(among), len(among)):
            products = among[block] @ among.T
            _leave_out_self(products, block)
            nearest[block] = _best(among[block], among, products).similarity
    return np.where(groups.count > 1, 1.0, nearest)[groups.group]


def _leave_out_self(products: NDArray[np.float32], block: slice) -> None:
    products[np.arange(len(products)), np.arange(block.start, block.stop)] = -np.inf


def _best(
    vectors: NDArray[np.float32], among: NDArray[np.float32], products: NDArray[np.float32]
) -> Nearest:
    """The best of each row of products, measured in float64 wherever it is a close thing."""
    close = products.max(axis=1, keepdims=True) - slack(vectors.shape[1])
    near, place = np.nonzero(products >= close)
    exact = cosines(vectors, near, among, place)
    best = firsts(near, -exact, place)
    return Nearest(place[best], exact[best])


def firsts(
    near: NDArray[np.int64], key: NDArray[np.float64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of pairs (near, place): for each `near`, the pair with the least key, then least place."""
    order = np.lexsort((place, key, near))
    return order[np.flatnonzero(np.diff(near[order], prepend=-1))]


def cosines(
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    others: NDArray[np.float32],
    places: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Cosine of each pair (vectors[row], others[place]) in float64."""
    result = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        a = vectors[rows[part]].astype(np.float64)
        b = others[places[part]].astype(np.float64)
        norms = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        result[part] = (a * b).sum(axis=1) / np.where(norms == 0, 1, norms)
    return result


def distances(
    vectors: NDArray[np.float32], rows: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    """L2 distance of each pair (vectors[row], vectors[place]) in float64."""
    result = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        difference = vectors[rows[part]].astype(np.float64) - vectors[places[part]]
        result[part] = np.sqrt((difference * difference).sum(axis=1))
    return result


@dataclass(frozen=True, slots=True)
class NeighbourLists:
    """The nearest others of each of n vectors, as runs of `columns` and `scores`, unordered."""

    starts: NDArray[np.int64]
    """(n + 1,) where each row's run starts."""
    columns: NDArray[np.int64]
    scores: NDArray[np.float32]
    """a·b − |b|²/2: the larger, the nearer."""
    floor: NDArray[np.float32]
    """(n,) whatever is not in a row's run scores at most this."""

    def run(self, row: int) -> slice:
        return slice(self.starts[row], self.starts[row + 1])


def neighbour_lists(vectors: NDArray[np.float32], count: int) -> NeighbourLists:
    """At least `count` nearest others of each of distinct `vectors` (n, d), where so many are."""
    n = len(vectors)
    half = (vectors * vectors).sum(axis=1) / 2
    sizes, floor = np.zeros(n, dtype=np.int64), np.full(n, -np.inf, dtype=np.float32)
    columns: list[NDArray[np.int64]] = []
    scores: list[NDArray[np.float32]] = []
    for block in blocks(n, n):
        products = vectors[block] @ vectors.T
        products -= half
        _leave_out_self(products, block)
        floor[block] = _at_least(products, count)
        inside = np.flatnonzero(products > floor[block, None])
        rows, places = np.divmod(inside, n)
        sizes[block] = np.bincount(rows, minlength=len(products))
        columns.append(places)
        scores.append(products.ravel()[inside])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return NeighbourLists(
        starts, np.concatenate([[], *columns]).astype(np.int64),
        np.concatenate([[], *scores]).astype(np.float32), floor,
    )  # fmt: skip


GROUPS_PER_NEIGHBOUR = 16


def _at_least(products: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """(rows,) a bound above which each row of products has at least `count` numbers.

    The count-th largest of the maxima of disjoint groups is one, and a hundred times cheaper than
    the count-th largest number.
    """
    rows, n = products.shape
    if n <= count + 1:
        return np.full(rows, -np.inf, dtype=np.float32)
    groups = min(n, count * GROUPS_PER_NEIGHBOUR)
    whole = n // groups * groups
    maxima = products[:, :whole].reshape(rows, -1, groups).max(axis=1)
    bound: NDArray[np.float32] = np.partition(maxima, groups - count, axis=1)[:, groups - count]
    return np.nextafter(bound, np.float32(-np.inf))


@dataclass(frozen=True, slots=True)
class NearestSeveral:
    """For each row, the nearest of some others, nearest first; of equals the first."""

    rows: NDArray[np.int64]
    """(n, k)."""
    similarity: NDArray[np.float64]
    """(n, k) cosines."""


def nearest_several(
    vectors: NDArray[np.float32],
    others: NDArray[np.float32],
    count: int,
    *,
    within: bool = False,
    report: Callable[[float], None] = lambda share: None,
) -> NearestSeveral:
    """The `count` rows of `others` (m, d) most similar to each of `vectors` (n, d), exactly.

    `within`: both are the same rows, and none is its own neighbour. Where there are fewer than
    `count` others, there are as many columns as others. `report` hears the share that is done.
    """
    k = min(count, len(others) - within)
    rows = np.empty((len(vectors), max(k, 0)), dtype=np.int64)
    similarity = np.empty(rows.shape)
    squares = _squares(others)
    for block in blocks(len(vectors), len(others)) if k > 0 else ():
        products = vectors[block] @ others.T
        if within:
            _leave_out_self(products, block)
        bound = _at_least(products, k)
        bound -= np.float32(slack(vectors.shape[1]))
        near, place = np.divmod(np.flatnonzero(products > bound[:, None]), len(others))
        exact = _products(vectors[block], near, others, place)
        norms = np.sqrt(_squares(vectors[block])[near] * squares[place])
        exact /= np.where(norms == 0, 1, norms)
        if within:
            exact[near + block.start == place] = -np.inf
        order = np.lexsort((place, -exact, near))
        sizes = np.bincount(near, minlength=len(products))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        best = order[first[:, None] + np.arange(k)]
        rows[block], similarity[block] = place[best], exact[best]
        report(block.stop / len(vectors))
    return NearestSeveral(rows, similarity)


def _squares(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n,) squared length of each vector."""
    every = np.arange(len(vectors))
    return _products(vectors, every, vectors, every)


def _products(
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    others: NDArray[np.float32],
    places: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Scalar product of each pair (vectors[row], others[place]) in float64."""
    result = np.empty(len(rows))
    for start in range(0, len(rows), IN_CACHE):
        part = slice(start, start + IN_CACHE)
        a = vectors[rows[part]].astype(np.float64)
        b = others[places[part]].astype(np.float64)
        result[part] = np.einsum("ij,ij->i", a, b)
    return result
