"""What a bank keeps beside its memories comes back as it went in, for whoever opens it next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from children import lessons, small

from memory_core import (
    Add,
    Batch,
    Delete,
    Evidence,
    InvalidBatchError,
    MemoryBank,
    MemoryNotFoundError,
    Merge,
    Modify,
    Operation,
    ProceduralDetail,
    Provenance,
    RetrievalSettings,
    StrategicDetail,
    ToolDetail,
)

STRANGE = "Ünï “quotes” 'single' \\u0000 %s {0} 记忆 \U0001f9e0\nand a second line"


class Ticking:
    """A clock that goes one second a look."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000_000

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now


@pytest.fixture
def ledger(bank_path: Path) -> MemoryBank:
    """A bank with three memories and a clock of its own."""
    bank = small(bank_path, clock=Ticking())
    bank.update(lessons("a", "b", "c"))
    return bank


@pytest.fixture
def again(bank_path: Path) -> Callable[[], MemoryBank]:
    """Opens the ledger's bank as another process would."""
    return lambda: small(bank_path)


def test_queries_and_judgements(ledger: MemoryBank, again: Callable[[], MemoryBank]) -> None:
    first = ledger.save_query(STRANGE, domains=("git", "it's"), judgements={2: 0, 1: 3})
    second = ledger.save_query("Lesson a: check the exit code")  # the text of a memory
    third = ledger.save_query(STRANGE)  # the same text twice is two queries
    assert len({first, second, third}) == 3
    ledger.judge(second, 1, 3)
    ledger.judge_many(second, {1: 1, 3: 2})
    ledger.judge(first, 2, None)
    found = again().queries()
    assert [q.id for q in found] == [first, second, third]
    assert found[0].task == found[2].task == STRANGE
    assert [q.domains for q in found] == [("git", "it's"), (), ()]
    assert [dict(q.judgements) for q in found] == [{1: 3}, {1: 1, 3: 2}, {}]
    assert found == ledger.queries()
    again().delete_query(first)
    assert [q.id for q in ledger.queries()] == [second, third]
    assert again().save_query("next") == third + 1
    assert ledger.snapshot().revision == 1


def test_a_judgement_of_what_was_never_there_changes_nothing(ledger: MemoryBank) -> None:
    query = ledger.save_query("q", judgements={1: 3})
    ledger.update(Batch([Delete(2)]))
    ledger.judge(query, 2, 1)  # it has left, and is still what a past answer is measured by
    before = ledger.queries()
    for query_id, memory_id in ((query, 99), (query + 1, 1)):
        with pytest.raises(MemoryNotFoundError):
            ledger.judge_many(query_id, {1: 0, memory_id: 2})
    with pytest.raises(MemoryNotFoundError):
        ledger.delete_query(query + 1)
    with pytest.raises(MemoryNotFoundError):
        ledger.save_query("another", judgements={99: 1})
    assert ledger.queries() == before


OPERATIONS: list[Operation] = [
    Add(
        STRANGE.replace("\n", " "),
        "procedural",
        "git",
        detail=ProceduralDetail((STRANGE, ""), ("before",)),
        tags=("a", STRANGE),
        provenance=Provenance("reflection", (Evidence(STRANGE, (1, 7)),), (1,), STRANGE),
        rationale=STRANGE,
        evidence=(Evidence("run", (3,)), Evidence("other")),
    ),
    Add("bare", "strategic", "git", detail=StrategicDetail(STRANGE)),
    Modify(1, text="reworded"),
    Modify(2, detail=ToolDetail("git", STRANGE), domain="sql", tags=(), pinned=True),
    Delete(3, rationale="stale"),
    Merge((1, 2), "both", tags=("x",), evidence=(Evidence("run"),)),
]


def test_proposals(ledger: MemoryBank, again: Callable[[], MemoryBank]) -> None:
    batch = Batch(OPERATIONS, reason=STRANGE, kind="reflection")
    ids = ledger.acting_as("the agent").propose(batch, source="run 7")
    found = again().proposals()
    assert tuple(p.id for p in found) == ids
    assert [p.operation for p in found] == OPERATIONS
    for proposal in found:
        assert (proposal.group, proposal.reason, proposal.source) == (batch.key, STRANGE, "run 7")
        assert (proposal.actor, proposal.base_revision) == ("the agent", 1)
        assert (proposal.state, proposal.decided_at_us) == ("pending", None)
    # Proposed again by its key, as after a lost answer, it is the same; anew, it is new.
    assert again().propose(batch) == ids
    further = ledger.propose(Batch([Delete(1)]))
    assert further == (ids[-1] + 1,)
    assert len(again().proposals()) == len(OPERATIONS) + 1


def test_decisions(ledger: MemoryBank, again: Callable[[], MemoryBank]) -> None:
    ids = ledger.propose(Batch([Modify(1, text="new wording"), Delete(3), Delete(2)]))
    made = ledger.acting_as("someone").decide(ids[:2], accept=True, reason="yes " + STRANGE)
    assert made is not None
    assert ledger.decide(ids[2:], accept=False, reason="no") is None
    found = again().proposals(None)
    assert [p.state for p in found] == ["accepted", "accepted", "rejected"]
    assert [p.revision for p in found] == [made.number, made.number, None]
    assert [p.decided_by for p in found] == ["someone", "someone", "tester"]
    assert [p.decision_reason for p in found] == ["yes " + STRANGE, "yes " + STRANGE, "no"]
    assert all((p.decided_at_us or 0) > p.made_at_us for p in found)
    assert again().proposals() == ()
    assert [p.id for p in again().proposals("rejected")] == [ids[2]]
    assert [m.text for m in again().snapshot().memories] == [
        "new wording", "Lesson b: check the exit code"
    ]  # fmt: skip


def test_one_refused_proposal_decides_none(ledger: MemoryBank) -> None:
    ids = ledger.propose(Batch([Delete(1), Delete(99)]))
    with pytest.raises(InvalidBatchError):
        ledger.decide(ids, accept=True)
    with pytest.raises(MemoryNotFoundError):
        ledger.decide([ids[0], 77], accept=False)
    assert [p.id for p in ledger.proposals()] == list(ids)
    assert ledger.snapshot().revision == 1


def test_retrievals_and_outcomes(ledger: MemoryBank, again: Callable[[], MemoryBank]) -> None:
    settings = RetrievalSettings(limit=2, domains=("shell",), confidence_weight=0.25)
    found = ledger.retrieve(STRANGE, settings, record=True)
    ledger.record(found)  # once for its id
    other = ledger.retrieve("Lesson a", record=True)
    (row, second) = again().retrievals()
    assert (row.id, row.task, row.revision, row.epoch) == (found.id, STRANGE, 1, 0)
    assert (row.injection, row.actor) == (found.injection, "tester")
    assert [(h.memory_id, h.rank, h.score, h.applied) for h in row.hits] == [
        (h.memory.id, h.rank, h.score, False) for h in found.hits
    ]
    kept = {**row.settings, "domains": tuple(row.settings["domains"] or ())}  # type: ignore[arg-type]
    assert RetrievalSettings(**kept) == settings
    assert (row.improved, row.reward, row.outcome_revision) == (None, None, None)
    best = found.hits[0].memory.id
    made = again().record_outcome(found.id, improved=True, applied=[best], reward=0.1 + 0.2)
    row, second = ledger.retrievals()
    assert (row.improved, row.reward, row.outcome_revision) == (True, 0.1 + 0.2, made.number)
    assert [h.memory_id for h in row.hits if h.applied] == [best]
    assert (second.id, second.improved) == (other.id, None)
    # Once, whoever says so; and the same again is no second one.
    assert ledger.record_outcome(found, improved=True, applied=[best], reward=0.3) == made
    with pytest.raises(InvalidBatchError, match="once"):
        again().record_outcome(found.id, improved=False, applied=[best])
    assert again().snapshot().by_id(best).usage_count == 1
    assert [r.number for r in again().revisions()] == [1, 2]


def test_settings(ledger: MemoryBank, again: Callable[[], MemoryBank]) -> None:
    assert again().settings == ledger.settings
    ledger.configure(name=STRANGE, capacity=7)
    again().configure(capacity=9)
    assert (ledger.settings.name, ledger.settings.capacity) == (STRANGE, 9)


def test_a_step_of_two_writes_is_one_or_none(ledger: MemoryBank) -> None:
    """An outcome is a revision and a row in the ledger; a decision a revision and its proposals."""
    found = ledger.retrieve("Lesson a", record=True)
    proposals = ledger.propose(Batch([Delete(1)]))
    ledger.decide(proposals, accept=True)
    with pytest.raises(InvalidBatchError, match="accepted"):
        ledger.decide(proposals, accept=True)
    with pytest.raises(InvalidBatchError, match="hits"):
        ledger.record_outcome(found, improved=True, applied=[99])
    assert ledger.retrievals()[0].improved is None
    assert len(ledger.revisions()) == 2
