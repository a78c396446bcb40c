"""Importance: drop the least confident."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memory_core.compression.selection import Selection, heedless, keep_all_but, worth_order
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ConfidenceReasons:
    """Where each memory stands by confidence."""

    confidence: NDArray[np.float64]
    place: NDArray[np.int64]
    """Among those that may go, the least worth keeping at 1; 0 for the pinned."""
    dropped: int
    """Places from 1 to this go."""
    threshold: float | None
    """Confidence of the first that stays: the p-quantile where none is pinned. None if all go."""

    def sentence(self, row: int) -> str:
        own = f"Confidence {self.confidence[row]:.3g}"
        if self.threshold is None:
            return f"{own}; all that may go do."
        where = f"place {self.place[row]} from the bottom, of which {self.dropped} go"
        if self.confidence[row] == self.threshold:
            return f"{own}, at the threshold: {where}, the less used and older of equals first."
        return f"{own}, threshold {self.threshold:.3g}: {where}."


def importance(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """Drop exactly floor(p·n) of the unpinned, n counting all: the least confident, and of equals
    the less used, then the older.

    Whatever the capacity. p is taken as it is written, so that 0.29 of 100 is 29.
    """
    confidence, pinned = snapshot.columns.confidence, snapshot.columns.pinned
    order = worth_order(snapshot)
    order = order[~pinned[order]]
    wanted = int(Fraction(str(float(settings.fraction))) * len(snapshot))
    count = min(wanted, len(order))
    place = np.zeros(len(snapshot), dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    kept = keep_all_but(snapshot, order[:count])
    threshold = float(confidence[order[count]]) if count < len(order) else None
    notes = heedless("importance", kept, settings)
    if count < wanted:
        notes.append(f"{wanted} should go, but only {count} are not pinned.")
    reasons = ConfidenceReasons(confidence, place, count, threshold)
    return Selection(kept, reasons, tuple(notes))
