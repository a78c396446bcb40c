"""What a compression costs, counted once more by hand; and the curve of quality against size."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    KINDS,
    STRATEGIES,
    CompressionSettings,
    RetrievalSettings,
    SavedQuery,
    SettingsError,
    Snapshot,
    compare,
    evaluate,
    impact,
    plan_compression,
    quality_curve,
    read_injection,
)
from memory_core.compression import estimated_tokens
from memory_core.retrieval import retrieve
from tests.compressing import libraries, library
from tests.ranking import scored
from tests.strategies import unit_vectors


def questions(snapshot: Snapshot, count: int = 5) -> tuple[list[SavedQuery], dict]:
    random = np.random.default_rng(0)
    pool = snapshot.ids.tolist() or [1]
    queries = [
        SavedQuery(n, f"task {n}", (), {int(random.choice(pool)): 1 + n % 3 for _ in range(4)})
        for n in range(1, count + 1)
    ]
    vectors = unit_vectors(7, count, snapshot.vectors.shape[1])
    return queries, {q.task: v for q, v in zip(queries, vectors, strict=True)}


@settings(max_examples=60, deadline=None)
@given(libraries(), st.data())
def test_the_impact_is_what_a_count_by_hand_gives(before, data):
    gone = {m.id for m in before.memories if data.draw(st.integers(0, 2)) == 0}
    after = before.edit(removed=gone)
    queries, vectors = questions(before)
    found = impact(before, after, queries, vectors, k=3)
    left = [m for m in before.memories if m.id not in gone]

    assert (found.size.before, found.size.after) == (len(before), len(left))
    for kind in KINDS:
        assert found.kinds[kind].before == sum(m.kind == kind for m in before.memories)
        assert found.kinds[kind].after == sum(m.kind == kind for m in left)
    domains = Counter(m.domain for m in before.memories)
    assert {name: pair.before for name, pair in found.domains.items()} == domains
    assert sum(pair.after for pair in found.domains.values()) == len(left)
    if left:
        assert found.confidence.after.median == np.median([m.confidence for m in left])
        assert found.confidence.after.minimum == min(m.confidence for m in left)
    assert found.comparison == compare(before, after, queries, vectors, k=3)

    wide = before.vectors.astype(np.float64)
    cosines = wide @ wide.T
    stay = [row for row, m in enumerate(before.memories) if m.id not in gone]
    away = [row for row, m in enumerate(before.memories) if m.id in gone]
    if len(stay) > 1:
        among = cosines[np.ix_(stay, stay)] - 3 * np.eye(len(stay))
        assert found.redundancy.after == pytest.approx(among.max(axis=1).mean(), abs=1e-6)
    else:
        assert math.isnan(found.redundancy.after)
    assert found.coverage.ids.tolist() == sorted(gone)
    if stay and away:
        nearest = cosines[np.ix_(away, stay)].max(axis=1)
        np.testing.assert_allclose(found.coverage.similarity, nearest, atol=1e-6)
        assert found.coverage.mean == pytest.approx(nearest.mean(), abs=1e-6)
        assert found.coverage.worst == pytest.approx(nearest.min(), abs=1e-6)
    assert f"of {len(before)}" in found.sentence


@settings(max_examples=40, deadline=None)
@given(libraries(min_size=2), st.sampled_from([0.0, 0.2, 0.7]))
def test_a_dropped_lesson_asked_for_by_its_own_words_finds_this(before, weight):
    gone = before.ids[::2].tolist()
    after = before.edit(removed=gone)
    asked = RetrievalSettings(confidence_weight=weight)
    found = impact(before, after, settings=asked).coverage
    for place, memory_id in enumerate(found.ids.tolist()):
        own = before.vector_of(memory_id)
        best, *others = scored(after, own, "", asked)
        first = found.recalled[place]
        rivals = {best.memory.id} | {
            one.memory.id for one in others if abs(one.score - best.score) < 1e-6
        }
        assert first in rivals
        similarity = own.astype(float) @ after.vector_of(int(first)).astype(float)
        assert found.recalled_similarity[place] == pytest.approx(similarity, abs=1e-6)


def test_injected_tokens_follow_the_block_that_is_injected():
    before = library(40)
    after = before.edit(removed=before.ids[3:].tolist())
    queries, vectors = questions(before)
    found = impact(before, after, queries, vectors, RetrievalSettings(limit=5))
    for snapshot, tokens in (
        (before, found.injected_tokens.before), (after, found.injected_tokens.after),
    ):  # fmt: skip
        blocks = [retrieve(snapshot, q.task, vectors[q.task]).injection for q in queries]
        assert len(read_injection(blocks[0])) == min(5, len(snapshot))
        words = [len(block.split()) for block in blocks]
        assert tokens == pytest.approx(np.mean(words) * 4 / 3, abs=0.5)
    assert found.injected_tokens.after < found.injected_tokens.before
    assert found.library_tokens.before == estimated_tokens([m.text for m in before.memories])


def test_words_merged_into_a_kept_lesson_are_gone_but_the_kept_lesson_is_not():
    before = library(40)
    way = CompressionSettings(strategy="diversity", capacity=20)
    dropping = plan_compression(before, way)
    merging = plan_compression(
        before, CompressionSettings(strategy="diversity", capacity=20, merge=True)
    )
    queries, vectors = questions(before)
    one = impact(before, dropping.after, queries, vectors)
    other = impact(before, merging.after, queries, vectors)
    assert other.coverage.ids.tolist() == one.coverage.ids.tolist()
    np.testing.assert_allclose(other.coverage.similarity, one.coverage.similarity)


def test_the_sentence_counts_what_is_lost():
    before = library(30)
    _, vectors = questions(before)
    first = retrieve(before, "task 1", vectors["task 1"]).hits[0].memory.id
    query = SavedQuery(1, "task 1", (), {first: 3})
    found = impact(before, before.edit(removed=[first]), [query], vectors)
    assert found.sentence.startswith(
        "Drops 1 of 30; 1 of 1 saved query loses a relevant lesson from its first 5, 1 its "
        "best one, 1 its only one; recall@5 goes from 1.00 to 0.00"
    )
    assert impact(before, before).sentence == "Drops nothing of 30."
    assert "all" not in impact(before, Snapshot.empty(32)).sentence


# -- the curve ------------------------------------------------------------------------------------


def test_the_curve_comes_point_by_point():
    snapshot = library(60)
    queries, vectors = questions(snapshot)
    asked = iter([1.0, 0.5])
    points = quality_curve(snapshot, ["hybrid", "random"], asked, queries, vectors)
    first, second = itertools.islice(points, 2)
    assert (first.strategy, second.strategy) == ("hybrid", "random")
    assert next(asked) == 0.5  # not read before it is needed
    assert first.quality == evaluate(snapshot, queries, vectors)


@settings(max_examples=25, deadline=None)
@given(libraries(min_size=1), st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_each_point_is_what_its_settings_plan(snapshot, fractions):
    queries, vectors = questions(snapshot, 2)
    pinned = sum(m.pinned for m in snapshot.memories)
    different = len({m.text for m in snapshot.memories if not m.pinned})
    for point in quality_curve(snapshot, tuple(STRATEGIES), fractions, queries, vectors):
        made = plan_compression(snapshot, point.settings)
        assert len(made.after) == point.size
        assert point.quality == evaluate(made.after, queries, vectors)
        wanted = max(round(point.fraction * len(snapshot)), pinned)
        if point.strategy in ("hybrid", "random"):
            assert point.size == wanted
        elif point.strategy == "diversity":
            room = wanted - pinned
            assert point.size == wanted or point.size == pinned + min(room, different)
        elif point.strategy == "importance":
            assert point.size == max(wanted, 1)
        else:
            ages = [m.epoch for m in snapshot.memories if not m.pinned]
            # Sessions go together; the newest stay.
            possible = [pinned + sum(age >= first for age in ages) for first in set(ages)]
            possible.append(len(snapshot))
            assert abs(point.size - wanted) == min(abs(size - wanted) for size in possible)


def test_an_unknown_strategy_or_fraction_is_refused_at_once():
    with pytest.raises(SettingsError, match="diversity, importance, temporal, hybrid, random"):
        quality_curve(library(5), ["newest"])
    with pytest.raises(SettingsError, match=r"\[0, 1\]"):
        next(quality_curve(library(5), ["hybrid"], [1.5]))
