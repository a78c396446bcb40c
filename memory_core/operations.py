"""The operations of a batch. They may hold anything: `plan` refuses what breaks a rule, visibly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from memory_core.records import (
    INITIAL_CONFIDENCE,
    Change,
    Detail,
    Evidence,
    Kind,
    Memory,
    Provenance,
    Revision,
)


@dataclass(frozen=True, slots=True)
class Add:
    """A new memory. Its id follows the order of operations."""

    text: str
    kind: Kind
    domain: str
    detail: Detail | None = None
    confidence: float = INITIAL_CONFIDENCE
    usage_count: int = 0
    success_count: int = 0
    tags: tuple[str, ...] = ()
    pinned: bool = False
    epoch: int | None = None
    """Session of creation; None for the bank's current one."""
    provenance: Provenance = field(default_factory=Provenance)
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Modify:
    """Change a memory under its id; confidence, counts and epoch stay. None keeps a field."""

    id: int
    text: str | None = None
    detail: Detail | None = None
    domain: str | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Take a memory out. Its past revisions keep it."""

    id: int
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """Put one new memory in the place of two or more.

    Its confidence is the maximum of theirs, its counts the sums, its epoch the current one, and
    it is pinned if any of them was. What is None comes from the most confident source that has
    it (tags: the union).
    """

    ids: tuple[int, ...]
    text: str
    kind: Kind | None = None
    domain: str | None = None
    detail: Detail | None = None
    tags: tuple[str, ...] | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.ids, Iterable):
            object.__setattr__(self, "ids", tuple(self.ids))


@dataclass(frozen=True, slots=True)
class Adjust:
    """Set confidence and counts. Only the library builds it, from outcomes."""

    id: int
    confidence: float
    usage_count: int
    success_count: int
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a memory back as it was, under its old id. Only the library builds it, for undo."""

    memory: Memory
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def id(self) -> int:
        """The old id, under which the memory comes back."""
        return self.memory.id


Operation: TypeAlias = Add | Modify | Delete | Merge | Adjust | Restore


@dataclass(frozen=True, slots=True)
class Batch:
    """Operations that are planned, shown and committed together: all or nothing."""

    operations: tuple[Operation, ...]
    reason: str = ""
    base_revision: int | None = None
    """The revision its author saw. Operations on memories changed since are refused."""
    kind: str = "edit"
    """What sort of change: edit, import, outcome, undo, compression, session, …"""
    key: str = field(default_factory=lambda: uuid4().hex)
    """Random; committing the same key again returns the revision it made."""
    starts_epoch: bool = False
    """Whether the commit begins a new session."""
    undoes: tuple[int, ...] = ()
    """Numbers of the revisions that it takes back; what was accepted in them then waits again."""

    def __post_init__(self) -> None:
        given = self.operations
        alone = not isinstance(given, Iterable)
        object.__setattr__(self, "operations", (given,) if alone else tuple(given))


COPIES_REFUSED = frozenset({"import", "reflection"})
"""Kinds of batches in which an exact copy is refused; elsewhere it is a lint."""


def touched_ids(operation: Operation) -> tuple[int, ...]:
    """Ids of the existing memories that an operation reads or changes."""
    if isinstance(operation, Merge):
        return operation.ids if isinstance(operation.ids, tuple) else ()
    touched = getattr(operation, "id", None)  # an Add has none, nor has what is no operation
    return () if touched is None else (touched,)


@dataclass(frozen=True, slots=True)
class Commit:
    """A planned change, ready to be written."""

    batch_key: str
    kind: str
    reason: str
    actor: str
    made_at_us: int
    base_revision: int
    """The revision that the plan was made against."""
    base_key: str
    """The key of the batch that made it; empty where that is not known."""
    touched: tuple[int, ...]
    """Ids that the plan rests on; the commit is stale when one has changed since."""
    removed: tuple[int, ...]
    put: tuple[Memory, ...]
    """New (negative ids, in order of creation) and changed memories, whole."""
    vectors: Mapping[str, NDArray[np.float32]]
    """The unit vector of each text in `put`."""
    changes: tuple[Change, ...]
    """For the history: by what each memory was touched, and why."""
    starts_epoch: bool = False
    fresh: tuple[str, ...] = ()
    """Texts that no memory may have got since the base revision; the commit is stale otherwise."""


ProposalState: TypeAlias = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An operation that waits for a person."""

    id: int
    group: str
    """The key of the batch that it was proposed in."""
    operation: Operation
    reason: str
    source: str
    """Where it comes from: reflection, import, duplicates, agent."""
    actor: str
    made_at_us: int
    base_revision: int
    state: ProposalState = "pending"
    decided_by: str = ""
    decision_reason: str = ""
    decided_at_us: int | None = None
    revision: int | None = None
    """The revision that its acceptance made; of one that waits, the one that took this back."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What came of proposals that were to be accepted as far as they fit."""

    ids: tuple[int, ...]
    """Those that were."""
    revision: Revision | None
    """What it made; None where none fits."""
    left: Mapping[int, str]
    """Why each of the others goes on waiting."""
