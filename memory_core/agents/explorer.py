"""An agent without a language model: it tries what is new, and what its memories speak for.

It knows no game. What it learns within one it forgets at the next; what lasts is in the bank.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memory_core.agents.guidance import Guidance, Weights
from memory_core.errors import LoopError
from memory_core.loop_records import Action, Observation, Task
from memory_core.retrieval import Hit
from memory_core.text_games.commands import command_of


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """How the explorer weighs commands, with or without memories."""

    temperature: float = 0.5
    """Of the softmax by which it chooses."""
    here: float = -2.0
    """For each time, up to three, that the command was tried in this very state."""
    again: float = -0.8
    """For each time, up to four, that it was tried in this game."""
    worn: float = -0.5
    """Times the root of the uses of its template."""
    fresh: float = 0.5
    """For a command that has just become admissible for the first time."""
    telling: float = 2.0
    """Times the share of the template's uses that changed anything …"""
    hope: float = 1.0
    """… as if it had done so in one use more, by this much."""
    guidance: Weights = field(default_factory=Weights)


FOLLOWED = 1.1
"""A memory counts as followed when the chosen command is so many times likelier by it."""


class Explorer:
    """Plays text games that tell their admissible commands."""

    name = "explorer"

    def __init__(self, settings: ExplorerSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or ExplorerSettings()
        self.seed = seed
        self.begin(Task(""), "", ())

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        """Forget the last game. The same seed and task give the same chances."""
        # The memories do not touch the seed: with and without them, the luck is the same.
        self._chance = np.random.default_rng((self.seed, zlib.crc32(task.name.encode())))
        memories = [hit.memory for hit in hits]
        self._guidance = Guidance(memories, task.text, self.settings.guidance)
        self._last: tuple[str, Observation] | None = None
        self._known: set[str] = set()
        self._tried: Counter[str] = Counter()
        self._tried_here: Counter[tuple[str, str]] = Counter()
        self._used: Counter[str] = Counter()
        self._told: Counter[str] = Counter()

    def act(self, observation: Observation) -> Action:
        """The next command. Raises LoopError where no admissible ones are told."""
        if not observation.actions:
            raise LoopError("The explorer needs an environment that tells admissible commands.")
        self._learn(observation)
        commands = observation.actions
        own = self._own(observation)
        said = self._guidance.says(observation)
        chances = self._chances(own + _sum(said, commands))
        at = int(np.searchsorted(np.cumsum(chances), self._chance.random(), side="right"))
        at = min(at, len(commands) - 1)
        self._note(commands[at], observation)
        return Action(commands[at], followed=self._followed(own, said, commands, at, chances[at]))

    # -- within one game ----------------------------------------------------------------------

    def _learn(self, now: Observation) -> None:
        if self._last is None:
            return
        command, before = self._last
        template = command_of(command).template
        self._used[template] += 1
        changed = (before.description, before.inventory) != (now.description, now.inventory)
        self._told[template] += changed
        self._guidance.note(command, before, now)

    def _note(self, command: str, seen: Observation) -> None:
        self._known.update(seen.actions)
        self._tried[command] += 1
        self._tried_here[_state(seen), command] += 1
        self._last = command, seen

    def _own(self, seen: Observation) -> NDArray[np.float64]:
        """What the explorer itself thinks of each admissible command."""
        s, state = self.settings, _state(seen)
        values = np.zeros(len(seen.actions))
        for at, command in enumerate(seen.actions):
            template = command_of(command).template
            uses = self._used[template]
            values[at] = (
                s.here * min(self._tried_here[state, command], 3)
                + s.again * min(self._tried[command], 4)
                + s.worn * uses**0.5
                + s.fresh * (bool(self._known) and command not in self._known)
                + s.telling * (self._told[template] + s.hope) / (uses + 1)
            )
        return values

    def _chances(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        odds = np.exp((values - values.max()) / self.settings.temperature)
        return np.asarray(odds / odds.sum())

    def _followed(
        self,
        own: NDArray[np.float64],
        said: Mapping[int, Mapping[str, float]],
        commands: Sequence[str],
        at: int,
        chance: float,
    ) -> tuple[int, ...]:
        """The memories without which the chosen command would have been less likely."""
        return tuple(
            memory_id
            for memory_id, row in said.items()
            if row and chance >= FOLLOWED * self._chances(own + _sum(said, commands, memory_id))[at]
        )


def _state(seen: Observation) -> str:
    return f"{seen.description}\n{seen.inventory}"


def _sum(
    said: Mapping[int, Mapping[str, float]], commands: Sequence[str], without: int | None = None
) -> NDArray[np.float64]:
    """What all memories, or all but one, add to each command."""
    rows = [row for memory_id, row in said.items() if memory_id != without]
    return np.array([sum(row.get(text, 0.0) for row in rows) for text in commands])
