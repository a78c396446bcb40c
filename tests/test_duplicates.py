"""Near duplicates: groups against all pairs one by one, verdicts, drafts, splits, big banks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Delete,
    DuplicateGroup,
    InvalidBatchError,
    Memory,
    MemoryBank,
    MemoryNotFoundError,
    Merge,
    Modify,
    SettingsError,
    Snapshot,
    StalePlanError,
    ToolDetail,
    duplicate_groups,
    near_pairs,
    split,
)
from memory_core.curation import plan
from memory_core.records import Evidence, Provenance
from tests.strategies import operation_lists, unit_vectors

ROOT = Path(__file__).resolve().parent.parent


def lesson(memory_id: int, text: str = "", **named: object) -> Memory:
    return Memory(memory_id, "tool", text or f"lesson {memory_id}", "git", **named)  # type: ignore[arg-type]


@st.composite
def clouds(draw: st.DrawFn) -> Snapshot:
    """Memories around a few centres, from far apart to equal; ids with gaps, some only planned."""
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.integers(0, 24))
    centres = unit_vectors(seed, draw(st.integers(1, 4)), 16)
    random = np.random.default_rng(seed)
    vectors = centres[random.integers(0, len(centres), size)]
    vectors = vectors + draw(st.sampled_from([0, 0.05, 0.15])) * random.standard_normal((size, 16))
    for _ in range(draw(st.integers(0, 4)) if size else 0):
        vectors[random.integers(0, size)] = vectors[random.integers(0, size)]
    ids = np.cumsum(random.integers(1, 4, size)).tolist()
    planned = draw(st.integers(0, min(size, 3)))
    ids[size - planned :] = [-k for k in range(1, planned + 1)]
    return Snapshot.from_memories([lesson(i) for i in ids], vectors.reshape(size, 16), revision=1)


def all_pairs(snapshot: Snapshot) -> dict[tuple[int, int], float]:
    """The cosine of every two memories, in float64; of equal vectors exactly 1."""
    vectors = snapshot.vectors.astype(np.float64)
    ids = snapshot.ids.tolist()
    return {
        (ids[a], ids[b]): 1.0
        if np.array_equal(vectors[a], vectors[b])
        else float(vectors[a] @ vectors[b])
        / float(np.linalg.norm(vectors[a]) * np.linalg.norm(vectors[b]))
        for a, b in combinations(range(len(ids)), 2)
    }


def by_hand(
    snapshot: Snapshot, threshold: float, apart: set[frozenset[int]]
) -> set[frozenset[int]]:
    """Join every two that are close enough and not apart, until nothing changes."""
    groups = [{memory_id} for memory_id in snapshot.ids.tolist()]
    for (a, b), cosine in all_pairs(snapshot).items():
        if cosine >= threshold and frozenset((a, b)) not in apart:
            one = next(group for group in groups if a in group)
            other = next(group for group in groups if b in group)
            if one is not other:
                one |= other
                groups.remove(other)
    return {frozenset(group) for group in groups if len(group) > 1}


def clear_of(snapshot: Snapshot, threshold: float) -> bool:
    return all(abs(cosine - threshold) > 1e-4 for cosine in all_pairs(snapshot).values())


def as_sets(groups: tuple[DuplicateGroup, ...]) -> set[frozenset[int]]:
    return {frozenset(group.ids) for group in groups}


@settings(max_examples=120, deadline=None)
@given(clouds(), st.floats(0.3, 0.999), st.data())
def test_groups_are_what_joining_pair_by_pair_gives(
    snapshot: Snapshot, threshold: float, data: st.DataObject
) -> None:
    if not clear_of(snapshot, threshold):
        return
    ids = snapshot.ids.tolist()
    some = st.tuples(st.sampled_from(ids), st.sampled_from(ids)) if ids else st.nothing()
    apart = data.draw(st.lists(some, max_size=6)) if ids else []
    groups = duplicate_groups(snapshot, threshold, distinct=[*apart, (998, 999)])
    told = {frozenset(pair) for pair in apart}
    assert as_sets(groups) == by_hand(snapshot, threshold, told)
    sizes = [len(group) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    for group in groups:
        assert group.ids == tuple(sorted(group.ids, key=lambda i: (i < 0, abs(i))))
        inside = {frozenset(pair) for pair in combinations(group.ids, 2)}
        assert {frozenset(pair) for pair in group.apart} == inside & told


@settings(max_examples=80, deadline=None)
@given(clouds(), st.lists(st.floats(0.4, 1.0), min_size=1, max_size=4))
def test_pairs_collected_once_give_the_groups_of_every_threshold_above(
    snapshot: Snapshot, thresholds: list[float]
) -> None:
    pairs = near_pairs(snapshot, 0.4)
    assert len(pairs.edges) < max(len(snapshot), 1)
    for threshold in thresholds:
        if not clear_of(snapshot, threshold):
            continue
        expected = by_hand(snapshot, threshold, set())
        assert as_sets(pairs.groups(threshold)) == expected
        counts = pairs.counts(threshold)
        assert counts.groups == len(expected)
        assert counts.memories == sum(map(len, expected))
    with pytest.raises(SettingsError, match=r"from a similarity of 0\.4 on"):
        pairs.counts(0.39)


@settings(max_examples=80, deadline=None)
@given(clouds(), st.sampled_from([0.3, 0.6, 0.9]))
def test_the_tightest_and_the_loosest_are_of_all_pairs_in_a_group(
    snapshot: Snapshot, threshold: float
) -> None:
    cosines = all_pairs(snapshot)
    for group in duplicate_groups(snapshot, threshold):
        inside = [cosines[pair] for pair in combinations(group.ids, 2)]
        assert group.tightest.similarity == pytest.approx(max(inside), abs=1e-6)
        assert group.loosest.similarity == pytest.approx(min(inside), abs=1e-6)
        assert cosines[group.tightest.ids] == pytest.approx(max(inside), abs=1e-6)
        assert cosines[group.loosest.ids] == pytest.approx(min(inside), abs=1e-6)


@pytest.mark.parametrize("floor", [0.0, -0.2, 1.01, float("nan")])
def test_a_floor_that_is_no_similarity_is_refused(floor: float) -> None:
    with pytest.raises(SettingsError):
        near_pairs(Snapshot.empty(), floor)


# -- two that a person called distinct ------------------------------------------------------------


def chain(*angles: float) -> Snapshot:
    """Memories 1, 2, … in a plane, at these angles."""
    vectors = np.array([[np.cos(a), np.sin(a)] for a in np.radians(angles)])
    return Snapshot.from_memories(
        [lesson(i) for i in range(1, len(angles) + 1)], vectors, revision=1
    )  # fmt: skip


def test_distinct_ones_stay_together_where_a_third_joins_them_and_are_named() -> None:
    three = chain(0, 5, 10)
    (group,) = duplicate_groups(three, 0.9, distinct=[(3, 1)])
    assert (group.ids, group.apart) == ((1, 2, 3), ((1, 3),))
    (group,) = duplicate_groups(three, 0.9, distinct=[(1, 2), (1, 3)])
    assert (group.ids, group.apart) == ((2, 3), ())
    assert duplicate_groups(three, 0.9, distinct=[(1, 2), (1, 3), (2, 3)]) == ()


def test_equal_texts_can_be_distinct_too() -> None:
    same = chain(0, 0, 0)
    (group,) = duplicate_groups(same, 0.9, distinct=[(1, 2)])
    assert group.ids == (1, 2, 3)
    assert duplicate_groups(chain(0, 0), 0.9, distinct=[(1, 2)]) == ()


# -- drafts ---------------------------------------------------------------------------------------


def test_a_draft_takes_the_text_of_the_most_confident_and_merges_all() -> None:
    crowd = [
        lesson(1, "a", confidence=0.6, usage_count=9, success_count=2),
        lesson(2, "b", confidence=0.8, usage_count=1, success_count=1),
        lesson(3, "c", confidence=0.8, usage_count=4, success_count=0, pinned=True),
        lesson(4, "d", confidence=0.8, usage_count=4, success_count=3),
    ]
    snapshot = Snapshot.from_memories(crowd, [[1.0, 0.0]] * 4, revision=1)
    (group,) = duplicate_groups(snapshot)
    merge = group.draft()
    assert merge.ids == (1, 2, 3, 4)
    assert merge.text == "c"
    assert merge.rationale
    made = plan(snapshot, Batch([merge]), {"c": snapshot.vector_of(3)})
    (merged,) = made.after.memories
    assert (merged.confidence, merged.usage_count, merged.success_count) == (0.8, 18, 6)
    assert merged.pinned
    assert merged.provenance.merged_from == (1, 2, 3, 4)
    edited = replace(merge, text="e")
    assert plan(snapshot, Batch([edited]), {"e": snapshot.vector_of(3)}).after.at(0).text == "e"


@settings(max_examples=60, deadline=None)
@given(clouds(), operation_lists(range(1, 30)))
def test_no_merge_removes_every_copy(snapshot: Snapshot, drawn: tuple[object, ...]) -> None:
    """Whatever merges come together: what was merged away stands in another memory."""
    drafts = [group.draft() for group in duplicate_groups(snapshot, 0.5)]
    merges = [*drafts, *(x for x in drawn if isinstance(x, Merge)), *drafts]
    texts = {text: unit_vectors(1, 1, 16)[0] for text in {merge.text for merge in merges}}
    made = plan(snapshot, Batch(merges), texts)
    kept = {i for memory in made.after for i in (memory.id, *memory.provenance.merged_from)}
    assert {i for i in snapshot.ids.tolist() if i > 0} <= kept
    assert sum(m.usage_count for m in made.after) == sum(m.usage_count for m in snapshot)


# -- what a bank remembers ------------------------------------------------------------------------

TWINS = ("Pin torch to 2.13 in CI.", "Pin torch to 2.13 in CI!", "Pin torch to 2.13 in CI?")


@pytest.fixture
def twins(bank: MemoryBank) -> MemoryBank:
    texts = (*TWINS, "Count the rows before and after a join.")
    bank.commit(bank.plan(Batch([Add(text, "tool", "ci") for text in texts])))
    return bank


def test_a_bank_finds_its_duplicates_and_remembers_what_is_none(
    twins: MemoryBank, reopen: Callable[[], MemoryBank]
) -> None:
    assert [group.ids for group in twins.duplicates()] == [(1, 2, 3)]
    twins.acting_as("mara").mark_distinct([3, 1])
    (pair,) = reopen().distinct_pairs()
    assert (pair.ids, pair.actor) == ((1, 3), "mara")
    (group,) = reopen().duplicates()
    assert group.apart == ((1, 3),)
    twins.mark_distinct([1, 2, 3])
    assert reopen().duplicates() == ()
    assert [pair.ids for pair in twins.distinct_pairs()] == [(1, 2), (1, 3), (2, 3)]
    twins.unmark_distinct([2, 3])
    assert [group.ids for group in twins.duplicates()] == [(2, 3)]
    assert twins.snapshot().revision == 1  # a verdict is no change of a memory


def test_a_verdict_binds_for_the_texts_it_was_given_for(twins: MemoryBank) -> None:
    twins.mark_distinct([1, 2])
    twins.commit(twins.plan(Batch([Modify(1, pinned=True, tags=("x",))])))
    assert len(twins.distinct_pairs()) == 1
    reworded = twins.commit(twins.plan(Batch([Modify(1, text=TWINS[0] + "!")])))
    assert twins.distinct_pairs() == ()
    assert (1, 2, 3) in [group.ids for group in twins.duplicates()]
    assert [pair.ids for pair in twins.distinct_pairs(revision=2)] == [(1, 2)]
    twins.commit(twins.plan_undo(reworded))
    assert len(twins.distinct_pairs()) == 1
    twins.commit(twins.plan(Batch([Delete(2)])))
    assert twins.distinct_pairs() == ()


def test_what_cannot_be_called_distinct_is_refused(twins: MemoryBank) -> None:
    for ids in ([], [1], [1, 1], range(1, 300)):
        with pytest.raises(InvalidBatchError):
            twins.mark_distinct(ids)
    with pytest.raises(MemoryNotFoundError):
        twins.mark_distinct([1, 99])
    assert twins.distinct_pairs() == ()


def test_a_merge_of_a_group_is_one_revision_and_can_be_undone(twins: MemoryBank) -> None:
    before = twins.snapshot()
    (group,) = twins.duplicates()
    made = twins.commit(twins.plan(Batch([group.draft()], base_revision=1)))
    assert (made.added, made.removed, made.size) == (1, 3, 2)
    assert twins.duplicates() == ()
    twins.commit(twins.plan_undo(made))
    assert twins.snapshot().memories == before.memories


# -- splitting ------------------------------------------------------------------------------------

PARTS = ("Pin torch in CI.", "Cache wheels in CI by the lock file's hash.")


def test_a_split_keeps_what_a_memory_has_and_says_where_its_parts_come_from(
    bank: MemoryBank,
) -> None:
    origin = Provenance("reflection", (Evidence("run 7", (2, 3)),), note="longer")
    detail = ToolDetail("pip", "pip install")
    whole = Add(
        " ".join(PARTS), "tool", "ci", detail, 0.8, 9, 7, ("slow",), True, 3, origin
    )  # fmt: skip
    bank.commit(bank.plan(Batch([whole])))
    before = bank.snapshot().memories
    made = bank.commit(bank.plan(split(before[0], PARTS, base_revision=1)))
    first, second = bank.snapshot().memories
    for part in (first, second):
        assert (part.kind, part.domain, part.detail) == ("tool", "ci", detail)
        assert (part.confidence, part.tags, part.pinned, part.epoch) == (0.8, ("slow",), True, 3)
        assert part.provenance == replace(origin, merged_from=(1,))
    assert (first.text, second.text) == PARTS
    assert (first.usage_count, first.success_count) == (9, 7)
    assert (second.usage_count, second.success_count) == (0, 0)
    assert made.kind == "split"
    bank.commit(bank.plan_undo(made))
    assert bank.snapshot().memories == before


@pytest.mark.parametrize("texts", [(), ("one",), "one two"])
def test_a_split_into_one_is_refused(texts: tuple[str, ...] | str) -> None:
    with pytest.raises(InvalidBatchError):
        split(lesson(1), texts)


def test_a_split_into_what_breaks_a_rule_is_refused_as_a_whole(twins: MemoryBank) -> None:
    made = twins.plan(split(twins.snapshot().by_id(1), ["fine", "word " * 33]))
    assert [refusal.index for refusal in made.refused] == [2]
    with pytest.raises(InvalidBatchError):
        twins.commit(made)
    assert 1 in twins.snapshot()


# -- an edit against what has changed since -------------------------------------------------------


def test_a_conflict_shows_both_versions(twins: MemoryBank) -> None:
    seen = twins.snapshot().by_id(1)
    mine = twins.plan(Batch([Modify(1, text="Mine."), Modify(4, text="Also mine.")]))
    twins.acting_as("mara").update(Batch([Modify(1, text="Hers.")]))
    with pytest.raises(StalePlanError):
        twins.commit(mine)
    again = twins.plan_again(mine)
    (refusal,) = again.refused
    (conflict,) = refusal.conflicts
    assert (conflict.memory_id, conflict.seen) == (1, seen)
    assert conflict.current == twins.snapshot().by_id(1)
    assert [planned.index for planned in again.accepted] == [1]
    with pytest.raises(InvalidBatchError):
        twins.commit(again)
    assert twins.snapshot().by_id(1).text == "Hers."


def test_a_conflict_with_what_has_left_or_come_says_so(twins: MemoryBank) -> None:
    twins.update(Batch([Delete(2)]))
    twins.update(Batch([Add("New.", "tool", "ci")]))
    batch = Batch([Merge((1, 2, 5), "One."), Modify(3, pinned=True)], base_revision=1)
    (refusal,) = twins.plan(batch).refused
    gone, come = refusal.conflicts
    assert (gone.memory_id, gone.current) == (2, None)
    assert gone.seen == twins.snapshot(1).by_id(2)
    assert (come.memory_id, come.seen) == (5, None)
    assert come.current == twins.snapshot().by_id(5)


# -- a bank that is one big cluster ---------------------------------------------------------------


def memory_used(size: int, noise: float) -> int:
    """Peak memory in MB of a process that groups `size` near twins."""
    code = f"""
import numpy as np, resource
from memory_core import Memory, Snapshot, near_pairs
random = np.random.default_rng(0)
vectors = random.standard_normal((1, 64)) + {noise} * random.standard_normal(({size}, 64))
crowd = [Memory(i + 1, "tool", f"lesson {{i}}", "git") for i in range({size})]
pairs = near_pairs(Snapshot.from_memories(crowd, vectors, revision=1), 0.8)
assert pairs.counts(0.8).memories > {size} * 0.99, pairs.counts(0.8)
assert len(pairs.edges) < {size}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return int(done.stdout)


@pytest.mark.long
def test_near_twins_by_the_thousand_need_no_memory_for_their_pairs() -> None:
    pairs_of_all = 8_000 * 8_000 / 2 * 24 / 2**20
    """MB for two rows and a cosine each."""
    assert memory_used(8_000, 0.2) - memory_used(80, 0.2) < pairs_of_all / 2


@pytest.mark.long
@pytest.mark.parametrize(("seed", "noise"), [(1, 0.03), (2, 0.08)])
def test_thinning_out_on_the_way_loses_no_edge_that_counts(seed: int, noise: float) -> None:
    """Against the spanning forest of the whole matrix, in a bank whose pairs fill many blocks."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    random, size = np.random.default_rng(seed), 3_000
    # The scattered ones first, so that later ones join the earlier ones ever more closely.
    spread = np.linspace(2, 0.1, size)[:, None]
    vectors = unit_vectors(seed, 1, 8) + noise * random.standard_normal((size, 8)) * spread
    snapshot = Snapshot.from_memories([lesson(i + 1) for i in range(size)], vectors, revision=1)
    pairs = near_pairs(snapshot, 0.7)
    exact = snapshot.vectors.astype(np.float64)
    first, second = np.nonzero(np.triu(exact @ exact.T >= 0.7, 1))
    apart = 2 - (exact[first] * exact[second]).sum(axis=1)
    tree = minimum_spanning_tree(coo_array((apart, (first, second)), (size, size)).tocsr())
    assert len(first) > 1.5 * 2**20
    assert len(pairs.edges) == tree.nnz
    mine, best = np.sort(pairs.edges.weight), np.sort(2 - tree.data)
    np.testing.assert_allclose(mine, best, atol=1e-5)
