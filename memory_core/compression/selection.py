"""What a strategy decides: which memories stay, by which numbers, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.counting import count_of
from memory_core.settings import CompressionSettings, SettingsError
from memory_core.snapshot import Snapshot


class Reasons(Protocol):
    """The numbers that decided, one column for each: (n,) in the order of the snapshot's rows."""

    def sentence(self, row: int) -> str:
        """The numbers of one memory in words."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """What a strategy keeps of a snapshot."""

    kept: NDArray[np.bool_]
    """(n,) in the order of rows."""
    reasons: Reasons
    notes: tuple[str, ...] = ()


Strategy: TypeAlias = Callable[[Snapshot, CompressionSettings], Selection]


def worth_order(snapshot: Snapshot) -> NDArray[np.int64]:
    """All rows, the least worth keeping first: by confidence, then the less used, the older, and
    of equals in all that the later id.
    """
    c = snapshot.columns
    return np.lexsort((-np.arange(len(c)), c.epoch, c.usage_count, c.confidence))


def excess(snapshot: Snapshot, settings: CompressionSettings) -> int:
    """How many memories have to go to meet the capacity; 0 where none has.

    Raises SettingsError when the pinned ones alone exceed it.
    """
    pinned = int(np.count_nonzero(snapshot.columns.pinned))
    if pinned > settings.capacity:
        raise SettingsError(
            f"`capacity` is {settings.capacity}, but {count_of(pinned, 'memory')} "
            f"{'is' if pinned == 1 else 'are'} pinned and always stay. Raise it to {pinned} or "
            "more, or unpin some."
        )
    return max(len(snapshot) - settings.capacity, 0)


def keep_all_but(snapshot: Snapshot, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) true but for the rows given."""
    kept = np.ones(len(snapshot), dtype=np.bool_)
    kept[rows] = False
    return kept


def nothing_to_do(snapshot: Snapshot, settings: CompressionSettings) -> tuple[str, ...]:
    size = count_of(len(snapshot), "memory")
    return (f"Nothing to do: {size}, and a capacity of {settings.capacity}.",)


def heedless(strategy: str, kept: NDArray[np.bool_], settings: CompressionSettings) -> list[str]:
    """What is said of a strategy that does not heed the capacity."""
    notes = ["Nothing to do: the rule drops no memory."] if kept.all() else []
    if np.count_nonzero(kept) > settings.capacity:
        notes.append(
            f"Ends at {np.count_nonzero(kept)} memories, above the capacity of "
            f"{settings.capacity}, which {strategy} does not heed."
        )
    return notes
