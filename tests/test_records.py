"""The values: what is derived, and what a constructor makes of what it is given."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from memory_core import (
    Add,
    Batch,
    Delete,
    Evidence,
    Memory,
    Merge,
    Modify,
    ProceduralDetail,
    Provenance,
    Restore,
    Revision,
    SavedQuery,
    Step,
    Trajectory,
)
from memory_core.operations import touched_ids

LESSON = Memory(1, "tool", "Pass --frozen to uv sync in CI.", "python")


def test_a_success_rate_is_the_share_of_uses_that_helped():
    assert LESSON.success_rate is None
    used = dataclasses.replace(LESSON, usage_count=8, success_count=6)
    assert used.success_rate == 0.75


def test_words_are_separated_by_any_white_space():
    assert dataclasses.replace(LESSON, text=" one\u3000two\tthree\nfour ").word_count == 4


def test_a_new_memory_is_neutral_and_unpinned():
    assert (LESSON.confidence, LESSON.usage_count, LESSON.pinned) == (0.5, 0, False)
    assert LESSON.provenance == Provenance("manual")


@pytest.mark.parametrize("record", [LESSON, Add("a", "tool", "b"), Batch([]), Step(1, "user")])
def test_records_cannot_be_changed_or_extended(record):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, 2)
    with pytest.raises((AttributeError, TypeError)):
        record.something_new = 1


def test_a_lone_step_is_one_step_and_not_its_letters():
    assert ProceduralDetail("Restart.").steps == ("Restart.",)
    assert ProceduralDetail(["a", "b"], "c") == ProceduralDetail(("a", "b"), ("c",))


def test_trajectories_are_named_once_in_the_order_of_the_evidence():
    cited = [Evidence("b", [3, 1]), Evidence("a"), Evidence("b", (9,))]
    assert Provenance(evidence=cited).trajectory_ids == ("b", "a")
    assert Provenance(evidence=cited).evidence[0].steps == (3, 1)


def test_a_revision_tells_its_time_in_utc():
    made = Revision(1, "key", "edit", "", "me", 1_700_000_000_250_000, 0)
    assert made.made_at == datetime(2023, 11, 14, 22, 13, 20, 250_000, tzinfo=UTC)


def test_only_positive_grades_are_relevant():
    assert SavedQuery(1, "task", judgements={5: 0, 9: 3, 2: 1}).relevant == (2, 9)


def test_a_trajectory_keeps_its_steps_as_a_tuple():
    run = Trajectory("task", [Step(1, "user", "hello")], children=[Trajectory("sub")])
    assert run.steps == (Step(1, "user", "hello"),)
    assert isinstance(run.children, tuple)


def test_a_batch_takes_any_sequence_and_a_lone_operation():
    assert Batch(Delete(3)).operations == (Delete(3),)
    assert Batch(Delete(i) for i in (1, 2)).operations == (Delete(1), Delete(2))


def test_each_batch_has_a_key_of_its_own():
    keys = {Batch([]).key for _ in range(100)}
    assert len(keys) == 100


def test_operations_name_the_memories_that_they_touch():
    assert touched_ids(Add("a", "tool", "b")) == ()
    assert touched_ids(Modify(4)) == touched_ids(Delete(4)) == (4,)
    assert touched_ids(Merge([7, 3], "both")) == (7, 3)
    assert touched_ids(Restore(LESSON)) == (1,)
