"""Memories under revisions: reading any, planning and committing the next, retrieving from each."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core import curation
from memory_core.compression import CompressionPlan, plan_compression, with_compression
from memory_core.difference import diff
from memory_core.embedding import Embedder, default_embedder, dimension_of
from memory_core.errors import StalePlanError, StoreError
from memory_core.ledger_records import RecordedRetrieval
from memory_core.operations import Batch
from memory_core.plans import Plan
from memory_core.records import Change, Diff, Revision
from memory_core.retrieval import Retrieval, domain_shares, infer_domains, retrieve
from memory_core.settings import CompressionSettings, RetrievalSettings
from memory_core.snapshot import Snapshot
from memory_core.store import Store, commits, ledger, proposals, revisions, texts
from memory_core.store.reembedding import reembed
from memory_core.store.vectors import Progress, VectorCache, model_of
from memory_core.store.view import SnapshotCache
from memory_core.validation import check_batch, check_string

Clock = Callable[[], int]
AnyRevision: TypeAlias = int | Revision | Snapshot
"""A revision by its number, as a commit returned it, or a snapshot, which may be of a plan."""


def _now_us() -> int:
    return time.time_ns() // 1000


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "someone"


def number_of(revision: int | Revision) -> int:
    return revision.number if isinstance(revision, Revision) else revision


class VersionedMemories:
    """All memories of a file, and every revision they went through.

    Any number of threads and processes may hold banks on one file: it is open only while a verb
    reads or writes.
    """

    def __init__(self, store: Store, embedder: Embedder, actor: str, clock: Clock) -> None:
        """Use `MemoryBank.open`."""
        self._store = store
        self._clock = clock
        self.actor = actor
        """Who is named as the author of revisions."""
        self._vectors = VectorCache(store, embedder)
        self._view = SnapshotCache(store, self._vectors.model, dimension_of(embedder))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        embedder: Embedder | None = None,
        actor: str | None = None,
        clock: Clock = _now_us,
        create: bool = True,
        timeout: float | None = None,
    ) -> Self:
        """Open a bank, and create it where there is none (unless `create` is false).

        `embedder` defaults to all-MiniLM-L6-v2, which is loaded at the first text. `clock` gives
        microseconds since 1970. `timeout` is how many seconds a verb waits for others.
        Raises StoreError and its kin, EncodingDriftError.
        """
        embedder = default_embedder() if embedder is None else embedder
        store = Store(path) if timeout is None else Store(path, timeout=timeout)
        if not store.exists():
            if not create:
                raise StoreError(f"There is no bank at {store.path}. Create it, or mend the path.")
            store.create(model_of(embedder), {"dimension": str(dimension_of(embedder))})
        bank = cls(store, embedder, actor or _login(), clock)
        store.upgrade()
        bank.snapshot()  # what cannot be read, or was embedded by another model, is told now
        return bank

    @staticmethod
    def reembed(
        path: str | os.PathLike[str],
        *,
        embedder: Embedder | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> int:
        """Embed all texts of a bank anew, past revisions included; how many there were.

        The way out of EncodingDriftError. `progress` is called with texts done and in all.
        """
        embedder = default_embedder() if embedder is None else embedder
        store = Store(path)
        store.upgrade()
        return reembed(store, embedder, progress)

    def acting_as(self, actor: str) -> Self:
        """The same bank, with all it has in memory, in another author's name."""
        other = copy(self)
        other.actor = actor
        return other

    @property
    def path(self) -> os.PathLike[str]:
        """Where the file lies. Do not open it yourself while a bank is in use."""
        return self._store.path

    # -- reading ------------------------------------------------------------------------------

    def snapshot(self, revision: AnyRevision | None = None) -> Snapshot:
        """The memories of a revision; of the latest for None. Raises RevisionNotFoundError."""
        if isinstance(revision, Snapshot):
            return revision
        return self._view.head() if revision is None else self._view.at(number_of(revision))

    def signature(self) -> tuple[int, ...]:
        """Changes when the file does; costs two `stat` calls and waits for nobody."""
        return self._store.signature()

    @property
    def epoch(self) -> int:
        """The session index."""
        return self.snapshot().epoch

    def revisions(self) -> tuple[Revision, ...]:
        """All revisions, oldest first."""
        with self._store.reading("revisions") as connection:
            return revisions.read_revisions(connection)

    def revision(self, number: int | Revision) -> Revision:
        """One revision. Raises RevisionNotFoundError."""
        with self._store.reading("revision") as connection:
            head = revisions.read_head(connection)
            return revisions.read_revision(connection, number_of(number), head)

    def find_revision(self, batch_key: str) -> Revision | None:
        """The revision that a batch has made, if its commit got through."""
        with self._store.reading("find revision") as connection:
            return revisions.find_revision(connection, batch_key)

    def history(self, memory_id: int) -> tuple[Change, ...]:
        """All that ever happened to a memory, oldest first. Raises MemoryNotFoundError."""
        return self._view.history(memory_id)

    def diff(self, old: AnyRevision, new: AnyRevision) -> Diff:
        """What distinguishes two revisions."""
        return diff(self.snapshot(old), self.snapshot(new))

    # -- changing -----------------------------------------------------------------------------

    def plan(self, batch: Batch, *, progress: Progress | None = None) -> Plan:
        """What a batch would do to the latest revision. Nothing is written.

        `progress` is called with texts embedded and in all; what it raises ends the planning.
        """
        check_batch(batch)
        vectors = self._vectors.of(curation.texts_of(batch), progress)
        head = self.snapshot()
        seen = None
        if batch.base_revision not in (None, head.revision):
            seen = self.snapshot(batch.base_revision)
        return curation.plan(head, batch, vectors, seen=[seen] * len(batch.operations))

    def commit(self, plan: Plan) -> Revision:
        """Do what a plan says, as the next revision.

        Raises InvalidBatchError when the plan holds refused operations, StalePlanError when what
        it touches has changed since. Committing the same batch again returns the same revision.
        """
        return self._commit(plan, lambda connection, revision: None)

    def _commit(self, plan: Plan, beside: Callable[[Any, Revision], None]) -> Revision:
        """`beside` writes to the ledger in the same transaction."""
        plan.raise_if_refused()
        planned = plan.as_commit(actor=self.actor, made_at_us=self._clock())
        with self._store.writing("commit") as connection:
            made = revisions.find_revision(connection, planned.batch_key)
            if made is None:
                made = commits.commit(connection, planned, model=self._vectors.model)
                beside(connection, made)
                if plan.batch.undoes and len(plan.accepted) == len(plan.batch.operations):
                    for taken in (proposals, ledger):
                        taken.take_back(connection, plan.batch.undoes, revision=made.number)
            return made

    def update(self, batch: Batch, compression: CompressionSettings | None = None) -> Revision:
        """Algorithm *Update*: plan a batch and commit it, all or nothing, as one revision.

        When that leaves more memories than `compression.capacity`, they are compressed, too.
        The same batch again returns the same revision.
        """
        while True:
            plan = self.plan(batch)
            if plan.refused and (made := self.find_revision(batch.key)):
                return made
            plan.raise_if_refused()
            if compression is None:
                return self.commit(plan)
            vectors = self._vectors.of(curation.texts_of(batch))
            try:
                return self.commit(with_compression(plan, compression, vectors))
            except StalePlanError:
                continue  # another session moved what was to go: choose anew

    def plan_compression(
        self, settings: CompressionSettings, *, pin: Iterable[int] = ()
    ) -> CompressionPlan:
        """What compressing the latest revision would do; commit its `plan`. Nothing is written.

        `pin` names memories that are pinned first, in the same batch.
        """
        return plan_compression(self.snapshot(), settings, pin=pin)

    def start_epoch(self) -> int:
        """Begin a new session; its index."""
        batch = Batch((), reason="A session began.", kind="session", starts_epoch=True)
        return self.commit(self.plan(batch)).epoch

    def plan_undo(self, revision: int | Revision) -> Plan:
        """What taking a revision back would do. What has changed again since is refused."""
        made = self.revision(revision)
        reason = f"Undo of revision {made.number}" + (f": {made.reason}" if made.reason else "")
        before, after = self.snapshot(made.number - 1), self.snapshot(made.number)
        now, undoes = self.snapshot(), [made.number]
        return curation.plan_undo(now, before, after, reason=reason, undoes=undoes)

    def plan_restore(self, revision: int | Revision) -> Plan:
        """What bringing the whole bank back to a revision would do."""
        head, reason = self.snapshot(), f"Return to revision {number_of(revision)}"
        undoes = range(number_of(revision) + 1, int(head.revision or 0) + 1)
        return curation.plan_undo(head, self.snapshot(revision), head, reason=reason, undoes=undoes)

    # -- retrieving ---------------------------------------------------------------------------

    def retrieve(
        self,
        task: str,
        settings: RetrievalSettings | None = None,
        *,
        revision: AnyRevision | None = None,
        record: bool = False,
    ) -> Retrieval:
        """The memories that a task calls for, best first.

        `revision` is a number, or a snapshot such as a plan's `after`. Nothing is written, unless
        `record` asks for a row in the ledger.
        """
        found = retrieve(self.snapshot(revision), task, self._vector(task), settings)
        if record:
            self.record(found)
        return found

    def embed(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vector (d,) of each text; those that the bank has stored need no model."""
        for text in texts:
            check_string(text, "text")
        return self._vectors.of(texts)

    def token_count(self, text: str) -> int | None:
        """Tokens of a text by the embedding model; None while it is not loaded, or has none."""
        return self._vectors.token_count(text)

    def warm_up(self) -> None:
        """Load the embedding model now, so that the next new text takes milliseconds."""
        self._vectors.warm_up()

    def _vector(self, task: str) -> NDArray[np.float32]:
        check_string(task, "task")
        return self._vectors.of([task])[task]

    def infer_domains(self, task: str) -> tuple[str, ...]:
        """D, the domains that a task is about; empty when ambiguous."""
        return infer_domains(self.snapshot(), self._vector(task))

    def domain_shares(self, task: str) -> dict[str, float]:
        """The share of each domain among a task's nearest memories, descending."""
        return domain_shares(self.snapshot(), self._vector(task))

    def record(self, found: Retrieval) -> RecordedRetrieval:
        """Write a retrieval to the ledger: what was asked, found and injected. Once for its id."""
        row = found.as_recorded(actor=self.actor, made_at_us=self._clock())
        with self._store.writing("record retrieval") as connection:
            self._put_retrieval(connection, row, found)
        return row

    def _put_retrieval(self, connection: Any, row: RecordedRetrieval, found: Retrieval) -> None:
        model = self._vectors.model
        text_id = texts.put_text(connection, row.task, found.scoring.vector, model=model)
        ledger.put_retrieval(connection, row, text_id)
