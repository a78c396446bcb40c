"""What people said of memories and of findings, and when each memory was applied last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import MemoryNotFoundError
from memory_core.records import DistinctPair
from memory_core.serialization import dumps
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
    texts = _standing_texts(connection, ids)
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


Named: TypeAlias = tuple[str, tuple[int, ...]]
"""A finding: its rule, and the memories that it concerns, ascending."""


def read_set_aside(connection: DuckDBPyConnection, revision: int | None = None) -> dict[Named, str]:
    """The findings that were set aside and whose memories say in a revision (the head) what they
    said then -> by whom."""
    found = [
        ((rule, tuple(json.loads(ids))), json.loads(texts), actor)
        for rule, ids, texts, actor in rows(
            connection, "select rule, memory_ids, text_ids, actor from set_aside order by made_at"
        )
    ]
    concerned = {memory_id for (_, ids), _, _ in found for memory_id in ids}
    standing = _standing_texts(connection, concerned, revision)
    return {
        named: actor
        for named, texts, actor in found
        if [standing.get(memory_id) for memory_id in named[1]] == texts
    }


def put_set_aside(
    connection: DuckDBPyConnection, findings: Sequence[Named], *, actor: str, made_at_us: int
) -> None:
    """Set findings aside for as long as their memories read as they do now.

    Raises MemoryNotFoundError for a memory that has left.
    """
    remove_set_aside(connection, findings)
    standing = _standing_texts(connection, {i for _, ids in findings for i in ids})
    for rule, ids in findings:
        for memory_id in ids:
            if memory_id not in standing:
                raise MemoryNotFoundError(
                    f"Memory {memory_id} has left the bank; nothing was noted."
                )
        texts = dumps([standing[memory_id] for memory_id in ids])
        execute(
            connection,
            "insert into set_aside values (?, ?, ?, ?, ?)",
            [rule, dumps(ids), texts, actor, made_at_us],
        )


def remove_set_aside(connection: DuckDBPyConnection, findings: Iterable[Named]) -> None:
    """Have findings count again."""
    for rule, ids in findings:
        execute(
            connection,
            "delete from set_aside where rule = ? and memory_ids = ?",
            [rule, dumps(ids)],
        )


def _standing_texts(
    connection: DuckDBPyConnection, ids: Iterable[int], revision: int | None = None
) -> Mapping[int, int]:
    """Of those memories that stand in a revision (the head), the id of the text of each."""
    standing, values = "to_revision is null", []
    if revision is not None:
        standing = "from_revision <= ? and (to_revision is null or to_revision > ?)"
        values = [revision, revision]
    registered(connection, "told", {"id": pa.array(list(ids), pa.int64())})
    query = f"select id, text_id from memory where {standing} and id in (select id from told)"
    texts = dict(rows(connection, query, values))
    connection.unregister("told")
    return texts


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
