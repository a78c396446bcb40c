"""What a reflector is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.operations import Operation
from memory_core.reflection_records import RefusedDraft, TokenUsage
from memory_core.run_records import Trajectory
from memory_core.snapshot import Snapshot

Progress: TypeAlias = Callable[[str, float], None]
"""Called with what is being done and the share in [0, 1] that is done; it may raise to stop."""


def silent(doing: str, share: float) -> None:
    """No one listens."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the bank keeps it, without secrets."""

    id: str
    """What evidence cites."""
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class ReflectionContext:
    """What is known already."""

    snapshot: Snapshot
    """The memories that the bank holds."""
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    """n texts -> (n, dimension) unit rows."""
    domain: str = ""
    """What the lessons are about, where a person said so; the reflector's to say otherwise."""
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a reflector drew from runs."""

    operations: tuple[Operation, ...] = ()
    refused: tuple[RefusedDraft, ...] = ()
    notes: tuple[str, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)


class Reflector(Protocol):
    """Draws lessons from runs."""

    @property
    def name(self) -> str:
        """`rules`, or the language model's name."""

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """Lessons of each run on its own. Raises ReflectionError."""

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """What the better of several rollouts of one task did that the worse did not.

        Raises ReflectionError.
        """
