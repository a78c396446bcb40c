"""A random choice: the baseline that every other strategy has to beat. For comparison only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.compression.selection import Selection, excess, keep_all_but, nothing_to_do
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DrawReasons:
    """The number that each memory drew, in [0, 1)."""

    draw: NDArray[np.float64]
    seed: int

    def sentence(self, row: int) -> str:
        return f"Drew {self.draw[row]:.3f} with seed {self.seed}; the lowest go."


def random(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """Drop the unpinned that drew the lowest numbers, down to the capacity."""
    count = excess(snapshot, settings)
    draw = np.random.default_rng(settings.seed).random(len(snapshot))
    order = np.argsort(draw, kind="stable")
    order = order[~snapshot.columns.pinned[order]]
    notes = () if count else nothing_to_do(snapshot, settings)
    reasons = DrawReasons(draw, settings.seed)
    return Selection(keep_all_but(snapshot, order[:count]), reasons, notes)
