"""Grades follow memories through merges: what a person judged is not asked for again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Delete,
    HashEmbedder,
    MemoryBank,
    Merge,
    SavedQuery,
    compare,
    evaluate,
)

TASK = "undo the last commit of a branch"
TEXTS = (
    "Undo the last commit with git reset and keep the changes staged",
    "Git reset soft undoes the last commit and keeps its changes",
    "Fill the oven before the timer is set",
    "Open the branch page before a pull request is merged",
)


@pytest.fixture
def library(bank: MemoryBank) -> MemoryBank:
    bank.commit(bank.plan(Batch([Add(text, "tool", "git") for text in TEXTS])))
    bank.save_query(TASK, judgements={1: 3, 2: 2, 3: 0})
    return bank


def merge(bank: MemoryBank, ids: Sequence[int], text: str) -> int:
    made = bank.commit(bank.plan(Batch([Merge(tuple(ids), text)], reason="the same")))
    return made.ids[-1]


def query(bank: MemoryBank) -> SavedQuery:
    return bank.queries()[0]


def recall(bank: MemoryBank, revision: int | None = None) -> float:
    quality = evaluate(bank.snapshot(revision), bank.queries(), bank.embed([TASK]))
    return quality.recall.mean


def test_what_is_merged_hands_on_its_best_grade(library: MemoryBank):
    merged = merge(library, (1, 2), "Use git reset soft to take a commit back")
    assert query(library).grades_in(library.snapshot()) == {merged: 3, 3: 0}
    assert query(library).judgements == {1: 3, 2: 2, 3: 0}, "what was judged stays as it was"
    assert recall(library) == 1.0
    again = merge(library, (merged, 4), "Take a commit back by a soft reset")
    assert query(library).grades_in(library.snapshot()) == {again: 3, 3: 0}


def test_a_grade_of_its_own_goes_before_those_handed_on(library: MemoryBank):
    merged = merge(library, (1, 2), "Use git reset soft to take a commit back")
    library.judge(query(library).id, merged, 1)
    assert query(library).grades_in(library.snapshot()) == {merged: 1, 3: 0}


def test_before_the_merge_and_after_its_undo_the_sources_have_their_grades(library: MemoryBank):
    merged = merge(library, (1, 2), "Use git reset soft to take a commit back")
    library.judge(query(library).id, merged, 1)
    made = library.snapshot().revision
    assert made is not None
    assert query(library).grades_in(library.snapshot(made - 1)) == {1: 3, 2: 2, 3: 0}
    assert recall(library, made - 1) == 1.0
    library.commit(library.plan_undo(made))
    assert query(library).grades_in(library.snapshot()) == {1: 3, 2: 2, 3: 0}


def test_what_was_absorbed_by_another_text_or_deleted_is_missed(library: MemoryBank):
    merged = merge(library, (1, 2), TEXTS[1])
    assert query(library).grades_in(library.snapshot()) == {1: 3, merged: 2, 3: 0}
    library.commit(library.plan(Batch([Delete(merged)])))
    assert query(library).grades_in(library.snapshot()) == {1: 3, 2: 2, 3: 0}
    assert recall(library) == 0.0


grades = st.dictionaries(st.integers(1, 8), st.integers(0, 3), min_size=1).filter(
    lambda judged: max(judged.values()) > 0
)
moves = st.lists(
    st.tuples(st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True), st.booleans()),
    max_size=4,
)


@pytest.mark.long
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(grades, moves)
def test_a_committed_merge_costs_what_its_preview_said(tmp_path_factory, judged, merges):
    path = tmp_path_factory.mktemp("banks") / "bank.duckdb"
    bank = MemoryBank.open(path, embedder=HashEmbedder())
    texts = [f"lesson {number} about git branch {number % 3}" for number in range(8)]
    bank.commit(bank.plan(Batch([Add(text, "tool", "git") for text in texts])))
    bank.save_query(TASK, judgements=judged)
    vectors = bank.embed([TASK])
    for places, keeps_a_text in merges:
        now = bank.snapshot()
        ids = sorted({int(now.ids[place % len(now)]) for place in places})
        words = now.by_id(ids[0]).text if keeps_a_text else f"merged {ids}"
        operation = Merge(tuple(ids), words) if len(ids) > 1 else Delete(ids[0])
        plan = bank.plan(Batch([operation]))
        previewed = compare(plan.before, plan.after, bank.queries(), vectors, k=3).after
        bank.commit(plan)
        committed = evaluate(bank.snapshot(), bank.queries(), vectors, k=3)
        for measure in ("ndcg", "recall", "reciprocal_rank"):
            assert committed.mean(measure).mean == previewed.mean(measure).mean
        if len(bank.snapshot()) < 2:
            break
