"""Revisions: reading the memories of one, and committing the next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memory_core.columns import (
    KIND_CODES,
    Columns,
    Pool,
    Vocabulary,
    encode_detail,
    encode_provenance,
    encode_tags,
)
from memory_core.errors import (
    EncodingDriftError,
    InvalidBatchError,
    RevisionNotFoundError,
    StalePlanError,
)
from memory_core.operations import Commit
from memory_core.records import Change, Evidence, Memory, Revision
from memory_core.serialization import dumps, evidence_from_list
from memory_core.store.texts import put_texts, read_texts, registered


@dataclass(frozen=True, slots=True)
class Head:
    """Where a bank stands."""

    bank: str
    """Its random name; a new one when all of it was embedded anew."""
    model: str
    revision: int
    batch_key: str
    epoch: int


def read_head(connection: DuckDBPyConnection) -> Head:
    row = connection.execute(
        "select bank, model, revision, batch_key, epoch from counter"
    ).fetchone()
    assert row is not None
    return Head(*row)


# -- reading ------------------------------------------------------------------------------------

_COLUMNS = """
    memory.id, text_id, kind, domain, confidence, usage_count, success_count, memory.epoch,
    pinned, tags, detail, provenance
"""


def read_columns(
    connection: DuckDBPyConnection, pool: Pool, revision: int, *, model: str
) -> Columns:
    """The memories of a revision; texts that the pool does not hold yet are read into it."""
    table = connection.execute(
        f"""
        select {_COLUMNS} from memory
        where from_revision <= ? and (to_revision is null or to_revision > ?)
        order by id
        """,
        [revision, revision],
    ).to_arrow_table()
    return _columns(connection, pool, table, model=model)


@dataclass(frozen=True, slots=True)
class Changed:
    """What separates a revision from an earlier one."""

    gone: NDArray[np.int64]
    """Ids of rows that were closed."""
    put: Columns
    """Rows that have come."""


def read_changes(connection: DuckDBPyConnection, pool: Pool, since: int, *, model: str) -> Changed:
    """What the head has that revision `since` had not, and the other way about."""
    gone = connection.execute(
        "select id from memory where to_revision > ? and from_revision <= ?", [since, since]
    ).to_arrow_table()
    table = connection.execute(
        f"""
        select {_COLUMNS} from memory
        where from_revision > ? and to_revision is null order by id
        """,
        [since],
    ).to_arrow_table()
    put = _columns(connection, pool, table, model=model)
    return Changed(gone.column(0).to_numpy(), put)


def _columns(connection: DuckDBPyConnection, pool: Pool, table: pa.Table, *, model: str) -> Columns:
    text_ids = table.column("text_id").to_numpy()
    _, first = np.unique(text_ids, return_index=True)
    distinct = text_ids[np.sort(first)]
    missing = distinct[pool.rows_of(distinct) < 0]
    if len(missing):
        pool.load(missing, read_texts(connection, missing, model=model, dimension=pool.dimension))
    return Columns(
        ids=_numbers(table, "id", np.int64),
        text=pool.rows_of(text_ids),
        kind=_codes(table, "kind", KIND_CODES).astype(np.int8),
        domain=_codes(table, "domain", pool.domains),
        confidence=_numbers(table, "confidence", np.float64),
        usage_count=_numbers(table, "usage_count", np.int64),
        success_count=_numbers(table, "success_count", np.int64),
        epoch=_numbers(table, "epoch", np.int64),
        pinned=_numbers(table, "pinned", np.bool_),
        detail=_codes(table, "detail", pool.details),
        tags=_codes(table, "tags", pool.tags),
        provenance=_codes(table, "provenance", pool.provenances),
    )


def _numbers(table: pa.Table, name: str, kind: type[np.generic]) -> NDArray[np.generic]:
    return np.array(table.column(name).to_numpy(), dtype=kind)


def _codes(
    table: pa.Table, name: str, known: Vocabulary[object] | Mapping[str, int]
) -> NDArray[np.int32]:
    """A text column as codes, decoding each distinct value once."""
    column = table.column(name).combine_chunks().dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    texts = column.dictionary.to_pylist()
    codes = [known[t] if isinstance(known, Mapping) else known.code(t) for t in texts]
    return np.array(codes, dtype=np.int32)[column.indices.to_numpy()]


def read_epoch(connection: DuckDBPyConnection, revision: int, head: Head) -> int:
    """The session index at a revision. Raises RevisionNotFoundError."""
    if revision == head.revision:
        return head.epoch
    if revision == 0:
        return 0
    return read_revision(connection, revision, head).epoch


_REVISION = """
    select number, batch_key, kind, reason, actor, made_at, epoch, added, changed, removed, size,
        ids
    from revision
"""


def _revision(row: Sequence[object]) -> Revision:
    *fields, ids = row
    mapping = {int(old): int(new) for old, new in json.loads(str(ids)).items()}
    return Revision(*fields, ids=mapping)  # type: ignore[arg-type]


def read_revisions(connection: DuckDBPyConnection) -> tuple[Revision, ...]:
    rows = connection.execute(_REVISION + "order by number").fetchall()
    return tuple(_revision(row) for row in rows)


def read_revision(connection: DuckDBPyConnection, number: int, head: Head) -> Revision:
    row = connection.execute(_REVISION + "where number = ?", [number]).fetchone()
    if row is None:
        raise RevisionNotFoundError(
            f"There is no revision {number}; this bank has revisions 0 to {head.revision}."
        )
    return _revision(row)


def find_revision(connection: DuckDBPyConnection, batch_key: str) -> Revision | None:
    """The revision that a batch has made, if it was committed."""
    row = connection.execute(_REVISION + "where batch_key = ?", [batch_key]).fetchone()
    return None if row is None else _revision(row)


@dataclass(frozen=True, slots=True)
class Version:
    """The numbers of the revisions between which a memory stood as one row says."""

    from_revision: int
    to_revision: int | None


def read_versions(connection: DuckDBPyConnection, memory_id: int) -> tuple[Version, ...]:
    rows = connection.execute(
        "select from_revision, to_revision from memory where id = ? order by from_revision",
        [memory_id],
    ).fetchall()
    return tuple(Version(*row) for row in rows)


def read_version_columns(
    connection: DuckDBPyConnection, pool: Pool, memory_id: int, *, model: str
) -> Columns:
    """All rows that a memory ever had, oldest first."""
    table = connection.execute(
        f"select {_COLUMNS} from memory where id = ? order by from_revision", [memory_id]
    ).to_arrow_table()
    return _columns(connection, pool, table, model=model)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a revision touched a memory."""

    revision: int
    action: str
    rationale: str
    evidence: tuple[Evidence, ...]


def read_reasons(connection: DuckDBPyConnection, memory_id: int) -> dict[int, Reason]:
    rows = connection.execute(
        "select revision, action, rationale, evidence from change where memory_id = ?",
        [memory_id],
    ).fetchall()
    return {
        number: Reason(number, action, rationale, evidence_from_list(json.loads(evidence)))
        for number, action, rationale, evidence in rows
    }


# -- committing ---------------------------------------------------------------------------------


def commit(connection: DuckDBPyConnection, planned: Commit, *, model: str) -> Revision:
    """Write the next revision, within the caller's transaction, which must not have made it yet.

    Raises StalePlanError, EncodingDriftError.
    """
    head = read_head(connection)
    if head.model != model:
        raise EncodingDriftError(
            "The bank was embedded anew by another model since it was opened; open it again."
        )
    _refuse_if_stale(connection, planned, head)
    row = connection.execute("select memory, text from counter").fetchone()
    assert row is not None
    next_memory, next_text = row
    ids = _number(planned, next_memory)
    put = tuple(_renumbered(memory, ids) for memory in planned.put)
    text_ids, next_text = put_texts(connection, planned.vectors, model=model, next_id=next_text)
    number = head.revision + 1
    closed = _close(connection, planned, number)
    _insert(connection, put, text_ids, number)
    epoch = head.epoch + planned.starts_epoch
    size = connection.execute("select count(*) from memory where to_revision is null").fetchone()
    assert size is not None
    added = len(put) - (closed - len(planned.removed))
    revision = Revision(
        number=number,
        key=planned.batch_key,
        kind=planned.kind,
        reason=planned.reason,
        actor=planned.actor,
        made_at_us=planned.made_at_us,
        epoch=epoch,
        added=added,
        changed=len(put) - added,
        removed=len(planned.removed),
        size=size[0],
        ids=ids,
    )
    _record(connection, revision, planned.changes)
    connection.execute(
        "update counter set revision = ?, batch_key = ?, memory = ?, text = ?, epoch = ?",
        [number, revision.key, next_memory + len(ids), next_text, epoch],
    )
    return revision


def _refuse_if_stale(connection: DuckDBPyConnection, planned: Commit, head: Head) -> None:
    if head.revision == planned.base_revision:
        return
    registered(connection, "touched", {"id": pa.array(planned.touched, pa.int64())})
    rows = connection.execute(
        """
        select distinct id from memory
        where id in (select id from touched) and (from_revision > ? or to_revision > ?)
        order by id
        """,
        [planned.base_revision, planned.base_revision],
    ).fetchall()
    connection.unregister("touched")
    if rows:
        names = ", ".join(str(row[0]) for row in rows[:10]) + (", …" if len(rows) > 10 else "")
        raise StalePlanError(
            f"Memories {names} have changed between revision {planned.base_revision}, which was "
            f"planned against, and {head.revision}. Plan again to see what would happen now."
        )


def _number(planned: Commit, next_id: int) -> dict[int, int]:
    new = [memory.id for memory in planned.put if memory.id < 0]
    unknown = [m.id for m in planned.put if m.id >= next_id]
    if unknown:
        raise InvalidBatchError(f"Memory {unknown[0]} was never in this bank; it is not restored.")
    return {provisional: next_id + i for i, provisional in enumerate(new)}


def _renumbered(memory: Memory, ids: Mapping[int, int]) -> Memory:
    origin = memory.provenance
    if any(source in ids for source in origin.merged_from):
        merged = tuple(ids.get(source, source) for source in origin.merged_from)
        memory = replace(memory, provenance=replace(origin, merged_from=merged))
    return replace(memory, id=ids[memory.id]) if memory.id in ids else memory


def _close(connection: DuckDBPyConnection, planned: Commit, number: int) -> int:
    leaving = [*planned.removed, *(m.id for m in planned.put if m.id > 0)]
    if not leaving:
        return 0
    registered(connection, "leaving", {"id": pa.array(leaving, pa.int64())})
    row = connection.execute(
        """
        update memory set to_revision = ?
        where to_revision is null and id in (select id from leaving)
        """,
        [number],
    ).fetchone()
    connection.unregister("leaving")
    return int(row[0]) if row else 0


def _insert(
    connection: DuckDBPyConnection,
    put: Sequence[Memory],
    text_ids: Mapping[str, int],
    number: int,
) -> None:
    if not put:
        return
    columns = {
        "id": [m.id for m in put],
        "kind": [m.kind for m in put],
        "text_id": [text_ids[m.text] for m in put],
        "domain": [m.domain for m in put],
        "confidence": [m.confidence for m in put],
        "usage_count": [m.usage_count for m in put],
        "success_count": [m.success_count for m in put],
        "epoch": [m.epoch for m in put],
        "pinned": [m.pinned for m in put],
        "tags": [encode_tags(m.tags) for m in put],
        "detail": [encode_detail(m.detail) for m in put],
        "provenance": [encode_provenance(m.provenance) for m in put],
    }
    registered(connection, "put", columns)
    connection.execute(
        """
        insert into memory
        select id, ?, null, kind, text_id, domain, confidence, usage_count, success_count, epoch,
            pinned, tags, detail, provenance
        from put
        """,
        [number],
    )
    connection.unregister("put")


def _record(connection: DuckDBPyConnection, revision: Revision, changes: Sequence[Change]) -> None:
    r = revision
    connection.execute(
        "insert into revision values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [r.number, r.key, r.kind, r.reason, r.actor, r.made_at_us, r.epoch, r.added, r.changed,
         r.removed, r.size, dumps({str(old): new for old, new in r.ids.items()})],
    )  # fmt: skip
    if not changes:
        return
    columns = {
        "memory_id": [r.ids.get(c.memory_id, c.memory_id) for c in changes],
        "action": [c.action for c in changes],
        "rationale": [c.rationale for c in changes],
        "evidence": [
            dumps([{"trajectory_id": e.trajectory_id, "steps": e.steps} for e in c.evidence])
            for c in changes
        ],
    }
    registered(connection, "changes", columns)
    connection.execute(
        "insert into change select ?, memory_id, action, rationale, evidence from changes",
        [r.number],
    )
    connection.unregister("changes")
