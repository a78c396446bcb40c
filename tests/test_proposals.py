"""Proposals: operations that wait for a person, who decides each once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_core import (
    Add,
    Batch,
    Delete,
    Evidence,
    HashEmbedder,
    InvalidBatchError,
    MemoryBank,
    MemoryNotFoundError,
    Merge,
    Modify,
    ToolDetail,
)

NEW = Add("Retry after a timeout.", "tool", "web", ToolDetail("curl"), rationale="It helped.",
          evidence=(Evidence("run", (3, 4)),))  # fmt: skip


@pytest.fixture
def filled(bank: MemoryBank) -> MemoryBank:
    lessons = [Add(f"Lesson {n}.", "tool", "web") for n in range(3)]
    bank.commit(bank.plan(Batch(lessons)))
    return bank


def texts(bank: MemoryBank) -> list[str]:
    return bank.snapshot().texts()


def test_a_proposal_keeps_what_was_said(filled, reopen):
    ids = filled.propose(Batch([NEW, Delete(1)], reason="A run"), source="reflection")
    first, second = reopen().proposals()
    assert (first.id, second.id) == ids
    assert (first.operation, second.operation) == (NEW, Delete(1))
    assert (first.reason, first.source, first.actor) == ("A run", "reflection", "tester")
    assert (first.state, first.base_revision) == ("pending", 1)
    assert first.group == second.group
    assert texts(filled) == ["Lesson 0.", "Lesson 1.", "Lesson 2."]


def test_accepted_ones_become_one_revision(filled, reopen):
    ids = filled.propose(Batch([NEW, Modify(2, pinned=True), Delete(1)], reason="A run"))
    made = filled.decide(ids[:2], accept=True, reason="Right.")
    assert made.number == 2
    assert texts(filled) == ["Lesson 0.", "Lesson 1.", "Lesson 2.", "Retry after a timeout."]
    added = filled.snapshot().memories[-1]
    assert added.provenance.trajectory_ids == ("run",)
    assert filled.history(added.id)[0].rationale == "It helped."
    accepted = reopen().proposals("accepted")
    assert [(p.id, p.revision, p.decided_by, p.decision_reason) for p in accepted] == [
        (ids[0], 2, "tester", "Right."), (ids[1], 2, "tester", "Right."),
    ]  # fmt: skip
    assert [p.id for p in filled.proposals()] == [ids[2]]
    assert len(filled.proposals(None)) == 3


def test_a_rejected_one_changes_nothing_and_may_be_accepted_later(filled):
    (first,) = filled.propose(Batch([NEW]))
    assert filled.decide(first, accept=False, reason="Too generic.") is None
    assert filled.proposals("rejected")[0].decision_reason == "Too generic."
    assert len(filled.revisions()) == 1
    assert filled.decide([first], accept=True).number == 2


def test_an_accepted_one_is_decided(filled):
    (first,) = filled.propose(Batch([NEW]))
    filled.decide(first, accept=True)
    for accept in (True, False):
        with pytest.raises(InvalidBatchError, match="accepted in revision 2"):
            filled.decide(first, accept=accept)
    assert len(filled.snapshot()) == 4


def test_two_people_accept_it_at_once_and_it_is_carried_out_once(filled):
    ids = filled.propose(Batch([NEW]))

    def accept(_: int) -> bool:
        other = MemoryBank.open(filled.path, embedder=HashEmbedder())
        try:
            other.decide(ids, accept=True)
        except InvalidBatchError:
            return False
        return True

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(accept, range(3))) == [False, False, True]
    assert texts(filled).count("Retry after a timeout.") == 1


def test_one_that_breaks_a_rule_waits_for_a_person_and_is_refused_on_acceptance(filled):
    ids = filled.propose(Batch([Add("word " * 33, "tool", "web"), Merge((1,), "one"), NEW]))
    plan = filled.plan_proposals(ids)
    assert ["33 words" in plan.refused[0].reason, "two or more" in plan.refused[1].reason] == [
        True, True,
    ]  # fmt: skip
    with pytest.raises(InvalidBatchError, match="2 of 3"):
        filled.decide(ids, accept=True)
    assert [p.state for p in filled.proposals(None)] == ["pending"] * 3
    filled.decide(ids[:2], accept=False)
    assert filled.decide(ids[2:], accept=True).added == 1


def test_one_made_before_its_memory_changed_is_refused(filled):
    (first,) = filled.propose(Batch([Modify(1, text="Better.")]))
    filled.commit(filled.plan(Batch([Modify(1, text="Best.")])))
    with pytest.raises(InvalidBatchError, match="Memory 1 has changed since revision 1"):
        filled.decide(first, accept=True)
    assert texts(filled)[0] == "Best."


def test_a_batch_proposed_twice_waits_once(filled):
    batch = Batch([NEW, Delete(1)])
    assert filled.propose(batch) == filled.propose(batch)
    assert len(filled.proposals()) == 2


def test_one_that_needs_another_is_not_proposed(filled):
    for operation in (Delete(-1), Merge((-1, 2), "both")):
        with pytest.raises(InvalidBatchError, match="on its own"):
            filled.propose(Batch([NEW, operation]))
    assert filled.proposals(None) == ()


def test_an_unknown_one_is_said_and_none_is_asked_for(filled):
    with pytest.raises(MemoryNotFoundError, match="no proposal 9"):
        filled.decide([9], accept=True)
    with pytest.raises(InvalidBatchError, match="No proposal was named"):
        filled.decide([], accept=True)
    assert len(filled.revisions()) == 1
