"""A map laid over the memories of any revision or plan: the fitted by text, others placed.

What was not fitted is placed by its NEAREST exact neighbours among the fitted:

    p = Σ wᵢ·pᵢ / Σ wᵢ     wᵢ = max(cos(v, vᵢ), 0)

and nobody else moves. A text whose vector is that of a fitted one lies on its spot. Those that are
near nothing (no cosine above 0) lie in the middle of their neighbours all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_core.errors import EncodingDriftError
from memory_core.map_records import Projection
from memory_core.neighbours import nearest_several
from memory_core.pool import Pool
from memory_core.snapshot import Snapshot

NEAREST = 3
"""Fitted neighbours by which a vector is placed. The more, the more often some of them lie
elsewhere on the map, and the mean of both places is neither: of 1,000 held-out queries among 9,000
the share of the 15 nearest on the map that are the nearest indeed was .445 with 3, .425 with 5 and
.344 with 15; with 1 it was .467, and each new memory hid another."""
TWIN = 1e-6
"""Vectors whose cosine is this close to 1 are the same."""
UNKNOWN, FITTED, PLACED = 0, 1, 2


class Layout:
    """The coordinates of a stored map, and what has been placed on it."""

    def __init__(
        self,
        projection: Projection,
        texts: Sequence[str],
        positions: NDArray[np.float64],
        vectors: Callable[[], NDArray[np.float32]],
    ) -> None:
        """`positions` (m, 2) of fitted texts; `vectors` gives theirs (m, d) when first needed."""
        self.projection = projection
        self.positions = positions
        self._row_of = {text: row for row, text in enumerate(texts)}
        self._read_vectors = vectors
        self._vectors: NDArray[np.float32] | None = None
        self._known: WeakKeyDictionary[Pool, _Places] = WeakKeyDictionary()
        self._lock = RLock()

    def over(self, snapshot: Snapshot) -> Map:
        """The map over the memories of a snapshot. Raises EncodingDriftError."""
        with self._lock:
            places = self._known.setdefault(snapshot.pool, _Places())
            rows = snapshot.columns.text
            places.reserve(len(snapshot.pool))
            fresh = np.unique(rows[places.state[rows] == UNKNOWN])
            if len(fresh):
                self._learn(snapshot.pool, fresh, places)
            return Map(
                self.projection,
                snapshot,
                places.positions[rows],
                places.state[rows] == PLACED,
                self,
            )

    def _learn(self, pool: Pool, rows: NDArray[np.int64], places: _Places) -> None:
        fitted = np.array([self._row_of.get(pool.texts[row], -1) for row in rows.tolist()])
        known, new = rows[fitted >= 0], rows[fitted < 0]
        if len(new):
            places.positions[new] = self.place(pool.matrix[new])
        places.positions[known] = self.positions[fitted[fitted >= 0]]
        places.state[known], places.state[new] = FITTED, PLACED

    def place(self, vectors: ArrayLike) -> NDArray[np.float64]:
        """(m, 2) where vectors (m, d) belong. Raises EncodingDriftError for another model's."""
        given = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        with self._lock:
            if self._vectors is None:
                self._vectors = self._read_vectors()
        if given.shape[1] != self._vectors.shape[1]:
            raise EncodingDriftError(
                f"The map was fitted on vectors of {self._vectors.shape[1]} numbers, and these "
                f"have {given.shape[1]}: another model made them. Fit the map again."
            )
        near = nearest_several(given, self._vectors, NEAREST)
        weights = np.maximum(near.similarity, 0.0)
        weights[weights.sum(axis=1) == 0] = 1.0
        twin = near.similarity[:, 0] >= 1 - TWIN
        weights[twin, 1:] = 0.0
        around = self.positions[near.rows]
        placed: NDArray[np.float64] = (around * weights[:, :, None]).sum(axis=1)
        placed /= weights.sum(axis=1, keepdims=True)
        return placed


@dataclass(slots=True)
class _Places:
    """Where the rows of a pool lie, so that a text is placed once for all revisions."""

    positions: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    state: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))

    def reserve(self, rows: int) -> None:
        more = rows - len(self.state)
        if more > 0:
            self.state = np.concatenate([self.state, np.full(more, UNKNOWN, dtype=np.int8)])
            self.positions = np.concatenate([self.positions, np.full((more, 2), np.nan)])


@dataclass(frozen=True, slots=True)
class RankDistortion:
    """How far off a memory lies on the map, seen from a query."""

    id: int
    similarity: float
    """Cosine to the query."""
    true_rank: int
    """Place among all memories by similarity, from 1."""
    map_rank: int
    """Place among all memories by distance from the query's spot, from 1."""

    @property
    def is_far_off(self) -> bool:
        """Whether the map hides that it is near: by far more lie between than belong there."""
        return self.map_rank > 15 and self.map_rank > 5 * self.true_rank


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """A stored map over the memories of one revision or plan."""

    projection: Projection
    snapshot: Snapshot
    positions: NDArray[np.float64]
    """(n, 2) in the order of `snapshot.ids`."""
    placed: NDArray[np.bool_]
    """(n,) true where the text was not fitted, but placed from its neighbours."""
    layout: Layout = field(repr=False)

    @property
    def placed_count(self) -> int:
        """Memories that were placed since the fit."""
        return int(np.count_nonzero(self.placed))

    def over(self, snapshot: Snapshot) -> Map:
        """Another revision, or a plan, on the same coordinates."""
        return self.layout.over(snapshot)

    def position_of(self, memory_id: int) -> NDArray[np.float64]:
        """(2,) where a memory lies. Raises MemoryNotFoundError."""
        position: NDArray[np.float64] = self.positions[self.snapshot.row_of(memory_id)]
        return position

    def place(self, vectors: ArrayLike) -> NDArray[np.float64]:
        """(m, 2) where unit vectors (m, d), such as a query's, belong; (d,) counts as one."""
        return self.layout.place(vectors)

    def rank_distortion(
        self, position: ArrayLike, vector: NDArray[np.floating], ids: Iterable[int]
    ) -> tuple[RankDistortion, ...]:
        """For a query at `position` (2,) with `vector` (d,): how its hits lie, in their order.

        Ranks are among all memories of the snapshot; those equally near share the better rank.
        """
        rows = [self.snapshot.row_of(memory_id) for memory_id in ids]
        cosines = self.snapshot.exact_similarities(np.arange(len(self.snapshot)), vector)
        away = np.hypot(*(self.positions - np.asarray(position, dtype=np.float64)).T)
        return tuple(
            RankDistortion(
                id=int(self.snapshot.ids[row]),
                similarity=float(cosines[row]),
                true_rank=int(np.count_nonzero(cosines > cosines[row])) + 1,
                map_rank=int(np.count_nonzero(away < away[row])) + 1,
            )
            for row in rows
        )
