"""What people said of memories that look alike, and when each memory was applied last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import MemoryNotFoundError
from memory_core.records import DistinctPair
from memory_core.store.rows import execute, registered, rows


def read_distinct(
    connection: DuckDBPyConnection, revision: int | None = None
) -> tuple[DistinctPair, ...]:
    """The pairs that were called distinct and say in a revision (the head) what they said then."""
    standing = "to_revision is null"
    values: list[object] = []
    if revision is not None:
        standing = "from_revision <= ? and (to_revision is null or to_revision > ?)"
        values = [revision, revision]
    found = rows(
        connection,
        f"""
        with standing as (select id, text_id from memory where {standing})
        select first_id, second_id, actor, made_at from distinct_pair
        join standing one on one.id = first_id and one.text_id = first_text
        join standing other on other.id = second_id and other.text_id = second_text
        order by first_id, second_id
        """,
        values,
    )
    return tuple(DistinctPair(*row) for row in found)


def put_distinct(
    connection: DuckDBPyConnection, ids: Sequence[int], *, actor: str, made_at_us: int
) -> None:
    """Call each two of these memories distinct, as they are worded now.

    Raises MemoryNotFoundError for one that has left.
    """
    remove_distinct(connection, ids)
    registered(connection, "told", {"id": pa.array(ids, pa.int64())})
    texts = dict(
        rows(
            connection,
            """
            select id, text_id from memory
            where to_revision is null and id in (select id from told)
            """,
        )
    )
    connection.unregister("told")
    for memory_id in ids:
        if memory_id not in texts:
            raise MemoryNotFoundError(f"Memory {memory_id} has left the bank; nothing was noted.")
    pairs = list(combinations(sorted(ids), 2))
    columns = {
        "first": pa.array([a for a, _ in pairs], pa.int64()),
        "second": pa.array([b for _, b in pairs], pa.int64()),
        "first_text": pa.array([texts[a] for a, _ in pairs], pa.int64()),
        "second_text": pa.array([texts[b] for _, b in pairs], pa.int64()),
    }
    registered(connection, "fresh", columns)
    execute(
        connection,
        """
        insert into distinct_pair
        select first, second, first_text, second_text, ?, ? from fresh
        """,
        [actor, made_at_us],
    )
    connection.unregister("fresh")


def remove_distinct(connection: DuckDBPyConnection, ids: Iterable[int]) -> None:
    """Take back what was said of any two of these memories."""
    registered(connection, "told", {"id": pa.array(ids, pa.int64())})
    execute(
        connection,
        """
        delete from distinct_pair
        where first_id in (select id from told) and second_id in (select id from told)
        """,
    )
    connection.unregister("told")


def read_last_applied(connection: DuckDBPyConnection, revision: int) -> dict[int, int]:
    """For each memory that was ever applied up to a revision, the session of the last time."""
    found = rows(
        connection,
        """
        with version as (
            select id, from_revision, usage_count,
                lag(usage_count) over (partition by id order by from_revision) as before
            from memory where from_revision <= ?
        )
        select version.id, max(revision.epoch)
        from version join revision on revision.number = version.from_revision
        where usage_count > before
        group by version.id
        """,
        [revision],
    )
    return dict(found)
