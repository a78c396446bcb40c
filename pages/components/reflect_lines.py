"""A run as the lines of a table: its steps, a sub-agent's below the one that called it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memory_core import Step, Trajectory

FAILED, DOUBTFUL = "✕", "?"
FIRST_LINE = 160
"""Characters of a step that stand in its line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A step, or the heading of a sub-agent's run."""

    path: tuple[int, ...]
    """Which sub-agent of which: empty for the run itself."""
    run: Trajectory
    step: Step | None
    """None for the heading."""

    @property
    def number(self) -> str:
        depth = "↳ " * len(self.path)
        return f"{depth}{self.step.number}" if self.step else f"{depth}sub-agent"

    @property
    def mark(self) -> str:
        """What went wrong, in one sign."""
        if self.step is None:
            return FAILED if self.run.outcome.success is False else ""
        return FAILED if self.step.error else DOUBTFUL if self.step.unmatched else ""

    @property
    def first_line(self) -> str:
        step = self.step
        if step is None:
            return start_of(self.run.task or self.run.name)
        said = step.text or (step.arguments if step.tool else "") or step.observation or step.error
        return start_of(said)


def start_of(text: str) -> str:
    """The first line that says something, cut."""
    head = text[: 20 * FIRST_LINE].lstrip()
    line = " ".join(head.partition("\n")[0].split())
    return line if len(line) <= FIRST_LINE else line[: FIRST_LINE - 1] + "…"


def lines_of(run: Trajectory, path: tuple[int, ...] = ()) -> tuple[Line, ...]:
    """All of a run, in the order in which it is read."""
    return tuple(_lines(run, path))


def _lines(run: Trajectory, path: tuple[int, ...]) -> Iterator[Line]:
    called = [_called_in(run, child) for child in run.children]
    for place, step in enumerate(run.steps):
        yield Line(path, run, step)
        for number, (child, caller) in enumerate(zip(run.children, called, strict=True), start=1):
            if caller == place:
                yield from _nested(child, (*path, number))
    for number, (child, caller) in enumerate(zip(run.children, called, strict=True), start=1):
        if caller is None:
            yield from _nested(child, (*path, number))


def _nested(child: Trajectory, path: tuple[int, ...]) -> Iterator[Line]:
    yield Line(path, child, None)
    yield from _lines(child, path)


def _called_in(run: Trajectory, child: Trajectory) -> int | None:
    """The step that gave a sub-agent its task, where one says the same words."""
    words = start_of(child.task)[:60].rstrip("…")
    if len(words) < 8:
        return None
    inner = words.replace('"', '\\"')
    for place, step in enumerate(run.steps):
        if step.tool and (words in step.arguments or inner in step.arguments):
            return place
    return None


def count_calls(run: Trajectory) -> int:
    """Tool calls, those of sub-agents among them."""
    return sum(bool(step.tool) for step in run.steps) + sum(map(count_calls, run.children))


def count_errors(run: Trajectory) -> int:
    """Steps that failed, those of sub-agents among them."""
    return sum(bool(step.error) for step in run.steps) + sum(map(count_errors, run.children))
