"""What the record of a file asks for, in terms that all formats share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memory_core.records import Detail, Provenance

Action: TypeAlias = Literal["add", "modify", "merge", "delete"]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a record says, as far as a memory can hold it. Values are as they came: plans judge."""

    text: Any
    kind: Any = None
    """None where the source does not say; so is `domain`."""
    domain: Any = None
    detail: Detail | None = None
    confidence: Any = None
    """None: that of a new memory."""
    usage_count: Any = 0
    success_count: Any = 0
    epoch: Any = None
    """None: the bank's current session."""
    tags: tuple[Any, ...] = ()
    pinned: Any = False
    note: str = ""
    """What else of the record its memory's note keeps."""
    provenance: Provenance | None = None
    """Where the file tells all of it; None: it comes from an import."""


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """What one record of a file asks for."""

    where: str
    """Such as “line 3” or “record 3”."""
    action: Action = "add"
    lesson: Lesson | None = None
    """None for a deletion."""
    source_id: str = ""
    """How the source calls it."""
    targets: tuple[str, ...] = ()
    """The source's ids of what it changes, merges or deletes."""
    rationale: str = ""
    lost: tuple[str, ...] = ()
    """Fields of the record that a memory has no place for."""


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A record, or a part of it, that is not taken, and why."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where[:1].upper()}{self.where[1:]}: {self.message}"
