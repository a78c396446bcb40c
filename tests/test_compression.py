"""The strategies, against an independent reading of their formulas; pins, ties, twins, seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    STRATEGIES,
    CompressionSettings,
    Memory,
    SettingsError,
    Snapshot,
    plan_compression,
)
from memory_core.compression import select
from tests import compressing as rules
from tests.compressing import libraries, library
from tests.strategies import unit_vectors

HEED_CAPACITY = ("diversity", "hybrid", "random")
many = settings(max_examples=60, deadline=None)
fractions = st.sampled_from([0.0, 0.1, 0.2, 0.29, 0.5, 0.99]) | st.floats(0, 0.999)
exponents = st.sampled_from([0.3, 0.5, 1.0, 2.0])


def dropped(snapshot: Snapshot, settings: CompressionSettings) -> list[int]:
    return plan_compression(snapshot, settings).dropped.tolist()


def pinned_of(snapshot: Snapshot) -> set[int]:
    return {m.id for m in snapshot.memories if m.pinned}


@st.composite
def tasks(draw: st.DrawFn) -> tuple[Snapshot, CompressionSettings]:
    """A library, and settings that can be met for it."""
    snapshot = draw(libraries())
    chosen = CompressionSettings(
        strategy=draw(st.sampled_from(list(STRATEGIES))),
        capacity=draw(st.integers(len(pinned_of(snapshot)), len(snapshot) + 2)),
        fraction=draw(fractions),
        decay=draw(st.sampled_from([0.01, 0.05, 1.0])),
        minimum_weight=draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])),
        alpha=draw(exponents),
        beta=draw(exponents),
        gamma=draw(exponents),
        delta=draw(exponents),
        rescore=draw(st.booleans()),
        seed=draw(st.integers(0, 9)),
    )
    return snapshot, chosen


# -- what holds for all ---------------------------------------------------------------------------


@many
@given(tasks())
def test_pinned_memories_stay_and_the_capacity_is_met(task):
    snapshot, chosen = task
    made = plan_compression(snapshot, chosen)
    assert pinned_of(snapshot).isdisjoint(made.dropped.tolist())
    assert set(made.after.ids.tolist()) == set(snapshot.ids.tolist()) - set(made.dropped.tolist())
    if chosen.strategy in HEED_CAPACITY:
        assert len(made.after) <= chosen.capacity or not len(made.dropped)
        if len(snapshot) <= chosen.capacity:
            assert not len(made.dropped)
            assert "Nothing to do" in made.notes[0]


@many
@given(tasks())
def test_the_same_settings_give_the_same_plan(task):
    snapshot, chosen = task
    again = Snapshot.from_memories(snapshot.memories, snapshot.vectors, epoch=snapshot.epoch)
    assert dropped(snapshot, chosen) == dropped(again, chosen)


@many
@given(tasks())
def test_a_second_compression_to_the_same_capacity_does_nothing(task):
    snapshot, chosen = task
    chosen = replace(chosen, strategy=("hybrid", "diversity", "random")[chosen.seed % 3])
    once = plan_compression(snapshot, chosen).after
    twice = plan_compression(once, chosen)
    assert not len(twice.dropped)
    assert twice.plan.batch.operations == ()


@many
@given(tasks())
def test_each_dropped_memory_names_the_nearest_that_is_kept(task):
    snapshot, chosen = task
    made = plan_compression(snapshot, chosen)
    wide = snapshot.vectors.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    stay = np.flatnonzero(made.kept)
    for row, memory in enumerate(snapshot.memories):
        decision = made.decision(memory.id)
        assert decision.kept == bool(made.kept[row])
        if decision.kept or not len(stay):
            assert decision.nearest is None
            assert decision.similarity is None
            continue
        cosines = wide[stay] @ wide[row]
        assert decision.similarity == pytest.approx(cosines.max(), abs=1e-9)
        named = wide[snapshot.row_of(decision.nearest)] @ wide[row]
        assert named == pytest.approx(cosines.max(), abs=1e-9)


@pytest.mark.parametrize("strategy", HEED_CAPACITY)
def test_a_capacity_below_the_pinned_is_refused_by_name(strategy):
    lessons = [Memory(n, "tool", f"lesson {n}", "git", pinned=n < 4) for n in range(1, 9)]
    snapshot = Snapshot.from_memories(lessons, unit_vectors(0, 8))
    with pytest.raises(SettingsError, match="3 memories are pinned"):
        plan_compression(snapshot, CompressionSettings(strategy=strategy, capacity=2))
    only_pins = plan_compression(snapshot, CompressionSettings(strategy=strategy, capacity=3))
    assert only_pins.after.ids.tolist() == [1, 2, 3]


def test_all_may_go_where_there_is_no_room():
    snapshot = Snapshot.from_memories([Memory(1, "tool", "alone", "git")], unit_vectors(0, 1))
    for strategy in HEED_CAPACITY:
        made = plan_compression(snapshot, CompressionSettings(strategy=strategy, capacity=0))
        assert len(made.after) == 0
        assert made.decision(1).nearest is None
        assert made.decision(1).sentence


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_bank_is_no_exception(strategy):
    made = plan_compression(Snapshot.empty(), CompressionSettings(strategy=strategy, capacity=0))
    assert len(made.after) == 0
    assert made.plan.batch.operations == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"capacity": -1}, {"capacity": 2.5}, {"fraction": 1.0}, {"fraction": -0.1}, {"decay": 0},
        {"minimum_weight": 1.1}, {"alpha": 0}, {"beta": -1}, {"gamma": float("nan")},
        {"delta": float("inf")}, {"strategy": "oldest"}, {"seed": -1},
        {"merge": True, "strategy": "hybrid"},
    ],
)  # fmt: skip
def test_settings_outside_their_bounds_are_refused_by_name(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        CompressionSettings(**wrong)


# -- importance -----------------------------------------------------------------------------------


@many
@given(libraries(), fractions)
def test_importance_drops_the_lowest_share(snapshot, p):
    chosen = CompressionSettings(strategy="importance", fraction=p, capacity=0)
    assert set(dropped(snapshot, chosen)) == rules.by_importance(snapshot.memories, p)


def test_ties_at_the_quantile_go_by_use_then_age_and_exactly_as_many_as_asked():
    numbers = [(0.5, 3, 9), (0.5, 0, 9), (0.5, 0, 2), (0.2, 9, 9), (0.5, 3, 2), (0.9, 0, 0)]
    lessons = [
        Memory(n, "tool", f"lesson {n}", "git", confidence=c, usage_count=u, epoch=k)
        for n, (c, u, k) in enumerate(numbers, start=1)
    ]
    snapshot = Snapshot.from_memories(lessons, unit_vectors(0, 6))
    order = [4, 3, 2, 5, 1, 6]
    for count in range(6):
        p = count / 6 + 0.01
        chosen = CompressionSettings(strategy="importance", fraction=p)
        assert set(dropped(snapshot, chosen)) == set(order[:count])
    reasons = select(snapshot, CompressionSettings(strategy="importance", fraction=0.5)).reasons
    assert reasons.threshold == np.quantile([c for c, _, _ in numbers], 0.5, method="higher")


def test_a_share_is_read_as_it_is_written():
    # 0.29 × 100 is 28.999999999999996 in binary.
    snapshot = library(100)
    lessons = [replace(memory, pinned=False) for memory in snapshot.memories]
    snapshot = Snapshot.from_memories(lessons, snapshot.vectors)
    chosen = CompressionSettings(strategy="importance", fraction=0.29)
    assert len(dropped(snapshot, chosen)) == 29


def test_pinned_ones_count_in_the_share_but_do_not_go():
    lessons = [
        Memory(n, "tool", f"lesson {n}", "git", confidence=n / 20, pinned=n in (1, 2))
        for n in range(1, 11)
    ]
    snapshot = Snapshot.from_memories(lessons, unit_vectors(0, 10))
    chosen = CompressionSettings(strategy="importance", fraction=0.3)
    assert dropped(snapshot, chosen) == [3, 4, 5]
    most = plan_compression(snapshot, replace(chosen, fraction=0.95))
    assert most.after.ids.tolist() == [1, 2]
    assert any("8 are not pinned" in note for note in most.notes)


# -- temporal decay -------------------------------------------------------------------------------


@many
@given(libraries(), st.floats(0.001, 2), st.floats(0, 1))
def test_temporal_decay_drops_what_weighs_too_little(snapshot, decay, minimum):
    chosen = CompressionSettings(strategy="temporal", decay=decay, minimum_weight=minimum)
    assert set(dropped(snapshot, chosen)) == rules.by_age(snapshot.memories, chosen)


def test_the_default_minimum_is_about_46_sessions():
    lessons = [Memory(n + 1, "tool", f"lesson {n}", "git", epoch=n) for n in range(61)]
    snapshot = Snapshot.from_memories(lessons, unit_vectors(0, 61), epoch=60)
    made = plan_compression(snapshot, CompressionSettings(strategy="temporal", capacity=10))
    assert max(60 - m.epoch for m in made.after.memories) == 46
    assert any("above the capacity of 10" in note for note in made.notes)


# -- hybrid ---------------------------------------------------------------------------------------


@many
@given(tasks())
def test_hybrid_drops_in_ascending_utility(task):
    snapshot, chosen = task
    chosen = replace(chosen, strategy="hybrid")
    made = plan_compression(snapshot, chosen)
    gone = made.reasons.order[~made.kept].argsort()
    assert made.dropped[gone].tolist() == rules.by_utility(snapshot, chosen)


def clump() -> Snapshot:
    """A library in which 80 close copies of one poor lesson are the first to go."""
    snapshot = library(500)
    near = snapshot.vectors.copy()
    near[:80] = near[0] + 0.01 * unit_vectors(5, 80, near.shape[1])
    lessons = [
        replace(m, confidence=0.05 if m.id <= 80 else max(m.confidence, 0.4), pinned=False)
        for m in snapshot.memories
    ]
    return Snapshot.from_memories(lessons, near, epoch=snapshot.epoch)


@pytest.mark.parametrize("rescore", [True, False])
@pytest.mark.parametrize("kind", ["scattered", "clusters", "near copies", "clump"])
def test_hybrid_is_exact_for_many(rescore, kind):
    # Clusters and the clump outlive each memory's list of its nearest neighbours; those of near
    # copies are closer together than a product in float32 can tell.
    snapshot = {
        "scattered": lambda: library(500),
        "clusters": lambda: library(500, clusters=12, spread=0.02),
        "near copies": lambda: library(500, clusters=12, spread=0.00002),
        "clump": clump,
    }[kind]()
    chosen = CompressionSettings(capacity=40, delta=1, rescore=rescore)
    made = plan_compression(snapshot, chosen)
    gone = made.reasons.order[~made.kept].argsort()
    assert made.dropped[gone].tolist() == rules.by_utility(snapshot, chosen)


def test_the_factors_of_a_utility_are_those_that_ranked_it():
    snapshot = library(120)
    made = plan_compression(snapshot, CompressionSettings(capacity=40, beta=2, gamma=0.7))
    r = made.reasons
    np.testing.assert_allclose(r.alpha * r.confidence * r.weight * r.distance, r.utility)
    np.testing.assert_allclose(r.confidence, snapshot.columns.confidence**2)
    np.testing.assert_allclose(
        r.weight, np.exp(-0.05 * 0.7 * (60 - snapshot.columns.epoch.astype(float)))
    )
    for row in range(len(snapshot)):
        other = snapshot.row_of(int(r.neighbour[row]))
        apart = np.linalg.norm(snapshot.vectors[row].astype(float) - snapshot.vectors[other])
        assert apart == pytest.approx(r.nearest_distance[row], abs=1e-12)
        assert (
            f"memory {r.neighbour[row]}" in made.decision(int(snapshot.ids[row])).sentence
            or (snapshot.columns.pinned[row])
        )


def twins(**of_second) -> Snapshot:
    vectors = unit_vectors(1, 6)
    vectors[4] = vectors[2]
    lessons = [Memory(n, "tool", f"lesson {n}", "git", confidence=0.9) for n in range(1, 7)]
    lessons[4] = replace(lessons[4], text=lessons[2].text, **of_second)
    return Snapshot.from_memories(lessons, vectors)


def test_of_twins_one_stays_unless_the_rule_is_read_literally():
    snapshot = twins(confidence=0.8)
    assert dropped(snapshot, CompressionSettings(capacity=5)) == [5]
    assert 3 not in dropped(snapshot, CompressionSettings(capacity=4))
    literal = plan_compression(snapshot, CompressionSettings(capacity=4, rescore=False))
    assert literal.dropped.tolist() == [3, 5]
    assert any("1 lesson is lost with every copy" in note for note in literal.notes)


def test_a_pinned_twin_stays_and_the_other_goes():
    for rescore in (True, False):
        snapshot = twins(confidence=0.05, pinned=True)
        assert dropped(snapshot, CompressionSettings(capacity=5, rescore=rescore)) == [3]


def test_numbers_beyond_all_measure_leave_an_order():
    vectors = unit_vectors(0, 5)
    vectors[1] = vectors[0]
    lessons = [
        Memory(n, "tool", f"lesson {max(n, 2)}", "git", epoch=n * 10**6) for n in range(1, 6)
    ]
    snapshot = Snapshot.from_memories(lessons, vectors, epoch=0)  # all from sessions to come
    made = plan_compression(snapshot, CompressionSettings(capacity=2, alpha=1e308))
    assert len(made.after) == 2
    assert made.dropped[0] == 1


# -- diversity ------------------------------------------------------------------------------------


@many
@given(tasks())
def test_diversity_keeps_the_best_of_each_cluster_of_k_means(task):
    snapshot, chosen = task
    chosen = replace(chosen, strategy="diversity")
    made = plan_compression(snapshot, chosen)
    free = [row for row, memory in enumerate(snapshot.memories) if not memory.pinned]
    if len(snapshot) <= chosen.capacity or not free:
        return
    room = chosen.capacity - (len(snapshot) - len(free))
    labels = made.reasons.cluster
    points = snapshot.vectors[free].astype(np.float64)
    different = len({row.tobytes() for row in snapshot.vectors[free]})
    clusters = sorted(set(labels[free].tolist()) - {-1})
    assert len(clusters) == min(room, different)
    means = [points[labels[free] == c].mean(axis=0) for c in clusters]
    for point, row in zip(points, free, strict=True):
        if not clusters:
            assert not made.kept[row]
            continue
        away = [((point - mean) ** 2).sum() for mean in means]
        assert away[clusters.index(labels[row])] <= min(away) + 1e-5
    for c in clusters:
        members = [snapshot.memories[row] for row in free if labels[row] == c]
        best = max(members, key=rules.worth)
        assert [m.id for m in members if made.kept[snapshot.row_of(m.id)]] == [best.id]
        assert all(made.reasons.winner[snapshot.row_of(m.id)] == best.id for m in members)


@pytest.mark.parametrize(("size", "kept"), [(60, 5), (400, 20), (400, 200), (900, 800)])
@pytest.mark.parametrize("clusters", [0, 30])
def test_its_clusters_are_as_tight_as_those_of_scikit_learn(size, kept, clusters):
    from sklearn.cluster import KMeans

    from memory_core.compression.clustering import cluster

    vectors = library(size, seed=size, clusters=clusters).vectors
    labels = cluster(vectors, kept)
    wide = vectors.astype(np.float64)
    means = np.stack([wide[labels == c].mean(axis=0) for c in range(kept)])
    ours = ((wide - means[labels]) ** 2).sum()
    theirs = KMeans(kept, random_state=0).fit(vectors).inertia_
    assert ours <= 1.02 * theirs


def test_copies_make_no_clusters_of_their_own():
    vectors = np.repeat(unit_vectors(0, 4), 10, axis=0)
    lessons = [
        Memory(n + 1, "tool", f"lesson {n // 10}", "git", confidence=0.1 + n % 10 / 20)
        for n in range(40)
    ]
    snapshot = Snapshot.from_memories(lessons, vectors)
    made = plan_compression(snapshot, CompressionSettings(strategy="diversity", capacity=20))
    assert made.after.ids.tolist() == [10, 20, 30, 40]
    assert any("Only 4 of the 40 vectors differ" in note for note in made.notes)


def test_parts_of_a_library_that_have_nothing_in_common_are_clustered_too():
    # 40 groups of 12 near copies: no group has a neighbour outside, and yet 10 clusters are asked.
    snapshot = library(480, clusters=40, spread=0.001)
    from memory_core.compression.clustering import cluster

    assert len(set(cluster(snapshot.vectors, 10).tolist())) == 10
    assert len(set(cluster(snapshot.vectors, 40).tolist())) == 40


def test_k_means_ends_at_an_optimum_from_a_poor_start_as_well():
    # From random clusters, whose centres all lie in the middle, some lose all their points.
    from memory_core.compression.clustering import _lloyd

    for seed in range(20):
        points = library(80, seed=seed, dimension=3).vectors
        mass = np.ones(80, dtype=np.float32)
        start = np.random.default_rng(seed).permutation(np.arange(80) % 25)
        labels = _lloyd(points, mass, start, 25)
        means = np.stack([points[labels == c].mean(axis=0) for c in range(25)])
        away = ((points[:, None] - means[None]) ** 2).sum(axis=2)
        assert (away[np.arange(80), labels] <= away.min(axis=1) + 1e-5).all()


# -- random ---------------------------------------------------------------------------------------


def test_the_random_baseline_has_no_preference():
    snapshot = library(300)
    chosen = CompressionSettings(strategy="random", capacity=150)
    kept = np.mean([select(snapshot, replace(chosen, seed=s)).kept for s in range(400)], axis=0)
    free = ~snapshot.columns.pinned
    assert kept[~free].min() == 1.0
    share = (150 - np.count_nonzero(~free)) / np.count_nonzero(free)
    # 400 draws: a standard deviation of 0.025; five of them, for 300 memories.
    assert np.abs(kept[free] - share).max() < 0.125
