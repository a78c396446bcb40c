"""Why a memory is not among the hits, and what would lift it in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.records import MAX_CONFIDENCE, Kind
from memory_core.scoring import SLACK, ScoreParts, Scoring

Verdict = Literal["in", "excluded by domain", "excluded by kind", "outranked"]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """A memory's standing for one query. What would lift it in was checked by running it."""

    memory_id: int
    verdict: Verdict
    parts: ScoreParts
    rank: int | None
    """Place among the eligible (of its kind, with `per_kind`); None when it is excluded."""
    gap: float | None
    """Score of the last hit minus its own; None when it is excluded or there are no hits."""
    costliest: str
    """The part by which it falls behind the last hit the most; empty when it does not."""
    confidence_needed: float | None
    """The least confidence, to four decimals, that would lift it in; None when none would."""
    weight_intervals: tuple[tuple[float, float], ...]
    """Confidence weights λ, all else the same, with which it would be in."""
    domain_lift: str | None
    """The domain to ask within, so that it is in; None when that would not do it."""

    @property
    def sentence(self) -> str:
        """The reason in words."""
        if self.verdict == "in":
            return f"It is in, at rank {self.rank}."
        if self.verdict != "outranked":
            where = "domain" if self.verdict.endswith("domain") else "kind"
            lift = f" Asking within “{self.domain_lift}” would bring it in." * bool(
                self.domain_lift
            )
            return f"Its {where} is not among those asked for." + lift
        cost = f", mostly by its {self.costliest}" if self.costliest else ""
        return f"It is at rank {self.rank}, {self.gap:.3f} behind the last hit{cost}."


def why_not(scoring: Scoring, row: int, last_hit: int | None) -> WhyNot:
    """Explain the standing of the memory in `row`; `last_hit` is the row that it would replace."""
    snapshot, settings = scoring.snapshot, scoring.settings
    memory = snapshot.at(row)
    parts = scoring.parts(np.array([row]))[0]
    verdict = _exclusion(scoring, memory.domain, memory.kind)
    if verdict:
        return WhyNot(
            memory.id, verdict, parts, None, None, "", None, (), _domain_lift(scoring, row)
        )
    kind = memory.kind if settings.per_kind else None
    limit = settings.per_kind or settings.limit
    rank = scoring.rank(row, kind)
    if rank <= limit:
        return WhyNot(memory.id, "in", parts, rank, None, "", None, ((0.0, 1.0),), None)
    gap, costliest = _behind(scoring, parts, last_hit)
    return WhyNot(
        memory.id,
        "outranked",
        parts,
        rank,
        gap,
        costliest,
        _confidence_needed(scoring, row, kind, limit),
        _weight_intervals(scoring, row, kind, limit),
        _domain_lift(scoring, row),
    )


def _exclusion(scoring: Scoring, domain: str, kind: Kind) -> Verdict | None:
    settings = scoring.settings
    if settings.domains and domain not in settings.domains:
        return "excluded by domain"
    if settings.kinds and kind not in settings.kinds:
        return "excluded by kind"
    return None


def _behind(scoring: Scoring, own: ScoreParts, last_hit: int | None) -> tuple[float | None, str]:
    if last_hit is None:
        return None, ""
    last = scoring.parts(np.array([last_hit]))[0]
    losses = {
        name: getattr(last, name).share - getattr(own, name).share
        for name in ("similarity", "lexical", "confidence")
    }
    worst = max(losses, key=lambda name: losses[name])
    return last.total - own.total, worst if losses[worst] > 0 else ""


def _confidence_needed(scoring: Scoring, row: int, kind: Kind | None, limit: int) -> float | None:
    weight = scoring.settings.confidence_weight
    if not weight:
        return None
    others = scoring.best(limit, kind)  # it is outranked, so it is not among them
    rival = int(others[-1])
    to_beat = float(scoring.exact(np.array([rival]))[0])
    own = scoring.parts(np.array([row]))[0]
    rest = own.total - own.confidence.share

    def is_in(confidence: float) -> bool:
        score = rest + weight * confidence
        return score > to_beat or (score == to_beat and row < rival)

    needed = np.ceil((to_beat - rest) / weight * 1e4) / 1e4
    needed = float(needed if is_in(needed) else needed + 1e-4)
    return round(needed, 4) if needed <= MAX_CONFIDENCE and is_in(needed) else None


def _weight_intervals(
    scoring: Scoring, row: int, kind: Kind | None, limit: int
) -> tuple[tuple[float, float], ...]:
    """Every other memory's lead is linear in λ; count who leads between the crossings."""
    rows = scoring.rows_of_kind(kind)
    base = scoring.base.astype(np.float64)
    confidence = scoring.snapshot.columns.confidence
    others = np.arange(len(base)) if rows is None else rows
    others = others[others != row]
    lead_at_0 = base[others] - base[row]
    lead_at_0[np.abs(lead_at_0) <= SLACK / 5] = 0.0  # equal texts, but for rounding
    lead_at_1 = confidence[others] - confidence[row]
    always = (lead_at_0 > 0) & (lead_at_1 > 0)
    always |= (lead_at_0 == 0) & (lead_at_1 == 0) & (others < row)
    falls = (lead_at_0 > 0) & (lead_at_1 <= 0)
    rises = (lead_at_0 <= 0) & (lead_at_1 > 0)
    crossing = lead_at_0 / np.where(falls | rises, lead_at_0 - lead_at_1, 1.0)
    falling, rising = np.sort(crossing[falls]), np.sort(crossing[rises])
    points = np.unique(np.concatenate([[0.0, 1.0], falling, rising]))
    middles = (points[:-1] + points[1:]) / 2
    ahead = (
        np.count_nonzero(always)
        + len(falling)
        - np.searchsorted(falling, middles)
        + np.searchsorted(rising, middles)
    )
    return _checked(scoring, row, kind, limit, _runs(points, ahead < limit))


def _runs(points: NDArray[np.float64], inside: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The stretches between points where `inside` holds, joined where they touch."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(float(points[first]), float(points[last])) for first, last in pairs]


def _checked(
    scoring: Scoring,
    row: int,
    kind: Kind | None,
    limit: int,
    intervals: list[tuple[float, float]],
) -> tuple[tuple[float, float], ...]:
    """Rounded inwards to four decimals, and only those whose ends hold when they are run."""
    kept = []
    for low, high in intervals:
        low = float(np.ceil(low * 1e4 - 1e-9) / 1e4) + (1e-4 if low > 0 else 0)
        high = float(np.floor(high * 1e4 + 1e-9) / 1e4) - (1e-4 if high < 1 else 0)
        low, high = round(low, 4), round(high, 4)
        if low <= high and all(
            _with(scoring, confidence_weight=end).rank(row, kind) <= limit for end in (low, high)
        ):
            kept.append((low, high))
    return tuple(kept)


def _with(scoring: Scoring, **settings: object) -> Scoring:
    changed = replace(scoring.settings, **settings)  # type: ignore[arg-type]
    return Scoring(scoring.snapshot, scoring.vector, changed, scoring.lexical)


def _domain_lift(scoring: Scoring, row: int) -> str | None:
    """Its own domain, if asking within it alone would bring it in."""
    memory, settings = scoring.snapshot.at(row), scoring.settings
    if settings.domains == (memory.domain,) or (
        settings.kinds and memory.kind not in settings.kinds
    ):
        return None
    within = _with(scoring, domains=(memory.domain,))
    kind = memory.kind if settings.per_kind else None
    return (
        memory.domain if within.rank(row, kind) <= (settings.per_kind or settings.limit) else None
    )
