"""The experiment on whether memory helps, as a record: what each arm reached, how it grew, and the
games and lessons of one run. It is made by `benchmarks/learning.py` and shown on the page Loop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from memory_core.errors import StoreCorruptError
from memory_core.loop_records import (
    Action,
    Episode,
    EpisodeStep,
    Injected,
    Observation,
    Task,
)
from memory_core.metrics import Estimate
from memory_core.places import data
from memory_core.records import Memory
from memory_core.serialization import memory_from_dict, memory_to_dict

FILE = "experiment.json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArmResult:
    """What one way of playing reached on the held-out games; intervals are of 95 %."""

    name: str
    """on, off, unrelated, scrambled, transfer …"""
    title: str
    """In words: `with memory`."""
    games: int
    """Held-out games over all seeds."""
    success: Estimate
    """Share that was won."""
    steps: Estimate
    """Mean steps; a game that was not won counts as the limit."""
    ratio: Estimate | None = None
    """Steps without memory over steps of this arm; None for the arm without memory itself."""
    within_20: Estimate | None = None
    """Share that was won within 20 steps."""
    lost: Estimate | None = None
    """Share that was lost, rather than out of steps."""
    gain: Estimate | None = None
    """Share that was won, less that without memory."""
    limit: int = 0
    """Of steps, where it is another than the family's."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How an arm does after some training games."""

    arm: str
    games: int
    """Training games before it."""
    steps: Estimate
    success: Estimate


@dataclass(frozen=True, slots=True)
class LessonPoint:
    """A lesson after a training game."""

    game: int
    """Number of the training game, from 1."""
    confidence: float
    usage_count: int
    success_count: int


@dataclass(frozen=True, slots=True)
class LessonCourse:
    """How a lesson fared over the training."""

    memory_id: int
    points: tuple[LessonPoint, ...]


@dataclass(frozen=True, slots=True)
class ExperimentFamily:
    """One kind of game, with all that was found on it."""

    name: str
    title: str
    about: str
    """In a sentence: what is played, and how training and test differ."""
    limit: int
    """Of steps in a game."""
    training: int
    """Training games of a seed."""
    held_out: int
    """Held-out games of a seed."""
    seeds: int
    arms: tuple[ArmResult, ...]
    curve: tuple[CurvePoint, ...] = ()
    episodes: tuple[Episode, ...] = ()
    """Games of one seed, in the order in which they were played."""
    lessons: tuple[Memory, ...] = ()
    """The bank of that seed after its training."""
    courses: tuple[LessonCourse, ...] = ()
    """Of these lessons, while they were learned."""
    captions: tuple[str, ...] = ()
    """For each of the episodes, why it is worth a look."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """All families, and how they were made."""

    command: str
    """As it was typed."""
    made_at: str
    """A date: 2026-11-30."""
    machine: str
    families: tuple[ExperimentFamily, ...]
    notes: tuple[str, ...] = ()
    """Sentences on what was found, also where it is less than was hoped for."""


def read_experiment(folder: Path | None = None) -> Experiment | None:
    """The record that came with this copy of Winnow; None where there is none.

    Raises StoreCorruptError for a file that is no such record.
    """
    file = (data() / "experiment" if folder is None else folder) / FILE
    if not file.is_file():
        return None
    try:
        return experiment_from_dict(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreCorruptError(
            f"{file} is no record of an experiment ({type(error).__name__}: {error}). Make it "
            "anew with `python benchmarks/learning.py --record {file.parent}`."
        ) from error


def write_experiment(experiment: Experiment, folder: Path | None = None) -> Path:
    """Write the record, in place of one that is there; the file."""
    folder = data() / "experiment" if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE
    text = json.dumps(experiment_to_dict(experiment), ensure_ascii=False, separators=(",", ":"))
    file.write_text(text + "\n", encoding="utf-8")
    return file


def recorded(episode: Episode) -> Episode:
    """An episode without what a reader of the record does not see: surroundings told twice."""
    steps = tuple(replace(step, observation=_short(step.observation)) for step in episode.steps)
    return replace(episode, first=episode.first and _short(episode.first), steps=steps)


def _short(seen: Observation) -> Observation:
    return replace(seen, description="", inventory="")


# -- to JSON and back -----------------------------------------------------------------------------


def experiment_to_dict(experiment: Experiment) -> dict[str, Any]:
    """Plain JSON values; `experiment_from_dict` is its inverse."""
    plain: dict[str, Any] = _without_defaults(replace(experiment, families=()))
    plain["families"] = [_family_to_dict(family) for family in experiment.families]
    return plain


def _family_to_dict(family: ExperimentFamily) -> dict[str, Any]:
    plain: dict[str, Any] = _without_defaults(replace(family, episodes=(), lessons=()))
    plain["episodes"] = [_without_defaults(episode) for episode in family.episodes]
    plain["lessons"] = [memory_to_dict(memory) for memory in family.lessons]
    return plain


def _without_defaults(record: Any) -> Any:
    """A record as a dict, without the fields that are at their defaults, at every depth."""
    if isinstance(record, tuple):
        return [_without_defaults(item) for item in record]
    if not hasattr(record, "__dataclass_fields__"):
        return record
    return {
        f.name: _without_defaults(value)
        for f in fields(record)
        if (value := getattr(record, f.name)) != f.default
    }


def experiment_from_dict(value: Mapping[str, Any]) -> Experiment:
    return _made(Experiment, value, families=_family_from_dict, notes=str)


def _family_from_dict(value: Mapping[str, Any]) -> ExperimentFamily:
    return _made(
        ExperimentFamily, value, arms=_arm_from_dict, curve=_point_from_dict,
        episodes=episode_from_dict, lessons=memory_from_dict, courses=_course, captions=str,
    )  # fmt: skip


def _arm_from_dict(value: Mapping[str, Any]) -> ArmResult:
    return _made(
        ArmResult, value, success=_estimate, steps=_estimate, ratio=_estimate,
        within_20=_estimate, lost=_estimate, gain=_estimate,
    )  # fmt: skip


def _point_from_dict(value: Mapping[str, Any]) -> CurvePoint:
    return _made(CurvePoint, value, steps=_estimate, success=_estimate)


def _course(value: Mapping[str, Any]) -> LessonCourse:
    return _made(LessonCourse, value, points=lambda point: LessonPoint(**point))


def _estimate(value: Mapping[str, Any]) -> Estimate:
    return Estimate(**value)


def episode_to_dict(episode: Episode) -> dict[str, Any]:
    """Plain JSON values; `episode_from_dict` is its inverse."""
    return dict(_without_defaults(episode))


def episode_from_dict(value: Mapping[str, Any]) -> Episode:
    return _made(
        Episode, value, task=lambda task: Task(**task), first=_observation, steps=_step,
        injected=lambda one: Injected(**one), proposal_ids=int, lessons=str,
    )  # fmt: skip


def _step(value: Mapping[str, Any]) -> EpisodeStep:
    return _made(EpisodeStep, value, action=_action, observation=_observation)


def _action(value: Mapping[str, Any]) -> Action:
    return _made(Action, value, followed=int)


def _observation(value: Mapping[str, Any]) -> Observation:
    return _made(Observation, value, actions=str)


def _made(record: type[T], value: Mapping[str, Any], **readers: Any) -> T:
    """A record of a dict; `readers` read what is no plain value, each item of a list alone."""
    plain = dict(value)
    for name, read in readers.items():
        held = plain.get(name)
        if isinstance(held, list):
            plain[name] = tuple(read(item) for item in held)
        elif held is not None:
            plain[name] = read(held)
    return record(**plain)
