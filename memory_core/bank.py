"""The bank: one short method a verb. It sequences; the modules it calls compute.

Its memories and revisions come from `versioned.py`, its saved queries from `judged.py`, its map
from `mapped.py`, duplicates and audit from `curated.py`, trajectories from `evidenced.py`; here
is what else a bank keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory_core import confidence, curation
from memory_core.errors import InvalidBatchError, MemoryNotFoundError, StalePlanError
from memory_core.evidenced import EvidencedMemories
from memory_core.ledger_records import RecordedHit, RecordedRetrieval
from memory_core.operations import Batch, Operation, Proposal, ProposalState, touched_ids
from memory_core.plans import Plan
from memory_core.records import BankSettings, ConfidencePoint, Revision
from memory_core.retrieval import Retrieval
from memory_core.serialization import check_proposable
from memory_core.settings import SettingsError
from memory_core.snapshot import Snapshot
from memory_core.store import curves, ledger, schema, texts
from memory_core.store import proposals as proposed
from memory_core.validation import check_batch, check_string


def _several(ids: int | Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(ids) if isinstance(ids, Iterable) else (ids,)
    if not chosen:
        raise InvalidBatchError("No proposal was named; `bank.proposals()` lists them.")
    return chosen


def _refuse_accepted(proposals: Iterable[Proposal]) -> None:
    for proposal in proposals:
        if proposal.state == "accepted":
            raise InvalidBatchError(
                f"Proposal {proposal.id} was accepted in revision {proposal.revision}; undo that "
                "revision instead."
            )


def _edits_of(
    chosen: Sequence[Proposal], operations: Mapping[int, Operation] | None
) -> Mapping[int, Operation]:
    edited = operations or {}
    strange = set(edited) - {proposal.id for proposal in chosen}
    if strange:
        raise InvalidBatchError(
            f"Proposal {min(strange)} was edited, and is not among those that are decided."
        )
    for operation in edited.values():
        check_proposable(operation)
    return edited


class MemoryBank(EvidencedMemories):
    """Memories under revisions, with the outcomes, proposals, queries and settings beside them."""

    # -- retrievals and their outcomes --------------------------------------------------------

    def retrievals(self) -> tuple[RecordedRetrieval, ...]:
        """The ledger, oldest first."""
        with self._store.reading("retrievals") as connection:
            return ledger.read_retrievals(connection)

    def confidence_curves(self, ids: Iterable[int]) -> dict[int, tuple[ConfidencePoint, ...]]:
        """How the confidence of memories has moved, oldest first; none for unknown ids."""
        with self._store.reading("confidence curves") as connection:
            return curves.read_curves(connection, list(dict.fromkeys(ids)))

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
        revision that it made; another one is refused (InvalidBatchError), unless that revision has
        been undone.
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
        while not row.has_outcome:
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
        check_batch(batch)
        for operation in batch.operations:
            check_proposable(operation)
        head = self.snapshot().revision or 0
        # With their vectors, so that a review waits for no model.
        vectors = self._vectors.of(curation.texts_of(batch))
        with self._store.writing("propose") as connection:
            texts.keep_texts(connection, vectors, model=self._vectors.model)
            return proposed.put_proposals(
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
            return proposed.read_proposals(connection, state)

    def refused_proposals(self, state: ProposalState | None = "pending") -> dict[int, str]:
        """Why each proposal in a state, accepted alone, would be refused; by id, without the rest.

        Nothing is embedded for it.
        """
        head = self.snapshot()
        reasons = {
            p.id: curation.refusal(head, p.operation, kind=p.source, seen=self._seen(p))
            for p in self.proposals(state)
        }
        return {proposal_id: reason for proposal_id, reason in reasons.items() if reason}

    def plan_proposals(
        self,
        ids: int | Iterable[int],
        *,
        operations: Mapping[int, Operation] | None = None,
        base_revision: int | None = None,
    ) -> Plan:
        """What accepting proposals would do; one made against an older memory is refused.

        `operations` has, by a proposal's id, what a person made of it; `base_revision` is the
        revision that this person saw (None: the latest). The plan's operations go by proposal id.
        """
        with self._store.reading("proposals") as connection:
            chosen = proposed.find_proposals(connection, _several(ids))
        edited = _edits_of(chosen, operations)
        head = self.snapshot()
        shown = head if base_revision is None else self.snapshot(base_revision)
        batch = Batch(
            tuple(edited.get(p.id, p.operation) for p in chosen),
            reason="; ".join(dict.fromkeys(p.reason for p in chosen if p.reason)),
            kind=chosen[0].source if chosen else "edit",
        )
        vectors = self._vectors.of(curation.texts_of(batch))
        bases = [shown if p.id in edited else self._seen(p) for p in chosen]
        return curation.plan(head, batch, vectors, seen=bases)

    def _seen(self, proposal: Proposal) -> Snapshot | None:
        """What the author of a proposal saw; None where it rests on no memory."""
        return self.snapshot(proposal.base_revision) if touched_ids(proposal.operation) else None

    def decide(
        self,
        ids: int | Iterable[int],
        *,
        accept: bool,
        reason: str = "",
        operations: Mapping[int, Operation] | None = None,
        base_revision: int | None = None,
    ) -> Revision | None:
        """Accept proposals, together as one revision, or reject them with a reason.

        `operations` and `base_revision` are for what a person has edited; see `plan_proposals`.
        Raises InvalidBatchError when one of them is refused or stands accepted; then none is
        decided. One whose revision has been undone waits again.
        """
        check_string(reason, "reason")
        chosen = _several(ids)
        if not accept:
            if operations:
                raise InvalidBatchError("What is rejected needs no edit; leave `operations` out.")
            self._mark(chosen, "rejected", reason)
            return None

        def decided(connection: Any, made: Revision) -> None:
            _refuse_accepted(proposed.find_proposals(connection, chosen))
            proposed.decide_proposals(
                connection, chosen, "accepted", actor=self.actor, reason=reason,
                made_at_us=self._clock(), revision=made.number,
            )  # fmt: skip

        with self._store.reading("proposals") as connection:
            _refuse_accepted(proposed.find_proposals(connection, chosen))
        plan = self.plan_proposals(chosen, operations=operations, base_revision=base_revision)
        return self._commit(plan, decided)

    def reopen(self, ids: int | Iterable[int]) -> None:
        """Have rejected proposals wait again. Raises InvalidBatchError when one stands accepted."""
        self._mark(_several(ids), "pending", "")

    def _mark(self, chosen: tuple[int, ...], state: ProposalState, reason: str) -> None:
        with self._store.writing("decide") as connection:
            _refuse_accepted(proposed.find_proposals(connection, chosen))
            proposed.decide_proposals(
                connection, chosen, state, actor=self.actor, reason=reason,
                made_at_us=self._clock(), revision=None,
            )  # fmt: skip

    # -- settings -----------------------------------------------------------------------------

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
