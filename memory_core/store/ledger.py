"""What a bank keeps beside its memories: queries, judgements, retrievals and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import InvalidBatchError, MemoryNotFoundError
from memory_core.ledger_records import RecordedHit, RecordedRetrieval, SavedQuery
from memory_core.store import successors
from memory_core.store.rows import execute, first, json_text, only, registered, rows


def taken(connection: DuckDBPyConnection, name: str, count: int = 1) -> int:
    """The first of `count` new ids of a table."""
    (taken,) = only(connection, f"select {name} from counter")
    execute(connection, f"update counter set {name} = ?", [taken + count])
    return int(taken)


# -- queries and judgements ---------------------------------------------------------------------


def read_queries(connection: DuckDBPyConnection) -> tuple[SavedQuery, ...]:
    """The saved queries in the order in which they came."""
    merged = successors.read_successors(connection)
    grades: dict[int, dict[int, int]] = {}
    judged = rows(connection, "select query_id, memory_id, grade from judgement order by memory_id")
    for query_id, memory_id, grade in judged:
        grades.setdefault(query_id, {})[memory_id] = grade
    found = rows(
        connection,
        """
        select query.id, text.text, query.domains
        from query join text on text.id = query.text_id order by query.id
        """,
    )
    queries = []
    for query_id, task, domains in found:
        graded = grades.get(query_id, {})
        later = {memory_id: merged[memory_id] for memory_id in graded if memory_id in merged}
        queries.append(SavedQuery(query_id, task, tuple(json.loads(domains)), graded, later))
    return tuple(queries)


def put_query(
    connection: DuckDBPyConnection,
    text_id: int,
    domains: Sequence[str],
    *,
    actor: str,
    made_at_us: int,
) -> int:
    query_id = taken(connection, "query")
    execute(
        connection,
        "insert into query values (?, ?, ?, ?, ?)",
        [query_id, text_id, json_text(list(domains), "domain"), actor, made_at_us],
    )
    return query_id


def delete_query(connection: DuckDBPyConnection, query_id: int) -> None:
    _require_query(connection, query_id)
    execute(connection, "delete from judgement where query_id = ?", [query_id])
    execute(connection, "delete from query where id = ?", [query_id])


def _require_query(connection: DuckDBPyConnection, query_id: int) -> None:
    if not first(connection, "select 1 from query where id = ?", [query_id]):
        raise MemoryNotFoundError(
            f"There is no saved query {query_id}; `bank.queries()` lists them."
        )


def put_judgements(
    connection: DuckDBPyConnection,
    query_id: int,
    grades: Mapping[int, int | None],
    *,
    actor: str,
    made_at_us: int,
) -> None:
    """Set the grades of memories for a query; None takes a grade back."""
    _require_query(connection, query_id)
    registered(connection, "graded", {"id": pa.array(list(grades), pa.int64())})
    query = "select distinct memory.id from memory join graded on graded.id = memory.id"
    known = {memory_id for (memory_id,) in rows(connection, query)}
    unknown = [memory_id for memory_id in grades if memory_id not in known]
    if unknown:
        raise MemoryNotFoundError(f"There never was a memory {unknown[0]}; it is not judged.")
    execute(
        connection,
        "delete from judgement where query_id = ? and memory_id in (select id from graded)",
        [query_id],
    )
    connection.unregister("graded")
    kept = {m: grade for m, grade in grades.items() if grade is not None}
    if kept:
        columns = {"id": list(kept), "grade": list(kept.values())}
        registered(connection, "graded", columns)
        execute(
            connection,
            "insert into judgement select ?, id, grade, ?, ? from graded",
            [query_id, actor, made_at_us],
        )
        connection.unregister("graded")


def last_texts(connection: DuckDBPyConnection) -> dict[int, str]:
    """The text that each memory has, or had when it left, by id; of all that ever were."""
    query = """
        select last.id, text.text
        from (select id, arg_max(text_id, from_revision) as text_id from memory group by id) last
        join text on text.id = last.text_id
        order by last.id
    """
    return dict(rows(connection, query))


def living_ids(connection: DuckDBPyConnection) -> set[int]:
    """Ids of the memories of the latest revision."""
    query = "select id from memory where to_revision is null"
    return {memory_id for (memory_id,) in rows(connection, query)}


# -- retrievals ---------------------------------------------------------------------------------

_RETRIEVAL = """
    select retrieval.id, text.text, revision, epoch, settings, hits, injection, actor, made_at,
        improved, reward, outcome_revision, taken_back
    from retrieval join text on text.id = retrieval.text_id
"""


def _retrieval(row: Sequence[Any]) -> RecordedRetrieval:
    retrieval_id, task, revision, epoch, settings, hits, *fields = row
    decoded = tuple(RecordedHit(**hit) for hit in json.loads(hits))
    return RecordedRetrieval(
        retrieval_id, task, revision, epoch, json.loads(settings), decoded, *fields
    )


def read_retrievals(connection: DuckDBPyConnection) -> tuple[RecordedRetrieval, ...]:
    """The ledger, oldest first."""
    query = _RETRIEVAL + "order by made_at, retrieval.id"
    return tuple(_retrieval(row) for row in rows(connection, query))


def find_retrieval(connection: DuckDBPyConnection, retrieval_id: str) -> RecordedRetrieval | None:
    row = first(connection, _RETRIEVAL + "where retrieval.id = ?", [retrieval_id])
    return None if row is None else _retrieval(row)


def put_retrieval(
    connection: DuckDBPyConnection, recorded: RecordedRetrieval, text_id: int
) -> None:
    """Write a ledger row. One that is there already stays as it is."""
    if find_retrieval(connection, recorded.id) is not None:
        return
    r = recorded
    execute(
        connection,
        "insert into retrieval values (?, ?, ?, ?, ?, ?, ?, ?, ?, null, null, null, null)",
        [r.id, text_id, r.revision, r.epoch, json_text(dict(r.settings), "settings"),
         _hits(r.hits), r.injection, r.actor, r.made_at_us],
    )  # fmt: skip


def put_outcome(
    connection: DuckDBPyConnection,
    retrieval_id: str,
    *,
    improved: bool,
    reward: float | None,
    hits: Sequence[RecordedHit],
    revision: int,
) -> None:
    """Write a retrieval's outcome. Raises InvalidBatchError when it has one that stands."""
    (written,) = only(
        connection,
        """
        update retrieval
        set improved = ?, reward = ?, hits = ?, outcome_revision = ?, taken_back = null
        where id = ? and (improved is null or taken_back is not null)
        """,
        [improved, reward, _hits(hits), revision, retrieval_id],
    )
    if written != 1:
        raise InvalidBatchError(
            f"Retrieval {retrieval_id} has its outcome already; an outcome is recorded once."
        )


def take_back(connection: DuckDBPyConnection, undone: Sequence[int], *, revision: int) -> None:
    """Have the outcomes of revisions that `revision` undoes stand no longer.

    Where that undoes such an undo, what it had taken back stands again.
    """
    registered(connection, "undone", {"number": pa.array(undone, pa.int64())})
    execute(
        connection,
        """
        update retrieval
        set taken_back = case when taken_back is null then cast(? as bigint) end
        where (taken_back is null and outcome_revision in (select number from undone))
            or taken_back in (select number from undone)
        """,
        [revision],
    )
    connection.unregister("undone")


def _hits(hits: Sequence[RecordedHit]) -> str:
    return json_text([asdict(hit) for hit in hits], "hits")
