"""The tables, and how a bank of an earlier version becomes one of this version.

The statements stay within what DuckLake also runs: no keys, no checks, no sequences, no indexes.
Uniqueness comes from the lock and from `counter`, which every commit updates.

A migration does all its ALTERs before any UPDATE: DuckDB refuses the other order at COMMIT.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from duckdb import DuckDBPyConnection

from memory_core.errors import NewerStoreError, StoreCorruptError, StoreError
from memory_core.records import BankSettings
from memory_core.store.rows import execute, rows


def _first_tables(connection: DuckDBPyConnection) -> None:
    connection.execute("""
        create table counter (          -- one row; what is next, and where the head is
            bank varchar not null,      -- this bank's own random name
            model varchar not null,     -- by which its vectors were made
            revision bigint not null,   -- the head
            batch_key varchar not null, -- of the head
            memory bigint not null,     -- the next id of each
            text bigint not null,
            query bigint not null,
            proposal bigint not null,
            epoch bigint not null
        );
        create table setting (name varchar not null, value varchar not null);
        create table revision (
            number bigint not null, batch_key varchar not null, kind varchar not null,
            reason varchar not null, actor varchar not null, made_at bigint not null,
            epoch bigint not null, added bigint not null, changed bigint not null,
            removed bigint not null, size bigint not null,
            ids varchar not null        -- JSON: provisional id -> id
        );
        create table text (id bigint not null, hash bigint not null, text varchar not null);
        create table embedding (
            model varchar not null, text_id bigint not null,
            vector blob not null        -- little-endian float32
        );
        create table memory (           -- a row is closed, never changed
            id bigint not null, from_revision bigint not null, to_revision bigint,
            kind varchar not null, text_id bigint not null, domain varchar not null,
            confidence double not null, usage_count bigint not null,
            success_count bigint not null, epoch bigint not null, pinned boolean not null,
            tags varchar not null, detail varchar not null, provenance varchar not null
        );
        create table change (           -- why a revision touched a memory
            revision bigint not null, memory_id bigint not null, action varchar not null,
            rationale varchar not null, evidence varchar not null
        );
        create table query (
            id bigint not null, text_id bigint not null, domains varchar not null,
            actor varchar not null, made_at bigint not null
        );
        create table judgement (
            query_id bigint not null, memory_id bigint not null, grade bigint not null,
            actor varchar not null, made_at bigint not null
        );
        create table proposal (
            id bigint not null, batch_key varchar not null, operation varchar not null,
            reason varchar not null, source varchar not null, actor varchar not null,
            made_at bigint not null, base_revision bigint not null, state varchar not null,
            decided_by varchar not null, decision_reason varchar not null, decided_at bigint,
            revision bigint
        );
        create table trajectory (
            id varchar not null, format varchar not null, body varchar not null,
            actor varchar not null, made_at bigint not null
        );
        create table retrieval (        -- what was injected, and how it turned out
            id varchar not null, text_id bigint not null, revision bigint not null,
            epoch bigint not null, settings varchar not null, hits varchar not null,
            injection varchar not null, actor varchar not null, made_at bigint not null,
            improved boolean, reward double, outcome_revision bigint
        );
    """)


def _map_and_desk(connection: DuckDBPyConnection) -> None:
    connection.execute("""
        alter table retrieval add column taken_back bigint; -- by which revision its outcome was
        create table projection (       -- a fitted map
            id bigint not null, revision bigint not null, model varchar not null,
            method varchar not null,    -- umap, pca or single
            parameters varchar not null, report varchar not null, -- JSON
            actor varchar not null, made_at bigint not null
        );
        create table point (            -- where it put a text
            projection_id bigint not null, text_id bigint not null,
            x double not null, y double not null
        );
        create table cluster_name (     -- what a person called some memories on the map
            name varchar not null,
            memory_ids varchar not null, -- JSON
            actor varchar not null, made_at bigint not null
        );
        create table distinct_pair (    -- looks like a copy, and is none: a person said so
            first_id bigint not null, second_id bigint not null, -- ascending
            first_text bigint not null, second_text bigint not null, -- ids of what they said then
            actor varchar not null, made_at bigint not null
        );
        create table set_aside (        -- a finding of the audit that a person does not share
            rule varchar not null, memory_ids varchar not null, -- JSON, ascending
            text_ids varchar not null,  -- JSON, what they said then
            actor varchar not null, made_at bigint not null
        );
        create table reflection (       -- what was made of runs; its proposals name its batch
            batch_key varchar not null, reflector varchar not null,
            trajectories varchar not null, report varchar not null, -- JSON
            actor varchar not null, made_at bigint not null
        );
    """)


MIGRATIONS: list[Callable[[DuckDBPyConnection], None]] = [_first_tables, _map_and_desk]
"""Version n is reached by running the first n."""


def build(connection: DuckDBPyConnection, model: str, settings: dict[str, str]) -> None:
    """The tables of a new bank. `settings` are those it is born with."""
    for migration in MIGRATIONS:
        migration(connection)
    query = "insert into counter values (?, ?, 0, '', 1, 1, 1, 1, 0)"
    execute(connection, query, [uuid4().hex, model])
    defaults = BankSettings()
    born = {
        "schema_version": str(len(MIGRATIONS)),
        "name": defaults.name,
        "capacity": str(defaults.capacity),
        **settings,
    }
    for name, value in born.items():
        execute(connection, "insert into setting values (?, ?)", [name, value])


def read_settings(connection: DuckDBPyConnection) -> dict[str, str]:
    return dict(rows(connection, "select name, value from setting"))


def write_setting(connection: DuckDBPyConnection, name: str, value: str) -> None:
    execute(connection, "delete from setting where name = ?", [name])
    execute(connection, "insert into setting values (?, ?)", [name, value])


def read_version(connection: DuckDBPyConnection, bank: Path) -> int:
    """Of which version the tables are. Raises NewerStoreError, StoreCorruptError."""
    version = read_settings(connection).get("schema_version", "")
    if not version.isdecimal():
        raise StoreCorruptError(f"{bank} does not say which version its tables are of.")
    if int(version) > len(MIGRATIONS):
        raise NewerStoreError(
            f"{bank} has tables of version {version}; this Winnow knows up to {len(MIGRATIONS)}. "
            "Upgrade Winnow; the bank was not changed."
        )
    return int(version)


def require_current(connection: DuckDBPyConnection, bank: Path) -> None:
    """Raise StoreError unless the tables are of this version, as others may have changed them."""
    if read_version(connection, bank) != len(MIGRATIONS):
        raise StoreError(f"{bank} has been replaced by an older bank; open it again.")


def upgrade(connection: DuckDBPyConnection, bank: Path) -> None:
    """Bring the tables to this version."""
    for migration in MIGRATIONS[read_version(connection, bank) :]:
        migration(connection)
    write_setting(connection, "schema_version", str(len(MIGRATIONS)))
