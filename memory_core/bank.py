"""The bank: one short method a verb. It sequences; the modules it calls compute."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory_core import confidence, curation
from memory_core.compression import CompressionPlan, plan_compression, with_compression
from memory_core.difference import diff
from memory_core.embedding import Embedder, default_embedder, dimension_of
from memory_core.errors import (
    InvalidBatchError,
    InvalidMemoryError,
    MemoryNotFoundError,
    StalePlanError,
    StoreError,
)
from memory_core.operations import Batch, Proposal, ProposalState
from memory_core.plans import Plan
from memory_core.records import (
    BankSettings,
    Change,
    Diff,
    RecordedHit,
    RecordedRetrieval,
    Revision,
    SavedQuery,
)
from memory_core.retrieval import Retrieval, domain_shares, infer_domains, retrieve
from memory_core.serialization import check_proposable
from memory_core.settings import CompressionSettings, RetrievalSettings, SettingsError
from memory_core.snapshot import Snapshot
from memory_core.store import Store, commits, ledger, revisions, schema, texts
from memory_core.store.reembedding import reembed
from memory_core.store.vectors import VectorCache, model_of
from memory_core.store.view import SnapshotCache
from memory_core.validation import check_string

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


def _number(revision: int | Revision) -> int:
    return revision.number if isinstance(revision, Revision) else revision


def _several(ids: int | Iterable[int]) -> tuple[int, ...]:
    chosen = (ids,) if isinstance(ids, int) else tuple(ids)
    if not chosen:
        raise InvalidBatchError("No proposal was named; `bank.proposals()` lists them.")
    return chosen


def _check_batch(batch: Batch) -> None:
    if not isinstance(batch, Batch):
        raise InvalidBatchError(f"A Batch is needed; this is {type(batch).__name__}.")
    for name in ("reason", "kind", "key"):
        try:
            check_string(getattr(batch, name), f"batch's {name}")
        except InvalidMemoryError as error:
            raise InvalidBatchError(str(error)) from error


def _refuse_accepted(proposals: Iterable[Proposal]) -> None:
    for proposal in proposals:
        if proposal.state == "accepted":
            raise InvalidBatchError(
                f"Proposal {proposal.id} was accepted in revision {proposal.revision}; undo that "
                "revision instead."
            )


def _check_grades(grades: Mapping[int, int | None]) -> None:
    for grade in grades.values():
        if grade is not None and grade not in range(4):
            raise SettingsError(f"A grade is 0, 1, 2 or 3; it was {grade!r}.")


class MemoryBank:
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
    ) -> MemoryBank:
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

    def acting_as(self, actor: str) -> MemoryBank:
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
        return self._view.head() if revision is None else self._view.at(_number(revision))

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
            return revisions.read_revision(connection, _number(number), head)

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

    def plan(self, batch: Batch) -> Plan:
        """What a batch would do to the latest revision. Nothing is written."""
        _check_batch(batch)
        vectors = self._vectors.of(curation.texts_of(batch))
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
        return curation.plan_undo(self.snapshot(), before, after, reason=reason)

    def plan_restore(self, revision: int | Revision) -> Plan:
        """What bringing the whole bank back to a revision would do."""
        head, reason = self.snapshot(), f"Return to revision {_number(revision)}"
        return curation.plan_undo(head, self.snapshot(revision), head, reason=reason)

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

    # -- retrievals and their outcomes --------------------------------------------------------

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

    def retrievals(self) -> tuple[RecordedRetrieval, ...]:
        """The ledger, oldest first."""
        with self._store.reading("retrievals") as connection:
            return ledger.read_retrievals(connection)

    def record_outcome(
        self,
        found: Retrieval | str | UUID,
        *,
        improved: bool,
        applied: Iterable[int],
        reward: float | None = None,
    ) -> Revision:
        """Record how a session ended; confidence and counts of what it applied move by the rule.

        `found` is a retrieval, or the id of a recorded one; `applied` are ids among its hits, and
        those that have left the bank since are passed over. The same outcome again returns the
        revision that it made; another one is refused (InvalidBatchError).
        """
        row = self._recorded(found)
        hits = confidence.applied_hits(row, applied)
        ours = False

        def beside(connection: Any, made: Revision) -> None:
            nonlocal ours
            ours = True
            if isinstance(found, Retrieval):
                self._put_retrieval(connection, row, found)
            ledger.put_outcome(
                connection, row.id, improved=bool(improved), reward=reward, hits=hits,
                revision=made.number,
            )  # fmt: skip

        ids = [hit.memory_id for hit in hits if hit.applied]
        while row.improved is None:
            now = self.snapshot()
            batch = confidence.outcome_batch(row, ids, now, improved=bool(improved))
            try:
                made = self._commit(curation.plan(now, batch, {}), beside)
            except StalePlanError:
                continue  # another session moved the same memory: move it on from there
            if ours:
                return made
            row = self._recorded(found)  # another session was faster
        return self._outcome_again(row, hits, bool(improved))

    def _recorded(self, found: Retrieval | str | UUID) -> RecordedRetrieval:
        retrieval_id = found.id if isinstance(found, Retrieval) else str(found)
        with self._store.reading("retrieval") as connection:
            row = ledger.find_retrieval(connection, retrieval_id)
        if row is not None:
            return row
        if isinstance(found, Retrieval):
            return found.as_recorded(actor=self.actor, made_at_us=self._clock())
        raise MemoryNotFoundError(f"There is no recorded retrieval {retrieval_id!r}.")

    def _outcome_again(
        self, row: RecordedRetrieval, hits: tuple[RecordedHit, ...], improved: bool
    ) -> Revision:
        if row.improved != improved or row.hits != hits or row.outcome_revision is None:
            raise InvalidBatchError(
                f"Retrieval {row.id} has another outcome already; an outcome is recorded once. "
                f"Undo revision {row.outcome_revision} to take back what it moved."
            )
        return self.revision(row.outcome_revision)

    # -- proposals ----------------------------------------------------------------------------

    def propose(self, batch: Batch, *, source: str = "") -> tuple[int, ...]:
        """Lay a batch's operations before a person; the ids of the proposals.

        What breaks a rule may be proposed, and is refused when it is accepted. Raises
        InvalidBatchError for what cannot be decided on its own or written at all.
        """
        _check_batch(batch)
        for operation in batch.operations:
            check_proposable(operation)
        head = self.snapshot().revision or 0
        with self._store.writing("propose") as connection:
            return ledger.put_proposals(
                connection,
                batch.operations,
                batch_key=batch.key,
                reason=batch.reason,
                source=source or batch.kind,
                actor=self.actor,
                made_at_us=self._clock(),
                base_revision=head if batch.base_revision is None else batch.base_revision,
            )

    def proposals(self, state: ProposalState | None = "pending") -> tuple[Proposal, ...]:
        """Proposals in a state, or all for None, in the order in which they came."""
        with self._store.reading("proposals") as connection:
            return ledger.read_proposals(connection, state)

    def plan_proposals(self, ids: int | Iterable[int]) -> Plan:
        """What accepting proposals would do; one made against an older memory is refused."""
        with self._store.reading("proposals") as connection:
            chosen = ledger.find_proposals(connection, _several(ids))
        seen = {base: self.snapshot(base) for base in {p.base_revision for p in chosen}}
        batch = Batch(
            tuple(p.operation for p in chosen),
            reason="; ".join(dict.fromkeys(p.reason for p in chosen if p.reason)),
            kind=chosen[0].source if chosen else "edit",
        )
        vectors = self._vectors.of(curation.texts_of(batch))
        bases = [seen[p.base_revision] for p in chosen]
        return curation.plan(self.snapshot(), batch, vectors, seen=bases)

    def decide(
        self, ids: int | Iterable[int], *, accept: bool, reason: str = ""
    ) -> Revision | None:
        """Accept proposals, together as one revision, or reject them with a reason.

        Raises InvalidBatchError when one of them is refused or was accepted before; then none is
        decided.
        """
        check_string(reason, "reason")
        chosen = _several(ids)

        def decided(connection: Any, made: Revision | None) -> None:
            _refuse_accepted(ledger.find_proposals(connection, chosen))
            ledger.decide_proposals(
                connection, chosen, "accepted" if accept else "rejected", actor=self.actor,
                reason=reason, made_at_us=self._clock(), revision=made.number if made else None,
            )  # fmt: skip

        if accept:
            with self._store.reading("proposals") as connection:
                _refuse_accepted(ledger.find_proposals(connection, chosen))
            return self._commit(self.plan_proposals(chosen), decided)
        with self._store.writing("reject") as connection:
            decided(connection, None)
        return None

    # -- saved queries and settings -----------------------------------------------------------

    def queries(self) -> tuple[SavedQuery, ...]:
        """Saved test queries with their judgements, in the order in which they came."""
        with self._store.reading("queries") as connection:
            return ledger.read_queries(connection)

    def save_query(
        self,
        task: str,
        *,
        domains: Sequence[str] = (),
        judgements: Mapping[int, int | None] | None = None,
    ) -> int:
        """Keep a task as a test query, with its vector and first judgements; its id."""
        _check_grades(judgements or {})
        vector = self._vector(task)
        now = self._clock()
        with self._store.writing("save query") as connection:
            text_id = texts.put_text(connection, task, vector, model=self._vectors.model)
            query_id = ledger.put_query(
                connection, text_id, domains, actor=self.actor, made_at_us=now
            )
            if judgements:
                ledger.put_judgements(
                    connection, query_id, judgements, actor=self.actor, made_at_us=now
                )
            return query_id

    def delete_query(self, query_id: int) -> None:
        """Drop a saved query and its judgements. Raises MemoryNotFoundError."""
        with self._store.writing("delete query") as connection:
            ledger.delete_query(connection, query_id)

    def judge(self, query_id: int, memory_id: int, grade: int | None) -> None:
        """Grade a memory for a query, from 0 to 3; None takes the grade back."""
        self.judge_many(query_id, {memory_id: grade})

    def judge_many(self, query_id: int, grades: Mapping[int, int | None]) -> None:
        """Grade several memories for a query at once. Raises MemoryNotFoundError, ValueError."""
        _check_grades(grades)
        with self._store.writing("judge") as connection:
            ledger.put_judgements(
                connection, query_id, grades, actor=self.actor, made_at_us=self._clock()
            )

    @property
    def settings(self) -> BankSettings:
        """What the bank remembers about itself."""
        with self._store.reading("settings") as connection:
            stored = schema.read_settings(connection)
        return BankSettings(name=stored["name"], capacity=int(stored["capacity"]))

    def configure(self, *, name: str | None = None, capacity: int | None = None) -> BankSettings:
        """Change settings of the bank; None leaves one as it is."""
        if capacity is not None and capacity < 1:
            raise SettingsError(f"The capacity must be 1 or more; it was {capacity}.")
        if name is not None:
            check_string(name, "name")
        with self._store.writing("configure") as connection:
            for key, value in (("name", name), ("capacity", capacity)):
                if value is not None:
                    schema.write_setting(connection, key, str(value))
        return self.settings
