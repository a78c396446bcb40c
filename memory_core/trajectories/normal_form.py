"""A trajectory as plain JSON values and back, its own name, and text that every store can hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from memory_core.run_records import Outcome, Step, Trajectory

MAX_DEPTH = 40
"""Sub-agents within sub-agents; what lies deeper is left out."""


def trajectory_to_dict(trajectory: Trajectory) -> dict[str, Any]:
    """All fields that are not at their defaults; `trajectory_from_dict` is its inverse."""
    plain = _without_defaults(trajectory)
    plain["steps"] = [_without_defaults(step) for step in trajectory.steps]
    plain["outcome"] = _without_defaults(trajectory.outcome)
    plain["children"] = [trajectory_to_dict(child) for child in trajectory.children]
    return {name: value for name, value in plain.items() if value or name == "task"}


def _without_defaults(record: Any) -> dict[str, Any]:
    return {
        f.name: value
        for f in fields(record)
        if f.name not in ("steps", "outcome", "children")
        and ((value := getattr(record, f.name)) != f.default or f.default is MISSING)
    }


def trajectory_from_dict(value: Mapping[str, Any]) -> Trajectory:
    plain = dict(value)
    plain["steps"] = tuple(Step(**step) for step in plain.get("steps", ()))
    plain["outcome"] = Outcome(**plain.get("outcome", {}))
    plain["children"] = tuple(trajectory_from_dict(child) for child in plain.get("children", ()))
    return Trajectory(**plain)


def trajectory_id(trajectory: Trajectory) -> str:
    """A name made from the content: the same run always gets the same one."""
    text = json.dumps(trajectory_to_dict(trajectory), sort_keys=True, ensure_ascii=True)
    return "run-" + hashlib.sha256(text.encode()).hexdigest()[:16]


def texts_of(trajectory: Trajectory) -> Iterator[str]:
    """Every text in a trajectory, those of its sub-agents included."""
    yield from (trajectory.task, trajectory.outcome.reason)
    yield from (trajectory.agent, trajectory.model, trajectory.name)
    for step in trajectory.steps:
        yield from (step.text, step.tool, step.arguments, step.observation, step.error)
    for child in trajectory.children:
        yield from texts_of(child)


def clean(text: str) -> str:
    """A text without the two things that no store holds: U+0000 and halves of surrogate pairs."""
    if "\x00" in text:
        text = text.replace("\x00", "␀")
    if not text.isascii():
        # Both halves may stand side by side, as where JSON was escaped twice: then it is a pair.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_trajectory(trajectory: Trajectory) -> Trajectory:
    """The trajectory with all its texts clean."""
    if all(text.isascii() and "\x00" not in text for text in texts_of(trajectory)):
        return trajectory
    return with_texts(trajectory, lambda text, step: clean(text))


def with_texts(trajectory: Trajectory, change: Callable[[str, int | None], str]) -> Trajectory:
    """The trajectory with every text that is not empty changed.

    `change` is given a text and the number of its step; None for the task and the like.
    """

    def changed(text: str, step: int | None = None) -> str:
        return change(text, step) if text else ""

    def changed_step(step: Step) -> Step:
        return replace(
            step,
            text=changed(step.text, step.number),
            tool=changed(step.tool, step.number),
            arguments=changed(step.arguments, step.number),
            observation=changed(step.observation, step.number),
            error=changed(step.error, step.number),
        )

    return replace(
        trajectory,
        task=changed(trajectory.task),
        steps=tuple(map(changed_step, trajectory.steps)),
        outcome=replace(trajectory.outcome, reason=changed(trajectory.outcome.reason)),
        agent=changed(trajectory.agent),
        model=changed(trajectory.model),
        name=changed(trajectory.name),
        children=tuple(with_texts(child, change) for child in trajectory.children),
    )
