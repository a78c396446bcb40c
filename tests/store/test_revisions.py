"""What goes into a bank comes out of it, at every revision, from whichever side one looks."""

from __future__ import annotations

import shutil
import string
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from children import DIMENSION, lessons, small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Delete,
    Detail,
    Evidence,
    HashEmbedder,
    Memory,
    MemoryBank,
    Merge,
    Modify,
    Operation,
    ProceduralDetail,
    Provenance,
    RevisionNotFoundError,
    Snapshot,
    StalePlanError,
    StrategicDetail,
    ToolDetail,
)

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

# -- anything a memory may hold -----------------------------------------------------------------

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
strings = st.text(characters, max_size=30)
words = st.text(characters, min_size=1, max_size=8).filter(lambda s: len(s.split()) == 1)
texts = st.lists(words, min_size=1, max_size=32).map(" ".join)
texts = texts.filter(lambda text: 1 <= len(text.split()) <= 32)
labels = st.text(characters, min_size=1, max_size=12).filter(lambda s: s.strip())
evidence = st.builds(Evidence, strings, st.lists(st.integers(0, 2**40), max_size=3).map(tuple))
provenances = st.builds(
    Provenance,
    st.sampled_from(["manual", "import", "reflection", "merge"]),
    st.lists(evidence, max_size=2).map(tuple),
    st.lists(st.integers(1, 2**40), max_size=3).map(tuple),
    strings,
)
details: dict[str, st.SearchStrategy[Detail | None]] = {
    "strategic": st.none() | st.builds(StrategicDetail, strings),
    "procedural": st.none()
    | st.builds(
        ProceduralDetail,
        st.lists(strings, max_size=3).map(tuple),
        st.lists(strings, max_size=2).map(tuple),
    ),
    "tool": st.none() | st.builds(ToolDetail, strings, strings),
}


@st.composite
def additions(draw: st.DrawFn) -> Add:
    kind = draw(st.sampled_from(["strategic", "procedural", "tool"]))
    used = draw(st.integers(0, 2**62))
    return Add(
        draw(texts),
        kind,  # type: ignore[arg-type]
        draw(labels),
        detail=draw(details[kind]),
        confidence=draw(st.floats(0.05, 0.95)),
        usage_count=used,
        success_count=draw(st.integers(0, used)),
        tags=draw(st.lists(labels, max_size=3).map(tuple)),
        pinned=draw(st.booleans()),
        epoch=draw(st.none() | st.integers(0, 2**62)),
        provenance=draw(provenances),
        rationale=draw(strings),
        evidence=draw(st.lists(evidence, max_size=2).map(tuple)),
    )


def assert_equal(one: Snapshot, other: Snapshot) -> None:
    assert one.revision == other.revision
    assert one.epoch == other.epoch
    assert one.ids.tolist() == other.ids.tolist()
    assert one.memories == other.memories
    assert one.vectors.tobytes() == other.vectors.tobytes()


@few
@given(batch=st.lists(additions(), min_size=1, max_size=5), reason=strings, actor=labels)
def test_a_bank_that_is_opened_again_holds_the_same(
    batch: list[Add], reason: str, actor: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.duckdb"
        bank = MemoryBank.open(path, embedder=HashEmbedder(DIMENSION), actor=actor)
        made = bank.update(Batch(batch, reason=reason))
        again = small(path)
        assert_equal(again.snapshot(), bank.snapshot())
        assert again.revisions() == (made,)
        assert (made.reason, made.actor) == (reason, actor)
        for given_, memory in zip(batch, again.snapshot().memories, strict=True):
            # What was asked for, field by field; labels are trimmed, and text never is.
            assert memory.text == given_.text
            assert memory.domain == given_.domain.strip().lower()
            assert (memory.kind, memory.detail) == (given_.kind, given_.detail)
            assert memory.confidence == given_.confidence
            assert memory.usage_count == given_.usage_count
            assert memory.success_count == given_.success_count
            assert memory.tags == tuple(dict.fromkeys(tag.strip() for tag in given_.tags))
            assert memory.pinned == given_.pinned
            origin = given_.provenance
            cited = origin.evidence or given_.evidence
            assert memory.provenance == replace(origin, evidence=cited)
            (change,) = again.history(memory.id)
            assert (change.rationale, change.evidence) == (given_.rationale, given_.evidence)
        vectors = HashEmbedder(DIMENSION).embed([a.text for a in batch])
        assert np.allclose(again.snapshot().vectors, vectors, atol=1e-6)


# -- any sequence of batches --------------------------------------------------------------------

pool_of_texts = [f"{a} {b}" for a in ("check", "read", "run") for b in ("logs", "tests", "code")]


@st.composite
def edits(draw: st.DrawFn, ids: Sequence[int]) -> list[Operation]:
    """Operations on some of these memories, each touched once at most."""
    operations: list[Operation] = [
        Add(draw(st.sampled_from(pool_of_texts)), "tool", draw(st.sampled_from(["git", "sql"])))
        for _ in range(draw(st.integers(0, 3)))
    ]
    free = list(draw(st.permutations(list(ids))))
    for _ in range(min(draw(st.integers(0, 3)), len(free))):
        which = draw(st.sampled_from(["text", "tags", "delete", "merge"]))
        memory_id = free.pop()
        if which == "text":
            operations.append(Modify(memory_id, text=draw(st.sampled_from(pool_of_texts))))
        elif which == "tags":
            operations.append(Modify(memory_id, tags=(draw(st.sampled_from("abc")),)))
        elif which == "delete":
            operations.append(Delete(memory_id))
        elif free:
            operations.append(Merge((memory_id, free.pop()), draw(st.sampled_from(pool_of_texts))))
    return operations


@settings(few, max_examples=12)
@given(data=st.data())
def test_every_revision_reads_the_same_for_ever_and_from_everywhere(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.duckdb"
        writers = [small(path), small(path)]
        onlooker = small(path)
        past: list[tuple[Memory, ...]] = [()]
        undone = 0
        for _ in range(data.draw(st.integers(1, 6))):
            writer = writers[data.draw(st.integers(0, 1))]
            number = len(past) - 1
            if number and data.draw(st.integers(0, 4)) == 0:
                plan = writer.plan_restore(data.draw(st.integers(0, number - 1)))
                undone += 1
            else:
                ids = writer.snapshot().ids.tolist()
                starts = data.draw(st.booleans())
                batch = Batch(data.draw(edits(ids)), starts_epoch=starts)
                plan = writer.plan(batch)
            made = writer.commit(plan)
            past.append(writer.snapshot().memories)
            assert made.number == len(past) - 1
            # Refreshed by what has changed, and read from nothing, it is the same.
            if data.draw(st.booleans()):
                assert_equal(onlooker.snapshot(), small(path).snapshot())
        cold = small(path)
        assert_equal(onlooker.snapshot(), cold.snapshot())
        for number, memories in enumerate(past):
            for bank in (cold, writers[0]):
                assert bank.snapshot(number).memories == memories
            if number:
                changed = cold.diff(number - 1, number)
                made = cold.revision(number)
                assert made.size == len(memories)
                assert made.added == len(changed.added)
                assert made.removed == len(changed.removed)
                assert made.changed == len(changed.changed)
        assert_histories_agree(cold, past)


def assert_histories_agree(bank: MemoryBank, past: list[tuple[Memory, ...]]) -> None:
    """A memory's history is what its revisions say of it, one change for each that touched it."""
    states = [{memory.id: memory for memory in memories} for memories in past]
    for memory_id in {memory_id for state in states for memory_id in state}:
        told = {c.revision.number: c for c in bank.history(memory_id) if c.revision}
        for number in range(1, len(states)):
            before, after = (states[n].get(memory_id) for n in (number - 1, number))
            if before != after:
                assert (told[number].before, told[number].after) == (before, after)
                del told[number]
        assert not told


def test_revisions_that_never_were_are_told(bank: MemoryBank) -> None:
    bank.update(lessons(1))
    assert len(bank.snapshot(0)) == 0
    for number in (-1, 2, 99):
        with pytest.raises(RevisionNotFoundError, match="0 to 1"):
            bank.snapshot(number)
    with pytest.raises(RevisionNotFoundError):
        bank.revision(2)


# -- another file in the same place -------------------------------------------------------------


def test_another_bank_in_the_same_place_is_seen_at_once(bank_path: Path, tmp_path: Path) -> None:
    bank = small(bank_path)
    bank.update(lessons("a", "b", "c"))
    bank.update(lessons("d"))
    before = bank.snapshot()
    other = tmp_path / "other.duckdb"
    small(other).update(lessons("x"))
    small(other).update(Batch([Modify(1, text="something else entirely")]))
    shutil.move(other, bank_path)
    assert [m.text for m in bank.snapshot().memories] == ["something else entirely"]
    assert len(bank.snapshot(1)) == 1
    assert_equal(bank.snapshot(), small(bank_path).snapshot())
    # What was read before stays what it was.
    assert len(before.memories) == 4
    assert bank.update(lessons("y")).number == 3


def test_an_older_copy_in_the_same_place_is_seen_at_once(bank_path: Path, tmp_path: Path) -> None:
    bank = small(bank_path)
    bank.update(lessons("a", "b"))
    copy = tmp_path / "copy.duckdb"
    shutil.copy2(bank_path, copy)
    bank.update(Batch([Delete(1), Add("gone soon", "tool", "git")]))
    assert bank.snapshot().ids.tolist() == [2, 3]
    stale = bank.plan(Batch([Modify(2, text="planned before")]))
    shutil.copy2(copy, bank_path)
    assert bank.snapshot().ids.tolist() == [1, 2]
    with pytest.raises(StalePlanError, match="Plan again"):
        bank.commit(stale)
    # The copy takes another way from here: the same numbers, other memories.
    small(bank_path).update(lessons("another", "way"))
    small(bank_path).update(lessons("further"))
    assert_equal(bank.snapshot(), small(bank_path).snapshot())
    assert len(bank.snapshot(2)) == 4


# -- growth -------------------------------------------------------------------------------------


class Counting:
    """Vectors of four numbers from a text's digits: thousands of texts cost nothing."""

    name = "counting"
    fingerprint = "1"
    dimension = 4

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        numbers = [int("0" + "".join(c for c in t if c in string.digits)) for t in texts]
        rows = np.array([[1.0, n % 7, n % 11, n % 1009] for n in numbers])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_a_long_session_keeps_what_it_needs_and_no_more(bank_path: Path) -> None:
    """Plans and changes leave texts that nobody looks at any more; they are not kept for ever."""
    bank = MemoryBank.open(bank_path, embedder=Counting())
    bank.update(Batch([Add(f"lesson {i}", "tool", "git") for i in range(300)]))
    early = bank.snapshot()
    expected = early.memories
    sizes = []
    for k in range(4):
        bank.plan(Batch([Add(f"only planned {k} {i}", "tool", "git") for i in range(4_000)]))
        bank.update(Batch([Modify(1 + k, text=f"changed {k}")]))
        bank.plan(Batch([Modify(9, text=f"planned {k}")]))
        cold = MemoryBank.open(bank_path, embedder=Counting())
        assert_equal(bank.snapshot(), cold.snapshot())
        assert_equal(bank.snapshot(k + 1), cold.snapshot(k + 1))
        sizes.append(len(bank.snapshot().pool))
    assert max(sizes) < 16_000
    assert early.memories == expected
    assert early.texts()[0] == "lesson 0"


def test_a_big_batch_comes_back_whole(bank_path: Path) -> None:
    """More texts than are read at a time, in one commit and from an open and a cold bank."""
    bank = MemoryBank.open(bank_path, embedder=Counting())
    onlooker = MemoryBank.open(bank_path, embedder=Counting())
    batch = Batch([Add(f"lesson {i}", "tool", f"d{i % 10}") for i in range(20_000)])
    assert bank.update(batch).size == 20_000
    cold = MemoryBank.open(bank_path, embedder=Counting()).snapshot()
    assert_equal(onlooker.snapshot(), cold)
    assert cold.texts() == [f"lesson {i}" for i in range(20_000)]
    expected = Counting().embed(cold.texts())
    assert np.allclose(cold.vectors, expected, atol=1e-6)
