"""Persistence: one DuckDB file, revisions of memories, and what is kept beside them.

Only this package imports duckdb. `Store` hands out transactions; `revisions`, `commits`, `ledger`,
`proposals`, `texts` and `schema` hold what can be done within one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from duckdb import DuckDBPyConnection

from memory_core.errors import StoreError
from memory_core.store import commits, ledger, proposals, revisions, schema, texts
from memory_core.store.lock import refusal
from memory_core.store.log import log_path
from memory_core.store.unit import create, remove_building, transaction

__all__ = ["Store", "commits", "ledger", "proposals", "revisions", "schema", "texts"]

WAIT = 30.0
"""Seconds that a unit of work waits for those before it."""


class Store:
    """A bank's file. It is open only while a unit of work runs."""

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = WAIT) -> None:
        self.path = _resolved(path)
        self.timeout = timeout

    def create(self, model: str, settings: dict[str, str]) -> None:
        """Make the bank where there is none; `settings` are those it is born with."""
        create(
            self.path, lambda connection: schema.build(connection, model, settings), self.timeout
        )

    def upgrade(self) -> None:
        """Bring the tables of an older bank to this version. Raises NewerStoreError and others."""
        with transaction(self.path, "open", timeout=self.timeout, write=False) as connection:
            remove_building(self.path)
            version = schema.read_version(connection, self.path)
        if version != len(schema.MIGRATIONS):
            with transaction(self.path, "upgrade", timeout=self.timeout, write=True) as connection:
                schema.upgrade(connection, self.path)

    def exists(self) -> bool:
        """Whether anything lies at the path. Raises StoreError where that cannot be seen."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise refusal(error, self.path) from error
        return True

    @contextmanager
    def reading(self, verb: str) -> Iterator[DuckDBPyConnection]:
        """A unit of work that changes nothing. `verb` is what others are told that we do."""
        with transaction(self.path, verb, timeout=self.timeout, write=False) as connection:
            schema.require_current(connection, self.path)
            yield connection

    @contextmanager
    def writing(self, verb: str) -> Iterator[DuckDBPyConnection]:
        """A unit of work: all that is done in it, or nothing."""
        with transaction(self.path, verb, timeout=self.timeout, write=True) as connection:
            schema.require_current(connection, self.path)
            yield connection

    def signature(self) -> tuple[int, ...]:
        """What changes when the file does, by `stat` alone: nothing is opened or waited for."""
        signature: list[int] = []
        for path in (self.path, log_path(self.path)):
            try:
                stat = path.stat()
            except OSError:
                signature += (0, 0, 0)
            else:
                signature += (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        return tuple(signature)


def _resolved(path: str | os.PathLike[str]) -> Path:
    """The one name of a file that may have many: a lock and a log go by it."""
    try:
        resolved = Path(path).expanduser().resolve()
    except (OSError, RuntimeError) as error:
        raise StoreError(f"{path} leads nowhere: {error}. Choose another path.") from error
    # DuckDB takes what follows a question mark for options, and version 2 reads a backslash as a
    # slash: its log would lie elsewhere than where we look for it.
    strange = [sign for sign in ("?", "\\") if sign in str(resolved) and sign != os.sep]
    if strange:
        raise StoreError(
            f"{resolved} has a “{strange[0]}” in it, which DuckDB reads as something else. Choose "
            "a path without."
        )
    return resolved
