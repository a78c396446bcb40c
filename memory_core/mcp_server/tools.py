"""What an agent may do with a bank: one function a tool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from memory_core.bank import MemoryBank
from memory_core.cleaning.lints import lint_text
from memory_core.errors import InvalidBatchError, InvalidMemoryError
from memory_core.injection import plain
from memory_core.masking import mask_secrets
from memory_core.mcp_server.answers import (
    STATES,
    BankDomains,
    DomainCount,
    FoundMemory,
    MovedMemory,
    ProposedMemory,
    RecordedOutcome,
    RetrievedMemories,
    SubmittedLesson,
    SubmittedTrajectory,
)
from memory_core.operations import Add, Batch, Proposal
from memory_core.plans import Plan
from memory_core.records import Kind, Memory, Provenance
from memory_core.serialization import memory_to_dict
from memory_core.settings import RetrievalSettings
from memory_core.trajectories import read_trajectories

HELD_BACK = frozenset({"secret", "instruction"})
"""Doubts for whose sake a lesson waits for a person, whatever else is accepted by itself."""
SOURCE = "agent"
"""What a proposal over MCP says of where it comes from."""


def retrieve_memories(
    bank: MemoryBank, task: str, limit: int, domains: list[str] | None
) -> RetrievedMemories:
    """The lessons for a task, written to the ledger."""
    asked, secrets = mask_secrets(task)  # the ledger keeps it
    settings = RetrievalSettings(limit=limit, domains=tuple(domains or ()))
    found = bank.retrieve(asked, settings, record=True)
    there = found.snapshot.domain_counts()
    notes = [
        f"The bank has no domain {name!r}; list_domains names those that it has."
        for name in settings.domains or ()
        if name not in there
    ]
    if secrets:
        notes.append("The task held a secret, which was masked; leave secrets out.")
    return RetrievedMemories(
        retrieval_id=found.id,
        revision=int(found.revision or 0),
        injection=found.injection,
        hits=[
            FoundMemory(
                id=hit.memory.id,
                rank=hit.rank,
                score=hit.score,
                text=plain(hit.memory.text),
                kind=hit.memory.kind,
                domain=hit.memory.domain,
                confidence=hit.memory.confidence,
                uri=memory_uri(hit.memory.id),
            )
            for hit in found.hits
        ],
        notes=notes,
    )


def record_outcome(
    bank: MemoryBank, retrieval_id: str, improved: bool, applied: list[int]
) -> RecordedOutcome:
    """How the work ended that a retrieval was for; it moves what was applied, once."""
    made = bank.record_outcome(retrieval_id.strip(), improved=improved, applied=applied)
    then = bank.snapshot(made)
    return RecordedOutcome(
        revision=made.number,
        moved=[
            MovedMemory(
                id=memory.id,
                confidence=memory.confidence,
                usage_count=memory.usage_count,
                success_count=memory.success_count,
            )
            for memory in (then.by_id(i) for i in dict.fromkeys(applied) if i in then)
        ],
    )


def submit_trajectory(bank: MemoryBank, text: str, *, accept: bool) -> SubmittedTrajectory:
    """Keep the runs in a log, and propose what can be learned from them by rules."""
    reading = read_trajectories(text)
    reflection = bank.draft_lessons(reading.trajectories, format=reading.format)
    ids = bank.keep_reflection(reflection)
    doubts = _doubts(bank.plan_proposals(ids)) if ids else {}
    if accept and ids:
        bank.accept_fitting(ids, hold=HELD_BACK)
    standing = _standing(bank, ids)
    return SubmittedTrajectory(
        trajectory_ids=list(reflection.trajectory_ids),
        format=reading.format,
        lessons=[
            SubmittedLesson(
                proposal_id=proposal_id,
                state=STATES[standing[proposal_id].state],
                revision=_accepted_in(standing[proposal_id]),
                change=type(operation).__name__.lower(),
                text=plain(getattr(operation, "text", None) or ""),
                notes=doubts.get(index, []),
            )
            for index, (proposal_id, operation) in enumerate(
                zip(ids, reflection.operations, strict=True)
            )
        ],
        masked=sum(masked.count for masked in reading.masked),
        notes=[*reading.warnings, *reflection.notes, *(d.reason for d in reflection.refused)],
    )


def propose_memory(
    bank: MemoryBank, text: str, kind: Kind, domain: str, *, accept: bool
) -> ProposedMemory:
    """Lay a lesson before a person; once, however often it is said.

    What breaks a rule, stands there already, holds a secret or was rejected is refused, with the
    reason.
    """
    origin = Provenance("reflection", note="Proposed by an agent, without a log of its work.")
    addition = Add(text.strip(), kind, domain.strip().lower(), provenance=origin)
    for lint in lint_text(addition.text):
        if lint.rule == "secret":
            raise InvalidMemoryError(lint.message)
    plan = bank.plan(Batch((addition,), kind=SOURCE))
    if plan.refused:
        raise InvalidMemoryError(plan.refused[0].reason)
    for copy in plan.before.ids_with_text(addition.text):
        raise InvalidBatchError(f"The bank holds this lesson already, as memory {copy}.")
    proposal_id = _said_before(bank.proposals(None), addition)
    if proposal_id is None:
        batch = Batch((addition,), reason="Proposed by an agent")
        (proposal_id,) = bank.propose(batch, source=SOURCE)
    if accept:
        bank.accept_fitting(proposal_id, hold=HELD_BACK)
    stands = _standing(bank, (proposal_id,))[proposal_id]
    revision = _accepted_in(stands)
    made = () if revision is None else bank.snapshot(revision).ids_with_text(addition.text)
    return ProposedMemory(
        proposal_id=proposal_id,
        state=STATES[stands.state],
        memory_id=next(iter(made), None),
        revision=revision,
        notes=_doubts(plan).get(0, []),
    )


def list_domains(bank: MemoryBank) -> BankDomains:
    """The domains of the bank, with the number of memories in each."""
    snapshot = bank.snapshot()
    return BankDomains(
        domains=[DomainCount(domain=d, memories=n) for d, n in snapshot.domain_counts().items()],
        memories=len(snapshot),
    )


# -- resources ------------------------------------------------------------------------------------


def memory_uri(memory_id: int) -> str:
    return f"winnow://memory/{memory_id}"


def memory_as_json(bank: MemoryBank, memory_id: str) -> str:
    """All fields of a memory of the latest revision. Raises MemoryNotFoundError."""
    named: Any = int(memory_id) if memory_id.isascii() and memory_id.isdecimal() else memory_id
    memory: Memory = bank.snapshot().by_id(named)
    return json.dumps(memory_to_dict(memory), ensure_ascii=False, indent=2)


def injected_block(bank: MemoryBank, retrieval_id: str) -> str:
    """The block that a recorded retrieval gave. Raises MemoryNotFoundError."""
    return bank.retrieval(retrieval_id).injection


# -- proposals ------------------------------------------------------------------------------------


def _said_before(proposals: Iterable[Proposal], addition: Add) -> int | None:
    """The proposal by which the same lesson waits. Raises InvalidBatchError if it was rejected."""
    for proposal in proposals:
        known = proposal.operation
        same = isinstance(known, Add) and (known.text, known.kind) == (addition.text, addition.kind)
        if same and proposal.state == "rejected":
            reason = f": {proposal.decision_reason}" if proposal.decision_reason else "."
            raise InvalidBatchError(
                f"A person has rejected this lesson before, as proposal {proposal.id}{reason}"
            )
        if same and proposal.state == "pending":
            return proposal.id
    return None


def _standing(bank: MemoryBank, ids: tuple[int, ...]) -> dict[int, Proposal]:
    """Proposals as they are now, by id."""
    return {proposal.id: proposal for proposal in bank.proposals(None) if proposal.id in ids}


def _accepted_in(proposal: Proposal) -> int | None:
    return proposal.revision if proposal.state == "accepted" else None


def _doubts(plan: Plan) -> dict[int, list[str]]:
    """Sentences about operations that are refused or doubted, by their place in the plan."""
    said: dict[int, list[str]] = {refusal.index: [refusal.reason] for refusal in plan.refused}
    for lint in plan.lints:
        said.setdefault(lint.index, []).append(lint.message)
    return said
