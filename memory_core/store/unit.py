"""A unit of work: lock, open, one transaction, close. Nothing else ever opens a bank's file."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import duckdb

from memory_core.errors import (
    MemoryCoreError,
    NewerStoreError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StorePermissionError,
)
from memory_core.store.header import check_file
from memory_core.store.lock import Lease, hold

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    # A bank written by a later DuckDB stays readable for an earlier one.
    "storage_compatibility_version": "v1.0.0",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""One configuration always: DuckDB refuses a second one in the same process."""

FOREIGN_RETRY = 0.05
"""Seconds between tries while a program that does not know our lock holds the file."""


def wal_path(bank: Path) -> Path:
    return bank.with_name(bank.name + ".wal")


@contextmanager
def transaction(
    bank: Path, verb: str, *, timeout: float, write: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """One transaction on an existing bank, committed at the end, rolled back on any error."""
    with hold(bank, verb, timeout) as lease:
        _check(bank, lease)
        # Only a write can leave a log behind, and only then must the record outlive a power cut.
        try:
            lease.mark(clean=False, durable=write)
            with _connection(bank, timeout) as connection:
                yield connection
        except duckdb.Error as error:
            _raise(error, bank)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFullError(_full(bank)) from error
            raise
        finally:
            # What a failed checkpoint left in the log is ours, and the next unit must take it in.
            lease.mark(clean=not wal_path(bank).exists())


def _check(bank: Path, lease: Lease) -> None:
    check_file(bank)
    log = wal_path(bank)
    if lease.was_clean and log.exists():
        raise StoreCorruptError(
            f"{log} does not belong to {bank.name}: the bank was closed without a log, and one has "
            "appeared beside it since. DuckDB would replay it into the bank. Move it away first."
        )


@contextmanager
def _connection(bank: Path, timeout: float) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = _connect(bank, timeout)
    try:
        connection.execute("begin transaction")
        try:
            yield connection
            # After a statement has failed, COMMIT returns normally and commits nothing, so it is
            # reached only when none has.
            connection.execute("commit")
        except BaseException:
            # A failed COMMIT has ended the transaction by itself.
            _quietly(lambda: connection.execute("rollback"))
            raise
    finally:
        connection.close()


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except duckdb.Error:
        return


def _connect(bank: Path, timeout: float) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + timeout
    while True:
        try:
            return duckdb.connect(str(bank), config=CONFIGURATION)
        except duckdb.IOException as error:
            if "Could not set lock" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(FOREIGN_RETRY)


def create(bank: Path, build: Callable[[duckdb.DuckDBPyConnection], None], timeout: float) -> None:
    """Make a bank where there is none, whole or not at all.

    It is built under a temporary name in the same folder and then linked into place. Another
    process may have been faster; its bank stays.
    """
    with hold(bank, "create", timeout) as lease:
        if bank.exists():
            return
        log = wal_path(bank)
        if log.exists():
            raise StoreCorruptError(
                f"{log} lies where a new bank's log would be. Move it away, or choose another name."
            )
        building = bank.with_name(f".{bank.name}.{os.getpid()}.building")
        try:
            with _connection(building, timeout) as connection:
                build(connection)
            if wal_path(building).exists():
                raise StoreFullError(_full(bank))
            _put_in_place(building, bank)
            lease.mark(clean=True)
        except duckdb.Error as error:
            _raise(error, bank)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFullError(_full(bank)) from error
            raise StorePermissionError(f"{bank} cannot be created: {error.strerror}.") from error
        finally:
            building.unlink(missing_ok=True)
            wal_path(building).unlink(missing_ok=True)


def _put_in_place(built: Path, bank: Path) -> None:
    try:
        os.link(built, bank)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        os.rename(built, bank)  # a file system without links; the lock keeps others out


def _full(bank: Path) -> str:
    return f"No space is left for {bank}. Nothing was written; free some space and try again."


def _raise(error: duckdb.Error, bank: Path) -> NoReturn:
    raise translate(error, bank) from error


def translate(error: duckdb.Error, bank: Path) -> MemoryCoreError:
    """DuckDB's error as ours. Its types alone do not tell: most of these share one."""
    text = str(error)
    lower = text.lower()
    if "could not set lock" in lower or "conflict" in lower:
        return StoreBusyError(
            f"{bank} is open in a program that does not share Winnow's lock: {_first_line(text)} "
            "Close it there and try again."
        )
    if "no space left" in lower or "disk full" in lower or "could not write all bytes" in lower:
        return StoreFullError(_full(bank))
    if "permission denied" in lower or "read-only" in lower:
        return StorePermissionError(
            f"{bank} cannot be opened for writing. Change its permissions, or copy it elsewhere."
        )
    if "newer version" in lower or "version number" in lower or "newer duckdb" in lower:
        return NewerStoreError(
            f"{bank} was written by a newer DuckDB than this one ({duckdb.__version__}). "
            "Upgrade Winnow, or its duckdb package."
        )
    if "wal" in lower and ("replay" in lower or "corrupt" in lower or "checksum" in lower):
        return StoreCorruptError(
            f"The log {wal_path(bank).name} of {bank} is damaged and was not replayed. The bank's "
            f"file is as it was. {_first_line(text)}"
        )
    if isinstance(
        error, duckdb.IOException | duckdb.SerializationException | duckdb.FatalException
    ):
        return StoreCorruptError(
            f"{bank} is not a DuckDB file, was cut short, or is damaged. It was not changed; "
            f"restore a copy. {_first_line(text)}"
        )
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
        return StoreCorruptError(
            f"{bank} is a DuckDB file but not a bank of Winnow's. It was not changed; give another "
            f"path. {_first_line(text)}"
        )
    return StoreError(f"{bank} could not be read or written. {_first_line(text)}")


def _first_line(text: str) -> str:
    return "DuckDB says: " + text.strip().splitlines()[0][:300]
