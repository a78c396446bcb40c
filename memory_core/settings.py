"""Settings of the verbs that have more than a few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_core.errors import MemoryCoreError
from memory_core.records import KINDS, Kind


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise SettingsError(message)


class SettingsError(MemoryCoreError, ValueError):
    """A setting is outside its bounds; the message names it and them."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How memories are ranked for a task. The defaults are the published ones."""

    limit: int = 5
    """Hits, over all kinds."""
    confidence_weight: float = 0.2
    """λ in [0, 1]: the share of confidence in the score; 0 ranks by similarity alone."""
    lexical_weight: float = 0.0
    """μ in [0, 1]: the share of BM25 within the similarity part."""
    domains: tuple[str, ...] | None = None
    """Only memories of these domains; None or empty for all."""
    kinds: tuple[Kind, ...] | None = None
    """Only memories of these kinds; None or empty for all."""
    per_kind: int | None = None
    """So many hits of each kind; replaces `limit`."""

    def __post_init__(self) -> None:
        domains = (self.domains,) if isinstance(self.domains, str) else tuple(self.domains or ())
        kinds = (self.kinds,) if isinstance(self.kinds, str) else tuple(self.kinds or ())
        domains = tuple(dict.fromkeys(str(domain).strip().lower() for domain in domains))
        object.__setattr__(self, "domains", domains or None)
        object.__setattr__(self, "kinds", kinds or None)
        _require(int(self.limit) == self.limit and self.limit >= 1, "`limit` must be 1 or more.")
        for name in ("confidence_weight", "lexical_weight"):
            value = getattr(self, name)
            _require(0 <= value <= 1, f"`{name}` must lie in [0, 1]; it is {value}.")
        unknown = [kind for kind in kinds if kind not in KINDS]
        _require(not unknown, f"Unknown kind {unknown[:1]}; known: {', '.join(KINDS)}.")
        _require(
            self.per_kind is None or self.per_kind >= 1, "`per_kind` must be 1 or more, or None."
        )


PRESETS: dict[str, RetrievalSettings] = {
    "published": RetrievalSettings(),
    "hybrid": RetrievalSettings(lexical_weight=0.2),
}

Strategy: TypeAlias = Literal["diversity", "importance", "temporal", "hybrid", "random"]


@dataclass(frozen=True, slots=True)
class CompressionSettings:
    """How a bank is compressed. The defaults are the published ones."""

    strategy: Strategy = "hybrid"
    capacity: int = 500
    """Memories to keep at most: diversity, hybrid and random heed it."""
    fraction: float = 0.2
    """p in [0, 1): the share that importance drops."""
    decay: float = 0.05
    """λ > 0 of the weight exp(−λ·age), age in sessions."""
    minimum_weight: float = 0.1
    """Temporal decay drops what weighs less."""
    alpha: float = 1
    beta: float = 1
    """Exponent of confidence in the utility; gamma of the weight, delta of the distance."""
    gamma: float = 0.5
    delta: float = 0.3
    rescore: bool = True
    """Hybrid: measure distances anew after each drop, so that of two twins one stays."""
    seed: int = 0

    def __post_init__(self) -> None:
        strategies = Strategy.__args__  # type: ignore[attr-defined]
        _require(
            self.strategy in strategies,
            f"Unknown strategy {self.strategy!r}; known: {', '.join(strategies)}.",
        )
        _require(self.capacity >= 0, "`capacity` must be 0 or more.")
        _require(0 <= self.fraction < 1, "`fraction` must lie in [0, 1).")
        _require(self.decay > 0, "`decay` must be above 0.")
        _require(0 <= self.minimum_weight <= 1, "`minimum_weight` must lie in [0, 1].")
        for name in ("alpha", "beta", "gamma", "delta"):
            value = getattr(self, name)
            _require(0 < value < float("inf"), f"`{name}` must be above 0; it is {value}.")
