"""The published score, computed once more and differently: in float64, one memory at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_core import KINDS, Memory, Retrieval, RetrievalSettings, Snapshot

# The English list that bm25s uses by default, which is Lucene's.
STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Scored:
    """An eligible memory with its score."""

    position: int
    """Among all memories of the snapshot: ties go by it."""
    memory: Memory
    cosine: float
    lexical: float
    score: float

    @property
    def key(self) -> tuple[float, int]:
        """Better first. Twelve decimals, so that only true ties are ties."""
        return -round(self.score, 12), self.position


def scored(
    snapshot: Snapshot, query: Sequence[float], task: str, settings: RetrievalSettings
) -> list[Scored]:
    """All eligible memories, best first."""
    q = [float(x) for x in query]
    eligible = [
        (place, memory)
        for place, memory in enumerate(snapshot.memories)
        if not settings.domains or memory.domain in settings.domains
        if not settings.kinds or memory.kind in settings.kinds
    ]
    words = [0.0] * len(eligible)
    mu, lam = settings.lexical_weight, settings.confidence_weight
    if mu:
        words = bm25(task, [memory.text for _, memory in eligible])
    result = []
    for (place, memory), lexical in zip(eligible, words, strict=True):
        v = [float(x) for x in snapshot.vectors[place]]
        dot = math.fsum(a * b for a, b in zip(q, v, strict=True))
        cosine = dot / (math.hypot(*q) * math.hypot(*v))
        blended = (1 - mu) * cosine + mu * lexical
        score = (1 - lam) * blended + lam * memory.confidence
        result.append(Scored(place, memory, cosine, lexical, score))
    return sorted(result, key=lambda one: one.key)


def chosen(ranking: Sequence[Scored], settings: RetrievalSettings) -> list[Scored]:
    """The first few, or the first few of each kind, best first."""
    if not settings.per_kind:
        return list(ranking[: settings.limit])
    groups = ([one for one in ranking if one.memory.kind == kind] for kind in KINDS)
    return sorted((one for g in groups for one in g[: settings.per_kind]), key=lambda one: one.key)


def check(found: Retrieval, query: Sequence[float]) -> None:
    """A retrieval is what the formula says, and tells the numbers that made it so."""
    settings = found.settings
    expected = chosen(scored(found.snapshot, query, found.task, settings), settings)
    assert [hit.memory for hit in found.hits] == [one.memory for one in expected]
    assert [hit.rank for hit in found.hits] == list(range(1, len(expected) + 1))
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    mu, lam = settings.lexical_weight, settings.confidence_weight
    for hit, one in zip(found.hits, expected, strict=True):
        parts = hit.parts
        assert math.isclose(hit.score, one.score, abs_tol=1e-6)
        shares = parts.similarity.share + parts.lexical.share + parts.confidence.share
        assert math.isclose(shares, hit.score, abs_tol=1e-9)
        weights = (parts.similarity.weight, parts.lexical.weight, parts.confidence.weight)
        np.testing.assert_allclose(weights, ((1 - lam) * (1 - mu), (1 - lam) * mu, lam), atol=1e-12)
        assert math.isclose(parts.similarity.value, one.cosine, abs_tol=1e-6)
        assert math.isclose(parts.lexical.value, one.lexical, abs_tol=1e-6)
        assert parts.confidence.value == hit.memory.confidence


def terms(text: str) -> list[str]:
    """Words of two or more letters, lower-case, without stop words, by their Snowball stems."""
    import Stemmer

    words = re.findall(r"(?u)\b\w\w+\b", text.lower())
    stem = Stemmer.Stemmer("english").stemWord
    return [stem(word) for word in words if word not in STOP_WORDS]


def bm25(task: str, texts: Sequence[str], k1: float = 0.9, b: float = 0.4) -> list[float]:
    """Okapi BM25 with Lucene's inverse document frequency, over the query's maximum."""
    documents = [terms(text) for text in texts]
    if not any(documents):
        return [0.0] * len(texts)
    average = sum(map(len, documents)) / len(documents)
    scores = [0.0] * len(texts)
    for term in terms(task):
        holders = sum(term in document for document in documents)
        rarity = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for place, document in enumerate(documents):
            frequency = document.count(term)
            length = 1 - b + b * len(document) / average
            scores[place] += rarity * frequency / (frequency + k1 * length)
    highest = max(scores)
    return [score / highest for score in scores] if highest else scores
