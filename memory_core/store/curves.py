"""How the confidence of memories has moved, revision by revision."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.records import ConfidencePoint
from memory_core.store.rows import registered, rows


def read_curves(
    connection: DuckDBPyConnection, ids: Sequence[int]
) -> dict[int, tuple[ConfidencePoint, ...]]:
    """The points of each memory that there ever was, oldest first: one for each move of it."""
    registered(connection, "asked", {"id": pa.array(ids, pa.int64())})
    found = rows(
        connection,
        """
        select memory.id, memory.from_revision, revision.epoch, memory.confidence
        from memory join revision on revision.number = memory.from_revision
        where memory.id in (select id from asked)
        order by memory.id, memory.from_revision
        """,
    )
    connection.unregister("asked")
    curves: dict[int, list[ConfidencePoint]] = {}
    for memory_id, revision, epoch, confidence in found:
        points = curves.setdefault(memory_id, [])
        if not points or points[-1].confidence != confidence:
            points.append(ConfidencePoint(revision, epoch, confidence))
    return {memory_id: tuple(points) for memory_id, points in curves.items()}
