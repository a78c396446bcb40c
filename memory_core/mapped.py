"""Memories with their map: fitted once, kept, and extended as memories come in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import RLock
from typing import Generic, TypeVar

import numpy as np

from memory_core.embedding import Embedder, dimension_of
from memory_core.errors import MemoryNotFoundError
from memory_core.judged import JudgedMemories
from memory_core.map_records import ClusterName, Projection
from memory_core.projection import (
    Clustering,
    Layout,
    Map,
    Progress,
    align,
    clusters,
    fit,
    measure,
    silent,
)
from memory_core.projection.naming import renamed
from memory_core.settings import ClusterSettings, MapSettings
from memory_core.snapshot import Snapshot
from memory_core.store import Store, maps
from memory_core.validation import check_string
from memory_core.versioned import AnyRevision, Clock

KEPT = 8
"""Maps and clusterings of snapshots that stay in memory."""

T = TypeVar("T")


class MappedMemories(JudgedMemories):
    """Memories under revisions, with the maps fitted for them beside them."""

    def __init__(self, store: Store, embedder: Embedder, actor: str, clock: Clock) -> None:
        """Use `MemoryBank.open`."""
        super().__init__(store, embedder, actor, clock)
        self._dimension = dimension_of(embedder)
        self._layouts: _Kept[Layout | None] = _Kept(1)
        self._maps: _Kept[tuple[Snapshot, Map]] = _Kept(KEPT)
        self._clusterings: _Kept[tuple[Snapshot, Clustering]] = _Kept(KEPT)
        self._cluster_names: _Kept[tuple[ClusterName, ...]] = _Kept(1)

    # -- the map ------------------------------------------------------------------------------

    def fit_map(
        self, settings: MapSettings | None = None, *, progress: Progress = silent
    ) -> Projection:
        """Fit a map on the latest revision, turn it like the last one, and store it.

        `progress` hears what is being done and the share in [0, 1] that is behind; what it raises
        stops the fit, and nothing is written. Raises MemoryNotFoundError for an empty bank.
        """
        settings = settings or MapSettings()
        snapshot = self.snapshot()
        if not len(snapshot):
            raise MemoryNotFoundError("There is no memory to map yet; add one first.")
        texts = snapshot.texts()
        first = np.array(list({text: row for row, text in reversed([*enumerate(texts)])}.values()))
        rows = np.sort(first)  # a text has one place, however many memories say the same
        vectors, kept = snapshot.vectors[rows], [texts[row] for row in rows.tolist()]
        fitted = fit(vectors, settings, progress)
        honesty = measure(vectors, fitted.positions, seed=settings.seed, progress=progress)
        progress("Turning it like the last map", 0.99)
        positions = self._turned(kept, fitted.positions)
        new = maps.NewMap(
            int(snapshot.revision or 0), self._vectors.model, fitted.method, settings, honesty,
            kept, positions,
        )  # fmt: skip
        progress("Keeping it", 1.0)
        with self._store.writing("keep map") as connection:
            return maps.put_map(connection, new, actor=self.actor, made_at_us=self._clock())

    def _turned(self, texts: list[str], positions: np.ndarray) -> np.ndarray:
        """Positions aligned to the last map on the texts that both have."""
        with self._store.reading("last map") as connection:
            last = maps.latest_projection(connection)
            if last is None:
                return positions
            points = maps.read_points(connection, last.id)
        place = {text: row for row, text in enumerate(points.texts)}
        shared = np.array([row for row, text in enumerate(texts) if text in place], dtype=np.int64)
        before = points.positions[[place[texts[row]] for row in shared.tolist()]]
        return align(positions, shared, before)

    def projections(self) -> tuple[Projection, ...]:
        """All maps that were stored, oldest first, those of other models' vectors among them."""
        with self._store.reading("projections") as connection:
            return maps.read_projections(connection)

    def map(self, revision: AnyRevision | None = None) -> Map | None:
        """The last stored map over a revision, or over a snapshot, which may be a plan's.

        None when none was fitted on vectors of the bank's model. What was not fitted is placed.
        """
        snapshot = self.snapshot(revision)
        layout = self._layout()
        if layout is None:
            return None
        key = (layout.projection.id, id(layout), id(snapshot))
        return self._maps.get(key, lambda: (snapshot, layout.over(snapshot)))[1]

    def _layout(self) -> Layout | None:
        signature = self._store.signature()
        return self._layouts.get(signature, self._read_layout)

    def _read_layout(self) -> Layout | None:
        """The last map of this model's vectors; the one in memory, where it is that."""
        known = self._layouts.last()
        with self._store.reading("map") as connection:
            found = maps.latest_projection(connection, self._vectors.model)
            if found is None or (known is not None and known.projection == found):
                return None if found is None else known
            points = maps.read_points(connection, found.id)

        def vectors() -> np.ndarray:
            with self._store.reading("vectors of the map") as connection:
                return maps.read_point_vectors(
                    connection, points.text_ids, model=found.model, dimension=self._dimension
                )

        return Layout(found, points.texts, points.positions, vectors)

    # -- clusters -----------------------------------------------------------------------------

    def clusters(
        self,
        revision: AnyRevision | None = None,
        settings: ClusterSettings | None = None,
        *,
        progress: Progress = silent,
    ) -> Clustering:
        """The clusters of a revision, or of a snapshot, with the names that people gave."""
        snapshot, settings = self.snapshot(revision), settings or ClusterSettings()
        found = self._clusterings.get(
            (id(snapshot), settings),
            lambda: (snapshot, clusters(snapshot, settings, progress=progress)),
        )
        return found[1].named(self.cluster_names())

    def cluster_names(self) -> tuple[ClusterName, ...]:
        """What people named, oldest first."""
        return self._cluster_names.get(self._store.signature(), self._read_names)

    def _read_names(self) -> tuple[ClusterName, ...]:
        with self._store.reading("cluster names") as connection:
            return maps.read_cluster_names(connection)

    def name_cluster(self, ids: Iterable[int], name: str) -> None:
        """Name the cluster of these memories; an empty name takes the name away.

        Takes the place of names whose memories overlap by half or more. Raises
        MemoryNotFoundError.
        """
        snapshot, members = self.snapshot(), tuple(dict.fromkeys(int(i) for i in ids))
        for memory_id in members:
            snapshot.row_of(memory_id)
        check_string(name, "name")
        name = " ".join(name.split())
        new = ClusterName(name, members, self.actor, self._clock()) if name and members else None
        with self._store.writing("name cluster") as connection:
            known = maps.read_cluster_names(connection)
            maps.replace_cluster_names(
                connection, renamed(known, members, snapshot.ids.tolist()), new
            )


class _Kept(Generic[T]):
    """The last few values, by key."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[object, T] = OrderedDict()
        self._lock = RLock()

    def get(self, key: object, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            self._values[key] = made
            while len(self._values) > self._size:
                self._values.popitem(last=False)
            return made

    def last(self) -> T | None:
        """The value that was used last."""
        with self._lock:
            return next(reversed(self._values.values()), None)
