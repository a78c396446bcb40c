"""What a format is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memory_core.run_records import Trajectory
from memory_core.trajectories.source import Source


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write runs down."""

    name: str
    matches: Callable[[Source], bool]
    """Whether a text looks like it; cheap, and never wrong about a version key."""
    read: Callable[[Source], Iterable[Trajectory]]
    """The runs in a text that matches."""
