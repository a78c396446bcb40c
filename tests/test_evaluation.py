"""Metrics by their definitions, evaluation of saved queries, and what two snapshots differ in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    MEASURES,
    Memory,
    Provenance,
    RetrievalSettings,
    SavedQuery,
    SettingsError,
    Snapshot,
    compare,
    evaluate,
    ideal,
    overlap_at,
    rank_biased_overlap,
)
from memory_core.metrics import (
    estimate,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from tests.ranking import scored
from tests.strategies import crowds, unit_vectors

ids = st.integers(1, 30)
rankings = st.lists(ids, unique=True, max_size=20)
grades = st.dictionaries(ids, st.integers(0, 3), max_size=12)
cuts = st.integers(1, 25)
some = settings(max_examples=200, deadline=None)


# -- metrics --------------------------------------------------------------------------------------


@some
@given(rankings, grades, cuts)
def test_hits_recall_precision_and_reciprocal_rank_count_places(ranking, grades, k):
    places = [i + 1 for i, memory in enumerate(ranking) if grades.get(memory, 0) >= 1]
    found = [place for place in places if place <= k]
    relevant = sum(grade >= 1 for grade in grades.values())
    assert hit_at(ranking, grades, k) == (1.0 if found else 0.0)
    assert precision_at(ranking, grades, k) == len(found) / k
    assert reciprocal_rank(ranking, grades) == (1 / places[0] if places else 0.0)
    if relevant:
        assert recall_at(ranking, grades, k) == len(found) / relevant
    else:
        assert math.isnan(recall_at(ranking, grades, k))


@some
@given(rankings, grades, cuts)
def test_ndcg_is_that_of_scikit_learn(ranking, grades, k):
    from sklearn.metrics import ndcg_score

    if not any(grades.values()):
        assert math.isnan(ndcg_at(ranking, grades, k))
        return
    # All that is graded or ranked, and one more that is neither: sklearn refuses a single item.
    items = [*dict.fromkeys([*ranking, *grades]), 0]
    truth = [grades.get(item, 0) for item in items]
    score = [-ranking.index(item) if item in ranking else -1000 for item in items]
    # What is graded but not ranked must stand behind the cut, not among equals at it.
    gap = max(k - len(ranking), 0)
    truth += [0] * gap
    score += [-500] * gap
    expected = ndcg_score([truth], [score], k=k, ignore_ties=True)
    assert ndcg_at(ranking, grades, k) == pytest.approx(expected, abs=1e-12)


def test_ndcg_of_a_worked_example():
    # Järvelin and Kekäläinen's measure with discount log2(rank + 1), by hand.
    found = ndcg_at([7, 8, 9, 1], {7: 3, 9: 2, 1: 0, 5: 3}, 3)
    assert found == pytest.approx((3 + 2 / 2) / (3 + 3 / math.log2(3) + 2 / 2))


def endless_overlap(one: Sequence[int], other: Sequence[int], p: float) -> float:
    """RBO as the infinite sum it is defined by, its unseen part extrapolated as Webber et al. do:
    what the shorter list does not show agrees as its end did, and so does what neither shows.
    """
    short, long = sorted((one, other), key=len)
    agreement = 0.0
    total = 0.0
    for d in range(1, 600):
        if d <= len(long):
            common = len(set(long[:d]) & set(short[:d]))
            if d > len(short):
                at_end = len(set(short) & set(long[: len(short)])) / len(short)
                common += at_end * (d - len(short))
            agreement = common / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


@some
@given(rankings.filter(bool), rankings.filter(bool), st.sampled_from([0.5, 0.8, 0.9]))
def test_rank_biased_overlap_is_the_extrapolated_sum(one, other, p):
    found = rank_biased_overlap(one, other, p)
    assert found == pytest.approx(endless_overlap(one, other, p), abs=1e-9)
    assert found == pytest.approx(rank_biased_overlap(other, one, p), abs=1e-12)
    assert -1e-12 <= found <= 1 + 1e-12
    assert rank_biased_overlap(one, one, p) == pytest.approx(1)
    assert rank_biased_overlap(one, [i + 100 for i in other], p) == pytest.approx(0)


def test_overlaps_of_empty_rankings():
    assert rank_biased_overlap([], []) == overlap_at([], [], 5) == 1
    assert rank_biased_overlap([1], []) == overlap_at([1], [], 5) == 0


@some
@given(rankings, rankings, cuts)
def test_overlap_is_the_share_in_common(one, other, k):
    common = sum(memory in other[:k] for memory in one[:k])
    longest = max(len(one[:k]), len(other[:k]))
    assert overlap_at(one, other, k) == (common / longest if longest else 1)


def test_a_bootstrap_interval_covers_the_truth_as_often_as_it_says():
    random = np.random.default_rng(0)
    held = 0
    for seed in range(300):
        found = estimate(random.random(60) < 0.4, seed=seed)
        held += found.low <= 0.4 <= found.high
    assert 0.90 <= held / 300 <= 0.985
    sample = random.random(60)
    wide, narrow = estimate(sample), estimate(np.tile(sample, 16))
    assert wide.mean == pytest.approx(sample.mean())
    assert 3 < (wide.high - wide.low) / (narrow.high - narrow.low) < 5  # √16, about
    assert estimate(sample) == wide
    assert estimate([0.3]) == replace(wide, mean=0.3, low=0.3, high=0.3, count=1)
    assert math.isnan(estimate([]).mean)
    assert estimate([1.0, float("nan")]).count == 1


# -- saved queries --------------------------------------------------------------------------------


@st.composite
def judged(draw: st.DrawFn) -> tuple[Snapshot, list[SavedQuery], Mapping[str, np.ndarray]]:
    """A crowd, and queries on it; some judge memories that are not there."""
    crowd = draw(crowds(max_size=25))
    pool = [*(m.id for m in crowd.memories), 1000, 1001]
    queries = [
        SavedQuery(
            number,
            f"task {number}",
            draw(st.sampled_from([(), ("git",), ("git", "sql")])),
            draw(st.dictionaries(st.sampled_from(pool), st.integers(0, 3), max_size=6)),
        )
        for number in range(1, draw(st.integers(1, 4)) + 1)
    ]
    random = unit_vectors(draw(st.integers(0, 999)), len(queries), crowd.vectors.shape[1])
    return crowd, queries, {q.task: v for q, v in zip(queries, random, strict=True)}


@settings(max_examples=80, deadline=None)
@given(
    judged(), cuts, st.sampled_from([0.0, 0.2, 0.9]), st.booleans(),
    st.sampled_from([None, ("sql",)]),
)  # fmt: skip
def test_evaluation_measures_the_whole_ranking(task, k, weight, within, domains):
    crowd, queries, vectors = task
    asked = RetrievalSettings(confidence_weight=weight, limit=1, per_kind=1, domains=domains)
    found = evaluate(crowd, queries, vectors, asked, k, within_domains=within)
    if not within:
        # The domains of a query are its label: it is asked as an agent asks, who knows none.
        assert found.queries == evaluate(crowd, queries, vectors, asked, k).queries
    assert list(found.skipped) == [q.id for q in queries if not q.relevant]
    assert [one.query.id for one in found.queries] == [q.id for q in queries if q.relevant]
    for one in found.queries:
        query = one.query
        narrowed = replace(asked, domains=(within and query.domains) or domains)
        order = scored(crowd, vectors[query.task], query.task, narrowed)
        ranking = [place.memory.id for place in order]
        assert list(one.ranking) == ranking[:k]
        assert one.recall == recall_at(ranking, query.judgements, k)
        assert one.precision == precision_at(ranking, query.judgements, k)
        assert one.ndcg == ndcg_at(ranking, query.judgements, k)
        assert one.hit == hit_at(ranking, query.judgements, k)
        assert one.reciprocal_rank == reciprocal_rank(ranking, query.judgements)
        assert one.unjudged == sum(i not in query.judgements for i in ranking[:k])
    if found.queries:
        assert found.mrr.mean == pytest.approx(
            np.mean([one.reciprocal_rank for one in found.queries])
        )
        assert found.recall.low <= found.recall.mean <= found.recall.high


def test_a_query_without_a_vector_is_named():
    with pytest.raises(SettingsError, match="query 7"):
        evaluate(Snapshot.empty(), [SavedQuery(7, "a task", (), {1: 1})], {})


@some
@given(grades, cuts)
def test_no_ranking_beats_the_ideal_order(judged_as, k):
    """Whatever is ranked: here all judged memories, in every rotation, and something unjudged."""
    query = SavedQuery(1, "a task", (), judged_as)
    best = ideal([query], k)
    if not query.relevant:
        assert best.skipped == (1,)
        return
    (one,) = best.queries
    assert (one.hit, one.ndcg, one.reciprocal_rank) == (1, pytest.approx(1), 1)
    known = [99, *judged_as]
    for turn in range(len(known)):
        ranking = known[turn:] + known[:turn]
        assert ndcg_at(ranking, judged_as, k) <= one.ndcg + 1e-12
        assert recall_at(ranking, judged_as, k) <= one.recall
        assert precision_at(ranking, judged_as, k) <= one.precision


# -- two snapshots --------------------------------------------------------------------------------


def shelf(count: int = 8) -> Snapshot:
    """Memories 1, 2, 3, … by falling similarity to the query [1, 0]."""
    angles = np.arange(1, count + 1) / 10
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    lessons = [Memory(n, "tool", f"lesson {n}", "git") for n in range(1, count + 1)]
    return Snapshot.from_memories(lessons, vectors)


VECTORS = {"a task": np.array([1, 0], dtype=np.float32)}


def compared(before: Snapshot, after: Snapshot, grades: Mapping[int, int], k: int = 3):
    query = SavedQuery(1, "a task", (), grades)
    found = compare(before, after, [query], VECTORS, k=k)
    return found, found.queries[0]


def test_it_names_what_a_query_loses_and_what_took_its_place():
    before = shelf()
    found, one = compared(before, before.edit(removed=[1, 3]), {1: 1, 2: 3, 3: 2, 6: 2})
    assert (one.before, one.after) == ((1, 2, 3), (2, 4, 5))
    told = [(x.memory_id, x.grade, x.rank_before, x.rank_after, x.replacement) for x in one.lost]
    assert told == [(1, 1, 1, None, 4), (3, 2, 3, None, 5)]
    assert not one.loses_best
    assert not one.loses_only
    assert found.losing == (one,)
    assert found.before.recall.mean == 3 / 4
    assert found.after.recall.mean == 1 / 4  # what has left still counts as missed
    assert one.overlap == pytest.approx(1 / 3)


def test_it_tells_the_loss_of_the_best_and_of_the_only_one():
    before = shelf()
    _, one = compared(before, before.edit(removed=[2]), {1: 1, 2: 3})
    assert (one.loses_best, one.loses_only) == (True, False)
    _, one = compared(before, before.edit(removed=[2]), {2: 1})
    assert (one.loses_best, one.loses_only) == (True, True)
    # The only relevant one was never among the first, and has left all the same.
    _, one = compared(before, before.edit(removed=[7]), {7: 1})
    assert (one.lost, one.loses_only) == ((), True)
    found, one = compared(before, before.edit(removed=[7]), {1: 1, 7: 0})
    assert (one.lost, one.loses_only, found.losing) == ((), False, ())


def test_what_was_pushed_out_is_lost_and_has_a_rank():
    before = shelf()
    newcomer = Memory(-1, "tool", "a better lesson", "git")
    after = before.edit(put=[newcomer], vectors={newcomer.text: VECTORS["a task"]})
    _, one = compared(before, after, {3: 2})
    (loss,) = one.lost
    assert (loss.memory_id, loss.rank_after, loss.replacement) == (3, 4, -1)
    assert one.loses_only  # from the first three


def test_places_that_nothing_took_have_no_replacement():
    before = shelf(3)
    _, one = compared(before, before.edit(removed=[1]), {1: 2})
    assert one.lost[0].replacement is None


def test_what_was_merged_stands_for_its_sources():
    before = shelf()

    def after(text: str) -> Snapshot:
        merged = Memory(-1, "tool", text, "git", provenance=Provenance("merge", (), (1, 2)))
        vector = before.vector_of(1)
        return before.edit(removed=[1, 2], put=[merged], vectors={text: vector})

    # New words: made of both.
    _, one = compared(before, after("both lessons in one"), {1: 1, 2: 3})
    assert (one.lost, one.loses_best, one.after) == ((), False, (-1, 3, 4))
    # The words of the first: those of the second are gone.
    found, one = compared(before, after("lesson 1"), {1: 1, 2: 3})
    assert [loss.memory_id for loss in one.lost] == [2]
    assert one.loses_best
    assert found.after.recall.mean == 1 / 2


@settings(max_examples=60, deadline=None)
@given(judged(), st.data(), cuts)
def test_a_query_loses_exactly_what_was_among_its_first_and_is_no_more(task, data, k):
    crowd, queries, vectors = task
    gone = [m.id for m in crowd.memories if data.draw(st.booleans())]
    after = crowd.edit(removed=gone)
    within = data.draw(st.booleans())
    found = compare(crowd, after, queries, vectors, k=k, within_domains=within)
    for snapshot, quality in ((crowd, found.before), (after, found.after)):
        alone = evaluate(snapshot, queries, vectors, k=k, within_domains=within)
        assert quality.queries == alone.queries
    assert [one.query for one in found.queries] == queries
    for one in found.queries:
        grades = one.query.judgements
        missing = [i for i in one.before if i not in one.after and grades.get(i, 0) >= 1]
        assert [loss.memory_id for loss in one.lost] == missing
        fresh = [loss.replacement for loss in one.lost if loss.replacement is not None]
        assert len(set(fresh)) == len(fresh)
        assert all(i in one.after and i not in one.before for i in fresh)
        for loss in one.lost:
            assert (loss.rank_after is None) == (loss.memory_id in gone)
    if found.before.queries:
        change = found.change("ndcg")
        assert change.mean == pytest.approx(found.after.ndcg.mean - found.before.ndcg.mean)
        assert change.low - 1e-9 <= change.mean <= change.high + 1e-9
    same = compare(crowd, crowd, queries, vectors, k=k)
    assert same.losing == ()
    assert all(same.change(measure).high == 0 for measure in MEASURES if same.before.queries)
    assert all(one.rank_biased_overlap == pytest.approx(1) for one in same.queries)
