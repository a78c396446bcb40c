"""How good retrieval is on saved queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.ledger_records import SavedQuery
from memory_core.metrics import (
    Estimate,
    estimate,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from memory_core.retrieval import score
from memory_core.scoring import Scoring
from memory_core.settings import RetrievalSettings, SettingsError
from memory_core.snapshot import Snapshot

Vectors = Mapping[str, NDArray[np.float32]]
"""The unit vector (d,) of each query's task."""

Measure: TypeAlias = Literal["ndcg", "recall", "precision", "hit", "reciprocal_rank"]
MEASURES: tuple[Measure, ...] = ("ndcg", "recall", "precision", "hit", "reciprocal_rank")
"""Names of what a QueryQuality tells."""


@dataclass(frozen=True, slots=True)
class QueryQuality:
    """How well one query is answered."""

    query: SavedQuery
    ranking: tuple[int, ...]
    """Ids of the first k."""
    hit: float
    recall: float
    precision: float
    reciprocal_rank: float
    """Of the first relevant memory in the whole ranking, not only among the first k."""
    ndcg: float
    unjudged: int
    """Of the first k, those that nobody has judged: they count as not relevant."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How well saved queries are answered: those with at least one relevant memory."""

    k: int
    settings: RetrievalSettings
    queries: tuple[QueryQuality, ...]
    skipped: tuple[int, ...]
    """Ids of queries for which no memory was judged relevant; they are not measured."""
    hit: Estimate
    recall: Estimate
    precision: Estimate
    mrr: Estimate
    ndcg: Estimate

    def mean(self, measure: Measure) -> Estimate:
        """The mean of a measure over the queries."""
        return {
            "ndcg": self.ndcg,
            "recall": self.recall,
            "precision": self.precision,
            "hit": self.hit,
            "reciprocal_rank": self.mrr,
        }[measure]


def evaluate(
    snapshot: Snapshot,
    queries: Iterable[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    within_domains: bool = False,
    seed: int = 0,
) -> Quality:
    """Measure retrieval from a snapshot on saved queries.

    The ranking is by score alone: k takes the place of `limit` and `per_kind`. A query's own
    domains say what it is about and filter nothing, as an agent that asks does not know them;
    with `within_domains` they take the place of `domains` in the settings, where a query has any.
    Relevant memories that are not in the snapshot count as missed, but for those merged into one
    that is. `seed` is that of the bootstrap intervals.
    """
    settings = settings or RetrievalSettings()
    asked = tuple(queries)
    ranked = (
        rank_query(snapshot, query, vectors, settings, k, within_domains=within_domains)
        for query in asked
        if query.relevant
    )
    skipped = tuple(query.id for query in asked if not query.relevant)
    return quality_of([found.quality(k) for found in ranked], skipped, settings, k, seed)


def quality_of(
    measured: Sequence[QueryQuality],
    skipped: Sequence[int],
    settings: RetrievalSettings,
    k: int,
    seed: int,
) -> Quality:
    """Means of what was measured, with their intervals."""
    return Quality(
        k=k,
        settings=settings,
        queries=tuple(measured),
        skipped=tuple(skipped),
        hit=estimate([q.hit for q in measured], seed=seed),
        recall=estimate([q.recall for q in measured], seed=seed),
        precision=estimate([q.precision for q in measured], seed=seed),
        mrr=estimate([q.reciprocal_rank for q in measured], seed=seed),
        ndcg=estimate([q.ndcg for q in measured], seed=seed),
    )


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query's ranking in one snapshot, and the grades that hold there."""

    query: SavedQuery
    grades: Mapping[int, int]
    scoring: Scoring
    ids: tuple[int, ...]
    """Of the first few, best first."""

    @classmethod
    def of(
        cls, query: SavedQuery, grades: Mapping[int, int], scoring: Scoring, depth: int
    ) -> Ranked:
        rows = scoring.best(depth)
        return cls(query, grades, scoring, tuple(scoring.snapshot.ids[rows].tolist()))

    def rank(self, memory_id: int) -> int | None:
        """Its place in the whole ranking; None where it is not in it."""
        scoring = self.scoring
        if memory_id not in scoring.snapshot:
            return None
        row = scoring.snapshot.row_of(memory_id)
        eligible = scoring.rows is None or row in scoring.rows
        return scoring.rank(row) if eligible else None

    def quality(self, k: int) -> QueryQuality:
        return _measured(self.query, self.grades, self.ids, self._reciprocal_rank(), k)

    def _reciprocal_rank(self) -> float:
        among_first = reciprocal_rank(self.ids, self.grades)
        if among_first:
            return among_first
        ranks = (self.rank(memory_id) for memory_id, grade in self.grades.items() if grade >= 1)
        return 1 / min((rank for rank in ranks if rank), default=float("inf"))


def rank_query(
    snapshot: Snapshot,
    query: SavedQuery,
    vectors: Vectors,
    settings: RetrievalSettings,
    depth: int,
    grades: Mapping[int, int] | None = None,
    *,
    within_domains: bool = False,
) -> Ranked:
    """Rank a snapshot for a query, to some depth. `grades` replace those that hold there."""
    asked = asking(query, settings, within_domains=within_domains)
    scoring = score(snapshot, query.task, task_vector(query, vectors), asked)
    return Ranked.of(query, query.grades_in(snapshot) if grades is None else grades, scoring, depth)


def asking(
    query: SavedQuery, settings: RetrievalSettings, *, within_domains: bool
) -> RetrievalSettings:
    """The settings that a query is asked with."""
    if within_domains and query.domains:
        return replace(settings, domains=query.domains)
    return settings


def task_vector(query: SavedQuery, vectors: Vectors) -> NDArray[np.float32]:
    """(d,) the unit vector of a query's task. Raises SettingsError where `vectors` lacks it."""
    if query.task not in vectors:
        raise SettingsError(f"`vectors` has none for query {query.id}; embed its task first.")
    return vectors[query.task]


def ideal_order(grades: Mapping[int, int]) -> tuple[int, ...]:
    """The relevant memories in the best order that there is: by falling grade, ties by id."""
    relevant = [memory_id for memory_id, grade in grades.items() if grade >= 1]
    return tuple(sorted(relevant, key=lambda memory_id: (-grades[memory_id], memory_id)))


def ideal(
    queries: Iterable[SavedQuery], k: int = 5, *, snapshot: Snapshot | None = None, seed: int = 0
) -> Quality:
    """What no ranking can exceed: every query answered by its relevant memories, best first.

    Recall@k stays below 1 for a query with more than k relevant memories, precision@k for one with
    fewer. With a snapshot, the grades are those that hold there.
    """
    asked = tuple(queries)
    best = []
    for query in asked:
        if query.relevant:
            grades = query.judgements if snapshot is None else query.grades_in(snapshot)
            best.append(_measured(query, grades, ideal_order(grades), 1.0, k))
    skipped = [query.id for query in asked if not query.relevant]
    return quality_of(best, skipped, RetrievalSettings(), k, seed)


def _measured(
    query: SavedQuery, grades: Mapping[int, int], ids: tuple[int, ...], reciprocal: float, k: int
) -> QueryQuality:
    return QueryQuality(
        query=query,
        ranking=ids[:k],
        hit=hit_at(ids, grades, k),
        recall=recall_at(ids, grades, k),
        precision=precision_at(ids, grades, k),
        reciprocal_rank=reciprocal,
        ndcg=ndcg_at(ids, grades, k),
        unjudged=sum(memory_id not in grades for memory_id in ids[:k]),
    )
