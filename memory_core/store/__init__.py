"""Persistence: one DuckDB file, revisions of memories, and what is kept beside them.

Only this package imports duckdb. `Store` hands out transactions; `revisions`, `ledger`, `texts`
and `schema` hold what can be done within one.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from duckdb import DuckDBPyConnection

from memory_core.errors import StorePermissionError
from memory_core.store import ledger, revisions, schema, texts
from memory_core.store.unit import create, transaction, wal_path

__all__ = ["Store", "ledger", "revisions", "schema", "texts"]

WAIT = 30.0
"""Seconds that a unit of work waits for those before it."""


class Store:
    """A bank's file. It is open only while a unit of work runs."""

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = WAIT) -> None:
        # The folder is resolved, the file is not: two names of one bank in one folder are rare,
        # two names of one folder (a link, a relative path) are not.
        given = Path(path).expanduser()
        self.path = given.parent.resolve() / given.name
        self.timeout = timeout

    def create(self, model: str, settings: dict[str, str]) -> None:
        """Make the bank where there is none; `settings` are those it is born with."""
        if not self.path.parent.is_dir():
            raise StorePermissionError(
                f"The folder {self.path.parent} does not exist. Create it first."
            )
        create(
            self.path, lambda connection: schema.build(connection, model, settings), self.timeout
        )

    def upgrade(self) -> None:
        """Bring the tables of an older bank to this version. Raises NewerStoreError and others."""
        with self.reading("open") as connection:
            version = schema.read_version(connection, self.path)
        if version != len(schema.MIGRATIONS):
            with self.writing("upgrade") as connection:
                schema.upgrade(connection, self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def reading(self, verb: str) -> AbstractContextManager[DuckDBPyConnection]:
        """A unit of work that changes nothing. `verb` is what others are told that we do."""
        return transaction(self.path, verb, timeout=self.timeout, write=False)

    def writing(self, verb: str) -> AbstractContextManager[DuckDBPyConnection]:
        """A unit of work: all that is done in it, or nothing."""
        return transaction(self.path, verb, timeout=self.timeout, write=True)

    def signature(self) -> tuple[int, ...]:
        """What changes when the file does, by `stat` alone: nothing is opened or waited for."""
        signature: list[int] = []
        for path in (self.path, wal_path(self.path)):
            try:
                stat = path.stat()
            except OSError:
                signature += (0, 0, 0)
            else:
                signature += (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        return tuple(signature)
