"""Which settings answer the saved queries best, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.evaluation import Measure, QueryQuality, Ranked, Vectors, task_vector
from memory_core.ledger_records import SavedQuery
from memory_core.lexical import lexical_scores
from memory_core.metrics import Estimate, estimate
from memory_core.scoring import Scoring
from memory_core.settings import RetrievalSettings, SettingsError
from memory_core.snapshot import Snapshot

STEPS = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True)
class TuningPoint:
    """Saved queries under one pair of weights."""

    settings: RetrievalSettings
    queries: tuple[QueryQuality, ...]
    """In the same order at every point."""

    def values(self, measure: Measure) -> NDArray[np.float64]:
        """(n,) of each query."""
        return np.array([getattr(query, measure) for query in self.queries], dtype=np.float64)

    def mean(self, measure: Measure) -> float:
        """Over the queries; NaN where there are none."""
        return float(self.values(measure).mean()) if self.queries else float("nan")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best of a sweep against the settings that one has."""

    best: TuningPoint
    present: TuningPoint
    measure: Measure
    gain: Estimate
    """Mean over the queries of best less present, with its bootstrap interval."""
    held_out_gain: Estimate
    """The same where each query is answered by what is best for the *others*: without the
    flattery of being chosen by the very queries that it is measured on."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the gain lies above 0: more than chance."""
        return bool(self.gain.low > 0)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Saved queries under every pair of weights."""

    k: int
    confidence_weights: tuple[float, ...]
    lexical_weights: tuple[float, ...]
    points: tuple[TuningPoint, ...]
    """Lexical weights within confidence weights."""
    present: TuningPoint
    """Under the settings that were given, which need not lie on the grid."""

    def grid(self, measure: Measure) -> NDArray[np.float64]:
        """(lexical weights, confidence weights) means."""
        means = np.array([point.mean(measure) for point in self.points])
        return means.reshape(len(self.confidence_weights), len(self.lexical_weights)).T

    def verdict(self, measure: Measure = "ndcg", *, seed: int = 0) -> Verdict:
        """The best point by the mean of a measure; among equals the one nearest to the present."""
        lam, mu = self.present.settings.confidence_weight, self.present.settings.lexical_weight

        def distance(point: TuningPoint) -> float:
            asked = point.settings
            return abs(asked.confidence_weight - lam) + abs(asked.lexical_weight - mu)

        points = sorted((self.present, *self.points), key=distance)  # stable: the present first
        values = np.stack([point.values(measure) for point in points])
        present, count = values[0], values.shape[1]
        # Rounded, so that the order in which equal numbers were summed decides nothing.
        totals = values.sum(axis=1)
        best = int(np.round(totals, 9).argmax()) if count else 0
        held_out: NDArray[np.float64] = np.zeros(0)
        if count > 1:
            others = np.round(totals[:, None] - values, 9).argmax(axis=0)
            held_out = values[others, np.arange(count)] - present
        return Verdict(
            best=points[best],
            present=self.present,
            measure=measure,
            gain=estimate((values[best] - present).tolist(), seed=seed),
            held_out_gain=estimate(held_out.tolist(), seed=seed),
        )


def tune(
    snapshot: Snapshot,
    queries: Iterable[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    confidence_weights: Sequence[float] = STEPS,
    lexical_weights: Sequence[float] = STEPS,
) -> Tuning:
    """Measure saved queries, as `evaluate` does, under every pair of weights.

    `settings` are the present ones, to compare with; its filters hold throughout. Queries without
    a relevant memory are passed over.
    """
    *_, whole = tunings(
        snapshot, queries, vectors, settings, k,
        confidence_weights=confidence_weights, lexical_weights=lexical_weights,
    )  # fmt: skip
    return whole


def tunings(
    snapshot: Snapshot,
    queries: Iterable[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    confidence_weights: Sequence[float] = STEPS,
    lexical_weights: Sequence[float] = STEPS,
) -> Iterator[Tuning]:
    """`tune`, query by query: on none, on the first, on the first two, to the whole.

    So a page can show how far it is, and keep what is measured when it is stopped.
    """
    present = settings or RetrievalSettings()
    grid = [
        replace(present, confidence_weight=lam, lexical_weight=mu)
        for lam in confidence_weights
        for mu in lexical_weights
    ]
    if not grid:
        raise SettingsError("A sweep needs at least one weight of each sort.")
    asked = [query for query in queries if query.relevant]
    return _tunings(snapshot, asked, vectors, present, k, grid, confidence_weights, lexical_weights)


def _tunings(
    snapshot: Snapshot,
    asked: Sequence[SavedQuery],
    vectors: Vectors,
    present: RetrievalSettings,
    k: int,
    grid: Sequence[RetrievalSettings],
    confidence_weights: Sequence[float],
    lexical_weights: Sequence[float],
) -> Iterator[Tuning]:
    columns: list[list[QueryQuality]] = [[] for _ in range(len(grid) + 1)]
    for done in range(len(asked) + 1):
        yield Tuning(
            k=k,
            confidence_weights=tuple(confidence_weights),
            lexical_weights=tuple(lexical_weights),
            points=tuple(map(TuningPoint, grid, map(tuple, columns[1:]))),
            present=TuningPoint(present, tuple(columns[0])),
        )
        if done < len(asked):
            measured = _under_each(snapshot, asked[done], vectors, (present, *grid), k)
            for column, one in zip(columns, measured, strict=True):
                column.append(one)


def _under_each(
    snapshot: Snapshot,
    query: SavedQuery,
    vectors: Vectors,
    all_settings: Sequence[RetrievalSettings],
    k: int,
) -> list[QueryQuality]:
    """One query under many settings that differ in their weights only.

    The words are looked up once, and the product with all vectors once for a lexical weight.
    """
    vector = task_vector(query, vectors)
    by_words = any(settings.lexical_weight for settings in all_settings)
    words = lexical_scores(snapshot, query.task, all_settings[0]) if by_words else None
    of_weight: dict[float, Scoring] = {}
    found = []
    for settings in all_settings:
        mu = settings.lexical_weight
        if mu not in of_weight:
            of_weight[mu] = Scoring(snapshot, vector, settings, words if mu else None)
        scoring = of_weight[mu].reweighted(settings.confidence_weight)
        found.append(Ranked.of(query, query.grades_in(scoring.snapshot), scoring, k).quality(k))
    return found
