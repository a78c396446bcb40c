"""A compression on a bank: the plan is the commit, one revision, undone as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    STRATEGIES,
    Add,
    Batch,
    CompressionSettings,
    Delete,
    HashEmbedder,
    InvalidBatchError,
    MemoryBank,
    MemoryNotFoundError,
    Modify,
    SettingsError,
    StalePlanError,
    plan_compression,
)
from tests.compressing import libraries

SUBJECTS = ("git rebase", "sql join", "refund policy", "page timeout", "sheet filter")


def lesson(number: int, **fields) -> Add:
    """Lessons in five subjects; every tenth is word for word the one before."""
    number -= number % 10 == 9
    text = f"{SUBJECTS[number % 5]} needs care number {number} in case {number * 7}"
    return Add(text, "tool", "git", **fields)


@pytest.fixture(scope="module")
def full_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 memories in sessions 0 to 3, two of them pinned."""
    path = tmp_path_factory.mktemp("full") / "bank.duckdb"
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor="tester")
    for session in range(4):
        adds = [
            lesson(
                n,
                confidence=round(0.1 + (n * 37 % 80) / 100, 2),
                usage_count=n % 3,
                success_count=n % 2 if n % 3 else 0,
                pinned=n in (3, 22),
            )
            for n in range(session * 10, session * 10 + 10)
        ]
        bank.update(Batch(tuple(adds), starts_epoch=session > 0))
    return path


@pytest.fixture
def full(full_file: Path, bank_path: Path) -> MemoryBank:
    shutil.copy(full_file, bank_path)  # nobody has it open
    return MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")


def of(strategy: str, **fields) -> CompressionSettings:
    return CompressionSettings(
        strategy=strategy, capacity=15, fraction=0.4, decay=0.5, minimum_weight=0.3, **fields
    )


WAYS = [of(strategy) for strategy in STRATEGIES] + [
    of("hybrid", rescore=False),
    of("diversity", merge=True),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.strategy}-{way.rescore}-{way.merge}")
def test_a_commit_does_what_the_plan_says_and_undo_takes_it_back(full, way):
    before = full.snapshot()
    made = full.plan_compression(way)
    assert full.snapshot() is before  # nothing was written
    revision = full.commit(made.plan)
    after = full.snapshot()

    def committed(memory):
        return replace(memory, id=revision.ids.get(memory.id, memory.id))

    assert after.memories == tuple(committed(m) for m in made.after.memories)
    assert revision.kind == "compression"
    assert way.strategy in revision.reason
    assert f"of {len(before)}" in revision.reason
    assert {3, 22} <= {n for n in range(40) if n + 1 in after} or way.merge
    full.commit(full.plan_undo(revision.number))
    assert full.snapshot().memories == before.memories


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_dropped_memory_has_its_reason_in_its_history(full, strategy):
    made = full.plan_compression(of(strategy))
    full.commit(made.plan)
    assert len(made.dropped)
    for memory_id in made.dropped.tolist():
        decision = made.decision(memory_id)
        last = full.history(memory_id)[-1]
        assert last.action == "removed"
        assert decision.sentence in last.rationale
        assert f"memory {decision.nearest}" in last.rationale


def test_a_plan_is_stale_when_what_it_drops_has_changed(full):
    made = full.plan_compression(of("hybrid"))
    full.update(Batch((Modify(int(made.dropped[0]), pinned=True),)))
    with pytest.raises(StalePlanError):
        full.commit(made.plan)
    again = full.plan_compression(of("hybrid"))
    assert int(made.dropped[0]) not in again.dropped
    full.commit(again.plan)
    assert len(full.snapshot()) == 15


def test_arguing_with_a_drop_pins_it_in_the_same_revision(full):
    first = full.plan_compression(of("hybrid"))
    argued = int(first.dropped[-1])
    made = full.plan_compression(of("hybrid"), pin=[argued])
    assert argued not in made.dropped
    assert len(made.after) == 15
    revision = full.commit(made.plan)
    assert full.snapshot().by_id(argued).pinned
    assert full.snapshot().memories == made.after.memories
    full.commit(full.plan_undo(revision.number))
    assert not full.snapshot().by_id(argued).pinned
    with pytest.raises(MemoryNotFoundError):
        full.plan_compression(of("hybrid"), pin=[999])
    with pytest.raises(SettingsError, match="40 memories are pinned"):
        full.plan_compression(of("hybrid"), pin=range(1, 41))


# -- merging --------------------------------------------------------------------------------------


def test_merging_keeps_what_was_absorbed_in_the_provenance(full):
    before = full.snapshot()
    dropping = full.plan_compression(of("diversity"))
    merging = full.plan_compression(of("diversity", merge=True))
    assert merging.dropped.tolist() == dropping.dropped.tolist()
    full.commit(merging.plan)
    after = full.snapshot()
    assert sorted(m.text for m in after.memories) == sorted(m.text for m in dropping.after.memories)
    absorbed = [i for m in after.memories for i in m.provenance.merged_from]
    assert len(absorbed) == len(set(absorbed))
    assert set(dropping.dropped.tolist()) <= set(absorbed)
    assert sum(m.usage_count for m in after.memories) == sum(m.usage_count for m in before.memories)
    for memory in after.memories:
        sources = [before.by_id(i) for i in memory.provenance.merged_from]
        if sources:
            assert memory.confidence == max(m.confidence for m in sources)
            assert memory.text in {m.text for m in sources}


def test_merging_can_be_looked_at_on_a_plan_that_is_not_committed(full):
    planned = full.plan(Batch(tuple(lesson(n, confidence=0.95) for n in range(50, 60)))).after
    made = plan_compression(planned, of("diversity", merge=True))
    dropping = plan_compression(planned, of("diversity"))
    assert sorted(m.text for m in made.after.memories) == sorted(
        m.text for m in dropping.after.memories
    )


@settings(max_examples=60, deadline=None)
@given(libraries(min_size=2), st.integers(0, 10))
def test_merging_leaves_the_texts_that_dropping_leaves(snapshot, room):
    pinned = sum(m.pinned for m in snapshot.memories)
    drop = CompressionSettings(strategy="diversity", capacity=pinned + room)
    dropped = plan_compression(snapshot, drop)
    merged = plan_compression(snapshot, replace(drop, merge=True))
    assert not merged.plan.refused
    assert sorted(m.text for m in merged.after.memories) == sorted(
        m.text for m in dropped.after.memories
    )


# -- algorithm Update -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.strategy}-{way.rescore}-{way.merge}")
def test_update_applies_then_compresses_in_one_revision(full, way):
    before = full.snapshot()
    batch = Batch(
        (
            Delete(1),
            Modify(2, text="an entirely new wording for the second"),
            *(lesson(n, confidence=0.9) for n in range(50, 55)),
            lesson(60, confidence=0.05),
        ),
        reason="lessons of a session",
    )
    alone = full.plan(batch).after
    expected = plan_compression(alone, way)
    revision = full.update(batch, compression=way)
    assert revision.number == before.revision + 1
    assert revision.reason.startswith("lessons of a session; Compression by ")
    after = full.snapshot()
    assert len(after) == len(alone) - len(expected.dropped)
    assert sorted(m.text for m in after.memories) == sorted(
        m.text for m in alone.memories if m.id not in expected.dropped
    )
    assert all(m.id > 0 for m in after.memories)
    assert all(i > 0 for m in after.memories for i in m.provenance.merged_from)
    full.commit(full.plan_undo(revision.number))
    assert full.snapshot().memories == before.memories


def test_a_new_memory_can_be_the_one_that_goes(full):
    way = of("hybrid")
    full.commit(full.plan_compression(way).plan)
    weak = Add("hardly believed at all", "tool", "git", confidence=0.05)
    revision = full.update(Batch((weak,)), compression=way)
    assert revision.size == 15
    assert revision.ids == {}
    assert not full.snapshot().ids_with_text("hardly believed at all")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_update_does_not_compress_up_to_the_capacity(full, strategy):
    roomy = CompressionSettings(
        strategy=strategy, capacity=41, fraction=0.5, minimum_weight=1, decay=9
    )
    revision = full.update(Batch((lesson(70),), reason="one more"), compression=roomy)
    assert (revision.size, revision.removed, revision.reason) == (41, 0, "one more")
    revision = full.update(Batch((lesson(71),), reason="too many"), compression=roomy)
    assert revision.removed > 0 or revision.size == 41


def test_a_refused_update_changes_nothing(full):
    before = full.snapshot()
    with pytest.raises(InvalidBatchError):
        full.update(Batch((lesson(80), Delete(999))), compression=of("hybrid"))
    with pytest.raises(SettingsError, match="2 memories are pinned"):
        full.update(Batch((lesson(80),)), compression=CompressionSettings(capacity=1))
    assert full.snapshot() is before


def test_the_same_update_twice_makes_one_revision(full):
    batch = Batch((Delete(5), lesson(90)))
    first = full.update(batch, compression=of("hybrid"))
    assert full.update(batch, compression=of("hybrid")) == first
    deleting = Batch((Delete(int(full.snapshot().ids[0])),))
    assert full.update(deleting) == full.update(deleting)
    assert full.snapshot().revision == first.number + 1


def test_an_import_can_compress_by_merging_beside_a_pinned_copy(full):
    pinned = full.snapshot().by_id(4)
    assert pinned.pinned
    copy = Add(pinned.text, "tool", "git", confidence=0.9)
    full.update(Batch((copy, replace(copy, confidence=0.8))))
    batch = Batch((lesson(95),), kind="import")
    full.update(batch, compression=of("diversity", merge=True))
    assert len(full.snapshot()) <= 15
    assert full.snapshot().by_id(4) == pinned


def test_an_update_chooses_anew_when_another_session_was_faster(
    full, bank_path: Path, reopen: Callable[[], MemoryBank]
):
    other = reopen()
    threatened = int(full.plan_compression(CompressionSettings(capacity=39)).dropped[0])
    interfered: list[int] = []

    def clock() -> int:
        # Read after the plan is made and before it is written.
        if not interfered:
            pin = Batch((Modify(threatened, pinned=True),))
            interfered.append(other.update(pin).number)
        return 1

    bank = MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester", clock=clock)
    revision = bank.update(
        Batch((lesson(99, confidence=0.95),)), compression=CompressionSettings(capacity=40)
    )
    assert revision.number == interfered[0] + 1
    assert threatened in bank.snapshot()
    assert revision.size == 40
