"""What changes for saved queries from one snapshot to another: which lose what, and to what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from memory_core.evaluation import (
    Measure,
    Quality,
    QueryQuality,
    Ranked,
    Vectors,
    asking,
    quality_of,
    rank_query,
)
from memory_core.ledger_records import SavedQuery
from memory_core.metrics import Estimate, estimate, overlap_at, rank_biased_overlap
from memory_core.settings import RetrievalSettings
from memory_core.snapshot import Snapshot

DEPTH = 50
"""Ranks that rank-biased overlap looks at: all but 0.5 % of its weight."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A relevant memory that was among the first k, and no longer is."""

    memory_id: int
    grade: int
    rank_before: int
    rank_after: int | None
    """None when it has left the bank."""
    replacement: int | None
    """The memory that has come among the first k in its place; None where none has."""


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One query before and after."""

    query: SavedQuery
    before: tuple[int, ...]
    after: tuple[int, ...]
    """Ids of the first k."""
    overlap: float
    """Share of the first k in common."""
    rank_biased_overlap: float
    """RBO_EXT, p 0.9, of the first 50."""
    lost: tuple[Loss, ...]
    """In the order of their ranks before."""
    loses_best: bool
    """Whether the highest grade that it had among the first k is there no longer."""
    loses_only: bool
    """Whether it had a relevant memory, among the first k or at all, and has none there now."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Saved queries before and after. What was merged counts as what it was merged into."""

    before: Quality
    after: Quality
    queries: tuple[QueryComparison, ...]
    """All of them, judged or not."""
    overlap: Estimate
    rank_biased_overlap: Estimate

    def change(self, measure: Measure, *, seed: int = 0) -> Estimate:
        """Mean over the queries of after less before, with its bootstrap interval."""
        pairs = zip(self.before.queries, self.after.queries, strict=True)
        return estimate([getattr(b, measure) - getattr(a, measure) for a, b in pairs], seed=seed)

    @property
    def losing(self) -> tuple[QueryComparison, ...]:
        """The queries that lose a relevant memory from their first k."""
        return tuple(query for query in self.queries if query.lost)

    @property
    def losing_only(self) -> tuple[QueryComparison, ...]:
        """The queries that lose their only relevant memory."""
        return tuple(query for query in self.queries if query.loses_only)


def compare(
    before: Snapshot,
    after: Snapshot,
    queries: Iterable[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    within_domains: bool = False,
    seed: int = 0,
) -> Comparison:
    """Ask saved queries of two snapshots of one bank, as `evaluate` does."""
    settings = settings or RetrievalSettings()
    standing = successors(before, after)
    measured: tuple[list[QueryQuality], list[QueryQuality]] = ([], [])
    compared: list[QueryComparison] = []
    skipped: list[int] = []
    for query in queries:
        asked = asking(query, settings, within_domains=within_domains)
        old = rank_query(before, query, vectors, asked, max(k, DEPTH))
        grades = replace(query, merged_into=_merged_into(query, standing)).grades_in(after)
        new = rank_query(after, query, vectors, asked, max(k, DEPTH), grades)
        compared.append(_compared(old, new, standing, k))
        if query.relevant:
            measured[0].append(old.quality(k))
            measured[1].append(new.quality(k))
        else:
            skipped.append(query.id)
    return Comparison(
        before=quality_of(measured[0], skipped, settings, k, seed),
        after=quality_of(measured[1], skipped, settings, k, seed),
        queries=tuple(compared),
        overlap=estimate([q.overlap for q in compared], seed=seed),
        rank_biased_overlap=estimate([q.rank_biased_overlap for q in compared], seed=seed),
    )


def _compared(old: Ranked, new: Ranked, standing: Mapping[int, int], k: int) -> QueryComparison:
    was = [standing.get(memory_id, memory_id) for memory_id in old.ids]
    first, now = old.ids[:k], new.ids[:k]
    leaving = [i for i, stands in zip(first, was, strict=False) if stands not in now]
    coming = [memory_id for memory_id in now if memory_id not in was[:k]]
    replaced = dict(zip(leaving, coming, strict=False))
    lost = tuple(
        Loss(
            memory_id,
            old.grades[memory_id],
            first.index(memory_id) + 1,
            new.rank(standing.get(memory_id, memory_id)),
            replaced.get(memory_id),
        )
        for memory_id in leaving
        if old.grades.get(memory_id, 0) >= 1
    )
    best_before, best_after = _best(first, old.grades), _best(now, new.grades)
    had = any(old.rank(memory_id) for memory_id, grade in old.grades.items() if grade >= 1)
    has = any(new.rank(memory_id) for memory_id, grade in new.grades.items() if grade >= 1)
    return QueryComparison(
        query=old.query,
        before=first,
        after=now,
        overlap=overlap_at(was, new.ids, k),
        rank_biased_overlap=rank_biased_overlap(list(dict.fromkeys(was)), new.ids),
        lost=lost,
        loses_best=best_after < best_before,
        loses_only=(best_before >= 1 > best_after) or (had and not has),
    )


def _best(ids: Iterable[int], grades: Mapping[int, int]) -> int:
    return max((grades.get(memory_id, 0) for memory_id in ids), default=0)


def _merged_into(query: SavedQuery, standing: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """What has stood for its judged memories, with what comes to stand for those after it."""
    merged: dict[int, tuple[int, ...]] = {}
    for memory_id in query.judgements:
        later = query.merged_into.get(memory_id, ())
        latest = dict.fromkeys(standing[i] for i in (memory_id, *later) if i in standing)
        merged[memory_id] = (*later, *(i for i in latest if i not in later))
    return merged


def successors(before: Snapshot, after: Snapshot) -> dict[int, int]:
    """What stands in `after` for memories that have been merged since `before`, by id.

    A merged memory stands for each of its sources when its words are new, but only for those with
    the same words when it has those of a source: the words of the others are gone.
    """
    standing: dict[int, int] = {}
    for row in np.flatnonzero(~np.isin(after.ids, before.ids)).tolist():
        memory = after.at(row)
        sources = [before.by_id(i) for i in memory.provenance.merged_from if i in before]
        same = [source for source in sources if source.text == memory.text]
        standing |= {m.id: memory.id for m in same or sources if m.id not in after}
    return standing
