"""Measures of a ranking against graded judgements, of two rankings against each other, and how far
a mean of such can be trusted. Pure functions.

A ranking is a sequence of ids, best first. Grades map ids to 0 (not relevant) … 3; ids that are not
graded count as not relevant. A grade of 1 or more is relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

RBO_PERSISTENCE = 0.9
"""p of rank-biased overlap: the first ten ranks carry 86 % of its weight."""
RESAMPLES = 2_000
CONFIDENCE_LEVEL = 0.95


def _relevant(grades: Mapping[int, int]) -> set[int]:
    return {memory_id for memory_id, grade in grades.items() if grade >= 1}


def hit_at(ranking: Sequence[int], grades: Mapping[int, int], k: int) -> float:
    """1 when a relevant memory is among the first k, else 0."""
    return float(not _relevant(grades).isdisjoint(ranking[:k]))


def recall_at(ranking: Sequence[int], grades: Mapping[int, int], k: int) -> float:
    """The share of the relevant memories that are among the first k; NaN where none is relevant."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else float("nan")


def precision_at(ranking: Sequence[int], grades: Mapping[int, int], k: int) -> float:
    """The share of the first k places that hold a relevant memory; empty places hold none."""
    return len(_relevant(grades).intersection(ranking[:k])) / k


def reciprocal_rank(ranking: Sequence[int], grades: Mapping[int, int]) -> float:
    """1 / rank of the first relevant memory, 0 where there is none. Its mean is MRR."""
    relevant = _relevant(grades)
    ranks = (rank for rank, memory_id in enumerate(ranking, start=1) if memory_id in relevant)
    return 1 / next(ranks, float("inf"))


def ndcg_at(ranking: Sequence[int], grades: Mapping[int, int], k: int) -> float:
    """Normalized discounted cumulative gain; NaN where none is relevant.

    DCG@k = Σ gradeᵢ / log₂(i + 1) over the first k (Järvelin & Kekäläinen 2002, as trec_eval and
    scikit-learn have it), divided by that of the ideal order.
    """
    ideal = _gain(sorted(grades.values(), reverse=True)[:k])
    return _gain([grades.get(i, 0) for i in ranking[:k]]) / ideal if ideal else float("nan")


def _gain(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def overlap_at(one: Sequence[int], other: Sequence[int], k: int) -> float:
    """The share of the first k that two rankings have in common; of fewer where both are shorter.

    1 for two empty ones.
    """
    a, b = set(one[:k]), set(other[:k])
    longest = max(len(a), len(b))
    return len(a & b) / longest if longest else 1.0


def rank_biased_overlap(
    one: Sequence[int], other: Sequence[int], persistence: float = RBO_PERSISTENCE
) -> float:
    """RBO_EXT: extrapolated rank-biased overlap of two rankings without repeats, in [0, 1].

    W. Webber, A. Moffat, J. Zobel, “A similarity measure for indefinite rankings”, 2010, eq. 32,
    which also holds for lists of unequal length. 1 for two empty ones.
    """
    short, long = sorted((one, other), key=len)
    s, l, p = len(short), len(long), persistence  # noqa: E741  (the paper's names)
    if not s:
        return float(not l)
    seen_short: set[int] = set()
    seen_long: set[int] = set()
    common, common_at_s, total = 0, 0, 0.0
    for d in range(1, l + 1):
        fresh = {long[d - 1]} | ({short[d - 1]} if d <= s else set())
        seen_long.add(long[d - 1])
        if d <= s:
            seen_short.add(short[d - 1])
        common += len(fresh & seen_short & seen_long)
        if d == s:
            common_at_s = common
        agreement = common / d
        if d > s:
            agreement += common_at_s * (d - s) / (s * d)
        total += agreement * p**d
    return (1 - p) / p * total + ((common - common_at_s) / l + common_at_s / s) * p**l


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries, and how far it can be trusted. NaN where there are none."""

    mean: float
    low: float
    high: float
    """Ends of the bootstrap interval: 95 % of the means of queries drawn anew lie within."""
    count: int
    """Queries behind it."""


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """The mean of values with its percentile bootstrap interval. NaNs are left out."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        nan = float("nan")
        return Estimate(nan, nan, nan, 0)
    drawn = np.random.default_rng(seed).integers(0, len(known), (RESAMPLES, len(known)))
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(known[drawn].mean(axis=1), [tail, 1 - tail])
    return Estimate(float(known.mean()), float(low), float(high), len(known))
