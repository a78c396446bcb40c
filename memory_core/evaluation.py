"""How good retrieval is on saved queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.metrics import (
    Estimate,
    estimate,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from memory_core.records import SavedQuery
from memory_core.retrieval import Retrieval, retrieve
from memory_core.settings import RetrievalSettings, SettingsError
from memory_core.snapshot import Snapshot

Vectors = Mapping[str, NDArray[np.float32]]
"""The unit vector (d,) of each query's task."""


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


def evaluate(
    snapshot: Snapshot,
    queries: Iterable[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    seed: int = 0,
) -> Quality:
    """Measure retrieval from a snapshot on saved queries.

    The ranking is by score alone: k takes the place of `limit` and `per_kind`, and a query's
    domains, where it has any, that of `domains`. Relevant memories that are not in the snapshot
    count as missed. `seed` is that of the bootstrap intervals.
    """
    settings = settings or RetrievalSettings()
    asked = tuple(queries)
    ranked = (
        rank_query(snapshot, query, vectors, settings, k) for query in asked if query.relevant
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
    found: Retrieval

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(hit.memory.id for hit in self.found.hits)

    def rank(self, memory_id: int) -> int | None:
        """Its place in the whole ranking; None where it is not in it."""
        scoring = self.found.scoring
        if memory_id not in scoring.snapshot:
            return None
        row = scoring.snapshot.row_of(memory_id)
        eligible = scoring.rows is None or row in scoring.rows
        return scoring.rank(row) if eligible else None

    def quality(self, k: int) -> QueryQuality:
        ids = self.ids[:k]
        return QueryQuality(
            query=self.query,
            ranking=ids,
            hit=hit_at(ids, self.grades, k),
            recall=recall_at(ids, self.grades, k),
            precision=precision_at(ids, self.grades, k),
            reciprocal_rank=self._reciprocal_rank(),
            ndcg=ndcg_at(ids, self.grades, k),
            unjudged=sum(memory_id not in self.grades for memory_id in ids),
        )

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
) -> Ranked:
    """Rank a snapshot for a query, to some depth. `grades` replace the query's own."""
    asked = replace(settings, limit=depth, per_kind=None, domains=query.domains or settings.domains)
    found = retrieve(snapshot, query.task, task_vector(query, vectors), asked)
    return Ranked(query, query.judgements if grades is None else grades, found)


def task_vector(query: SavedQuery, vectors: Vectors) -> NDArray[np.float32]:
    """(d,) the unit vector of a query's task. Raises SettingsError where `vectors` lacks it."""
    if query.task not in vectors:
        raise SettingsError(f"`vectors` has none for query {query.id}; embed its task first.")
    return vectors[query.task]
