"""What injected memories say for and against the commands that a game would take now."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memory_core.loop_records import Observation
from memory_core.records import Memory
from memory_core.text_games.commands import Command, command_of
from memory_core.text_games.lessons import (
    LessonStep,
    Verbs,
    is_any,
    never_in,
    origins,
    steps_in,
    verbs_in,
)
from memory_core.text_games.transcript import place_of

Origin = tuple[str, int]
"""A template and one of its places: how a name came up."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much memories count beside what the explorer sees for itself."""

    verb: float = 1.0
    step: float = 2.0
    never: float = 4.0
    nearness: float = 0.6
    """What a step keeps for each step that it lies off the next one."""
    behind: float = 0.5
    """What a step keeps that is done already."""
    way: float = 0.7
    """What leads to a step's place counts so much of the step itself."""
    stranger: float = 0.1
    """Likeness of a name that came up in another way than the lesson's."""
    namesake: float = 0.6
    """Likeness of another name that came up in the same way."""
    any_name: float = 0.8
    """Likeness of a name where the lesson takes any."""
    off_goal: float = 0.4
    """Likeness where only one of the two names is what the task is about."""


@dataclass
class Progress:
    """What happened in this game, as far as lessons refer to it."""

    task: str
    origins: dict[str, set[Origin]] = field(default_factory=dict)
    ways: dict[str, dict[str, str]] = field(default_factory=dict)
    """Place -> command -> the place that it led to."""
    places: set[str] = field(default_factory=set)
    """That the agent has been to."""

    def note(self, command: Command, before: Observation, after: Observation) -> None:
        changed = before.inventory != after.inventory or before.description != after.description
        if changed:
            for place, name in enumerate(command.names):
                self.origins.setdefault(name.lower(), set()).add((command.template, place))
        here, there = place_of(before), place_of(after)
        self.places |= {here, there}
        if here != there:
            self.ways.setdefault(here, {})[command.text] = there

    def first_on_way(self, here: str, there: str) -> str | None:
        """The command by which the shortest known way begins."""
        if here == there:
            return None
        waiting = deque((command, place) for command, place in self.ways.get(here, {}).items())
        seen = {here}
        while waiting:
            command, place = waiting.popleft()
            if place == there:
                return command
            if place not in seen:
                seen.add(place)
                waiting += [(command, further) for further in self.ways.get(place, {}).values()]
        return None


@dataclass(eq=False)
class _Procedure:
    """An injected procedure, and how far this game has come in it."""

    memory: Memory
    steps: tuple[LessonStep, ...]
    origin: Mapping[str, Origin]
    goal: str
    at: int = 0
    """Position of the next step."""


class Guidance:
    """Injected memories, read once for a game."""

    def __init__(
        self, memories: Iterable[Memory], task: str, weights: Weights | None = None
    ) -> None:
        self.weights = weights or Weights()
        self.progress = Progress(task.lower())
        self.verbs: list[tuple[Memory, Verbs]] = []
        self.procedures: list[_Procedure] = []
        self.warnings: list[_Procedure] = []
        for memory in memories:
            goal, arrow, _ = memory.text.partition(" → ")
            goal = goal if arrow else ""
            if steps := steps_in(memory):
                self.procedures.append(_Procedure(memory, steps, origins(steps), goal))
            for way in never_in(memory):
                self.warnings.append(_Procedure(memory, way, origins(way), goal))
            if (verbs := verbs_in(memory)) != Verbs():
                self.verbs.append((memory, verbs))

    @property
    def ids(self) -> tuple[int, ...]:
        """Of the memories that say something that can be followed."""
        found = [m.id for m, _ in self.verbs]
        found += [p.memory.id for p in (*self.procedures, *self.warnings)]
        return tuple(dict.fromkeys(found))

    def note(self, command: str, before: Observation, after: Observation) -> None:
        """Something was done: the procedures move on."""
        done = command_of(command)
        for procedure in self.procedures:
            likeness = [self._likeness(procedure, step, done) for step in procedure.steps]
            for at in range(procedure.at, len(likeness)):
                if likeness[at] >= 0.5 and self._is_place_of(procedure.steps[at], before):
                    procedure.at = at + 1
                    break
        self.progress.note(done, before, after)

    def _is_place_of(self, step: LessonStep, seen: Observation) -> bool:
        """Whether a step's place is where the agent is; one that this game may not have is."""
        here = place_of(seen)
        return step.place in ("", here) or step.place not in self.progress.places

    def says(self, seen: Observation) -> dict[int, dict[str, float]]:
        """For each memory, what it adds to each admissible command; nothing where it is silent."""
        commands = {text: command_of(text) for text in seen.actions}
        w = self.weights
        said: dict[int, dict[str, float]] = {}
        for memory, verbs in self.verbs:
            signs = dict.fromkeys(verbs.use, 1.0) | dict.fromkeys(verbs.avoid, -1.0)
            said[memory.id] = {
                text: w.verb * signs[command.verb] * _trust(memory)
                for text, command in commands.items()
                if command.verb in signs
            }
        for procedure in self.procedures:
            row = said.setdefault(procedure.memory.id, {})
            for text, value in self._steps_for(procedure, commands, seen).items():
                row[text] = max(row.get(text, 0.0), value)
        for warning in self.warnings:
            row = said.setdefault(warning.memory.id, {})
            for text, command in commands.items():
                likeness = self._likeness(warning, warning.steps[-1], command)
                worth = -w.never * _trust(warning.memory) * likeness
                row[text] = min(row.get(text, 0.0), worth)
        return said

    def _steps_for(
        self, procedure: _Procedure, commands: Mapping[str, Command], seen: Observation
    ) -> dict[str, float]:
        w, here = self.weights, place_of(seen)
        worth: dict[str, float] = {}
        for at, step in enumerate(procedure.steps):
            value = w.step * _trust(procedure.memory) * w.nearness ** abs(at - procedure.at)
            if at < procedure.at:
                value *= w.behind
            for text, command in commands.items():
                likeness = self._likeness(procedure, step, command)
                if likeness > 0:
                    worth[text] = max(worth.get(text, 0.0), value * likeness)
            if step.place and step.place != here and at >= procedure.at:
                way = self.progress.first_on_way(here, step.place)
                if way is not None and way in commands:
                    worth[way] = max(worth.get(way, 0.0), value * w.way)
        return worth

    def _likeness(self, lesson: _Procedure, step: LessonStep, command: Command) -> float:
        """How well a command fits a step, in [0, 1]: template, and name by name."""
        if command.template != step.command.template:
            return 0.0
        likeness = 1.0
        for name, its in zip(step.command.names, command.names, strict=True):
            likeness *= self._name_likeness(lesson, step, name, its.lower())
        return likeness

    def _name_likeness(self, lesson: _Procedure, step: LessonStep, name: str, its: str) -> float:
        w = self.weights
        if name.lower() == its:
            return 1.0
        origin = lesson.origin[name]
        if origin[0] != step.command.template:  # it came up in an earlier step
            same = origin in self.progress.origins.get(its, ())
            return (1.0 if is_any(name) else w.namesake) if same else w.stranger
        if lesson in self.warnings:  # what it was about must not stain all its namesakes
            return w.any_name if is_any(name) else w.stranger
        aimed_at, aim = _names(lesson.goal, name), _names(self.progress.task, its)
        if aimed_at or aim:
            return 1.0 if aimed_at and aim else w.off_goal
        return w.any_name if is_any(name) else w.namesake


def _names(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name.lower())}\b", text.lower()) is not None


def _trust(memory: Memory) -> float:
    """1 for a new memory, less for one that has not helped, more for one that has."""
    return 0.5 + memory.confidence
