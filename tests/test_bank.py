"""The bank: what is planned is committed, what is undone is as it was, and who conflicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Delete,
    EncodingDriftError,
    HashEmbedder,
    InvalidBatchError,
    Memory,
    MemoryBank,
    MemoryCoreError,
    MemoryNotFoundError,
    Merge,
    Modify,
    Operation,
    RetrievalSettings,
    Revision,
    RevisionNotFoundError,
    Snapshot,
    StalePlanError,
    StoreError,
    ToolDetail,
)
from tests.conftest import IN_CI
from tests.ranking import check
from tests.strategies import adds, operation_lists

EXAMPLES = 8 if IN_CI else 4
MEMORY = Path("/dev/shm")
FOLDER = MEMORY if os.access(MEMORY, os.W_OK) else None
"""Of the banks of properties: where there is no disk to wait for, if there is such a place."""
TEXTS = ("Use uv sync --frozen in CI.", "Rebase before merging.", "Retry after a timeout.")


@contextmanager
def temporary_bank() -> Iterator[MemoryBank]:
    """For properties, whose examples may not share a fixture's folder."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        yield MemoryBank.open(Path(folder, "bank.duckdb"), embedder=HashEmbedder(), actor="tester")


def again(bank: MemoryBank) -> MemoryBank:
    """The same file with nothing in memory."""
    return MemoryBank.open(bank.path, embedder=HashEmbedder(), actor="tester")


def do(bank: MemoryBank, *operations: Operation, **batch) -> Revision:
    return bank.commit(bank.plan(Batch(operations, **batch)))


def fill(bank: MemoryBank, texts=TEXTS) -> list[int]:
    return [*do(bank, *(Add(text, "tool", "git") for text in texts)).ids.values()]


def assert_same(one: Snapshot, other: Snapshot, memories: list[Memory] | None = None) -> None:
    assert list(one.memories) == (list(other.memories) if memories is None else memories)
    np.testing.assert_array_equal(one.vectors, other.vectors)


# -- properties -----------------------------------------------------------------------------------


@st.composite
def pasts(draw: st.DrawFn) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """What fills a bank, and a batch on what it then holds."""
    first = tuple(draw(st.lists(adds(), max_size=5)))
    return first, draw(operation_lists(range(1, len(first) + 1)))


@settings(max_examples=EXAMPLES, deadline=None)
@given(pasts())
def test_a_refused_batch_changes_nothing_and_a_commit_does_what_its_plan_showed(past):
    first, operations = past
    with temporary_bank() as bank:
        do(bank, *first)
        before, revisions = bank.snapshot(), bank.revisions()
        with pytest.raises(InvalidBatchError, match="no memory 999"):
            bank.commit(bank.plan(Batch((*operations, Delete(999)))))
        assert bank.revisions() == revisions
        assert_same(again(bank).snapshot(), before)

        plan = bank.plan(Batch(operations)).accepted_only()
        made = bank.commit(plan)
        expected = [replace(m, id=made.ids.get(m.id, m.id)) for m in plan.after.memories]
        assert_same(bank.snapshot(), plan.after, expected)
        assert_same(again(bank).snapshot(), plan.after, expected)
        assert [m.id for m in expected] == sorted(m.id for m in expected)
        assert all(i > 0 for m in expected for i in (m.id, *m.provenance.merged_from))
        assert (made.number, made.size) == (2, len(expected))


@settings(max_examples=EXAMPLES, deadline=None)
@given(pasts())
def test_an_undo_gives_back_the_same_memories_its_undo_the_later_ones_and_history_tells(past):
    first, operations = past
    with temporary_bank() as bank:
        do(bank, *first)
        before = bank.snapshot()
        made = bank.commit(bank.plan(Batch(operations)).accepted_only())
        after = bank.snapshot()
        undone = bank.commit(bank.plan_undo(made))
        assert_same(bank.snapshot(), before)
        bank.commit(bank.plan_undo(undone.number))
        assert_same(bank.snapshot(), after)

        fresh = again(bank)
        states = [fresh.snapshot(number) for number in range(5)]
        for state, expected in zip(states[1:], (before, after, before, after), strict=True):
            assert_same(state, expected)
        for memory_id in {memory.id for state in states for memory in state.memories}:
            check_history(fresh, states, memory_id)


def check_history(bank: MemoryBank, states: list[Snapshot], memory_id: int) -> None:
    """A memory's history leads from each revision's state to the next one's."""
    told = {change.revision.number: change for change in bank.history(memory_id)}
    assert list(told) == sorted(told)
    stages = [state.by_id(memory_id) if memory_id in state else None for state in states]
    for number, (old, new) in enumerate(pairwise(stages), start=1):
        if old == new:
            assert number not in told
        else:
            assert (told[number].before, told[number].after) == (old, new)


# -- committing -----------------------------------------------------------------------------------


def test_a_revision_says_what_it_did(bank):
    ids = fill(bank)
    made = do(bank, Delete(ids[0]), Modify(ids[1], pinned=True), Add("New.", "tool", "x"),
              reason="Tidy", kind="edit")  # fmt: skip
    assert (made.number, made.added, made.changed, made.removed, made.size) == (2, 1, 1, 1, 3)
    assert (made.reason, made.actor, made.kind) == ("Tidy", "tester", "edit")
    assert made.ids == {-1: 4}
    assert bank.revisions()[-1] == bank.revision(2) == made


def test_ids_are_never_used_again(bank):
    fill(bank)
    do(bank, Delete(3))
    assert do(bank, Add("New.", "tool", "x")).ids == {-1: 4}
    bank.commit(bank.plan_undo(3))
    assert do(bank, Add("Newer.", "tool", "x")).ids == {-1: 5}
    bank.commit(bank.plan_undo(2))
    assert [memory.id for memory in bank.snapshot().memories] == [1, 2, 3, 5]


def test_a_batch_committed_twice_makes_one_revision(bank):
    plan = bank.plan(Batch([Add("New.", "tool", "x")], key="once"))
    made = bank.commit(plan)
    assert bank.commit(plan) == again(bank).commit(plan) == made
    assert bank.commit(bank.plan(plan.batch)) == made
    assert len(bank.snapshot()) == 1
    assert bank.find_revision("once") == made
    assert bank.find_revision("never") is None


@pytest.mark.parametrize("kind", ["import", "reflection", "edit"])
def test_two_plans_of_one_import_do_not_bring_it_in_twice(bank, kind):
    lessons = [Add("Read the log first.", "tool", "ops"), Add("Then restart.", "tool", "ops")]
    first, second = (bank.plan(Batch(lessons, kind=kind)) for _ in range(2))
    bank.commit(first)
    if kind == "edit":  # a person may say a thing twice; it is a lint
        bank.commit(second)
        assert len(bank.snapshot()) == 4
        return
    with pytest.raises(StalePlanError, match="2 of these texts came in"):
        bank.commit(second)
    assert len(bank.snapshot()) == 2
    assert [r.index for r in bank.plan(Batch(lessons, kind=kind)).refused] == [0, 1]


def test_a_plan_whose_memories_have_changed_is_stale(bank):
    first, second, _ = fill(bank)
    stale = [
        bank.plan(Batch([operation]))
        for operation in (Modify(first, domain="a"), Delete(first), Merge((second, first), "x"))
    ]
    do(again(bank), Modify(first, domain="b"))
    for plan in stale:
        with pytest.raises(StalePlanError, match=f"Memories {first} have changed"):
            bank.commit(plan)
    assert bank.snapshot().by_id(first).domain == "b"
    assert len(bank.revisions()) == 2


def test_a_plan_holds_when_the_change_was_elsewhere(bank):
    first, second, third = fill(bank)
    plan = bank.plan(Batch([Modify(first, domain="a"), Add("New.", "tool", "x")]))
    do(again(bank), Delete(second), Modify(third, domain="c"), Add("Newer.", "tool", "x"))
    made = bank.commit(plan)
    assert made.ids == {-1: 5}
    assert [m.id for m in bank.snapshot().memories] == [first, third, 4, 5]
    assert [m.domain for m in bank.snapshot().memories[:2]] == ["a", "c"]


def test_a_batch_made_against_an_older_revision_is_refused_where_it_conflicts(bank):
    first, second, _ = fill(bank)
    do(bank, Modify(first, domain="a"))
    batch = Batch([Modify(first, pinned=True), Modify(second, pinned=True)], base_revision=1)
    plan = bank.plan(batch)
    assert [refusal.index for refusal in plan.refused] == [0]
    assert "has changed since revision 1" in plan.refused[0].reason
    bank.commit(plan.accepted_only())
    assert [m.pinned for m in bank.snapshot().memories] == [False, True, False]
    with pytest.raises(RevisionNotFoundError):
        bank.plan(Batch([], base_revision=99))


def test_what_is_no_batch_is_said(bank):
    for wrong in ([Delete(1)], None, Batch([], reason=None), Batch([], reason="\x00")):
        with pytest.raises(InvalidBatchError):
            bank.plan(wrong)


def test_a_commit_copies_no_vectors_that_are_there(bank):
    fill(bank)
    before = bank.snapshot().vectors
    do(bank, Add("New.", "tool", "x"))
    do(bank, Modify(1, pinned=True))
    do(again(bank), Add("Newer.", "tool", "x"))
    after = bank.snapshot().vectors
    assert np.shares_memory(before, after)
    assert len(after) == 5


def test_ids_from_numpy_are_ids(bank):
    fill(bank)
    one, two = np.array([1, 2])
    do(bank, Modify(one, pinned=True))
    ids = bank.propose(Batch([Delete(one), Merge((one, two), "both")]))
    assert bank.decide(np.int64(ids[0]), accept=False) is None
    query = bank.save_query("rebase", judgements={one: 3})
    bank.judge(np.int64(query), two, np.int64(1))
    assert bank.queries()[0].judgements == {1: 3, 2: 1}
    assert bank.snapshot(np.int64(1)).revision == 1
    assert len(bank.history(one)) == 2
    assert bank.retrieve("rebase").why_not(one).memory_id == 1


def test_update_is_all_or_nothing(bank):
    fill(bank)
    with pytest.raises(InvalidBatchError):
        bank.update(Batch([Add("New.", "tool", "x"), Delete(99)]))
    assert len(bank.snapshot()) == 3
    assert bank.update(Batch([Add("New.", "tool", "x")])).size == 4


def test_a_new_epoch_is_that_of_what_is_added_in_it(bank):
    assert bank.epoch == 0
    assert bank.start_epoch() == 1
    assert bank.start_epoch() == bank.epoch == again(bank).epoch == 2
    fill(bank)
    assert {memory.epoch for memory in bank.snapshot().memories} == {2}
    assert bank.snapshot(1).epoch == 1


# -- undoing and looking back ---------------------------------------------------------------------


def test_undo_refuses_what_has_changed_again_since(bank):
    first, second, _ = fill(bank)
    made = do(bank, Modify(first, domain="a"), Modify(second, domain="a"))
    do(bank, Modify(first, domain="b"))
    plan = bank.plan_undo(made)
    assert [refusal.operation.id for refusal in plan.refused] == [first]
    bank.commit(plan.accepted_only())
    assert [m.domain for m in bank.snapshot().memories] == ["b", "git", "git"]


def test_a_whole_revision_can_be_brought_back(bank):
    fill(bank)
    before = bank.snapshot()
    do(bank, Delete(1), Modify(2, text="Other."), Add("New.", "tool", "x"))
    do(bank, Delete(3))
    bank.commit(bank.plan_restore(1))
    assert_same(bank.snapshot(), before)


def test_revisions_are_named_by_number_by_value_or_by_their_snapshot(bank):
    fill(bank)
    made = do(bank, Delete(1))
    assert bank.snapshot(made) is bank.snapshot(2)
    assert bank.snapshot(bank.snapshot(1)) is bank.snapshot(1)
    for old, new in ((1, 2), (bank.revision(1), made), (bank.snapshot(1), bank.snapshot(2))):
        told = bank.diff(old, new)
        assert [memory.id for memory in told.removed] == [1]
        assert (told.old, told.new) == (1, 2)
    assert bank.diff(2, bank.plan(Batch([Delete(2)])).after).new is None
    assert bank.diff(0, 1).old == 0
    for nowhere in (3, -1):
        with pytest.raises(RevisionNotFoundError, match="0 to 2"):
            bank.snapshot(nowhere)
    with pytest.raises(RevisionNotFoundError):
        bank.plan_undo(9)


def test_a_history_names_what_was_done_by_whom_and_why(bank):
    first, second, _ = fill(bank)
    do(bank, Modify(first, text="Better.", rationale="Too vague."))
    found = bank.retrieve("better")
    bank.record_outcome(found, improved=True, applied=[first])
    made = do(bank, Merge((first, second), "Both.", rationale="Twins."))
    bank.commit(bank.plan_undo(made))
    history = bank.history(first)
    assert [change.action for change in history] == [
        "added", "changed", "changed", "merged", "restored",
    ]  # fmt: skip
    assert [change.rationale for change in history][1:4:2] == ["Too vague.", "Twins."]
    assert history[2].after.confidence == pytest.approx(0.55)
    assert {change.revision.actor for change in history} == {"tester"}
    assert [change.action for change in bank.history(made.ids[-1])] == ["added", "removed"]
    for nowhere in (99, -1, 2**70):
        with pytest.raises(MemoryNotFoundError):
            bank.history(nowhere)


# -- retrieving -----------------------------------------------------------------------------------


def test_a_retrieval_is_the_formula_on_what_the_file_holds(bank):
    lessons = [
        Add(f"{text} Case {n}.", ("tool", "strategic")[n % 2], ("git", "web")[n % 3 % 2],
            confidence=0.05 + n / 20)
        for n, text in enumerate(TEXTS * 5)
    ]  # fmt: skip
    do(bank, *lessons)
    for task in ("rebase and merge", "retry", "kubernetes"):
        for chosen in (RetrievalSettings(), RetrievalSettings(domains=["git"], per_kind=2),
                       RetrievalSettings(3, 0.5, lexical_weight=0.2)):  # fmt: skip
            check(bank.retrieve(task, chosen), HashEmbedder().embed([task])[0])
            check(again(bank).retrieve(task, chosen), HashEmbedder().embed([task])[0])


def test_it_runs_on_any_revision_past_or_planned(bank):
    first, *_ = fill(bank)
    made = do(bank, Delete(first))
    task, ids = TEXTS[0], lambda found: [hit.memory.id for hit in found.hits]
    assert first not in ids(bank.retrieve(task))
    for past in (1, bank.revision(1), bank.snapshot(1)):
        found = bank.retrieve(task, RetrievalSettings(limit=1), revision=past)
        assert (ids(found), found.revision) == ([first], 1)
    assert bank.retrieve(task, revision=made).revision == 2
    planned = bank.plan(Batch([Add(task, "tool", "git")])).after
    assert ids(bank.retrieve(task, revision=planned))[0] == -1


def test_it_writes_nothing_unless_it_is_recorded(bank):
    fill(bank)
    before = bank.signature()
    found = bank.retrieve("rebase")
    assert bank.retrievals() == ()
    assert bank.signature() == before
    noted = bank.retrieve("rebase", record=True)
    (row,) = again(bank).retrievals()
    assert (row.id, row.task, row.revision, row.injection) == (
        noted.id, "rebase", 1, noted.injection,
    )  # fmt: skip
    assert [(hit.memory_id, hit.rank, hit.score) for hit in row.hits] == [
        (hit.memory.id, hit.rank, hit.score) for hit in noted.hits
    ]
    assert row.improved is None
    assert found.id != noted.id
    bank.record(noted)
    assert len(bank.retrievals()) == 1


@pytest.mark.parametrize("task", [None, 7, "a\x00b", "\ud800"])
def test_a_task_that_is_no_text_is_refused(bank, task):
    with pytest.raises(MemoryCoreError, match="task"):
        bank.retrieve(task)


def test_the_domain_of_a_task_is_inferred_only_when_asked(bank):
    do(bank, *(Add(f"Rebase branch {n} onto main.", "tool", "git") for n in range(4)),
       Add("Refund the order within a day.", "tool", "shop"))  # fmt: skip
    assert bank.infer_domains("rebase a branch onto main") == ("git",)
    assert bank.infer_domains("entirely elsewhere") == ()
    assert len(bank.retrieve("rebase a branch onto main").hits) == 5


# -- settings, queries, embedders -----------------------------------------------------------------


def test_a_bank_remembers_its_settings(bank, reopen):
    assert (bank.settings.name, bank.settings.capacity) == ("", 500)
    bank.configure(name="Lessons", capacity=250)
    assert (reopen().settings.name, reopen().settings.capacity) == ("Lessons", 250)
    bank.configure(capacity=10)
    assert bank.settings.name == "Lessons"
    with pytest.raises(ValueError, match="capacity"):
        bank.configure(capacity=0)


def test_queries_keep_their_judgements(bank, reopen):
    first, second, _ = fill(bank)
    query = bank.save_query("rebase", domains=["git"], judgements={first: 3})
    bank.judge(query, second, 1)
    bank.judge(query, first, 0)
    (saved,) = reopen().queries()
    assert (saved.id, saved.task, saved.domains) == (query, "rebase", ("git",))
    assert saved.judgements == {first: 0, second: 1}
    bank.judge(query, second, None)
    assert bank.queries()[0].judgements == {first: 0}
    with pytest.raises(ValueError, match="grade"):
        bank.judge(query, first, 4)
    for wrong in ((99, first), (query, 99)):
        with pytest.raises(MemoryNotFoundError):
            bank.judge(*wrong, 1)
    bank.delete_query(query)
    assert bank.queries() == ()


class Other(HashEmbedder):
    """The same arithmetic under another name."""

    name = "other"


def test_a_bank_refuses_another_model_until_it_is_embedded_anew(bank):
    fill(bank)
    with pytest.raises(EncodingDriftError):
        MemoryBank.open(bank.path, embedder=Other())
    assert MemoryBank.reembed(bank.path, embedder=Other()) == 3
    moved = MemoryBank.open(bank.path, embedder=Other())
    assert moved.snapshot().texts() == list(TEXTS)
    with pytest.raises(EncodingDriftError):
        bank.snapshot()


def test_a_bank_that_is_not_there_is_made_only_if_wanted(tmp_path):
    with pytest.raises(StoreError, match="no bank at"):
        MemoryBank.open(tmp_path / "none.duckdb", embedder=HashEmbedder(), create=False)
    assert (
        MemoryBank.open(str(tmp_path / "new.duckdb"), embedder=HashEmbedder()).snapshot().ids.size
        == 0
    )


def test_the_same_bank_in_another_name(bank, reopen: Callable[[], MemoryBank]):
    other = bank.acting_as("mara")
    assert do(other, Add("New.", "tool", "git", ToolDetail("git"))).actor == "mara"
    assert do(bank, Add("Newer.", "tool", "git")).actor == "tester"
    assert [revision.actor for revision in reopen().revisions()] == ["mara", "tester"]
