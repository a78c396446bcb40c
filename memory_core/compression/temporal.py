"""Temporal decay: drop what was learned long ago."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.compression.selection import Selection, heedless
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot

LARGEST_EXPONENT = 700.0
"""exp of more is infinite; reached only by a memory from some 14,000 sessions ahead."""


@dataclass(frozen=True, slots=True)
class WeightReasons:
    """How much each memory weighs by its age."""

    age: NDArray[np.int64]
    """Sessions since its creation."""
    weight: NDArray[np.float64]
    minimum: float
    """What weighs less goes."""

    def sentence(self, row: int) -> str:
        versus = "below" if self.weight[row] < self.minimum else "not below"
        return (
            f"Weight {self.weight[row]:.3g} at an age of {self.age[row]} sessions, {versus} the "
            f"minimum of {self.minimum:.3g}."
        )


def ages(snapshot: Snapshot) -> NDArray[np.int64]:
    """(n,) sessions since each memory's creation."""
    return snapshot.epoch - snapshot.columns.epoch


def time_weights(snapshot: Snapshot, decay: float) -> NDArray[np.float64]:
    """(n,) w = exp(−λ·(k_now − k))."""
    weights: NDArray[np.float64] = np.exp(np.minimum(-decay * ages(snapshot), LARGEST_EXPONENT))
    return weights


def temporal(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """Drop the unpinned with w < w_min, whatever the capacity."""
    weight = time_weights(snapshot, settings.decay)
    kept = snapshot.columns.pinned | (weight >= settings.minimum_weight)
    reasons = WeightReasons(ages(snapshot), weight, settings.minimum_weight)
    return Selection(kept, reasons, tuple(heedless("temporal decay", kept, settings)))
