"""The metrics are trec_eval's; a sweep measures what `evaluate` does; its verdict is honest."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    MEASURES,
    RetrievalSettings,
    SavedQuery,
    SettingsError,
    evaluate,
    tune,
    tunings,
)
from memory_core.metrics import hit_at, ndcg_at, precision_at, recall_at, reciprocal_rank
from memory_core.tuning import Tuning, TuningPoint
from tests.compressing import library
from tests.strategies import unit_vectors
from tests.test_evaluation import grades, judged, rankings

some = settings(max_examples=200, deadline=None)
CUTS = (1, 3, 5, 10, 20)


@some
@given(rankings.filter(bool), grades.filter(lambda g: any(g.values())))
def test_the_metrics_are_those_of_trec_eval(ranking, judged_as):
    import pytrec_eval

    cuts = ",".join(map(str, CUTS))
    measures = {f"{name}.{cuts}" for name in ("ndcg_cut", "recall", "P", "success")}
    judges = pytrec_eval.RelevanceEvaluator(
        {"q": {str(i): grade for i, grade in judged_as.items()}}, measures | {"recip_rank"}
    )
    run = {str(i): float(-place) for place, i in enumerate(ranking)}
    expected = judges.evaluate({"q": run})["q"]
    assert reciprocal_rank(ranking, judged_as) == pytest.approx(expected["recip_rank"])
    for k in CUTS:
        assert ndcg_at(ranking, judged_as, k) == pytest.approx(expected[f"ndcg_cut_{k}"])
        assert recall_at(ranking, judged_as, k) == pytest.approx(expected[f"recall_{k}"])
        assert precision_at(ranking, judged_as, k) == pytest.approx(expected[f"P_{k}"])
        assert hit_at(ranking, judged_as, k) == expected[f"success_{k}"]


@settings(max_examples=40, deadline=None)
@given(
    judged(),
    st.integers(1, 8),
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from([0.0, 0.2, 1.0]), min_size=1, max_size=2, unique=True),
    st.sampled_from([None, ("git",)]),
)
def test_every_point_is_what_evaluation_says(task, k, lams, mus, domains):
    crowd, queries, vectors = task
    present = RetrievalSettings(confidence_weight=0.3, lexical_weight=0.1, domains=domains)
    found = tune(crowd, queries, vectors, present, k, confidence_weights=lams, lexical_weights=mus)
    for point in (found.present, *found.points):
        alone = evaluate(crowd, queries, vectors, point.settings, k)
        assert point.queries == alone.queries
    assert found.present.settings == present
    grid = found.grid("ndcg")
    assert grid.shape == (len(mus), len(lams))
    for row, mu in enumerate(mus):
        for column, lam in enumerate(lams):
            asked = replace(present, confidence_weight=lam, lexical_weight=mu)
            mean = evaluate(crowd, queries, vectors, asked, k).ndcg.mean
            assert grid[row, column] == pytest.approx(mean, nan_ok=True)


def points(table: list[list[float]]) -> Tuning:
    """A sweep over λ whose queries have these values, a row for each λ; the first is present."""
    template = evaluate(
        library(3), [SavedQuery(1, "t", (), {1: 1})], {"t": unit_vectors(0, 1, 32)[0]}
    ).queries[0]
    made = [
        TuningPoint(
            RetrievalSettings(confidence_weight=place / 10),
            tuple(replace(template, ndcg=value) for value in row),
        )
        for place, row in enumerate(table)
    ]
    weights = tuple(point.settings.confidence_weight for point in made)
    return Tuning(5, weights, (0.0,), tuple(made), made[0])


@some
@given(st.integers(1, 6).flatmap(lambda n: st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n),
    min_size=1, max_size=5,
)))  # fmt: skip
def test_the_verdict_is_the_best_mean_and_each_query_held_out_once(table):
    verdict = points(table).verdict("ndcg")
    means = [sum(row) / len(row) for row in table]
    # The present is the first row: among equals the nearest to it, which is the first of them.
    best = means.index(max(means))
    assert verdict.best.settings.confidence_weight == best / 10
    assert verdict.gain.mean == pytest.approx(means[best] - means[0])
    assert verdict.is_clear == (verdict.gain.low > 0)
    held_out = []
    for query in range(len(table[0])):
        others = [sum(row) - row[query] for row in table]
        held_out.append(table[others.index(max(others))][query] - table[0][query])
    if len(held_out) > 1:
        assert verdict.held_out_gain.mean == pytest.approx(np.mean(held_out))
    else:
        assert math.isnan(verdict.held_out_gain.mean)


def test_noise_is_not_called_clear_and_a_true_difference_is():
    """Ten settings that are all as good: one is best by chance. Then one that is better."""
    random = np.random.default_rng(3)
    alike = [random.random(40).round(2).tolist() for _ in range(10)]
    flattered = points(alike).verdict("ndcg")
    assert flattered.gain.mean > 0
    assert flattered.held_out_gain.mean < flattered.gain.mean
    better = [[0.3] * 40, [0.5] * 20 + [0.4] * 20]
    assert points(better).verdict("ndcg").is_clear
    lucky = [[0.5] * 40, [0.5] * 38 + [1.0, 0.4]]
    verdict = points(lucky).verdict("ndcg")
    assert verdict.best.settings.confidence_weight == 0.1
    assert not verdict.is_clear


def test_a_sweep_that_is_stopped_is_the_sweep_of_the_queries_so_far():
    crowd = library(12)
    queries = [SavedQuery(n, f"task {n}", (), {n: 2}) for n in range(1, 5)]
    queries.append(SavedQuery(9, "judged by nobody"))
    vectors = dict(zip([q.task for q in queries], unit_vectors(0, 5, 32), strict=True))
    growing = list(tunings(crowd, queries, vectors))
    assert growing == [tune(crowd, queries[:measured], vectors) for measured in range(5)]
    whole = tune(crowd, queries, vectors)
    assert growing[-1] == whole
    assert len(whole.points) == 121
    assert {measure: whole.grid(measure).shape for measure in MEASURES} == dict.fromkeys(
        MEASURES, (11, 11)
    )


def test_a_sweep_needs_weights_and_measures_nothing_without_judgements():
    crowd = library(12)
    queries = [SavedQuery(9, "judged by nobody")]
    vectors = {queries[0].task: unit_vectors(0, 1, 32)[0]}
    with pytest.raises(SettingsError, match="at least one weight"):
        tunings(crowd, queries, vectors, lexical_weights=[])
    assert math.isnan(tune(crowd, queries, vectors).verdict().gain.mean)
