"""Near copies: memories that say almost the same as a text, and those that a plan brings in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from memory_core.plans import Lint
from memory_core.retrieval import Neighbour
from memory_core.scoring import slack
from memory_core.snapshot import Snapshot

NEAR = 0.9
"""Cosine from which two memories are called near copies."""
NAMED = 5
"""Most near copies that one lint names."""
_BLOCK = 2**22
"""Numbers in one block of products: 16 MB."""
_CANDIDATES = 32
"""Most similar ones of a text that are measured in float64."""


def near_copies(
    snapshot: Snapshot,
    vector: NDArray[np.floating],
    *,
    threshold: float = NEAR,
    ignore: Collection[int] = (),
    limit: int | None = 10,
) -> tuple[Neighbour, ...]:
    """The memories whose cosine to a vector (d,) of any length is `threshold` or more, best first.

    `ignore` names memories that are no answer, such as the one that is being edited. None for
    `limit` gives all.
    """
    wide = np.asarray(vector, dtype=np.float64)
    norm = float(np.sqrt((wide * wide).sum())) or 1.0
    rough = snapshot.similarities(wide / norm)
    rows = np.flatnonzero(rough >= threshold - slack(snapshot.pool.dimension))
    if len(ignore):
        rows = rows[~np.isin(snapshot.ids[rows], [*ignore])]
    similarity = snapshot.exact_similarities(rows, wide)
    order = np.argsort(-similarity, kind="stable")
    order = order[similarity[order] >= threshold][:limit]
    return tuple(Neighbour(snapshot.at(int(rows[i])), float(similarity[i])) for i in order)


def near_copy_lints(
    after: Snapshot, texts: Mapping[int, int], *, threshold: float = NEAR
) -> Iterator[Lint]:
    """For memories with a new text, which others in the end say almost the same.

    `texts` has, by memory id, the operation that gave the text. Of two that are both new, the
    later one is told. An exact copy is another matter. One matrix product a block serves all.
    """
    chosen = [(after.row_of(i), index, i) for i, index in texts.items() if i in after]
    if not chosen:
        return
    live, places = np.unique(after.columns.text, return_inverse=True)
    matrix = after.pool.matrix
    every = len(live) * 2 > len(matrix)  # copying the rows costs more than multiplying the dead
    among = matrix if every else matrix[live]
    position = live if every else np.arange(len(live))
    seniority = np.full(len(among), np.iinfo(np.int64).max)
    seniority[position] = _seniority(after, texts, places, len(live))
    rows = np.array([row for row, _, _ in chosen])
    own = position[places[rows]]
    indexes = np.array([index for _, index, _ in chosen])
    height = max(16, _BLOCK // len(among))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        products = matrix[after.columns.text[rows[part]]] @ among.T
        products[np.arange(len(products)), own[part]] = -1
        products[seniority[None, :] >= indexes[part, None]] = -1
        near, place = _best(products, threshold - slack(after.pool.dimension))
        for offset in np.unique(near).tolist():
            number = start + offset
            found = place[near == offset]
            if not every:
                found = live[found]
            lint = _lint(after, int(rows[number]), int(indexes[number]), found, threshold, texts)
            if lint:
                yield lint


def _seniority(
    after: Snapshot, texts: Mapping[int, int], places: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """(count,) for each text that stands, the operation that brought it in; −1 if none did."""
    brought = np.full(len(after), -1, dtype=np.int64)
    for memory_id, index in texts.items():
        if memory_id in after:
            brought[after.row_of(memory_id)] = index
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, places, brought)
    return least


def _best(
    products: NDArray[np.float32], bound: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (row, column) of products above a bound, at most `_CANDIDATES` of the best a row."""
    near, place = np.divmod(np.flatnonzero(products >= bound), products.shape[1])
    many = np.flatnonzero(np.bincount(near, minlength=len(products)) > _CANDIDATES)
    if len(many):
        few = ~np.isin(near, many)
        best = np.argpartition(-products[many], _CANDIDATES, axis=1)[:, :_CANDIDATES]
        near = np.concatenate([near[few], np.repeat(many, _CANDIDATES)])
        place = np.concatenate([place[few], best.ravel()])
    return near, place


def _lint(
    after: Snapshot,
    row: int,
    index: int,
    pool_rows: NDArray[np.int64],
    threshold: float,
    texts: Mapping[int, int],
) -> Lint | None:
    """The lint about one memory, from the rows of the pool that may be near copies of it."""
    own = after.at(row)
    rows = np.flatnonzero(np.isin(after.columns.text, pool_rows))
    similarity = after.exact_similarities(rows, after.pool.matrix[after.columns.text[row]])
    order = np.argsort(-similarity, kind="stable")
    found: list[tuple[int, float]] = []
    for place in order[similarity[order] >= threshold].tolist():
        other = after.at(int(rows[place]))
        if other.id != own.id and other.text != own.text and texts.get(other.id, -1) < index:
            found.append((other.id, float(similarity[place])))
    if not found:
        return None
    ids = tuple(memory_id for memory_id, _ in found[:NAMED])
    message = f"Almost the same as {_named(ids[0])} (similarity {found[0][1]:.2f})"
    if len(ids) > 1:
        message += f", and close to {', '.join(_named(i) for i in ids[1:])}"
    return Lint(index, "near copy", message + ".", ids)


def _named(memory_id: int) -> str:
    return f"memory {memory_id}" if memory_id > 0 else f"the new memory {memory_id}"
