"""Why a memory is not among the hits, and what would lift it in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.records import MAX_CONFIDENCE, Kind
from memory_core.scoring import ScoreParts, Scoring
from memory_core.settings import RetrievalSettings

Verdict = Literal["in", "excluded by domain", "excluded by kind", "outranked"]
AskedWith = Callable[[RetrievalSettings], Scoring]
"""Scores the same task again with other settings."""

STEP = 1e-4
"""Confidences and weights are told to four decimals."""
TRIES = 20
"""Steps by which float32 may have misplaced the end of an interval."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """A memory's standing for one query. What would lift it in was checked by running it."""

    memory_id: int
    verdict: Verdict
    parts: ScoreParts
    rank: int | None
    """Place among the eligible (of its kind, with `per_kind`); None when it is excluded."""
    gap: float | None
    """Score of the last hit minus its own, not above 0 when it is in; None when it is excluded."""
    costliest: str
    """The part by which it falls behind the last hit the most; empty when it does not."""
    confidence_needed: float | None
    """The least confidence, to four decimals, that would lift it in; None when none would."""
    weight_intervals: tuple[tuple[float, float], ...]
    """Confidence weights λ, all else the same, with which it is in; to four decimals, inwards."""
    domain_lift: str | None
    """The domain to ask within, so that it is in; None when that would not do it."""

    @property
    def sentence(self) -> str:
        """The reason in words."""
        if self.rank is None:
            where = self.verdict.removeprefix("excluded by ")
            lift = f" Asking within “{self.domain_lift}” would bring it in."
            return f"Its {where} is not among those asked for." + lift * bool(self.domain_lift)
        if self.verdict == "in":
            return f"It is in, at rank {self.rank}."
        cost = f", mostly by its {self.costliest}" if self.costliest else ""
        return f"It is at rank {self.rank}, {self.gap:.3f} behind the last hit{cost}."


@dataclass(frozen=True, slots=True)
class _Contest:
    """Whom a memory competes with, and for how many places."""

    scoring: Scoring
    row: int
    kind: Kind | None
    """Of the memories that it competes with; None for all."""
    limit: int

    def won_with(self, scoring: Scoring) -> bool:
        return scoring.rank(self.row, self.kind) <= self.limit


def why_not(scoring: Scoring, row: int, asked_with: AskedWith) -> WhyNot:
    """Explain the standing of the memory in `row`."""
    settings, memory = scoring.settings, scoring.snapshot.at(row)
    kind = memory.kind if settings.per_kind else None
    contest = _Contest(scoring, row, kind, settings.per_kind or settings.limit)
    parts = scoring.parts(np.array([row]))[0]
    verdict = _exclusion(settings, memory.domain, memory.kind)
    if verdict:
        lift = _domain_lift(contest, memory.domain, memory.kind, asked_with)
        return WhyNot(memory.id, verdict, parts, None, None, "", None, (), lift)
    rank = scoring.rank(row, kind)
    others = scoring.best(contest.limit, kind)
    gap, costliest = _behind(parts, scoring.parts(others[-1:])[0])
    intervals = _weight_intervals(contest)
    if rank <= contest.limit:
        return WhyNot(memory.id, "in", parts, rank, gap, "", None, intervals, None)
    needed = _confidence_needed(contest, parts, rival=int(others[-1]))
    lift = _domain_lift(contest, memory.domain, memory.kind, asked_with)
    return WhyNot(memory.id, "outranked", parts, rank, gap, costliest, needed, intervals, lift)


def _exclusion(settings: RetrievalSettings, domain: str, kind: Kind) -> Verdict | None:
    if settings.domains and domain not in settings.domains:
        return "excluded by domain"
    if settings.kinds and kind not in settings.kinds:
        return "excluded by kind"
    return None


def _behind(own: ScoreParts, last: ScoreParts) -> tuple[float, str]:
    losses = {
        name: getattr(last, name).share - getattr(own, name).share
        for name in ("similarity", "lexical", "confidence")
    }
    worst = max(losses, key=lambda name: losses[name])
    return last.total - own.total, worst if losses[worst] > 0 else ""


def _confidence_needed(contest: _Contest, own: ScoreParts, *, rival: int) -> float | None:
    """`rival` is the row of the last hit, whose place the memory would take."""
    weight = own.confidence.weight
    if not weight:
        return None
    to_beat = contest.scoring.parts(np.array([rival]))[0].total
    rest = own.similarity.share + own.lexical.share

    def is_in(confidence: float) -> bool:
        score = rest + weight * confidence
        return score > to_beat or (score == to_beat and contest.row < rival)

    least = float(np.ceil((to_beat - rest) / weight / STEP) * STEP)
    for step in range(-1, 3):  # the quotient is rounded, so its neighbours are tried, too
        needed = round(least + step * STEP, 4)
        if needed <= MAX_CONFIDENCE and is_in(needed):
            return needed
    return None


def _weight_intervals(contest: _Contest) -> tuple[tuple[float, float], ...]:
    """Every other memory's lead is linear in λ; count who leads between the crossings."""
    scoring, row, own = contest.scoring, contest.row, np.array([contest.row])
    columns = scoring.snapshot.columns
    rows = scoring.rows_of_kind(contest.kind)
    others = np.arange(len(columns)) if rows is None else rows
    others = others[others != row]
    base = scoring.base.astype(np.float64)
    lead_at_0 = base[others] - base[row]
    near = others[np.abs(lead_at_0) <= scoring.slack]
    without = scoring.reweighted(0.0)
    lead_at_0[np.abs(lead_at_0) <= scoring.slack] = without.exact(near) - without.exact(own)
    lead_at_1 = columns.confidence[others] - columns.confidence[row]
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
    runs = _runs(points, ahead < contest.limit)
    checked = (_checked(contest, low, high) for low, high in runs)
    return tuple(interval for interval in checked if interval is not None)


def _runs(points: NDArray[np.float64], inside: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The stretches between points where `inside` holds, joined where they touch."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(float(points[first]), float(points[last])) for first, last in pairs]


def _checked(contest: _Contest, low: float, high: float) -> tuple[float, float] | None:
    """An interval to four decimals, its ends moved inwards until they hold when they are run."""
    first, last = int(np.ceil(low / STEP)), int(np.floor(high / STEP))
    lows = range(first, min(first + TRIES, last + 1))
    low_end = next((step for step in lows if _holds_at(contest, step)), None)
    if low_end is None:
        return None
    highs = range(last, max(last - TRIES, low_end - 1), -1)
    high_end = next((step for step in highs if _holds_at(contest, step)), low_end)
    return round(low_end * STEP, 4), round(high_end * STEP, 4)


def _holds_at(contest: _Contest, step: int) -> bool:
    return contest.won_with(contest.scoring.reweighted(round(step * STEP, 4)))


def _domain_lift(contest: _Contest, domain: str, kind: Kind, asked_with: AskedWith) -> str | None:
    """A memory's own domain, if asking within it alone would bring it in."""
    settings = contest.scoring.settings
    if settings.domains == (domain,) or (settings.kinds and kind not in settings.kinds):
        return None
    within = asked_with(replace(settings, domains=(domain,)))
    return domain if contest.won_with(within) else None
