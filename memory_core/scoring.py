"""The retrieval score: one arithmetic, which ranks and explains.

    cos   = q·v / (|q||v|)
    base  = (1−μ)·cos + μ·lexical          lexical in [0, 1]; μ = 0 is the published score
    score = (1−λ)·base + λ·confidence

over the memories that are eligible: their domain is in D, or D is empty; likewise their kind.

A float32 product over the whole snapshot finds who can be among the first; those are scored again
in float64, so that equal texts score equally wherever they stand, and ties go by id.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.columns import KIND_CODES
from memory_core.records import Kind
from memory_core.settings import RetrievalSettings
from memory_core.snapshot import Snapshot


def slack(dimension: int) -> float:
    """More than two approximate scores can be apart when their exact ones are equal.

    A float32 product of two unit vectors of d numbers is off by less than d·2⁻²⁴, in whatever
    order it is summed; the few operations after it and the rounding of the vectors add less than
    16 such units, and there are two scores.
    """
    return 2 * (dimension + 16) * 2.0**-24


@dataclass(frozen=True, slots=True)
class Part:
    """One share of a score."""

    value: float
    """The raw value: a cosine in [-1, 1], a lexical score or a confidence in [0, 1]."""
    weight: float

    @property
    def share(self) -> float:
        """What it adds to the score."""
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The numbers that ranked a memory; their shares sum to its score."""

    similarity: Part
    lexical: Part
    confidence: Part

    @property
    def total(self) -> float:
        return self.similarity.share + self.lexical.share + self.confidence.share


def eligible_rows(
    snapshot: Snapshot, domains: tuple[str, ...] | None, kinds: tuple[Kind, ...] | None
) -> NDArray[np.int64] | None:
    """Rows that a filter lets through, ascending; None where it lets all through."""
    if not domains and not kinds:
        return None
    mask = np.ones(len(snapshot), dtype=bool)
    if domains:
        codes = [snapshot.pool.domains.find(domain) for domain in domains]
        mask &= np.isin(snapshot.columns.domain, [code for code in codes if code is not None])
    if kinds:
        mask &= np.isin(snapshot.columns.kind, [KIND_CODES[kind] for kind in kinds])
    return np.flatnonzero(mask)


def _unit(vector: NDArray[np.floating]) -> NDArray[np.floating]:
    """The vector at length 1; as it is where it has that length, or none."""
    wide = np.asarray(vector, dtype=np.float64)
    norm = float(np.sqrt((wide * wide).sum()))
    return vector if norm == 0 or abs(norm - 1) < 1e-6 else wide / norm


class Scoring:
    """The scores of a snapshot's memories for one query."""

    def __init__(
        self,
        snapshot: Snapshot,
        vector: NDArray[np.floating],
        settings: RetrievalSettings,
        lexical: NDArray[np.floating] | None = None,
    ) -> None:
        """`vector` (d,) of any length; `lexical` (n,) in [0, 1], 0 for the ineligible."""
        self.snapshot = snapshot
        self.vector = _unit(vector)
        self.settings = settings
        self.lexical = lexical
        self.rows = eligible_rows(snapshot, settings.domains, settings.kinds)
        self.slack = slack(len(vector))
        self.base = self._base()

    def _base(self) -> NDArray[np.float32]:
        """(n,) the score but for confidence, in float32."""
        base = self.snapshot.similarities(self.vector)
        mu = self.settings.lexical_weight
        if self.lexical is not None and mu:
            base = base * np.float32(1 - mu) + self.lexical.astype(np.float32) * np.float32(mu)
        return base

    def approximate(self) -> NDArray[np.float32]:
        """(n,) every memory's score within `slack`, eligible or not, in float32."""
        weight = self.settings.confidence_weight
        if not weight:
            return self.base
        scores = self.snapshot.columns.confidence.astype(np.float32)
        scores *= np.float32(weight)
        scores += self.base * np.float32(1 - weight)
        return scores

    def weights(self) -> tuple[float, float, float]:
        """Of similarity, lexical score and confidence; they sum to 1."""
        lam, mu = self.settings.confidence_weight, self.settings.lexical_weight
        if self.lexical is None:
            mu = 0.0
        return (1 - lam) * (1 - mu), (1 - lam) * mu, lam

    def parts(self, rows: NDArray[np.int64]) -> list[ScoreParts]:
        """What makes the score of each of some rows, in float64."""
        similarity = self.snapshot.exact_similarities(rows, self.vector)
        lexical = np.zeros(len(rows)) if self.lexical is None else self.lexical[rows]
        confidence = self.snapshot.columns.confidence[rows]
        by_similarity, by_words, by_confidence = self.weights()
        return [
            ScoreParts(
                Part(float(s), by_similarity),
                Part(float(w), by_words),
                Part(float(c), by_confidence),
            )
            for s, w, c in zip(similarity, lexical, confidence, strict=True)
        ]

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(len(rows),) scores in float64: the sums of their parts."""
        by_similarity, by_words, by_confidence = self.weights()
        scores = by_similarity * self.snapshot.exact_similarities(rows, self.vector)
        if self.lexical is not None:
            scores += by_words * self.lexical[rows]
        return scores + by_confidence * self.snapshot.columns.confidence[rows]

    def reweighted(self, confidence_weight: float) -> Scoring:
        """The same but for the share of confidence."""
        other = copy(self)
        other.settings = replace(self.settings, confidence_weight=confidence_weight)
        return other

    def best(self, limit: int, kind: Kind | None = None) -> NDArray[np.int64]:
        """The rows of the first `limit` eligible memories (of a kind), best first."""
        rows = self.rows_of_kind(kind)
        scores = self.approximate()
        if rows is not None:
            scores = scores[rows]
        if limit < len(scores):
            last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            near = np.flatnonzero(scores >= last - self.slack)
        else:
            near = np.arange(len(scores))
        candidates = near if rows is None else rows[near]
        # Rows ascend by id, so a stable sort leaves ties in that order.
        order = np.argsort(-self.exact(candidates), kind="stable")[:limit]
        return candidates[order]

    def rows_of_kind(self, kind: Kind | None) -> NDArray[np.int64] | None:
        """The eligible rows of one kind; of all kinds for None, and None where that is all."""
        if kind is None:
            return self.rows
        of_kind = self.snapshot.columns.kind == KIND_CODES[kind]
        if self.rows is None:
            return np.flatnonzero(of_kind)
        rows: NDArray[np.int64] = self.rows[of_kind[self.rows]]
        return rows

    def rank(self, row: int, kind: Kind | None = None) -> int:
        """The exact place of an eligible row among the eligible (of a kind), from 1."""
        rows = self.rows_of_kind(kind)
        scores = self.approximate()
        own = scores[row]
        if rows is not None:
            scores = scores[rows]
        ahead = int(np.count_nonzero(scores > own + self.slack))
        near = np.flatnonzero(np.abs(scores - own) <= self.slack)
        rivals = near if rows is None else rows[near]
        exact = self.exact(np.append(rivals, row))
        before = (exact[:-1] > exact[-1]) | ((exact[:-1] == exact[-1]) & (rivals < row))
        return ahead + int(np.count_nonzero(before)) + 1
