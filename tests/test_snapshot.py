"""Snapshots: the memories of a moment, in order, immutable, sharing what has not changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import HashEmbedder, Memory, MemoryNotFoundError, Snapshot
from tests.strategies import crowds, lesson_texts, memories, unit_vectors


def embedded(lessons: list[Memory]) -> Snapshot:
    return Snapshot.from_memories(lessons, HashEmbedder().embed([m.text for m in lessons]))


def numbered(lessons: list[Memory], start: int = 1) -> list[Memory]:
    return [replace(lesson, id=start + place) for place, lesson in enumerate(lessons)]


THREE = numbered([Memory(0, "tool", text, "git") for text in ("rebase", "cherry-pick", "bisect")])


@given(st.lists(memories(), max_size=8), st.randoms())
def test_memories_come_back_whole_by_ascending_id(drawn, random):
    lessons = numbered(drawn)
    shuffled = random.sample(lessons, len(lessons))
    snapshot = embedded(shuffled)
    assert snapshot.memories == tuple(lessons)
    assert [snapshot.by_id(memory.id) for memory in lessons] == lessons
    assert snapshot.ids.tolist() == [memory.id for memory in lessons]
    assert snapshot.texts() == [memory.text for memory in lessons]
    np.testing.assert_array_equal(snapshot.vectors, HashEmbedder().embed([m.text for m in lessons]))


def test_planned_memories_come_last_in_the_order_of_their_commit():
    lessons = [replace(THREE[0], id=i) for i in (-2, 8, -1, 3, -3)]
    assert [memory.id for memory in embedded(lessons).memories] == [3, 8, -1, -2, -3]


@pytest.mark.parametrize("nowhere", [0, 4, -1, 10**30, -(10**30), True, "1", None, 1.0])
def test_what_is_not_there_is_said(nowhere):
    snapshot = embedded(THREE)
    assert nowhere not in snapshot
    with pytest.raises(MemoryNotFoundError, match="no memory"):
        snapshot.by_id(nowhere)
    with pytest.raises(MemoryNotFoundError):
        snapshot.vector_of(nowhere)


def test_ids_of_numpy_are_ids():
    assert np.int64(2) in embedded(THREE)
    assert embedded(THREE).by_id(np.int32(2)) == THREE[1]


def test_an_empty_snapshot_has_vectors_of_the_right_width():
    for empty in (Snapshot.empty(), Snapshot.from_memories([], [])):
        assert empty.vectors.shape == (0, 384)
        assert empty.memories == ()
        assert len(empty.similarities(unit_vectors(0, 1)[0])) == 0


def test_vectors_cannot_be_written_to():
    snapshot = embedded(THREE)
    for vectors in (snapshot.vectors, snapshot.vector_of(1), snapshot.edit(removed=[2]).vectors):
        with pytest.raises(ValueError, match="read-only"):
            vectors[0] = 0


def test_vectors_of_any_length_become_unit_vectors():
    vectors = unit_vectors(3, 3)
    scaled = Snapshot.from_memories(THREE, vectors * np.array([[3.0], [0.5], [1.0]]))
    np.testing.assert_allclose(scaled.vectors, vectors, atol=1e-6)
    np.testing.assert_array_equal(scaled.vectors[2], vectors[2])


@given(crowds())
def test_counts_are_those_of_the_memories(crowd):
    assert crowd.domain_counts() == Counter(m.domain for m in crowd.memories)
    assert {k: n for k, n in crowd.kind_counts().items() if n} == Counter(
        m.kind for m in crowd.memories
    )
    for text in {m.text for m in crowd.memories} | {"nowhere"}:
        assert crowd.ids_with_text(text) == tuple(m.id for m in crowd.memories if m.text == text)


@given(crowds(), st.integers(0, 2**32 - 1))
def test_similarities_are_cosines(crowd, seed):
    query = unit_vectors(seed, 1, crowd.vectors.shape[1])[0]
    wide = crowd.vectors.astype(np.float64)
    cosines = (wide @ query) / np.linalg.norm(wide, axis=1) / np.linalg.norm(query)
    np.testing.assert_allclose(crowd.similarities(query), cosines, atol=1e-6)
    rows = np.arange(len(crowd))
    exact = crowd.exact_similarities(rows, query)
    np.testing.assert_allclose(exact, cosines, atol=1e-12)
    alone = [crowd.exact_similarities(np.array([row]), query)[0] for row in rows]
    assert exact.tolist() == alone


def test_equal_vectors_have_equal_cosines_wherever_they_stand():
    crowd = numbered([Memory(0, "tool", f"lesson {n}", "git") for n in range(9_000)])
    vectors = np.repeat(unit_vectors(1, 1), len(crowd), axis=0)
    snapshot = Snapshot.from_memories(crowd, vectors)
    exact = snapshot.exact_similarities(np.arange(len(crowd)), unit_vectors(2, 1)[0])
    assert len(set(exact.tolist())) == 1


@st.composite
def edits(draw):
    """A snapshot's memories, ids to take out, and memories to put in: new, changed, come back."""
    before = numbered(draw(st.lists(memories(), max_size=6)), start=1)[::2]  # with gaps
    ids = [memory.id for memory in before]
    removed = draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    places = st.integers(1, 8) | st.integers(-4, -1)
    put = {i: replace(draw(memories()), id=i) for i in draw(st.sets(places, max_size=4))}
    return before, removed, list(put.values())


@settings(max_examples=80, deadline=None)
@given(edits())
def test_an_edit_gives_what_a_dictionary_would(edit):
    before, removed, put = edit
    snapshot = embedded(before)
    vectors = dict(zip([m.text for m in put], HashEmbedder().embed([m.text for m in put]),
                       strict=True))  # fmt: skip
    after = snapshot.edit(removed=removed, put=put, vectors=vectors)
    expected = {m.id: m for m in before if m.id not in removed} | {m.id: m for m in put}
    order = sorted(expected, key=lambda i: (i < 0, abs(i)))
    assert after.memories == tuple(expected[i] for i in order)
    texts = [memory.text for memory in after.memories]
    np.testing.assert_array_equal(after.vectors, HashEmbedder().embed(texts))
    assert snapshot.memories == tuple(before)


def test_a_change_of_numbers_copies_no_vector():
    snapshot = embedded(THREE)
    changed = replace(THREE[1], confidence=0.9, usage_count=3, pinned=True)
    after = snapshot.edit(put=[changed])
    assert after.by_id(2) == changed
    assert np.shares_memory(snapshot.vectors, after.vectors)


def test_nor_does_it_where_vectors_had_to_be_gathered_before():
    scattered = embedded(THREE).edit(removed=[2])
    after = scattered.edit(put=[replace(THREE[0], confidence=0.9)])
    assert np.shares_memory(scattered.vectors, after.vectors)


def test_a_new_memory_costs_one_row():
    snapshot = embedded(THREE)
    rows = len(snapshot.pool)
    new = replace(THREE[0], id=-1, text="stash")
    after = snapshot.edit(put=[new], vectors={"stash": HashEmbedder().embed(["stash"])[0]})
    assert len(after.pool) == rows + 1
    assert len(snapshot) == 3
    again = snapshot.edit(put=[new], vectors={"stash": HashEmbedder().embed(["stash"])[0]})
    assert len(again.pool) == rows + 1


@given(st.lists(lesson_texts, min_size=1, max_size=20))
def test_a_snapshot_stays_what_it_was_while_others_grow_from_it(texts):
    snapshot = embedded(THREE)
    before, product = snapshot.vectors.copy(), snapshot.similarities(snapshot.vector_of(1))
    for place, text in enumerate(texts):
        new = replace(THREE[0], id=-place - 1, text=text)
        snapshot.edit(put=[new], vectors={text: HashEmbedder().embed([text])[0]})
    assert snapshot.memories == tuple(THREE)
    np.testing.assert_array_equal(snapshot.vectors, before)
    np.testing.assert_allclose(snapshot.similarities(snapshot.vector_of(1)), product, atol=1e-6)


def test_threads_may_grow_and_read_the_same_pool():
    snapshot = embedded(THREE)
    wrong: list[object] = []

    def grow(worker: int) -> None:
        for turn in range(60):
            texts = [f"worker {worker} turn {turn} lesson {n}" for n in range(10)]
            vectors = dict(zip(texts, HashEmbedder().embed(texts), strict=True))
            put = [replace(THREE[0], id=-n - 1, text=text) for n, text in enumerate(texts)]
            after = snapshot.edit(put=put, vectors=vectors)
            if [m.text for m in after.memories[3:]] != texts:
                wrong.append(after)
            if not np.array_equal(after.vectors[3:], np.stack(list(vectors.values()))):
                wrong.append(after)

    threads = [Thread(target=grow, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(snapshot.pool) == 3 + 4 * 60 * 10
