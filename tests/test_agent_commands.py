"""`winnow retrieve`, `outcome` and `reflect`, as an agent's script calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core import Add, Batch, MemoryBank, RuleReflector, read_trajectories
from memory_core.places import data
from tests.commands import Winnow
from tests.conftest import Filled

TASK = "join two tables on a key"


@pytest.fixture
def lessons(filled: Filled) -> MemoryBank:
    return filled(_lessons)


def _lessons(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Count the rows before and after a join of two tables.", "procedural", "data"),
        Add("Two tables join on a key; look for duplicates in it.", "tool", "data"),
        Add("Move a branch with git rebase.", "tool", "git"),
    ], "three lessons")))  # fmt: skip


def test_from_a_task_to_its_outcome(winnow: Winnow, lessons: MemoryBank) -> None:
    asked = winnow("retrieve", TASK, "--limit", 2, "--record", "--json").json
    (row,) = lessons.retrievals()
    assert asked["retrieval_id"] == row.id
    first, second = (hit["id"] for hit in asked["hits"])
    told = winnow("outcome", row.id, "--improved", "--applied", "G1", "--json").json
    after = lessons.snapshot()
    assert after.by_id(second).confidence == pytest.approx(0.55)
    assert after.by_id(first).confidence == 0.5
    assert told == {
        "revision": 2,
        "moved": [{"id": second, "before": 0.5, "after": after.by_id(second).confidence}],
    }
    # Told twice it counts once, and what contradicts it is refused.
    assert winnow("outcome", row.id, "--improved", "--applied", second, "--json").json == told
    other = winnow("outcome", row.id, "--not-improved")
    assert (other.returncode, other.stdout) == (1, "")
    assert "another outcome already" in other.stderr
    assert len(lessons.revisions()) == 2


def test_without_record_nothing_is_kept(winnow: Winnow, lessons: MemoryBank) -> None:
    asked = winnow("retrieve", TASK, "--json").json
    assert asked["recorded"] is False
    assert lessons.retrievals() == ()
    ended = winnow("outcome", asked["retrieval_id"], "--improved")
    assert ended.returncode == 1
    assert "no recorded retrieval" in ended.stderr


def test_filters_and_a_past_revision(winnow: Winnow, lessons: MemoryBank) -> None:
    hits = winnow("retrieve", TASK, "--kind", "tool", "--domain", "data", "--json").json["hits"]
    assert [hit["id"] for hit in hits] == [2]
    assert winnow("retrieve", TASK, "--revision", 0, "--json").json["hits"] == []


@pytest.mark.parametrize(
    "words",
    [("--improved", "--applied", "first"), ("--improved", "--applied", "G7"), ()],
    ids=["no place", "no such place", "whether it helped is not said"],
)
def test_what_cannot_be_meant_is_wrong_usage(
    winnow: Winnow, lessons: MemoryBank, words: tuple[str, ...]
) -> None:
    row = lessons.record(lessons.retrieve(TASK))
    ended = winnow("outcome", row.id, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(lessons.revisions()) == 1


# -- lessons from runs ----------------------------------------------------------------------------


@pytest.fixture
def log() -> Path:
    return sorted((data() / "trajectories").iterdir())[0]


def test_lessons_of_a_run_wait_in_review(winnow: Winnow, bank: MemoryBank, log: Path) -> None:
    runs = read_trajectories(log.read_bytes(), log.name).trajectories
    expected = bank.reflect(runs, RuleReflector()).operations
    told = winnow("reflect", log, "--json").json
    assert told["reflector"] == "rules"
    assert [one["operation"]["text"] for one in told["lessons"]] == [o.text for o in expected]  # type: ignore[union-attr]
    assert len(expected) > 0
    waiting = bank.proposals()
    assert [p.id for p in waiting] == [one["proposal"] for one in told["lessons"]]
    assert {p.source for p in waiting} == {"reflection"}
    assert all(bank.trajectory(name) for name in told["trajectories"])
    assert bank.revisions() == ()


def test_accepted_lessons_are_one_revision(winnow: Winnow, bank: MemoryBank, log: Path) -> None:
    ended = winnow("reflect", log, "--accept", "--domain", "Shop")
    assert ended.returncode == 0, ended.stderr
    (made,) = bank.revisions()
    assert f"Revision {made.number}." in ended.stdout
    assert bank.proposals() == ()
    assert {memory.domain for memory in bank.snapshot()} == {"shop"}
    assert all(memory.text in ended.stdout for memory in bank.snapshot())


def test_a_log_that_is_not_there_is_an_error(winnow: Winnow, bank: MemoryBank) -> None:
    ended = winnow("reflect", "nowhere.jsonl")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "nowhere.jsonl cannot be read" in ended.stderr
    assert bank.trajectories() == ()


def test_a_model_that_nobody_knows_is_an_error(winnow: Winnow, bank: MemoryBank, log: Path) -> None:
    ended = winnow("reflect", log, "--model", "oracle")
    assert ended.returncode == 1
    assert "oracle" in ended.stderr
    assert bank.proposals() == ()
