"""Rollouts of one task, parted by how they ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_core.reflection.calls import Call, calls_of
from memory_core.reflection.context import Run
from memory_core.reflection.gists import Gist, gist_of
from memory_core.reflection.phrases import clipped, listed, quoted
from memory_core.run_records import Outcome


@dataclass(frozen=True, slots=True)
class Rollout:
    """A run with its calls."""

    run: Run
    calls: tuple[Call, ...]

    @property
    def working(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if not call.failed and not call.only_thinks)

    def last(self, tool: str) -> Call | None:
        """The last call of a tool that worked."""
        return next((call for call in reversed(self.working) if call.tool == tool), None)

    def first(self, tool: str) -> Call | None:
        return next((call for call in self.working if call.tool == tool), None)


@dataclass(frozen=True, slots=True)
class Group:
    """Rollouts of one task, parted by how they ended."""

    better: tuple[Rollout, ...]
    worse: tuple[Rollout, ...]
    gist: Gist

    @property
    def told(self) -> str:
        better, worse = len(self.better), len(self.worse)
        return (
            f"{better} run{'s' * (better > 1)} ended well and {worse} badly"
            f" ({_rewards(self.better)} against {_rewards(self.worse)})"
        )


def value_of(outcome: Outcome) -> float | None:
    """By how much a run ended well: its reward, or 1 and 0; None where nothing is told."""
    if outcome.reward is not None and outcome.reward == outcome.reward:
        return float(outcome.reward)
    return None if outcome.success is None else float(outcome.success)


def by_task(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs with the same task together, in the order in which the tasks come."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(" ".join(run.trajectory.task.split()), []).append(run)
    return list(groups.values())


def parted(runs: Sequence[Run]) -> tuple[Group | None, str]:
    """The better and the worse of some runs, or why they cannot be told apart."""
    name = name_of(runs)
    if len(runs) < 2:
        return None, f"{name} has one run only: there is nothing to compare it with."
    told = [(value_of(run.trajectory.outcome), run) for run in runs]
    known = [(value, run) for value, run in told if value is not None]
    if len(known) < 2:
        return None, f"{name}: {len(runs)} runs, and fewer than two say how they ended."
    values = [value for value, _ in known]
    best, worst = max(values), min(values)
    if best == worst:
        return (
            None,
            f"{name}: all {len(known)} runs ended alike (reward {best:g}), so none is better.",
        )
    middle = (best + worst) / 2
    better = [_rollout(run) for value, run in known if value > middle]
    worse = [_rollout(run) for value, run in known if value <= middle]
    left_out = len(runs) - len(known)
    note = f"{name}: {left_out} of the runs do not say how they ended, and were left out." * bool(
        left_out
    )
    return Group(tuple(better), tuple(worse), gist_of(runs[0].trajectory.task)), note


def _rollout(run: Run) -> Rollout:
    return Rollout(run, calls_of(run.trajectory))


def name_of(runs: Sequence[Run]) -> str:
    first = runs[0].trajectory
    return f"Task {quoted(clipped(first.task or first.name or 'without a text', 8, 60))}"


def _rewards(rollouts: Iterable[Rollout]) -> str:
    values = Counter(value_of(one.run.trajectory.outcome) or 0.0 for one in rollouts)
    return "reward " + listed((f"{value:g}" for value in sorted(values)), "or")
