"""Near copies: memories that say almost the same as a text, and those that a plan brings in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

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
"""Most similar texts that are measured in float64."""
_NEVER = np.iinfo(np.int64).max


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
    """For memories with a new text: which others say almost the same in the end.

    `texts` has, by memory id, the operation that gave the text. Of two that are both new, the
    later one is told. Exact copies are another matter. One matrix product a block serves all.
    """
    rows = np.array([after.row_of(memory_id) for memory_id in texts], dtype=np.int64)
    if not len(rows):
        return
    index = np.array([*texts.values()], dtype=np.int64)
    standing = _Standing.of(after, rows, index)
    bound = threshold - slack(after.pool.dimension)
    for start in range(0, len(rows), height := max(16, _BLOCK // len(standing.matrix))):
        part = slice(start, start + height)
        own = after.columns.text[rows[part]]
        products = after.pool.matrix[own] @ standing.matrix.T
        # Neither itself, nor what only comes with it or after it.
        products[standing.since[None, :] >= index[part, None]] = -1
        for number, places in _best(products, bound):
            row = int(rows[start + number])
            found = standing.near(after, row, places, int(index[start + number]), threshold)
            if found:
                yield _lint(int(index[start + number]), found)


@dataclass(frozen=True, slots=True)
class _Standing:
    """The texts that stand after a plan, each once, and since which of its operations."""

    matrix: NDArray[np.float32]
    """(m, d) their vectors, perhaps among others that stand no more."""
    since: NDArray[np.int64]
    """(m,) the first operation that brought it; −1 before them all; very late for the others."""
    order: NDArray[np.int64]
    """Rows of the snapshot by text."""
    runs: NDArray[np.int64]
    """(m + 1,) where in `order` those with a text begin."""
    brought: NDArray[np.int64]
    """(n,) for each row of the snapshot, the operation that gave its text; −1 for none."""

    @classmethod
    def of(cls, after: Snapshot, rows: NDArray[np.int64], index: NDArray[np.int64]) -> _Standing:
        column, matrix = after.columns.text, after.pool.matrix
        brought = np.full(len(after), -1, dtype=np.int64)
        brought[rows] = index
        live, places, count = np.unique(column, return_inverse=True, return_counts=True)
        since = np.full(len(live), _NEVER)
        np.minimum.at(since, places, brought)
        if len(live) * 2 > len(matrix):  # multiplying the dead costs less than copying the live
            count = np.bincount(column, minlength=len(matrix))
            since, known = np.full(len(matrix), _NEVER), since
            since[live] = known
        else:
            matrix = matrix[live]
        runs = np.concatenate([[0], np.cumsum(count)])
        return cls(matrix, since, np.argsort(column, kind="stable"), runs, brought)

    def near(
        self,
        after: Snapshot,
        row: int,
        places: NDArray[np.int64],
        index: int,
        threshold: float,
    ) -> list[Neighbour]:
        """The memories with the texts at `places` that are close enough, best first."""
        runs = (self.order[self.runs[p] : self.runs[p + 1]] for p in places.tolist())
        rows = np.sort(np.concatenate([run[self.brought[run] < index][:NAMED] for run in runs]))
        own = after.at(row)
        similarity = after.exact_similarities(rows, after.pool.matrix[after.columns.text[row]])
        order = np.argsort(-similarity, kind="stable")
        order = order[similarity[order] >= threshold]
        found = (Neighbour(after.at(int(rows[i])), float(similarity[i])) for i in order)
        others = (near for near in found if near.memory.text != own.text)
        return list(islice(others, NAMED))


def _best(products: NDArray[np.float32], bound: float) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """For each row of products that reaches a bound, its best columns; no more than a few."""
    for row in np.flatnonzero(products.max(axis=1) >= bound).tolist():
        places = np.flatnonzero(products[row] >= bound)
        if len(places) > _CANDIDATES:
            best = np.argpartition(-products[row, places], _CANDIDATES)[:_CANDIDATES]
            places = places[best]
        yield row, places


def _lint(index: int, found: Sequence[Neighbour]) -> Lint:
    ids = tuple(near.memory.id for near in found)
    message = f"Almost the same as memory {ids[0]} (similarity {found[0].similarity:.2f})"
    if len(ids) > 1:
        message += f", and close to {', '.join(map(str, ids[1:]))}"
    return Lint(index, "near copy", message + ".", ids)
