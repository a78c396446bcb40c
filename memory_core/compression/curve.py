"""Quality against size: what each strategy keeps of retrieval as it keeps less and less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_core.compression.planning import STRATEGIES, select
from memory_core.compression.temporal import time_weights
from memory_core.evaluation import Quality, Vectors, evaluate
from memory_core.ledger_records import SavedQuery
from memory_core.settings import CompressionSettings, RetrievalSettings, SettingsError
from memory_core.snapshot import Snapshot

FRACTIONS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class QualityPoint:
    """One strategy at one size."""

    settings: CompressionSettings
    """With these the plan of this point is made."""
    fraction: float
    """The share that was to be kept; `size` says what is."""
    size: int
    quality: Quality

    @property
    def strategy(self) -> str:
        return self.settings.strategy


def quality_curve(
    snapshot: Snapshot,
    strategies: Sequence[str] = tuple(STRATEGIES),
    fractions: Iterable[float] = FRACTIONS,
    queries: Iterable[SavedQuery] = (),
    vectors: Vectors | None = None,
    *,
    base: CompressionSettings | None = None,
    settings: RetrievalSettings | None = None,
    k: int = 5,
) -> Iterator[QualityPoint]:
    """Compress a snapshot to one fraction after the other by each strategy, and measure.

    One point at a time, so that a page can show progress and stop: all strategies at the first
    fraction, then at the second. `base` has the parameters; strategies that do not heed the
    capacity get the fraction or the minimum weight that comes nearest. No point keeps fewer than
    are pinned.
    """
    unknown = [name for name in strategies if name not in STRATEGIES]
    if unknown:
        raise SettingsError(f"Unknown strategy {unknown[0]!r}; known: {', '.join(STRATEGIES)}.")
    queries = tuple(queries)
    return _points(snapshot, strategies, fractions, queries, vectors or {}, base, settings, k)


def _points(
    snapshot: Snapshot,
    strategies: Sequence[str],
    fractions: Iterable[float],
    queries: tuple[SavedQuery, ...],
    vectors: Vectors,
    base: CompressionSettings | None,
    settings: RetrievalSettings | None,
    k: int,
) -> Iterator[QualityPoint]:
    for fraction in fractions:
        for strategy in strategies:
            chosen = settings_for(snapshot, strategy, fraction, base or CompressionSettings())
            kept = select(snapshot, chosen).kept
            after = snapshot.edit(removed=snapshot.ids[~kept].tolist())
            quality = evaluate(after, queries, vectors, settings, k)
            yield QualityPoint(chosen, fraction, len(after), quality)


def settings_for(
    snapshot: Snapshot, strategy: str, fraction: float, base: CompressionSettings
) -> CompressionSettings:
    """`base`, changed so that a strategy keeps about a fraction in [0, 1] of a snapshot."""
    if not 0 <= fraction <= 1:
        raise SettingsError(f"A fraction to keep must lie in [0, 1]; it is {fraction}.")
    pinned = int(np.count_nonzero(snapshot.columns.pinned))
    size = max(round(fraction * len(snapshot)), pinned)
    changed = replace(base, strategy=strategy, capacity=size, merge=False)  # type: ignore[arg-type]
    if strategy == "importance":
        # Half a memory more, so that the rounding of a quotient costs none.
        drop = (len(snapshot) - size + 0.5) / len(snapshot) if size < len(snapshot) else 0.0
        return replace(changed, fraction=min(drop, np.nextafter(1.0, 0.0)))
    if strategy == "temporal":
        return replace(changed, minimum_weight=_minimum_weight(snapshot, size, base.decay))
    return changed


def _minimum_weight(snapshot: Snapshot, size: int, decay: float) -> float:
    """The minimum weight with which temporal decay ends nearest to a size.

    Memories of one session go together, so that not every size can be met.
    """
    free = ~snapshot.columns.pinned
    weights = np.minimum(time_weights(snapshot, decay)[free], 1.0)
    if not len(weights):
        return 0.0
    levels = np.unique(weights)
    kept = len(snapshot) - np.searchsorted(np.sort(weights), levels)
    candidates = np.concatenate([[0.0], levels])
    sizes = np.concatenate([[len(snapshot)], kept])
    return float(candidates[np.abs(sizes - size).argmin()])
