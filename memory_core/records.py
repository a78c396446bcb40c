"""The values that everything else passes around: memories, how they came to be, and revisions.

All are frozen and hold plain values. What can be derived is a property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["strategic", "procedural", "tool"]
KINDS: tuple[Kind, ...] = ("strategic", "procedural", "tool")

MAX_WORDS = 32
"""Longest text of a memory, in white-space separated words."""
MIN_CONFIDENCE, INITIAL_CONFIDENCE, MAX_CONFIDENCE = 0.05, 0.5, 0.95
DIMENSION = 384
"""Numbers in the vector of a text by the models that come along."""


def _strings(value: str | Sequence[str]) -> tuple[str, ...]:
    """A lone string is one item, not a sequence of letters."""
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, slots=True)
class StrategicDetail:
    """Of a strategic memory: the problem that the text answers."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProceduralDetail:
    """Of a procedural memory: its steps in order, and what must hold before the first."""

    steps: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _strings(self.steps))
        object.__setattr__(self, "preconditions", _strings(self.preconditions))


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """Of a tool memory: the tool's name and how it is called."""

    tool: str = ""
    usage: str = ""


Detail: TypeAlias = StrategicDetail | ProceduralDetail | ToolDetail
DETAIL_OF_KIND: Mapping[Kind, type[Detail]] = {
    "strategic": StrategicDetail,
    "procedural": ProceduralDetail,
    "tool": ToolDetail,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a lesson comes from: a trajectory and the numbers of the steps that bear it out."""

    trajectory_id: str
    steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))


Source: TypeAlias = Literal["manual", "import", "reflection", "merge"]
SOURCES: tuple[Source, ...] = ("manual", "import", "reflection", "merge")


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a memory came to be."""

    source: Source = "manual"
    evidence: tuple[Evidence, ...] = ()
    merged_from: tuple[int, ...] = ()
    """Ids of the memories that this one took the place of."""
    note: str = ""
    """Free text, such as the longer wording of an imported lesson."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", tuple(self.evidence))
        object.__setattr__(self, "merged_from", tuple(self.merged_from))

    @property
    def trajectory_ids(self) -> tuple[str, ...]:
        """The trajectories cited, each once, in order."""
        return tuple(dict.fromkeys(item.trajectory_id for item in self.evidence))


@dataclass(frozen=True, slots=True)
class Memory:
    """One lesson."""

    id: int
    """Positive, never reused; negative while only planned."""
    kind: Kind
    text: str
    """1 to 32 words; what is embedded and injected."""
    domain: str
    """A label, lower-case and trimmed."""
    detail: Detail | None = None
    confidence: float = INITIAL_CONFIDENCE
    """In [0.05, 0.95]."""
    usage_count: int = 0
    """Sessions in which it was retrieved and applied."""
    success_count: int = 0
    """Of those, the ones that it improved."""
    epoch: int = 0
    """Session index at creation."""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    """Survives every compression; never merged away unasked."""
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def success_rate(self) -> float | None:
        """`success_count / usage_count`, in [0, 1]; None when never applied."""
        return self.success_count / self.usage_count if self.usage_count else None

    @property
    def word_count(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit: who changed what, when and why."""

    number: int
    """1 for the first commit; 0 is the empty bank."""
    key: str
    """The batch's key: committing it again returns this revision."""
    kind: str
    """What sort of change: edit, import, outcome, undo, compression, session, …"""
    reason: str
    actor: str
    made_at_us: int
    """Microseconds since 1970-01-01 UTC."""
    epoch: int
    """Session index after this commit."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    size: int = 0
    """Memories in the bank after this commit."""
    ids: Mapping[int, int] = field(default_factory=dict)
    """Provisional (negative) id in the plan -> id in the bank."""

    @property
    def made_at(self) -> datetime:
        return datetime.fromtimestamp(self.made_at_us / 1e6, tz=UTC)


@dataclass(frozen=True, slots=True)
class ConfidencePoint:
    """A confidence that a memory had from some revision on."""

    revision: int
    epoch: int
    """Session index of that revision."""
    confidence: float


Action: TypeAlias = Literal["added", "changed", "removed", "merged", "restored"]


@dataclass(frozen=True, slots=True)
class Change:
    """One memory, before and after. `before` is None when it is new, `after` when it left."""

    memory_id: int
    action: Action
    before: Memory | None
    after: Memory | None
    revision: Revision | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """What distinguishes two revisions, by ascending memory id."""

    old: int | None
    """Number of the revision; None for a plan. So is `new`."""
    new: int | None
    added: tuple[Memory, ...]
    removed: tuple[Memory, ...]
    changed: tuple[Change, ...]

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


@dataclass(frozen=True, slots=True)
class DistinctPair:
    """Two memories that look alike and are no duplicates: a person said so."""

    first: int
    """The lower id."""
    second: int
    actor: str
    made_at_us: int

    @property
    def ids(self) -> tuple[int, int]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class BankSettings:
    """What a bank remembers about itself."""

    name: str = ""
    """Shown in place of the file's name when not empty."""
    capacity: int = 500
    """Size above which compression has something to do."""
