"""What a bank keeps beside its memories: queries, judgements, proposals, retrievals, runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import InvalidBatchError, MemoryNotFoundError
from memory_core.operations import Operation, Proposal, ProposalState
from memory_core.records import RecordedHit, RecordedRetrieval, SavedQuery
from memory_core.serialization import operation_from_dict, operation_to_dict
from memory_core.store.rows import execute, first, json_text, only, registered, rows


def _taken(connection: DuckDBPyConnection, name: str, count: int = 1) -> int:
    """The first of `count` new ids of a table."""
    (taken,) = only(connection, f"select {name} from counter")
    execute(connection, f"update counter set {name} = ?", [taken + count])
    return int(taken)


# -- queries and judgements ---------------------------------------------------------------------


def read_queries(connection: DuckDBPyConnection) -> tuple[SavedQuery, ...]:
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
    return tuple(
        SavedQuery(query_id, task, tuple(json.loads(domains)), grades.get(query_id, {}))
        for query_id, task, domains in found
    )


def put_query(
    connection: DuckDBPyConnection,
    text_id: int,
    domains: Sequence[str],
    *,
    actor: str,
    made_at_us: int,
) -> int:
    query_id = _taken(connection, "query")
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


# -- proposals ----------------------------------------------------------------------------------

_PROPOSAL = """
    select id, batch_key, operation, reason, source, actor, made_at, base_revision, state,
        decided_by, decision_reason, decided_at, revision
    from proposal
"""


def _proposal(row: Sequence[Any]) -> Proposal:
    proposal_id, group, operation, *fields = row
    return Proposal(proposal_id, group, operation_from_dict(json.loads(operation)), *fields)


def read_proposals(
    connection: DuckDBPyConnection, state: ProposalState | None = None
) -> tuple[Proposal, ...]:
    query = _PROPOSAL + "where ? is null or state = ? order by id"
    return tuple(_proposal(row) for row in rows(connection, query, [state, state]))


def count_proposals(connection: DuckDBPyConnection, state: ProposalState) -> int:
    (count,) = only(connection, "select count(*) from proposal where state = ?", [state])
    return int(count)


def find_proposals(connection: DuckDBPyConnection, ids: Sequence[int]) -> tuple[Proposal, ...]:
    """Proposals in the order of their ids. Raises MemoryNotFoundError for an unknown one."""
    registered(connection, "asked", {"id": pa.array(ids, pa.int64())})
    query = _PROPOSAL + "where id in (select id from asked) order by id"
    found = tuple(_proposal(row) for row in rows(connection, query))
    connection.unregister("asked")
    missing = set(ids) - {proposal.id for proposal in found}
    if missing:
        raise MemoryNotFoundError(f"There is no proposal {min(missing)}.")
    return found


def put_proposals(
    connection: DuckDBPyConnection,
    operations: Sequence[Operation],
    *,
    batch_key: str,
    reason: str,
    source: str,
    actor: str,
    made_at_us: int,
    base_revision: int,
) -> tuple[int, ...]:
    """Store operations as pending; their ids. Proposing a batch again returns the same ids."""
    query = "select id from proposal where batch_key = ? order by id"
    known = tuple(proposal_id for (proposal_id,) in rows(connection, query, [batch_key]))
    if known:
        return known
    if not operations:
        return ()
    first = _taken(connection, "proposal", len(operations))
    ids = list(range(first, first + len(operations)))
    encoded = [json_text(operation_to_dict(o), "proposal") for o in operations]
    registered(connection, "proposed", {"id": ids, "operation": encoded})
    execute(
        connection,
        """
        insert into proposal
        select id, ?, operation, ?, ?, ?, ?, ?, 'pending', '', '', null, null from proposed
        """,
        [batch_key, reason, source, actor, made_at_us, base_revision],
    )
    connection.unregister("proposed")
    return tuple(ids)


def decide_proposals(
    connection: DuckDBPyConnection,
    ids: Sequence[int],
    state: ProposalState,
    *,
    actor: str,
    reason: str,
    made_at_us: int,
    revision: int | None,
) -> None:
    registered(connection, "decided", {"id": pa.array(ids, pa.int64())})
    execute(
        connection,
        """
        update proposal
        set state = ?, decided_by = ?, decision_reason = ?, decided_at = ?, revision = ?
        where id in (select id from decided)
        """,
        [state, actor, reason, made_at_us, revision],
    )
    connection.unregister("decided")


# -- retrievals ---------------------------------------------------------------------------------

_RETRIEVAL = """
    select retrieval.id, text.text, revision, epoch, settings, hits, injection, actor, made_at,
        improved, reward, outcome_revision
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
        "insert into retrieval values (?, ?, ?, ?, ?, ?, ?, ?, ?, null, null, null)",
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
    """Write a retrieval's outcome. Raises InvalidBatchError when it has one."""
    (written,) = only(
        connection,
        """
        update retrieval set improved = ?, reward = ?, hits = ?, outcome_revision = ?
        where id = ? and improved is null
        """,
        [improved, reward, _hits(hits), revision, retrieval_id],
    )
    if written != 1:
        raise InvalidBatchError(
            f"Retrieval {retrieval_id} has its outcome already; an outcome is recorded once."
        )


def _hits(hits: Sequence[RecordedHit]) -> str:
    return json_text([asdict(hit) for hit in hits], "hits")
