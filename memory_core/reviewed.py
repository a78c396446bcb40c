"""Memories with what was proposed for them: operations that wait for a person."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from memory_core import curation
from memory_core.errors import InvalidBatchError, StalePlanError
from memory_core.evidenced import EvidencedMemories
from memory_core.operations import (
    Acceptance,
    Batch,
    Operation,
    Proposal,
    ProposalState,
    touched_ids,
)
from memory_core.plans import Plan
from memory_core.records import Revision
from memory_core.serialization import check_proposable
from memory_core.snapshot import Snapshot
from memory_core.store import proposals as proposed
from memory_core.store import texts
from memory_core.validation import check_batch, check_string

_TRIES = 5
"""How often it is looked at anew what fits, when other sessions were faster."""


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


class ReviewedMemories(EvidencedMemories):
    """Memories under revisions, with the proposals that a person decides on beside them."""

    def propose(self, batch: Batch, *, source: str = "") -> tuple[int, ...]:
        """Lay a batch's operations before a person; the ids of the proposals.

        What breaks a rule may be proposed, and is refused when it is accepted. Raises
        InvalidBatchError for what cannot be decided on its own or written at all.
        """
        return self._propose(batch, source, lambda connection, made_at_us: None)

    def _propose(
        self, batch: Batch, source: str, beside: Callable[[Any, int], None]
    ) -> tuple[int, ...]:
        """`beside` writes what belongs to the proposals, in the same transaction."""
        check_batch(batch)
        for operation in batch.operations:
            check_proposable(operation)
        head = self.snapshot().revision or 0
        # With their vectors, so that a review waits for no model.
        vectors = self._vectors.of(curation.texts_of(batch))
        now = self._clock()
        with self._store.writing("propose") as connection:
            texts.keep_texts(connection, vectors, model=self._vectors.model)
            beside(connection, now)
            return proposed.put_proposals(
                connection,
                batch.operations,
                batch_key=batch.key,
                reason=batch.reason,
                source=source or batch.kind,
                actor=self.actor,
                made_at_us=now,
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

    def accept_fitting(
        self, ids: int | Iterable[int], *, reason: str = "", hold: Container[str] = ()
    ) -> Acceptance:
        """Accept, as one revision, those of the proposals that wait and that fit.

        What a rule refuses, alone or beside the others, goes on waiting, as does what raises a
        doubt of a rule in `hold` (of `LINT_RULES`).
        """
        asked = set(_several(ids))
        left: dict[int, str] = {}
        for _ in range(_TRIES):
            fitting, left = self._fitting([p.id for p in self.proposals() if p.id in asked], hold)
            if not fitting:
                break
            try:
                return Acceptance(fitting, self.decide(fitting, accept=True, reason=reason), left)
            except (StalePlanError, InvalidBatchError) as error:  # another session was faster
                left |= dict.fromkeys(fitting, str(error))
        return Acceptance((), None, left)

    def _fitting(
        self, ids: Sequence[int], hold: Container[str]
    ) -> tuple[tuple[int, ...], dict[int, str]]:
        """Those that can be accepted together, and why not the others."""
        left: dict[int, str] = {}
        fitting = list(ids)
        while fitting:
            plan = self.plan_proposals(fitting)
            doubts = {lint.index: lint.message for lint in plan.lints if lint.rule in hold}
            doubts |= {refusal.index: refusal.reason for refusal in plan.refused}
            if not doubts:
                break
            left |= {fitting[index]: why for index, why in doubts.items()}
            fitting = [proposal_id for proposal_id in fitting if proposal_id not in left]
        return tuple(fitting), left

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
