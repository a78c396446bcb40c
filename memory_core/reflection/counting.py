"""How often a run called each tool, and how often that went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.run_records import Step, Trajectory


@dataclass(frozen=True, slots=True)
class ToolCount:
    """The calls of one tool in one run; those of sub-agents' runs are not among them."""

    tool: str
    calls: int
    errors: int
    first_error: int | None
    """Number of the first step at which it failed; None where it never did."""


def is_call(step: Step) -> bool:
    """Whether a step calls a tool. A result without a call is none."""
    return bool(step.tool.strip()) and step.unmatched != "result"


def tool_counts(trajectory: Trajectory) -> tuple[ToolCount, ...]:
    """Calls and errors by tool: the most errors first, then the most calls, then by name."""
    calls: dict[str, int] = {}
    errors: dict[str, list[int]] = {}
    for step in trajectory.steps:
        if is_call(step):
            calls[step.tool] = calls.get(step.tool, 0) + 1
            if step.error:
                errors.setdefault(step.tool, []).append(step.number)
    counts = (
        ToolCount(tool, count, len(wrong := errors.get(tool, [])), wrong[0] if wrong else None)
        for tool, count in calls.items()
    )
    return tuple(sorted(counts, key=lambda one: (-one.errors, -one.calls, one.tool)))


def first_error(trajectory: Trajectory) -> int | None:
    """Number of the first step at which something went wrong; None where nothing did."""
    return next((step.number for step in trajectory.steps if step.error), None)
