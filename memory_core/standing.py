"""Where memories stand about the cut of a retrieval: its hits, and the near misses below them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from memory_core.records import KINDS, Kind
from memory_core.retrieval import Hit, Retrieval
from memory_core.scoring import Scoring

NEAR = 5
"""Near misses that are told unasked."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An eligible memory with its place by score, its place by similarity alone, and its margin.

    With `per_kind`, a memory competes with those of its kind only; so do both places.
    """

    hit: Hit
    """Memory, score and parts. `rank` is that among its competitors, from 1."""
    rank_by_similarity: int
    """Its place were λ and μ both 0."""
    margin: float
    """Score minus that of the last hit it competes with: below 0 or 0 when it is not in."""
    is_in: bool


def standings(found: Retrieval) -> tuple[Standing, ...]:
    """The hits of a retrieval, in their order."""
    return _standings(found, [hit.memory.id for hit in found.hits])


def near_misses(found: Retrieval, limit: int = NEAR) -> tuple[Standing, ...]:
    """The first `limit` eligible memories that are not among the hits, best first.

    With `per_kind`, those of all kinds, nearest to their own kind's last hit first.
    """
    scoring, kinds, places = found.scoring, _contests(found), _places(found)
    rows = np.concatenate([scoring.best(places + limit, kind)[places:] for kind in kinds])
    below = _standings(found, found.snapshot.ids[rows].tolist())
    if found.settings.per_kind:
        below = tuple(sorted(below, key=lambda standing: -standing.margin))
    return below[:limit]


def _places(found: Retrieval) -> int:
    return found.settings.per_kind or found.settings.limit


def _contests(found: Retrieval) -> tuple[Kind | None, ...]:
    """The kinds that are ranked each for itself; None for all in one."""
    return (found.settings.kinds or KINDS) if found.settings.per_kind else (None,)


def _by_similarity(found: Retrieval) -> Scoring:
    """The same question with λ and μ at 0."""
    scoring = found.scoring
    if scoring.lexical is None:
        return scoring.reweighted(0.0)  # which has its similarities already
    settings = replace(found.settings, confidence_weight=0.0, lexical_weight=0.0)
    return Scoring(found.snapshot, scoring.vector, settings)


def _standings(found: Retrieval, ids: Iterable[int]) -> tuple[Standing, ...]:
    scoring, snapshot, places = found.scoring, found.snapshot, _places(found)
    plain = _by_similarity(found)
    last: dict[Kind | None, float] = {}
    for kind in _contests(found):
        first = scoring.best(places, kind)
        if len(first):
            last[kind] = float(scoring.parts(first[-1:])[0].total)
    rows = [snapshot.row_of(memory_id) for memory_id in ids]
    standings = []
    for row, parts in zip(rows, scoring.parts(np.array(rows, dtype=np.int64)), strict=True):
        memory = snapshot.at(row)
        kind = memory.kind if found.settings.per_kind else None
        rank = scoring.rank(row, kind)
        hit = Hit(memory, rank, parts.total, parts)
        margin = parts.total - last[kind]
        standings.append(Standing(hit, plain.rank(row, kind), margin, rank <= places))
    return tuple(standings)
