"""What goes into a bank comes out of it, at every revision, from whichever side one looks."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from children import DIMENSION, assert_equal, lessons, small
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
    Revision,
    RevisionNotFoundError,
    StrategicDetail,
    ToolDetail,
)

few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))

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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank that grows from example to example."""
    return tmp_path_factory.mktemp("shared") / "bank.duckdb"


@few
@given(batch=st.lists(additions(), min_size=1, max_size=5), reason=strings, actor=labels)
def test_a_bank_that_is_opened_again_holds_the_same(
    shared: Path, batch: list[Add], reason: str, actor: str
) -> None:
    bank = MemoryBank.open(shared, embedder=HashEmbedder(DIMENSION), actor=actor)
    made = bank.update(Batch(batch, reason=reason))
    again = small(shared)
    snapshot = again.snapshot()
    assert_equal(snapshot, bank.snapshot())
    assert again.revision(made.number) == made
    assert (made.reason, made.actor) == (reason, actor)
    memories = [snapshot.by_id(made.ids[-k]) for k in range(1, len(batch) + 1)]
    vectors = [snapshot.vector_of(memory.id) for memory in memories]
    assert np.allclose(vectors, HashEmbedder(DIMENSION).embed([a.text for a in batch]), atol=1e-6)
    for asked, memory in zip(batch, memories, strict=True):
        # What was asked for, field by field; labels are trimmed, and text never is.
        assert memory.text == asked.text
        assert memory.domain == asked.domain.strip().lower()
        assert (memory.kind, memory.detail) == (asked.kind, asked.detail)
        assert memory.confidence == asked.confidence
        assert memory.usage_count == asked.usage_count
        assert memory.success_count == asked.success_count
        assert memory.epoch == (asked.epoch or 0)
        assert memory.tags == tuple(dict.fromkeys(tag.strip() for tag in asked.tags))
        assert memory.pinned == asked.pinned
        cited = asked.provenance.evidence or asked.evidence
        assert memory.provenance == replace(asked.provenance, evidence=cited)
    (change,) = again.history(memories[0].id)
    assert (change.rationale, change.evidence) == (batch[0].rationale, batch[0].evidence)
    assert change.after == memories[0]


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


@pytest.mark.long
@settings(few, max_examples=6)
@given(data=st.data())
def test_every_revision_reads_the_same_for_ever_and_from_everywhere(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.duckdb"
        writers = [small(path), small(path)]
        onlooker = small(path)
        past: list[tuple[Memory, ...]] = [()]
        for _ in range(data.draw(st.integers(1, 5))):
            writer = writers[data.draw(st.integers(0, 1))]
            number = len(past) - 1
            if number and data.draw(st.integers(0, 4)) == 0:
                plan = writer.plan_restore(data.draw(st.integers(0, number - 1)))
            else:
                starts = data.draw(st.booleans())
                operations = data.draw(edits(writer.snapshot().ids.tolist()))
                plan = writer.plan(Batch(operations, starts_epoch=starts))
            assert writer.commit(plan).number == number + 1
            past.append(writer.snapshot().memories)
            if data.draw(st.booleans()):
                onlooker.snapshot()
        # Refreshed by what has changed, and read from nothing, it is the same.
        cold = small(path)
        assert_equal(onlooker.snapshot(), cold.snapshot())
        assert_equal(writers[0].snapshot(), cold.snapshot())
        revisions = cold.revisions()
        for number, memories in enumerate(past):
            assert cold.snapshot(number).memories == memories
            if number:
                assert_counted(revisions[number - 1], past[number - 1], memories)
        number = data.draw(st.integers(0, len(past) - 1))
        assert_equal(onlooker.snapshot(number), cold.snapshot(number))
        known = sorted({memory.id for memories in past for memory in memories})
        for memory_id in known[:2] + known[-1:]:
            assert_history_agrees(cold, memory_id, past)


def assert_counted(made: Revision, old: tuple[Memory, ...], new: tuple[Memory, ...]) -> None:
    """A revision's numbers are those that its memories give."""
    before, after = ({memory.id: memory for memory in side} for side in (old, new))
    assert made.size == len(after)
    assert made.added == len(after.keys() - before.keys())
    assert made.removed == len(before.keys() - after.keys())
    assert made.changed == sum(before[i] != after[i] for i in before.keys() & after.keys())


def assert_history_agrees(bank: MemoryBank, memory_id: int, past: list[tuple[Memory, ...]]) -> None:
    """A memory's history is what its revisions say of it, one change for each that touched it."""
    states = [next((m for m in memories if m.id == memory_id), None) for memories in past]
    expected = [
        (number, *states[number - 1 : number + 1])
        for number in range(1, len(states))
        if states[number - 1] != states[number]
    ]
    told = [(c.revision and c.revision.number, c.before, c.after) for c in bank.history(memory_id)]
    assert told == expected


def test_revisions_that_never_were_are_told(bank: MemoryBank) -> None:
    bank.update(lessons(1))
    assert len(bank.snapshot(0)) == 0
    for number in (-1, 2, 99):
        with pytest.raises(RevisionNotFoundError, match="0 to 1"):
            bank.snapshot(number)
    with pytest.raises(RevisionNotFoundError):
        bank.revision(2)
