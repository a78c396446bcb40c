"""Reflections: which runs were reflected on, by what, and what was no lesson."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from duckdb import DuckDBPyConnection

from memory_core.reflection_records import (
    Reflection,
    ReflectionSummary,
    RefusedDraft,
    TokenUsage,
)
from memory_core.serialization import operation_from_dict, operation_to_dict
from memory_core.store.rows import execute, json_text, rows


def put_reflection(
    connection: DuckDBPyConnection, reflection: Reflection, *, actor: str, made_at_us: int
) -> None:
    """List a reflection; one that is listed already stays as it is."""
    known = rows(connection, "select 1 from reflection where batch_key = ?", [reflection.key])
    if any(known):
        return
    report = {
        "reason": reflection.reason,
        "notes": list(reflection.notes),
        "refused": [_refused_to_dict(draft) for draft in reflection.refused],
        "usage": asdict(reflection.usage),
    }
    execute(
        connection,
        "insert into reflection values (?, ?, ?, ?, ?, ?)",
        [
            reflection.key,
            reflection.reflector,
            json_text(list(reflection.trajectory_ids), "reflection"),
            json_text(report, "reflection"),
            actor,
            made_at_us,
        ],
    )


def _refused_to_dict(draft: RefusedDraft) -> dict[str, Any]:
    operation = draft.operation and operation_to_dict(draft.operation)
    return {"reason": draft.reason, "reply": draft.reply, "operation": operation}


def _refused_from_dict(value: dict[str, Any]) -> RefusedDraft:
    operation = value["operation"] and operation_from_dict(value["operation"])
    return RefusedDraft(value["reason"], value["reply"], operation)


def read_reflections(connection: DuckDBPyConnection) -> tuple[ReflectionSummary, ...]:
    """All that are listed, oldest first, with the proposals that they became."""
    found = rows(
        connection,
        """
        select r.batch_key, r.reflector, r.trajectories, r.report, r.actor, r.made_at,
            list(p.id order by p.id) filter (p.id is not null)
        from reflection r left join proposal p on p.batch_key = r.batch_key
        group by all order by r.made_at, r.batch_key
        """,
    )
    return tuple(
        ReflectionSummary(
            key=key,
            reflector=reflector,
            trajectory_ids=tuple(json.loads(runs)),
            reason=(told := json.loads(report))["reason"],
            refused=tuple(map(_refused_from_dict, told["refused"])),
            notes=tuple(told["notes"]),
            usage=TokenUsage(**told["usage"]),
            proposal_ids=tuple(proposals or ()),
            actor=actor,
            made_at_us=made_at_us,
        )
        for key, reflector, runs, report, actor, made_at_us, proposals in found
    )
