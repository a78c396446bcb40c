"""How a run of a text game is written down as a trajectory, and read again.

Each answer of the game is followed by what changed around the agent and by what the game would
take next, so that a reflector, a person or a language model has all that the agent had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.loop_records import Action, EpisodeStep, Observation
from memory_core.run_records import Step, Trajectory
from memory_core.text_games.commands import Command, command_of

_SURROUNDINGS, _CARRIED, _ADMISSIBLE = "Surroundings: ", "Inventory: ", "Admissible: "
_FOLLOWED = "Followed memories: "
_AS_TOLD, _UNCHANGED = "as told", "unchanged"
_BETWEEN = " | "
_SCORE = re.compile(r"Score: (-?[\d.e+-]+)(?: \((won|lost|over)\))?")
_SUCCESS = {"won": True, "lost": False, "over": None}
_ENDINGS = {success: ending for ending, success in _SUCCESS.items()}


@dataclass(frozen=True, slots=True)
class Turn:
    """A command, with what the agent had before it and after."""

    number: int
    """Of the step in the trajectory."""
    command: Command
    before: Observation
    after: Observation

    @property
    def gain(self) -> float:
        """Reward that it brought."""
        return self.after.reward - self.before.reward

    @property
    def moved(self) -> bool:
        return place_of(self.before) != place_of(self.after)

    @property
    def changed(self) -> bool:
        """Whether it changed the surroundings or what is carried."""
        same_place = self.before.description == self.after.description
        return not same_place or self.before.inventory != self.after.inventory


def place_of(observation: Observation) -> str:
    """Where the agent is: the first line of its surroundings, without ornaments."""
    line = observation.description.strip().partition("\n")[0]
    return line.strip(" -=*#\t").lower()


def carries(observation: Observation, name: str) -> bool:
    """Whether what the agent carries names a thing."""
    return bool(name) and f" {name.lower()}" in f" {observation.inventory.lower()}"


# -- writing --------------------------------------------------------------------------------------


def steps_of(first: Observation | None, steps: Iterable[EpisodeStep]) -> tuple[Step, ...]:
    """An episode as steps of a trajectory; what is admissible is told where anything is."""
    written: list[Step] = []
    last = Observation("")
    if first is not None:
        written.append(Step(1, "user", text=_written(first, last)))
        last = first
    for step in steps:
        words = step.action.text.split()
        written.append(
            Step(
                len(written) + 1,
                "assistant",
                text=_with_followed(step.action),
                tool=words[0] if words else "nothing",
                arguments=step.action.text,
                observation=_written(step.observation, last),
            )
        )
        last = step.observation
    return tuple(written)


def _with_followed(action: Action) -> str:
    if not action.followed:
        return action.thought
    return f"{action.thought}\n{_FOLLOWED}{', '.join(map(str, action.followed))}".strip()


def followed_in(step: Step) -> tuple[str, tuple[int, ...]]:
    """The thought of a step that `steps_of` wrote, and the ids of the memories it followed."""
    thought, ids = _cut(step.text, _FOLLOWED)
    if ids is None or not all(part.isdecimal() for part in ids.split(", ")):
        return step.text, ()
    return thought, tuple(int(part) for part in ids.split(", "))


def _written(now: Observation, last: Observation) -> str:
    around = _AS_TOLD if now.description == now.text else now.description
    lines = [
        now.text,
        _SURROUNDINGS + (_UNCHANGED if now.description == last.description else around),
        _CARRIED + (_UNCHANGED if now.inventory == last.inventory else now.inventory),
        _ADMISSIBLE + (_UNCHANGED if now.actions == last.actions else _BETWEEN.join(now.actions)),
        f"Score: {now.reward:g}" + (f" ({_ENDINGS[now.success]})" if now.done else ""),
    ]
    return "\n".join(lines).strip()


# -- reading --------------------------------------------------------------------------------------


def turns_of(trajectory: Trajectory) -> tuple[Turn, ...]:
    """The turns of a run that `steps_of` wrote; none where another hand did."""
    turns: list[Turn] = []
    last: Observation | None = None
    for step in trajectory.steps:
        answer = step.text if step.role == "user" else step.observation
        now = _read(answer, last or Observation(""))
        if now is None:
            continue
        if last is not None and step.role == "assistant":
            turns.append(Turn(step.number, command_of(step.arguments), last, now))
        last = now
    return tuple(turns)


def _read(text: str, last: Observation) -> Observation | None:
    told, _, score = text.rpartition("\n")
    ending = _SCORE.fullmatch(score)
    if ending is None:
        return None
    told, actions = _cut(told, _ADMISSIBLE)
    told, carried = _cut(told, _CARRIED)
    told, around = _cut(told, _SURROUNDINGS)
    if actions is None or carried is None or around is None:
        return None
    return Observation(
        text=told,
        actions=last.actions
        if actions == _UNCHANGED
        else tuple(filter(None, actions.split(_BETWEEN))),
        reward=float(ending[1]),
        done=ending[2] is not None,
        success=_SUCCESS.get(ending[2]),
        description={_AS_TOLD: told, _UNCHANGED: last.description}.get(around, around),
        inventory=last.inventory if carried == _UNCHANGED else carried,
    )


def _cut(text: str, label: str) -> tuple[str, str | None]:
    """A text before the last line that a label begins, and what follows the label."""
    before, found, value = f"\n{text}".rpartition(f"\n{label}")
    return (before[1:], value) if found else (text, None)
