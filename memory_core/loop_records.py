"""What passes between an agent, its environment and the loop, and what an episode leaves.

All are plain values: a page, a log or a file can hold them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from memory_core.operations import Operation
from memory_core.records import Kind


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is to do."""

    text: str
    """In words; what memories are retrieved for."""
    name: str = ""
    """By which its environment knows it, such as `cooking/test/7`; empty where the text is all."""
    domain: str = ""
    """What lessons from it are about; empty leaves that to the reflector."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What an environment answers."""

    text: str
    actions: tuple[str, ...] = ()
    """The admissible ones; empty where the environment does not say."""
    reward: float = 0.0
    """The whole so far, not what the last action gained."""
    done: bool = False
    success: bool | None = None
    """Known once it is done, and not always then."""
    description: str = ""
    """The surroundings, where the environment tells them apart from its answer."""
    inventory: str = ""
    """What the agent carries, likewise."""


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent does."""

    text: str
    thought: str = ""
    """Why, where it says."""
    followed: tuple[int, ...] = ()
    """Ids of the injected memories that spoke for it."""


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """An action and the environment's answer."""

    number: int
    """From 1."""
    action: Action
    observation: Observation
    gain: float = 0.0
    """Reward that this step brought."""


@dataclass(frozen=True, slots=True)
class Injected:
    """A memory as it was when it was injected."""

    id: int
    rank: int
    """From 1; it stands as [G rank-1] in the block."""
    score: float
    kind: Kind
    text: str
    confidence: float


Ending: TypeAlias = Literal["success", "failure", "done", "steps", "time", "stopped", "error"]
"""How an episode ended. `done`: the environment ended it and does not say how; `steps`: the
limit of steps was reached; `time`: the limit of time; `stopped`: by a person; `error`: the agent
or the environment failed."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One session of the loop, whole."""

    task: Task
    agent: str
    memory: bool
    """Whether memories were retrieved and injected."""
    epoch: int
    """The bank's session index."""
    ending: Ending
    success: bool | None
    """None where the environment does not say, and where it was cut short."""
    reward: float = 0.0
    """At its end."""
    first: Observation | None = None
    """What the agent saw before its first step."""
    steps: tuple[EpisodeStep, ...] = ()
    injected: tuple[Injected, ...] = ()
    injection: str = ""
    """The block as the agent got it."""
    retrieval_id: str = ""
    """Of the row in the ledger; empty without memory or when nothing was to be learned."""
    trajectory_id: str = ""
    """Under which the bank keeps the run; empty when nothing was to be learned."""
    improved: bool | None = None
    """The recorded outcome; None where none was recorded."""
    outcome_revision: int | None = None
    """The revision in which the outcome moved confidence."""
    proposal_ids: tuple[int, ...] = ()
    """What reflection proposed."""
    lessons: tuple[str, ...] = ()
    """The texts of these proposals."""
    revision: int | None = None
    """The revision that accepted them; None while they wait for a person."""
    error: str = ""
    """What failed, in words; empty where nothing did."""
    seconds: float = 0.0

    @property
    def followed(self) -> tuple[int, ...]:
        """Ids of the injected memories that spoke for an action, each once, in order of use."""
        used = (memory_id for step in self.steps for memory_id in step.action.followed)
        return tuple(dict.fromkeys(used))


# -- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Planned:
    """Memories were retrieved and the block for the agent's prompt is made. The first event."""

    task: Task
    epoch: int
    injected: tuple[Injected, ...] = ()
    injection: str = ""
    retrieval_id: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """The environment is reset; this is what the agent sees first."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class Stepped:
    """The agent acted and the environment answered."""

    step: EpisodeStep


@dataclass(frozen=True, slots=True)
class Ended:
    """No step follows. The run is kept."""

    ending: Ending
    success: bool | None
    reward: float
    trajectory_id: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeRecorded:
    """Confidence of the memories that were followed has moved."""

    improved: bool
    applied: tuple[int, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class Reflected:
    """What the reflector drew from the run."""

    operations: tuple[Operation, ...] = ()
    refused: tuple[str, ...] = ()
    """Why something that the reflector said is no lesson."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memorized:
    """The lessons wait as proposals, or are in the bank."""

    proposal_ids: tuple[int, ...]
    revision: int | None = None
    """The revision that accepted them; None while they wait for a person."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong; what could be kept is kept, and the episode goes on to its end."""

    doing: str
    """plan, reset, act, step, keep, outcome, reflect or memorize."""
    error: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event."""

    episode: Episode = field(repr=False)


Event: TypeAlias = (
    Planned | Began | Stepped | Ended | OutcomeRecorded | Reflected | Memorized | Failed | Finished
)
