"""Retrieval: the memories that a task calls for, in order, with the numbers that ranked them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InvalidBatchError
from memory_core.explanation import WhyNot, why_not
from memory_core.injection import injection
from memory_core.ledger_records import RecordedHit, RecordedRetrieval
from memory_core.lexical import lexical_scores
from memory_core.records import KINDS, Memory
from memory_core.scoring import ScoreParts, Scoring
from memory_core.settings import RetrievalSettings
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory among the first."""

    memory: Memory
    rank: int
    """From 1."""
    score: float
    parts: ScoreParts


@dataclass(frozen=True)
class Retrieval:
    """What was found for a task. It holds its snapshot, so it can be explained later."""

    task: str
    settings: RetrievalSettings
    hits: tuple[Hit, ...]
    scoring: Scoring = field(repr=False)
    id: str = field(default_factory=lambda: str(uuid4()))
    """A UUID, under which the ledger knows it once it is recorded."""

    @property
    def snapshot(self) -> Snapshot:
        return self.scoring.snapshot

    @property
    def revision(self) -> int | None:
        """None when it ran on a plan."""
        return self.snapshot.revision

    @cached_property
    def injection(self) -> str:
        """The `[G0] …` block for the head of a system prompt."""
        return injection([hit.memory.text for hit in self.hits])

    def why_not(self, memory_id: int) -> WhyNot:
        """Why a memory is not among the hits, and what would lift it in.

        Raises MemoryNotFoundError.
        """
        row = self.snapshot.row_of(memory_id)
        return why_not(self.scoring, row, self._asked_with)

    def _asked_with(self, settings: RetrievalSettings) -> Scoring:
        return score(self.snapshot, self.task, self.scoring.vector, settings)

    def as_recorded(self, *, actor: str, made_at_us: int) -> RecordedRetrieval:
        """The row that the ledger keeps. Raises InvalidBatchError when it ran on a plan."""
        if self.revision is None:
            raise InvalidBatchError(
                "This retrieval ran on a plan, which no agent has seen; run it on a revision."
            )
        return RecordedRetrieval(
            id=self.id,
            task=self.task,
            revision=self.revision,
            epoch=self.snapshot.epoch,
            settings=asdict(self.settings),
            hits=tuple(RecordedHit(h.memory.id, h.rank, h.score) for h in self.hits),
            injection=self.injection,
            actor=actor,
            made_at_us=made_at_us,
        )


def score(
    snapshot: Snapshot, task: str, vector: NDArray[np.floating], settings: RetrievalSettings
) -> Scoring:
    """The scores of a snapshot's memories for a task, before anything is picked."""
    words = lexical_scores(snapshot, task, settings) if settings.lexical_weight else None
    return Scoring(snapshot, vector, settings, words)


def retrieve(
    snapshot: Snapshot,
    task: str,
    vector: NDArray[np.floating],
    settings: RetrievalSettings | None = None,
) -> Retrieval:
    """Rank a snapshot's memories for a task whose vector is `vector` (d,)."""
    settings = settings or RetrievalSettings()
    scoring = score(snapshot, task, vector, settings)
    if settings.per_kind:
        chosen = settings.kinds or KINDS
        rows = np.concatenate([scoring.best(settings.per_kind, kind) for kind in chosen])
        rows = np.sort(rows)
        rows = rows[np.argsort(-scoring.exact(rows), kind="stable")]
    else:
        rows = scoring.best(settings.limit)
    parts = scoring.parts(rows)
    hits = tuple(
        Hit(snapshot.at(int(row)), rank, part.total, part)
        for rank, (row, part) in enumerate(zip(rows, parts, strict=True), start=1)
    )
    return Retrieval(task, settings, hits, scoring)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near another one."""

    memory: Memory
    similarity: float
    """Cosine, in [-1, 1]."""


def nearest(snapshot: Snapshot, memory_id: int, *, limit: int = 10) -> tuple[Neighbour, ...]:
    """The memories most similar to one, best first. Raises MemoryNotFoundError."""
    own = snapshot.row_of(memory_id)
    plain = RetrievalSettings(limit=limit + 1, confidence_weight=0.0)
    scoring = Scoring(snapshot, snapshot.vector_of(memory_id), plain)
    rows = [row for row in scoring.best(limit + 1) if row != own][:limit]
    similarities = scoring.exact(np.array(rows, dtype=np.int64))
    return tuple(
        Neighbour(snapshot.at(int(row)), float(similarity))
        for row, similarity in zip(rows, similarities, strict=True)
    )


# -- domains --------------------------------------------------------------------------------------

NEIGHBOURS = 10
CLEAR_SHARE = 0.6
FAINT = 0.25


def domain_shares(snapshot: Snapshot, vector: NDArray[np.floating]) -> dict[str, float]:
    """The share of each domain among a task's ten nearest memories, weighed by similarity.

    Descending; empty when nothing is nearer than a cosine of 0.25.
    """
    plain = RetrievalSettings(limit=NEIGHBOURS, confidence_weight=0.0)
    scoring = Scoring(snapshot, vector, plain)
    rows = scoring.best(NEIGHBOURS)
    weights: dict[str, float] = {}
    for row, similarity in zip(rows, scoring.exact(rows), strict=True):
        if similarity >= FAINT:
            domain = snapshot.pool.domains.value(int(snapshot.columns.domain[row]))
            weights[domain] = weights.get(domain, 0.0) + float(similarity)
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {domain: weight / total for domain, weight in ordered}


def infer_domains(snapshot: Snapshot, vector: NDArray[np.floating]) -> tuple[str, ...]:
    """D: the domain that holds most of a task's nearest memories; empty when ambiguous."""
    for domain, share in domain_shares(snapshot, vector).items():
        return (domain,) if share >= CLEAR_SHARE else ()
    return ()
