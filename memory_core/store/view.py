"""Snapshots of a bank's revisions, kept in memory and refreshed by what has changed since."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock, RLock

import numpy as np
from duckdb import DuckDBPyConnection

from memory_core.columns import Columns
from memory_core.errors import EncodingDriftError, MemoryNotFoundError, RevisionNotFoundError
from memory_core.pool import Pool
from memory_core.records import Change, Memory, Revision
from memory_core.snapshot import Snapshot
from memory_core.store import Store, revisions
from memory_core.store.revisions import Head

KEPT = 8
"""Snapshots of past revisions that stay in memory."""


class SnapshotCache:
    """The latest snapshot, and a few past ones. All share one pool of texts and vectors.

    Locks are taken in this order: `_refreshing`, the bank's file lock, `_lock`.
    """

    def __init__(self, store: Store, model: str, dimension: int) -> None:
        self._store = store
        self._model = model
        self._pool = Pool(dimension)
        self._lock = RLock()
        self._refreshing = Lock()
        self._signature: tuple[int, ...] = ()
        self._head: Head | None = None
        self._latest: Snapshot | None = None
        self._past: OrderedDict[int, Snapshot] = OrderedDict()

    def head(self) -> Snapshot:
        """The latest revision. The file is opened only when `stat` says that it has changed."""
        known = self._known(self._store.signature())
        if known is not None:
            return known
        # Those who wait for another's refresh mostly find that it has served them, too.
        mine = self._refreshing.acquire(timeout=max(self._store.timeout, 0))
        try:
            known = self._known(self._store.signature())
            return self._refresh() if known is None else known
        finally:
            if mine:
                self._refreshing.release()

    def _refresh(self) -> Snapshot:
        with self._store.reading("snapshot") as connection, self._lock:
            # Nobody can change the file now, so this is what was read, whoever comes next.
            signature = self._store.signature()
            latest = self._refreshed(connection)
            self._signature = signature
            return latest

    def _known(self, signature: tuple[int, ...]) -> Snapshot | None:
        """The latest snapshot, if the file has not changed since it was read."""
        with self._lock:
            return self._latest if signature == self._signature else None

    def at(self, revision: int) -> Snapshot:
        """The memories of a revision. Raises RevisionNotFoundError."""
        latest = self.head()
        if revision == latest.revision:
            return latest
        if not 0 <= revision < int(latest.revision or 0):
            raise RevisionNotFoundError(
                f"There is no revision {revision}; this bank has revisions 0 to {latest.revision}."
            )
        with self._lock:
            if revision in self._past:
                self._past.move_to_end(revision)
                return self._past[revision]
        with self._store.reading("past snapshot") as connection, self._lock:
            self._refreshed(connection)
            assert self._head is not None
            snapshot = self._read(connection, revision, self._head)
            self._past[revision] = snapshot
            while len(self._past) > KEPT:
                self._past.popitem(last=False)
            return snapshot

    def _read(self, connection: DuckDBPyConnection, revision: int, head: Head) -> Snapshot:
        then = revisions.read_head_at(connection, revision, head)
        columns = revisions.read_columns(connection, self._pool, revision, model=self._model)
        return self._snapshot(columns, then)

    def _snapshot(self, columns: Columns, head: Head) -> Snapshot:
        return Snapshot(
            columns,
            self._pool,
            revision=head.revision,
            epoch=head.epoch,
            batch_key=head.batch_key,
        )

    def _refreshed(self, connection: DuckDBPyConnection) -> Snapshot:
        head = revisions.read_head(connection)
        known, latest = self._head, self._latest
        if head.model != self._model:
            raise EncodingDriftError(
                f"The memories in {self._store.path} were embedded by {head.model}, and this bank "
                f"was opened with {self._model}, whose vectors cannot be compared with those. "
                "Open it with its own model, or embed it anew: winnow reembed."
            )
        if latest is None or known is None or not self._continues(connection, known, head):
            # Another bank in the same place, or an older copy of it: nothing known holds.
            # It is forgotten first, in case the new one cannot be read.
            self._pool, self._latest = Pool(self._pool.dimension), None
            self._past.clear()
            self._latest = self._read(connection, head.revision, head)
            self._head = head
        elif head.revision > known.revision:
            self._latest = self._brought_up(connection, latest, head)
            self._head = head
        assert self._latest is not None
        return self._latest

    def _continues(self, connection: DuckDBPyConnection, known: Head, head: Head) -> bool:
        """Whether the head goes on from the one known, rather than from elsewhere."""
        if head.bank != known.bank or head.revision < known.revision:
            return False
        if len(self._pool) > 2 * len(self._latest or ()) + 10_000:
            return False  # mostly texts that nobody looks at any more: start afresh
        if head.revision == known.revision or known.revision == 0:
            return head.batch_key == known.batch_key or known.revision == 0
        return revisions.read_revision(connection, known.revision, head).key == known.batch_key

    def _brought_up(self, connection: DuckDBPyConnection, latest: Snapshot, head: Head) -> Snapshot:
        since = int(latest.revision or 0)
        changed = revisions.read_changes(connection, self._pool, since, model=self._model)
        columns = _patched(latest.columns, changed)
        return self._snapshot(columns, head)

    def history(self, memory_id: int) -> tuple[Change, ...]:
        """What happened to a memory, oldest first. Raises MemoryNotFoundError."""
        with self._store.reading("history") as connection, self._lock:
            self._refreshed(connection)
            versions = revisions.read_versions(connection, memory_id)
            if not versions:
                raise MemoryNotFoundError(f"There never was a memory {memory_id}.")
            columns = revisions.read_version_columns(
                connection, self._pool, memory_id, model=self._model
            )
            numbers = {n for v in versions for n in (v.from_revision, v.to_revision) if n}
            assert self._head is not None
            made = {n: revisions.read_revision(connection, n, self._head) for n in sorted(numbers)}
            reasons = revisions.read_reasons(connection, memory_id)
        stages = Snapshot(columns, self._pool, revision=None, epoch=0)
        memories = [stages.at(row) for row in range(len(stages))]
        return _life(memory_id, versions, memories, made, reasons)


def _patched(columns: Columns, changed: revisions.Changed) -> Columns:
    """Columns after some rows have gone and others come. Rows that only changed stay in place."""
    if len(changed.gone) and np.array_equal(changed.gone, changed.put.ids):
        return columns.replace(np.searchsorted(columns.ids, changed.gone), changed.put)
    if len(changed.gone):
        columns = columns.take(~np.isin(columns.ids, changed.gone))
    return columns.concatenate(changed.put).in_order() if len(changed.put) else columns


def _life(
    memory_id: int,
    versions: tuple[revisions.Version, ...],
    memories: list[Memory],
    made: dict[int, Revision],
    reasons: dict[int, revisions.Reason],
) -> tuple[Change, ...]:
    changes: list[Change] = []

    def note(number: int, before: Memory | None, after: Memory | None) -> None:
        known = reasons.get(number)
        changes.append(
            Change(
                memory_id,
                known.action if known else "changed",  # type: ignore[arg-type]
                before,
                after,
                made[number],
                known.rationale if known else "",
                known.evidence if known else (),
            )
        )

    standing: Memory | None = None
    ended: int | None = None
    for version, memory in zip(versions, memories, strict=True):
        if ended is not None and ended != version.from_revision:
            note(ended, standing, None)
            standing = None
        note(version.from_revision, standing, memory)
        standing, ended = memory, version.to_revision
    if ended is not None:
        note(ended, standing, None)
    return tuple(changes)
