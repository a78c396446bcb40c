"""The steps of a run as lines of text, each with its number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from memory_core.reflection.shortening import shortened
from memory_core.run_records import Step, Trajectory

_DIGITS = re.compile(r"\d+")
_FAILURE = re.compile(
    r"\b(?:error|exception|traceback|fail(?:s|ed|ure)?|denied|not found|invalid|refused|fatal"
    r"|timed? ?out|cannot|unable)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 400
"""Characters at the beginning of an observation in which a failure announces itself."""
_INDENT = "  | "
"""Before every line that the run itself says: so none of its lines can pass for one of ours."""


@dataclass(frozen=True)
class Told:
    """A step, and where it stands."""

    step: Step
    agent: str = ""
    """Which sub-agent's it is: "1", "2", "2.1", …; empty for the run's own."""

    @property
    def label(self) -> str:
        return str(self.step.number)

    @cached_property
    def failed(self) -> bool:
        """Whether the step has an error, or looks as if it had one."""
        if self.step.error:
            return True
        return bool(self.step.tool and _FAILURE.search(self.step.observation[:_LOOKED_AT]))

    @cached_property
    def failure(self) -> str:
        """The beginning of its error without numbers: the same for the same error."""
        return _alike(self.step.error or self.step.observation)

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """Steps with the same one do and meet the same."""
        step = self.step
        return (
            self.agent, step.role, step.tool, _alike(step.arguments, 2000),
            _alike(step.observation), _alike(step.error), "" if step.tool else _alike(step.text),
        )  # fmt: skip


def _alike(text: str, length: int = 200) -> str:
    return _DIGITS.sub("#", text[: 4 * length])[:length]


def told_steps(trajectory: Trajectory) -> list[Told]:
    """All steps of a run, those of its sub-agents behind its own."""
    return list(_told(trajectory, ""))


def _told(trajectory: Trajectory, agent: str) -> Iterator[Told]:
    for step in trajectory.steps:
        yield Told(step, agent)
    for number, child in enumerate(trajectory.children, start=1):
        yield from _told(child, f"{agent}.{number}" if agent else str(number))


def step_numbers(trajectory: Trajectory) -> frozenset[int]:
    """The numbers that evidence may cite."""
    return frozenset(told.step.number for told in told_steps(trajectory))


def told_step(told: Told, limit: int | None = None) -> str:
    """One step as lines; each of its texts has at most `limit` characters."""
    step = told.step
    who = f"{step.role} of sub-agent {told.agent}" if told.agent else step.role
    first = f"[step {told.label}] {who}"
    if step.tool:
        first += f" calls {_one_line(step.tool, 120)}"
    parts = [first]
    for name, text in (
        ("says", step.text),
        ("with", step.arguments),
        ("sees", step.observation),
        ("error", step.error),
    ):
        if text.strip():
            parts.append(_named(name, text if limit is None else shortened(text, limit)))
    if step.unmatched:
        missing = "result" if step.unmatched == "call" else "call"
        parts.append(f"  (the recording does not hold its {missing})")
    return "\n".join(parts)


def _named(name: str, text: str) -> str:
    lines = text.strip().splitlines()
    return "\n".join([f"  {name}:", *(_INDENT + line for line in lines)])


def head_of(trajectory: Trajectory, longest: int) -> str:
    """Task, outcome and agent of a run, in `longest` characters if they are 300 or more."""
    limit = max(longest // 3, 20)
    head = _head(trajectory, limit)
    while len(head) > longest and limit > 20:
        limit = max(limit // 2, 20)
        head = _head(trajectory, limit)
    return head


def _head(trajectory: Trajectory, limit: int) -> str:
    outcome = trajectory.outcome
    ended = {True: "success", False: "failure", None: "not recorded"}[outcome.success]
    if outcome.reward is not None:
        ended += f", reward {outcome.reward:g}"
    parts = [_named("task", shortened(trajectory.task, limit) or "(not recorded)")]
    parts.append(f"  outcome: {ended}")
    if outcome.reason.strip():
        parts.append(_named("why it ended", shortened(outcome.reason, limit)))
    for name, text in (("agent", trajectory.agent), ("model", trajectory.model)):
        if text.strip():
            parts.append(f"  {name}: {_one_line(text, min(80, limit))}")
    return "\n".join(parts)


def _one_line(text: str, limit: int) -> str:
    return shortened(" ".join(text.split()), limit)
