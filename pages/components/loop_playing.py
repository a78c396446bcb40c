"""Games played one after another beside the page, which watches them; they can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory_core import (
    AboveRunningMean,
    Agent,
    Began,
    Ended,
    Episode,
    Event,
    Failed,
    Finished,
    MemoryBank,
    MemoryCoreError,
    Planned,
    RetrievalSettings,
    Stepped,
    Task,
    TextWorldEnvironment,
    run_episode,
)
from pages.components import jobs

SETTINGS = RetrievalSettings(per_kind=3)
"""So that procedures, of which there are many, do not crowd out the lesson on verbs."""
GIVES_UP = 2
"""Games that fail one after another, after which no more are played."""
TICK = 0.1
"""Seconds after which a slow game looks whether it is to stop."""


@dataclass(frozen=True)
class Game:
    """One that is to be played."""

    family: str
    number: int
    """The seed that it is made from."""
    memory: bool


@dataclass(eq=False)
class Playing:
    """The work of a job, and all that is known of it so far."""

    bank: MemoryBank
    agent: Callable[[], Agent]
    environment: Callable[[], TextWorldEnvironment]
    games: tuple[Game, ...]
    max_steps: int
    accept: bool
    """Whether lessons go into the bank at once; otherwise they wait in Review."""
    pace: float = 0.0
    """Seconds between two steps; may be changed while it goes on."""
    improved: AboveRunningMean = field(default_factory=AboveRunningMean)
    now: Episode | None = None
    """The game that is being played, or was last."""
    episodes: list[Episode] = field(default_factory=list)
    """Those that are over."""
    failures: list[str] = field(default_factory=list)
    """What went wrong in the game that is being played, or was last."""

    def __call__(self, tell: jobs.Progress) -> tuple[Episode, ...]:
        """Play them all."""
        try:
            self._play_all(tell)
        except (MemoryCoreError, jobs.Stopped):
            raise
        except Exception as error:
            raise MemoryCoreError(
                f"The games broke off ({type(error).__name__}: {error}). What was played before is "
                "kept."
            ) from error
        return tuple(self.episodes)

    def _play_all(self, tell: jobs.Progress) -> None:
        agent, environment = self.agent(), self.environment()
        with closing(environment), ExitStack() as after:
            if callable(end := getattr(agent, "close", None)):
                after.callback(end)
            for game in self.games:
                self._play(game, agent, environment, tell)
                if [one.ending for one in self.episodes[-GIVES_UP:]] == ["error"] * GIVES_UP:
                    break  # what fails twice in a row, such as a model without its key, fails again

    def _play(
        self, game: Game, agent: Agent, environment: TextWorldEnvironment, tell: jobs.Progress
    ) -> None:
        name = f"{game.family} {game.number}"
        self.now = Episode(
            Task("", name), agent.name, game.memory, self.bank.epoch, "stopped", None
        )  # fmt: skip
        self.failures.clear()
        self._tell(tell)
        task = environment.task(game.family, game.number)
        self.now = replace(self.now, task=task)
        events = run_episode(
            agent, environment, task, self.bank, settings=SETTINGS,
            max_steps=self.max_steps, accept=self.accept, memory=game.memory,
            improved=self.improved,
        )  # fmt: skip
        with closing(events):  # where it is stopped, the steps so far are kept
            for event in events:
                self.now = seen(self.now, event)
                if isinstance(event, Failed):
                    self.failures.append(event.error)
                if isinstance(event, Finished):
                    self.episodes.append(event.episode)
                if isinstance(event, Ended) and not game.memory:
                    # It is there to compare with: what it would teach must not help the others.
                    self.episodes.append(self.now)
                    break
                self._tell(tell)
                if isinstance(event, Stepped | Began):
                    self._wait(tell)

    def _tell(self, tell: jobs.Progress) -> None:
        steps = len(self.now.steps) if self.now else 0
        over = len(self.episodes)
        within = steps / self.max_steps if over < len(self.games) else 0.0
        number = min(over + 1, len(self.games))
        preparing = ", which is being prepared" if self.now and self.now.first is None else ""
        share = (over + within) / len(self.games)
        tell(f"game {number} of {len(self.games)}{preparing}", share)

    def _wait(self, tell: jobs.Progress) -> None:
        begun = time.monotonic()
        while (left := self.pace - (time.monotonic() - begun)) > 0:
            time.sleep(min(left, TICK))
            self._tell(tell)


def seen(episode: Episode, event: Event) -> Episode:
    """What is known of a game after an event."""
    if isinstance(event, Planned):
        return replace(
            episode, epoch=event.epoch, injected=event.injected, injection=event.injection,
            retrieval_id=event.retrieval_id,
        )  # fmt: skip
    if isinstance(event, Began):
        return replace(episode, first=event.observation)
    if isinstance(event, Stepped):
        reward = event.step.observation.reward
        return replace(episode, steps=(*episode.steps, event.step), reward=reward)
    if isinstance(event, Ended):
        return replace(
            episode, ending=event.ending, success=event.success, reward=event.reward,
            trajectory_id=event.trajectory_id, error=event.error,
        )  # fmt: skip
    return event.episode if isinstance(event, Finished) else episode


def name(path: Path) -> tuple[str, str]:
    """Of the job that plays in a bank: one at a time, whoever started it."""
    return ("loop", str(path.resolve()))


def find(path: Path) -> tuple[jobs.Job, Playing] | None:
    """The games that are played in a bank, or were last."""
    job = jobs.find(name(path))
    if job is None or not isinstance(job.work, Playing):
        return None
    return job, job.work


def start(path: Path, work: Playing) -> None:
    """Begin, unless games are played in this bank already."""
    found: Any = jobs.find(name(path))
    if found is not None and found.done.is_set():
        jobs.forget(name(path))
    jobs.start(name(path), work)


def forget(path: Path) -> None:
    """Tell no more of the games that were played last."""
    jobs.forget(name(path))
