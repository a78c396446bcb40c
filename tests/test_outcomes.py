"""Outcomes: each is counted once, moves confidence by the rule, and is never lost."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_core import (
    Add,
    Batch,
    Delete,
    HashEmbedder,
    InvalidBatchError,
    MemoryBank,
    MemoryNotFoundError,
    Modify,
    memory_uses,
)

TASK = "retry the request after a timeout"


@pytest.fixture
def filled(bank: MemoryBank) -> MemoryBank:
    lessons = [Add(f"Retry request {n} after a timeout.", "tool", "web") for n in range(8)]
    bank.commit(bank.plan(Batch(lessons)))
    return bank


def again(bank: MemoryBank) -> MemoryBank:
    return MemoryBank.open(bank.path, embedder=HashEmbedder(), actor="other")


def standing(bank: MemoryBank) -> dict[int, tuple[float, int, int]]:
    return {
        m.id: (round(m.confidence, 9), m.usage_count, m.success_count)
        for m in bank.snapshot().memories
    }


NEW, HELPED, FAILED = (0.5, 0, 0), (0.55, 1, 1), (0.45, 1, 0)


def test_what_was_applied_moves_and_the_rest_stays(filled):
    found = filled.retrieve(TASK)
    first, second = (hit.memory.id for hit in found.hits[:2])
    made = filled.record_outcome(found, improved=True, applied=[first, second, first])
    expected = dict.fromkeys(range(1, 9), NEW) | {first: HELPED, second: HELPED}
    assert standing(filled) == standing(again(filled)) == expected
    assert (made.kind, made.changed, made.size) == ("outcome", 2, 8)
    (row,) = filled.retrievals()
    assert (row.id, row.improved, row.outcome_revision) == (found.id, True, made.number)
    assert {hit.memory_id for hit in row.hits if hit.applied} == {first, second}
    assert row.injection == found.injection


def test_a_failure_lowers_it(filled):
    found = filled.retrieve(TASK)
    first = found.hits[0].memory.id
    filled.record_outcome(found, improved=False, applied=[first], reward=-1.5)
    assert standing(filled)[first] == FAILED
    assert filled.retrievals()[0].reward == -1.5


def test_nothing_applied_moves_nothing_and_is_still_recorded(filled):
    found = filled.retrieve(TASK)
    filled.record_outcome(found, improved=True, applied=[])
    assert set(standing(filled).values()) == {NEW}
    assert filled.retrievals()[0].improved is True


@pytest.mark.parametrize("named", [str, uuid.UUID])
def test_a_recorded_retrieval_is_named_by_its_id(filled, named):
    found = filled.retrieve(TASK, record=True)
    first = found.hits[0].memory.id
    again(filled).record_outcome(named(found.id), improved=True, applied=[first])
    assert standing(filled)[first] == HELPED
    assert len(filled.retrievals()) == 1


def test_an_outcome_counts_once_however_often_it_is_recorded(filled):
    found = filled.retrieve(TASK)
    first, second = (hit.memory.id for hit in found.hits[:2])
    made = filled.record_outcome(found, improved=True, applied=[first])
    assert filled.record_outcome(found, improved=True, applied=[first]) == made
    assert again(filled).record_outcome(found.id, improved=True, applied=(first,)) == made
    for other in ({"improved": False, "applied": [first]}, {"improved": True, "applied": [second]}):
        with pytest.raises(InvalidBatchError, match="another outcome already"):
            filled.record_outcome(found, **other)
    assert standing(filled)[first] == HELPED
    assert standing(filled)[second] == NEW


def test_what_was_not_among_the_hits_cannot_have_been_applied(filled):
    found = filled.retrieve(TASK)
    missed = next(i for i in range(1, 9) if i not in [hit.memory.id for hit in found.hits])
    with pytest.raises(InvalidBatchError, match=f"Memory {missed} was not among the hits"):
        filled.record_outcome(found, improved=True, applied=[missed])
    assert filled.retrievals() == ()


@pytest.mark.parametrize("unknown", ["nowhere", "0bfab4d0-52de-431d-867f-50e1ad76ad4e"])
def test_an_unknown_retrieval_is_said(filled, unknown):
    with pytest.raises(MemoryNotFoundError, match=unknown):
        filled.record_outcome(unknown, improved=True, applied=[])


def test_a_retrieval_on_a_plan_has_no_outcome(filled):
    found = filled.retrieve(TASK, revision=filled.plan(Batch([Delete(1)])).after)
    with pytest.raises(InvalidBatchError, match="on a plan"):
        filled.record_outcome(found, improved=True, applied=[])


def test_what_has_left_since_is_passed_over_and_said(filled):
    found = filled.retrieve(TASK)
    first, second = (hit.memory.id for hit in found.hits[:2])
    filled.commit(filled.plan(Batch([Delete(first), Modify(second, text="Retry once.")])))
    made = filled.record_outcome(found, improved=True, applied=[first, second])
    assert "1 of them no longer in the bank" in made.reason
    assert standing(filled)[second] == HELPED
    assert filled.snapshot().by_id(second).text == "Retry once."


def test_an_undone_outcome_gives_back_confidence_and_counts(filled):
    before = filled.snapshot().memories
    found = filled.retrieve(TASK)
    made = filled.record_outcome(found, improved=True, applied=[found.hits[0].memory.id])
    filled.commit(filled.plan_undo(made))
    assert filled.snapshot().memories == before


def test_an_undone_outcome_counts_no_longer_and_can_be_recorded_anew(filled):
    found = filled.retrieve(TASK)
    first = found.hits[0].memory.id
    made = filled.record_outcome(found, improved=True, applied=[first])
    undone = filled.commit(filled.plan_undo(made))
    (row,) = filled.retrievals()
    assert (row.improved, row.taken_back, row.has_outcome) == (True, undone.number, False)
    uses = {use.memory_id: use for use in memory_uses(filled.retrievals())}
    assert (uses[first].retrieved, uses[first].with_outcome, uses[first].helped) == (1, 0, 0)

    again = filled.record_outcome(found, improved=False, applied=[first])
    assert again.number > undone.number
    (row,) = filled.retrievals()
    assert (row.improved, row.taken_back, row.outcome_revision) == (False, None, again.number)
    assert standing(filled)[first] == FAILED
    with pytest.raises(InvalidBatchError, match="another outcome already"):
        filled.record_outcome(found, improved=True, applied=[first])

    filled.commit(filled.plan_undo(again))
    filled.commit(filled.plan_undo(filled.revisions()[-1]))  # the undo is undone
    assert filled.retrievals()[0].has_outcome
    assert standing(filled)[first] == FAILED


def test_outcomes_of_sessions_at_once_are_all_counted(filled):
    """Each on the same memory, with snapshots of their own that grow old meanwhile."""
    banks = [again(filled) for _ in range(4)]

    def run(bank: MemoryBank) -> None:
        for _ in range(3):
            found = bank.retrieve(TASK)
            bank.record_outcome(found, improved=True, applied=[found.hits[0].memory.id])

    top = filled.retrieve(TASK).hits[0].memory.id
    with ThreadPoolExecutor(len(banks)) as pool:
        list(pool.map(run, banks))
    memory = filled.snapshot().by_id(top)
    assert (memory.usage_count, memory.success_count) == (12, 12)
    assert memory.confidence == pytest.approx(1 - 0.5 * 0.9**12)


def test_of_two_different_outcomes_at_once_one_stands_and_the_other_is_refused(filled):
    found = filled.retrieve(TASK, record=True)
    first = found.hits[0].memory.id

    def record(improved: bool) -> str:
        try:
            again(filled).record_outcome(found.id, improved=improved, applied=[first])
        except InvalidBatchError:
            return "refused"
        return "stands"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(record, [True, False])) == ["refused", "stands"]
    assert standing(filled)[first] in (HELPED, FAILED)
