"""Which of several rollouts of one task are compared."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.reflection.context import Run
from memory_core.reflection.telling import told_steps

MOST_COMPARED = 8
"""Runs that are compared at once; of more, the best and the worst."""


def reward_of(run: Run) -> float | None:
    """Its reward, or 1 and 0 for success and failure; None where neither is known."""
    outcome = run.trajectory.outcome
    if outcome.reward is not None:
        return outcome.reward
    return None if outcome.success is None else float(outcome.success)


def to_compare(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs to compare, in their order, and why some or all are not."""
    runs = list({run.id: run for run in runs}.values())
    known = [run for run in runs if reward_of(run) is not None and told_steps(run.trajectory)]
    notes = []
    if len(known) < len(runs):
        notes.append(f"Runs without an outcome or steps were left out: {len(runs) - len(known)}.")
    if len({reward_of(run) for run in known}) < 2:
        notes.append("No run ended better than another, so there is nothing to compare.")
        return [], notes
    if len(known) > MOST_COMPARED:
        ranked = sorted(known, key=lambda run: -(reward_of(run) or 0))
        half = MOST_COMPARED // 2
        kept = {run.id for run in (*ranked[:half], *ranked[-half:])}
        notes.append(f"Of {len(known)} runs, the {half} best and the {half} worst are compared.")
        known = [run for run in known if run.id in kept]
    return known, notes
