"""Settings of the verbs that have more than a few."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memory_core.errors import MemoryCoreError
from memory_core.records import KINDS, Kind


class SettingsError(MemoryCoreError, ValueError):
    """A setting is outside its bounds; the message names it and them."""


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise SettingsError(message)


def _names(value: Any, setting: str) -> tuple[str, ...]:
    """Names in lower case, each once; a lone one is one, not a sequence of letters."""
    names = (value,) if isinstance(value, str) else () if value is None else value
    _require(
        isinstance(names, Iterable) and all(isinstance(name, str) for name in names),
        f"`{setting}` must be names, or None for all; it is {value!r}.",
    )
    return tuple(dict.fromkeys(name.strip().lower() for name in names))


def _count(value: Any, setting: str, least: int = 1) -> int:
    """A whole number from `least` up, NumPy's too."""
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    _require(
        count >= least and not isinstance(value, bool),
        f"`{setting}` must be a whole number, {least} or more; it is {value!r}.",
    )
    return count


def _share(value: Any, setting: str) -> float:
    """A number in [0, 1]; a NaN is none."""
    number = isinstance(value, int | float) or hasattr(value, "__float__")
    _require(number and 0 <= value <= 1, f"`{setting}` must lie in [0, 1]; it is {value!r}.")
    return float(value)


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
        kinds = _names(self.kinds, "kinds")
        for kind in kinds:
            _require(kind in KINDS, f"Unknown kind {kind!r}; known: {', '.join(KINDS)}.")
        per_kind = None if self.per_kind is None else _count(self.per_kind, "per_kind")
        plain: dict[str, object] = {
            "limit": _count(self.limit, "limit"),
            "confidence_weight": _share(self.confidence_weight, "confidence_weight"),
            "lexical_weight": _share(self.lexical_weight, "lexical_weight"),
            "domains": _names(self.domains, "domains") or None,
            "kinds": kinds or None,
            "per_kind": per_kind,
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)


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
    merge: bool = False
    """Diversity: merge a cluster into the memory that stays, instead of dropping the others."""
    seed: int = 0

    def __post_init__(self) -> None:
        strategies = Strategy.__args__  # type: ignore[attr-defined]
        _require(
            self.strategy in strategies,
            f"Unknown strategy {self.strategy!r}; known: {', '.join(strategies)}.",
        )
        for name in ("capacity", "seed"):
            object.__setattr__(self, name, _count(getattr(self, name), name, least=0))
        _require(0 <= self.fraction < 1, f"`fraction` must lie in [0, 1); it is {self.fraction}.")
        _share(self.minimum_weight, "minimum_weight")
        for name in ("decay", "alpha", "beta", "gamma", "delta"):
            value = getattr(self, name)
            _require(0 < value < float("inf"), f"`{name}` must be above 0; it is {value}.")
        _require(
            not self.merge or self.strategy == "diversity",
            f"`merge` is an option of diversity; the strategy is {self.strategy}.",
        )


@dataclass(frozen=True, slots=True)
class MapSettings:
    """How a map is fitted by UMAP."""

    neighbours: int = 15
    """Of each memory, itself among them, that the map tries to keep near it; more than 1."""
    min_distance: float = 0.1
    """In [0, 1]: how near memories may come to each other on the map; 0 packs them."""
    epochs: int | None = None
    """Rounds of the layout; None for a number that goes by the size."""
    seed: int = 0
    """The same memories, settings and seed give the same map."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", _count(self.neighbours, "neighbours", least=2))
        object.__setattr__(self, "min_distance", _share(self.min_distance, "min_distance"))
        if self.epochs is not None:
            object.__setattr__(self, "epochs", _count(self.epochs, "epochs"))
        object.__setattr__(self, "seed", _count(self.seed, "seed", least=0))
        _require(self.seed < 2**32, f"`seed` must be below 2³²; it is {self.seed}.")


ClusterMethod: TypeAlias = Literal["hdbscan", "kmeans"]


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How memories are put into clusters."""

    method: ClusterMethod = "hdbscan"
    """hdbscan finds how many there are, and leaves out what belongs nowhere; kmeans takes all."""
    minimum_size: int | None = None
    """hdbscan: the fewest memories of a cluster, 2 or more; None for a number by the size."""
    count: int | None = None
    """kmeans: how many clusters; None for a number that goes by the size."""

    def __post_init__(self) -> None:
        methods = ClusterMethod.__args__  # type: ignore[attr-defined]
        _require(
            self.method in methods,
            f"Unknown method {self.method!r}; known: {', '.join(methods)}.",
        )
        for name, least in (("minimum_size", 2), ("count", 1)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _count(value, name, least=least))
