"""The trajectories that a bank keeps: a line of summary and a line with the whole run in each."""

from __future__ import annotations

import json
from dataclasses import asdict

from duckdb import DuckDBPyConnection

from memory_core.run_records import Outcome, Trajectory, TrajectorySummary
from memory_core.store.rows import execute, first, json_text, rows
from memory_core.trajectories.normal_form import trajectory_from_dict, trajectory_to_dict

_TASK_SHOWN = 2_000


def put_trajectory(
    connection: DuckDBPyConnection,
    trajectory_id: str,
    trajectory: Trajectory,
    *,
    format: str,
    actor: str,
    made_at_us: int,
) -> None:
    summary = {
        "task": trajectory.task[:_TASK_SHOWN],
        "step_count": len(trajectory.steps),
        "outcome": asdict(trajectory.outcome),
        "name": trajectory.name,
        "agent": trajectory.agent,
        "model": trajectory.model,
    }
    body = json_text(summary, "trajectory") + "\n" + _run(trajectory)
    execute(
        connection,
        "insert into trajectory values (?, ?, ?, ?, ?)",
        [trajectory_id, format, body, actor, made_at_us],
    )


def _run(trajectory: Trajectory) -> str:
    return json_text(trajectory_to_dict(trajectory), "trajectory")


def find_trajectory(connection: DuckDBPyConnection, trajectory_id: str) -> Trajectory | None:
    row = first(connection, "select body from trajectory where id = ?", [trajectory_id])
    return trajectory_from_dict(json.loads(row[0].partition("\n")[2])) if row else None


def read_summaries(connection: DuckDBPyConnection) -> tuple[TrajectorySummary, ...]:
    """All that are kept, oldest first."""
    found = rows(
        connection,
        """
        select id, split_part(body, chr(10), 1), format, actor, made_at
        from trajectory order by made_at, id
        """,
    )
    return tuple(
        TrajectorySummary(
            id=trajectory_id,
            format=format,
            actor=actor,
            made_at_us=made_at_us,
            **{**(plain := json.loads(summary)), "outcome": Outcome(**plain["outcome"])},
        )
        for trajectory_id, summary, format, actor, made_at_us in found
    )
