"""What a compression costs: measured on the snapshots before and after, ahead of the commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_core.comparison import Comparison, compare, successors
from memory_core.counting import count_of
from memory_core.evaluation import Vectors, asking, task_vector
from memory_core.ledger_records import SavedQuery
from memory_core.neighbours import blocks, nearest_among, nearest_similarity
from memory_core.records import Kind
from memory_core.retrieval import retrieve
from memory_core.settings import RetrievalSettings
from memory_core.snapshot import Snapshot

T = TypeVar("T")
TOKENS_PER_WORD = 4 / 3
"""A rule of thumb for English and the usual tokenizers; code and numbers take more."""


@dataclass(frozen=True, slots=True)
class BeforeAfter(Generic[T]):
    before: T
    after: T


@dataclass(frozen=True, slots=True)
class Spread:
    """How numbers are spread; all NaN where there are none."""

    mean: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    @classmethod
    def of(cls, values: NDArray[np.floating]) -> Spread:
        if not len(values):
            return cls(*[float("nan")] * 6)
        return cls(float(values.mean()), *map(float, np.quantile(values, [0, 0.25, 0.5, 0.75, 1])))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How near what stays is to what goes. Rows by dropped memory, in the order of ids."""

    ids: NDArray[np.int64]
    """Of the memories that go."""
    nearest: NDArray[np.int64]
    """Id of the most similar memory that stays; 0 where none does."""
    similarity: NDArray[np.float64]
    """Cosine to that; NaN where there is none."""
    recalled: NDArray[np.int64]
    """Id of the first hit when the memory's own text is the query; 0 where none stays."""
    recalled_similarity: NDArray[np.float64]
    """Cosine to that hit. Confidence has its share in the ranking, so it may not be the nearest."""

    @property
    def mean(self) -> float:
        """Mean similarity of what goes to its nearest; NaN where nothing goes."""
        return float(self.similarity.mean()) if len(self.ids) else float("nan")

    @property
    def worst(self) -> float:
        """The least similarity of what goes to its nearest; NaN where nothing goes."""
        return float(self.similarity.min()) if len(self.ids) else float("nan")


@dataclass(frozen=True, slots=True)
class Impact:
    """What changes from one snapshot to another."""

    size: BeforeAfter[int]
    kinds: Mapping[Kind, BeforeAfter[int]]
    domains: Mapping[str, BeforeAfter[int]]
    confidence: BeforeAfter[Spread]
    coverage: Coverage
    redundancy: BeforeAfter[float]
    """Mean similarity of a memory to the nearest other; NaN for fewer than two."""
    library_tokens: BeforeAfter[int]
    """Of all texts, estimated from their words."""
    injected_tokens: BeforeAfter[float]
    """Of the injected block, the mean over the queries, estimated from its words; NaN without
    queries."""
    comparison: Comparison
    """On the saved queries."""

    @property
    def sentence(self) -> str:
        """The gist in words."""
        gone, total = len(self.coverage.ids), self.size.before
        if not gone:
            return f"Drops nothing of {total}."
        parts = [f"Drops {gone} of {total}"]
        asked = self.comparison
        if asked.queries:
            k, best = asked.before.k, sum(query.loses_best for query in asked.queries)
            lose, its = ("loses", "its") if len(asked.queries) == 1 else ("lose", "their")
            parts += [
                f"{len(asked.losing) or 'none'} of {count_of(len(asked.queries), 'saved query')} "
                f"{lose} a relevant lesson from {its} first {k}, {best or 'none'} {its} best one, "
                f"{len(asked.losing_only) or 'none'} {its} only one",
            ]
        if asked.before.queries:
            was, now = asked.before.recall.mean, asked.after.recall.mean
            parts.append(f"recall@{asked.before.k} goes from {was:.2f} to {now:.2f}")
        if len(self.coverage.ids) and self.size.after:
            parts.append(
                f"a dropped lesson is {self.coverage.mean:.2f} similar to the nearest that stays, "
                f"{self.coverage.worst:.2f} at worst"
            )
        return "; ".join(parts) + "."


def impact(
    before: Snapshot,
    after: Snapshot,
    queries: Iterable[SavedQuery] = (),
    vectors: Vectors | None = None,
    settings: RetrievalSettings | None = None,
    k: int = 5,
    *,
    within_domains: bool = False,
    seed: int = 0,
) -> Impact:
    """Measure what a change from `before` to `after` means for retrieval.

    `vectors` has the unit vector of each query's task. `after` may be a plan's. Lessons recall
    themselves by similarity and confidence; the lexical part of `settings` is not asked for that.
    A query's own domains filter only `within_domains`, as in `evaluate`.
    """
    settings = settings or RetrievalSettings()
    queries = tuple(queries)
    vectors = vectors or {}
    return Impact(
        size=BeforeAfter(len(before), len(after)),
        kinds=_pairs(before.kind_counts(), after.kind_counts()),
        domains=_pairs(before.domain_counts(), after.domain_counts()),
        confidence=BeforeAfter(
            Spread.of(before.columns.confidence), Spread.of(after.columns.confidence)
        ),
        coverage=coverage(before, after, settings),
        redundancy=BeforeAfter(_redundancy(before), _redundancy(after)),
        library_tokens=BeforeAfter(
            estimated_tokens(before.texts()), estimated_tokens(after.texts())
        ),
        injected_tokens=BeforeAfter(
            _injected(before, queries, vectors, settings, within_domains),
            _injected(after, queries, vectors, settings, within_domains),
        ),
        comparison=compare(
            before, after, queries, vectors, settings, k, within_domains=within_domains, seed=seed
        ),
    )


K = TypeVar("K")


def _pairs(before: Mapping[K, int], after: Mapping[K, int]) -> dict[K, BeforeAfter[int]]:
    return {key: BeforeAfter(before.get(key, 0), after.get(key, 0)) for key in {**before, **after}}


def coverage(
    before: Snapshot, after: Snapshot, settings: RetrievalSettings | None = None
) -> Coverage:
    """How what stays stands for what goes. What lives on in a merge by its own words stays."""
    standing = successors(before, after)
    left = ~np.isin(before.ids, after.ids)
    lives_on = {
        old for old, new in standing.items() if before.by_id(old).text == after.by_id(new).text
    }
    left &= ~np.isin(before.ids, list(lives_on))
    gone = before.vectors[left]
    found = nearest_among(gone, after.vectors)
    nearest = np.zeros(len(gone), dtype=np.int64)
    recalled = np.zeros(len(gone), dtype=np.int64)
    similarity = np.full(len(gone), np.nan)
    if len(after):
        nearest = after.ids[found.rows]
        rows = _first_hits(gone, after, settings or RetrievalSettings())
        recalled = after.ids[rows]
        similarity = np.einsum("ij,ij->i", gone, after.vectors[rows], dtype=np.float64)
    return Coverage(before.ids[left], nearest, found.similarity, recalled, similarity)


def _first_hits(
    vectors: NDArray[np.float32], snapshot: Snapshot, settings: RetrievalSettings
) -> NDArray[np.int64]:
    """The row of the best score for each of vectors (m, d), over all domains and kinds."""
    weight = np.float32(settings.confidence_weight)
    by_confidence = weight * snapshot.columns.confidence.astype(np.float32)
    rows = np.empty(len(vectors), dtype=np.int64)
    for block in blocks(len(vectors), len(snapshot)):
        scores = (1 - weight) * (vectors[block] @ snapshot.vectors.T)
        rows[block] = (scores + by_confidence).argmax(axis=1)
    return rows


def _redundancy(snapshot: Snapshot) -> float:
    if len(snapshot) < 2:
        return float("nan")
    return float(nearest_similarity(snapshot.vectors).mean())


def estimated_tokens(texts: Sequence[str]) -> int:
    """About how many tokens texts have: four for three words. An estimate, to compare by."""
    return round(sum(len(text.split()) for text in texts) * TOKENS_PER_WORD)


def _injected(
    snapshot: Snapshot,
    queries: Sequence[SavedQuery],
    vectors: Vectors,
    settings: RetrievalSettings,
    within_domains: bool,
) -> float:
    if not queries:
        return float("nan")
    blocks_of_text = [
        retrieve(
            snapshot, query.task, task_vector(query, vectors),
            asking(query, settings, within_domains=within_domains),
        ).injection
        for query in queries
    ]  # fmt: skip
    return sum(estimated_tokens([block]) for block in blocks_of_text) / len(queries)
