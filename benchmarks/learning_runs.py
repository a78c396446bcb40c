"""One run of learning.py: an explorer trains a bank, then plays unseen games on it, frozen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from learning_banks import scrambled

from memory_core import Episode, MemoryBank, RetrievalSettings, Task
from memory_core.agents.explorer import Explorer
from memory_core.environments.textworld import TextWorldEnvironment
from memory_core.experiment import LessonPoint, episode_to_dict, recorded
from memory_core.loop import AboveRunningMean, last_episode, run_episode
from memory_core.reflection.text_games import TextGameReflector
from memory_core.serialization import memory_to_dict

SETTINGS = RetrievalSettings(per_kind=3)
"""So that procedures do not crowd out the one lesson on verbs and the one warning."""
CHECKED = (1, 2, 4, 8, 16)
"""Training games after which the bank is tried on a few held-out ones."""


@dataclass(frozen=True)
class Design:
    """What the runs on a family measure."""

    family: str
    limit: int
    """Steps allowed."""
    seeds: int
    """Runs, each with a bank of its own."""
    training: int
    held_out: int
    on_curve: int
    """Held-out games on which the curve is measured."""
    longer: int = 0
    """Another limit, at which on and off are compared as well."""
    lenders: Mapping[str, str] | None = None
    """Arms with the bank of another family: the arm -> that family."""


@dataclass(frozen=True)
class Played:
    """One held-out game."""

    arm: str
    game: str
    seed: int
    limit: int
    taken: int
    won: bool
    lost: bool

    @property
    def cost(self) -> int:
        """Steps to the win; the limit where there was none."""
        return self.taken if self.won else self.limit


def train(
    bank: MemoryBank,
    environment: TextWorldEnvironment,
    tasks: Iterable[Task],
    seed: int,
    limit: int,
) -> Iterator[Episode]:
    """Training games, whose lessons are accepted as they come."""
    agent, reflector, improved = Explorer(seed=seed), TextGameReflector(), AboveRunningMean()
    for task in tasks:
        events = run_episode(
            agent, environment, task, bank,
            settings=SETTINGS, reflector=reflector, max_steps=limit, accept=True, improved=improved,
        )  # fmt: skip
        yield _whole(last_episode(events))


def play(
    bank: MemoryBank, environment: TextWorldEnvironment, task: Task, seed: int, limit: int, *,
    memory: bool,
) -> Episode:  # fmt: skip
    """A held-out game, of which the bank learns nothing."""
    agent = Explorer(seed=seed)
    events = run_episode(
        agent,
        environment,
        task,
        bank,
        settings=SETTINGS,
        max_steps=limit,
        memory=memory,
        learn=False,
    )
    return _whole(last_episode(events))


def _whole(episode: Episode) -> Episode:
    if episode.error:
        raise RuntimeError(f"{episode.task.name}: {episode.error}")
    return episode


@dataclass
class Notebook:
    """What a run has found so far, as plain values."""

    environment: TextWorldEnvironment
    seed: int
    rows: list[dict[str, Any]]
    episodes: list[dict[str, Any]]
    courses: dict[int, list[dict[str, Any]]]

    def keep(self, arm: str, phase: str, number: int, episode: Episode) -> None:
        plain = episode_to_dict(recorded(episode))
        self.episodes.append({"arm": arm, "phase": phase, "number": number, "episode": plain})

    def follow(self, bank: MemoryBank, game: int) -> None:
        """Note how each lesson stands after a training game."""
        for m in bank.snapshot():
            point = LessonPoint(game, m.confidence, m.usage_count, m.success_count)
            self.courses.setdefault(m.id, []).append(asdict(point))

    def measure(
        self, bank: MemoryBank, arm: str, limit: int, tasks: Sequence[Task], *,
        memory: bool = True, keep: bool = False,
    ) -> None:  # fmt: skip
        for number, task in enumerate(tasks, 1):
            episode = play(bank, self.environment, task, self.seed, limit, memory=memory)
            lost = episode.ending == "failure"
            won = episode.success is True
            row = Played(arm, task.name, self.seed, limit, len(episode.steps), won, lost)
            self.rows.append(asdict(row))
            if keep:
                self.keep(arm, "held out", number, episode)


def begin(job: tuple[Any, ...]) -> dict[str, Any]:
    """`run` for a pool of processes."""
    return run(*job)


def run(
    design: Design,
    seed: int,
    training: Sequence[Task],
    held_out: Sequence[Task],
    lent: Mapping[str, Sequence[Task]],
) -> dict[str, Any]:
    """Train one bank and measure it. `lent` holds the training games of other banks."""
    begun = time.monotonic()
    limit = design.limit
    with TemporaryDirectory() as folder, TextWorldEnvironment() as environment:
        book = Notebook(environment, seed, [], [], {})
        bank = MemoryBank.open(Path(folder, "own.duckdb"), actor="explorer")
        for game, episode in enumerate(train(bank, environment, training, seed, limit), 1):
            book.keep("on", "training", game, episode)
            book.follow(bank, game)
            if game in CHECKED:
                book.measure(bank, f"after {game}", limit, held_out[: design.on_curve])
        trained = time.monotonic() - begun

        book.measure(bank, "on", limit, held_out, keep=True)
        book.measure(bank, "off", limit, held_out, memory=False, keep=True)
        mixed = scrambled(bank, Path(folder, "scrambled.duckdb"), seed)
        book.measure(mixed, "scrambled", limit, held_out, keep=True)
        for arm, tasks in lent.items():
            other = MemoryBank.open(Path(folder, f"{arm}.duckdb"), actor="explorer")
            for _ in train(other, environment, tasks, seed, limit):
                pass
            book.measure(other, arm, limit, held_out)
        if design.longer:
            book.measure(bank, "on", design.longer, held_out)
            book.measure(bank, "off", design.longer, held_out, memory=False)
        lessons = [memory_to_dict(memory) for memory in bank.snapshot()]
    return {
        "family": design.family,
        "seed": seed,
        "rows": book.rows,
        "episodes": book.episodes,
        "courses": book.courses,
        "lessons": lessons,
        "training_seconds": round(trained, 1),
        "seconds": round(time.monotonic() - begun, 1),
    }
