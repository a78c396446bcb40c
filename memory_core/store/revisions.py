"""Revisions: the memories of one, what separates two, and who made them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memory_core.columns import KIND_CODES, Columns
from memory_core.errors import RevisionNotFoundError
from memory_core.pool import Pool
from memory_core.records import Evidence, Revision
from memory_core.serialization import evidence_from_list
from memory_core.store.rows import first, only, rows, table
from memory_core.store.texts import read_texts


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
    return Head(*only(connection, "select bank, model, revision, batch_key, epoch from counter"))


_COLUMNS = """
    memory.id, text_id, kind, domain, confidence, usage_count, success_count, memory.epoch,
    pinned, tags, detail, provenance
"""


def read_columns(
    connection: DuckDBPyConnection, pool: Pool, revision: int, *, model: str
) -> Columns:
    """The memories of a revision; texts that the pool does not hold yet are read into it."""
    found = table(
        connection,
        f"""
        select {_COLUMNS} from memory
        where from_revision <= ? and (to_revision is null or to_revision > ?)
        order by id
        """,
        [revision, revision],
    )
    return _columns(connection, pool, found, model=model)


@dataclass(frozen=True, slots=True)
class Changed:
    """What separates a revision from an earlier one."""

    gone: NDArray[np.int64]
    """Ids of rows that were closed."""
    put: Columns
    """Rows that have come."""


def read_changes(connection: DuckDBPyConnection, pool: Pool, since: int, *, model: str) -> Changed:
    """What the head has that revision `since` had not, and the other way about."""
    gone = table(
        connection,
        "select id from memory where to_revision > ? and from_revision <= ? order by id",
        [since, since],
    )
    come = table(
        connection,
        f"""
        select {_COLUMNS} from memory
        where from_revision > ? and to_revision is null order by id
        """,
        [since],
    )
    put = _columns(connection, pool, come, model=model)
    return Changed(gone.column(0).to_numpy(), put)


def _columns(connection: DuckDBPyConnection, pool: Pool, found: pa.Table, *, model: str) -> Columns:
    text_ids = _numbers(found, "text_id", np.int64)
    _, places = np.unique(text_ids, return_index=True)
    distinct = text_ids[np.sort(places)]
    missing = distinct[pool.rows_of(distinct) < 0]
    if len(missing):
        stored = read_texts(connection, missing, model=model, dimension=pool.dimension)
        with closing(stored):
            pool.load(missing, stored)
    return Columns(
        ids=_numbers(found, "id", np.int64),
        text=pool.rows_of(text_ids),
        kind=_codes(found, "kind", KIND_CODES.__getitem__).astype(np.int8),
        domain=_codes(found, "domain", pool.domains.code),
        confidence=_numbers(found, "confidence", np.float64),
        usage_count=_numbers(found, "usage_count", np.int64),
        success_count=_numbers(found, "success_count", np.int64),
        epoch=_numbers(found, "epoch", np.int64),
        pinned=_numbers(found, "pinned", np.bool_),
        detail=_codes(found, "detail", pool.details.code),
        tags=_codes(found, "tags", pool.tags.code),
        provenance=_codes(found, "provenance", pool.provenances.code),
    )


def _numbers(found: pa.Table, name: str, kind: type[np.generic]) -> NDArray[Any]:
    return np.array(found.column(name).to_numpy(), dtype=kind)


def _codes(found: pa.Table, name: str, code: Callable[[Any], int]) -> NDArray[np.int32]:
    """A text column as codes, decoding each distinct value once."""
    column = found.column(name).combine_chunks().dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    codes = np.array([code(text) for text in column.dictionary.to_pylist()], dtype=np.int32)
    picked: NDArray[np.int32] = codes[column.indices.to_numpy()]
    return picked


def read_head_at(connection: DuckDBPyConnection, revision: int, head: Head) -> Head:
    """Where the bank stood at a revision. Raises RevisionNotFoundError."""
    if revision == head.revision:
        return head
    if revision == 0:
        return replace(head, revision=0, batch_key="", epoch=0)
    then = read_revision(connection, revision, head)
    return replace(head, revision=revision, batch_key=then.key, epoch=then.epoch)


_REVISION = """
    select number, batch_key, kind, reason, actor, made_at, epoch, added, changed, removed, size,
        ids
    from revision
"""


def _revision(row: Sequence[Any]) -> Revision:
    *fields, ids = row
    mapping = {int(old): int(new) for old, new in json.loads(ids).items()}
    return Revision(*(*fields, mapping))


def read_revisions(connection: DuckDBPyConnection) -> tuple[Revision, ...]:
    return tuple(_revision(row) for row in rows(connection, _REVISION + "order by number"))


def read_revision(connection: DuckDBPyConnection, number: int, head: Head) -> Revision:
    row = first(connection, _REVISION + "where number = ?", [number])
    if row is None:
        raise RevisionNotFoundError(
            f"There is no revision {number}; this bank has revisions 0 to {head.revision}."
        )
    return _revision(row)


def find_revision(connection: DuckDBPyConnection, batch_key: str) -> Revision | None:
    """The revision that a batch has made, if it was committed."""
    row = first(connection, _REVISION + "where batch_key = ?", [batch_key])
    return None if row is None else _revision(row)


@dataclass(frozen=True, slots=True)
class Version:
    """The numbers of the revisions between which a memory stood as one row says."""

    from_revision: int
    to_revision: int | None


def read_versions(connection: DuckDBPyConnection, memory_id: int) -> tuple[Version, ...]:
    found = rows(
        connection,
        "select from_revision, to_revision from memory where id = ? order by from_revision",
        [memory_id],
    )
    return tuple(Version(*row) for row in found)


def read_version_columns(
    connection: DuckDBPyConnection, pool: Pool, memory_id: int, *, model: str
) -> Columns:
    """All rows that a memory ever had, oldest first."""
    query = f"select {_COLUMNS} from memory where id = ? order by from_revision"
    return _columns(connection, pool, table(connection, query, [memory_id]), model=model)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a revision touched a memory."""

    revision: int
    action: str
    rationale: str
    evidence: tuple[Evidence, ...]


def read_reasons(connection: DuckDBPyConnection, memory_id: int) -> dict[int, Reason]:
    found = rows(
        connection,
        "select revision, action, rationale, evidence from change where memory_id = ?",
        [memory_id],
    )
    return {
        number: Reason(number, action, rationale, evidence_from_list(json.loads(evidence)))
        for number, action, rationale, evidence in found
    }
