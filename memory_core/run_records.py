"""What an agent did: steps, how it ended, and what is told of a run that is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run; a tool call and its result are one assistant step."""

    number: int
    """Position in the source, from 1."""
    role: Role
    text: str = ""
    tool: str = ""
    arguments: str = ""
    """The call's arguments, as JSON text or as written."""
    observation: str = ""
    error: str = ""
    """What went wrong, where the source marks a result as an error."""
    unmatched: Literal["", "call", "result"] = ""
    """A call whose result the source does not hold, or a result whose call it does not hold."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended; None where the source does not say."""

    success: bool | None = None
    reward: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run of an agent."""

    task: str
    steps: tuple[Step, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    agent: str = ""
    model: str = ""
    children: tuple[Trajectory, ...] = ()
    """Runs of sub-agents."""
    name: str = ""
    """What the source calls the run: a session, an instance, a number of a task and a trial."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "children", tuple(self.children))


@dataclass(frozen=True, slots=True)
class TrajectorySummary:
    """A run that a bank keeps, without its steps."""

    id: str
    """What evidence cites."""
    task: str
    """Its first 2,000 characters."""
    step_count: int
    """Without those of sub-agents."""
    outcome: Outcome
    format: str
    """By which format it was read; empty where that is not known."""
    actor: str
    made_at_us: int
    name: str = ""
    agent: str = ""
    model: str = ""
