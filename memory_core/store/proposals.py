"""Proposals: operations that wait for a person, and what was decided about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import MemoryNotFoundError
from memory_core.operations import Operation, Proposal, ProposalState
from memory_core.serialization import operation_from_dict, operation_to_dict
from memory_core.store.ledger import taken
from memory_core.store.rows import execute, json_text, registered, rows

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
    first = taken(connection, "proposal", len(operations))
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
    made_at_us: int | None,
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


def take_back(connection: DuckDBPyConnection, undone: Sequence[int], *, revision: int) -> None:
    """Have what was accepted in revisions that `revision` undoes wait again.

    Where that undoes such an undo, what it had brought back to waiting stands accepted again.
    """
    registered(connection, "undone", {"number": pa.array(undone, pa.int64())})
    if len(undone) == 1:
        # A proposal that waits again names the revision that made it wait.
        query = """
            update proposal
            set state = case state when 'accepted' then 'pending' else 'accepted' end, revision = ?
            where state <> 'rejected' and revision in (select number from undone)
        """
    else:
        query = """
            update proposal set state = 'pending', revision = ?
            where state = 'accepted' and revision in (select number from undone)
        """
    execute(connection, query, [revision])
    connection.unregister("undone")
