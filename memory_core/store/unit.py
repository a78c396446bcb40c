"""A unit of work: lock, open, one transaction, close. Nothing else ever opens a bank's file."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from memory_core.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError
from memory_core.store.header import FileState, cut_short, read_state
from memory_core.store.lock import Lease, hold, is_open_elsewhere, refusal
from memory_core.store.log import check_log, log_path
from memory_core.store.translation import is_locked, no_space, translate

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    # A bank written by a later DuckDB stays readable for an earlier one.
    "storage_compatibility_version": "v1.0.0",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # A table that is missing must not be looked for among Python's variables.
    "python_enable_replacements": False,
}
"""One configuration always: DuckDB refuses a second one in the same process."""

FOREIGN_RETRY = 0.05
"""Seconds between tries while a program that does not know our lock holds the file."""


@contextmanager
def transaction(
    bank: Path, verb: str, *, timeout: float, write: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """One transaction on an existing bank, committed at the end, rolled back on any error."""
    deadline = time.monotonic() + timeout
    with hold(bank, verb, timeout) as lease:
        suspicious = _check(bank, lease, deadline)
        try:
            if write:
                lease.mark_open()
            with _connection(bank, deadline, write=write) as connection:
                if suspicious:
                    _read_everything(connection, bank)
                yield connection
        except (duckdb.Error, pa.ArrowException) as error:
            raise translate(error, bank) from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFullError(no_space(bank)) from error
            raise
        finally:
            _note_end(bank, lease, write=write)


def _check(bank: Path, lease: Lease, deadline: float) -> bool:
    """Refuse what must not be opened; whether the file may lack blocks that it counts."""
    found, left = read_state(bank), lease.left
    if left is None:
        check_log(bank)
        return found.size < found.described
    if found.header == left.header and found.size < left.size:
        raise cut_short(bank, found.size, left.size)
    log = log_path(bank)
    while log.exists():
        if not is_open_elsewhere(bank):
            raise StoreCorruptError(
                f"{log} does not belong to {bank.name}: the bank was closed without a log, and one "
                "has appeared beside it since. DuckDB would replay it into the bank. Move it away "
                "first, when no program has the bank open."
            )
        if time.monotonic() > deadline:
            raise StoreBusyError(
                f"{bank} is open in a program that does not share Winnow's lock, and is being "
                "written. Close it there and try again."
            )
        time.sleep(FOREIGN_RETRY)
    return found.header != left.header and found.size < found.described


def _note_end(bank: Path, lease: Lease, *, write: bool) -> None:
    """Record how the unit left the bank. A log that is left is ours: the next takes it in."""
    # Whatever keeps this from being noted, the next unit looks closer, and no commit is in doubt.
    with suppress(OSError, StoreError):
        if not log_path(bank).exists():
            left = read_state(bank)
            if write or lease.left is None or not _same(left, lease.left):
                lease.mark_closed(left)


def _same(one: FileState, other: FileState) -> bool:
    return (one.header, one.size) == (other.header, other.size)


@contextmanager
def _connection(bank: Path, deadline: float, *, write: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = _connect(bank, deadline)
    try:
        connection.execute("begin transaction" if write else "begin transaction read only")
        try:
            yield connection
            # After a statement has failed, COMMIT returns normally and commits nothing, so it is
            # reached only when none has.
            connection.execute("commit")
        except BaseException:
            # A failed COMMIT has ended the transaction by itself.
            with suppress(duckdb.Error):
                connection.execute("rollback")
            raise
    finally:
        connection.close()


def _connect(bank: Path, deadline: float) -> duckdb.DuckDBPyConnection:
    while True:
        try:
            return duckdb.connect(str(bank), config=CONFIGURATION)
        except duckdb.Error as error:
            if not is_locked(error, bank) or time.monotonic() > deadline:
                raise
        time.sleep(FOREIGN_RETRY)


@contextmanager
def kept_open(bank: Path) -> Iterator[None]:
    """Spare this process's units the opening and closing, two thirds of a small one's time.

    Only for a bank that is being built where nobody looks for it: whoever else came by would wait
    for DuckDB's own lock until the end, and what a crash left would be thrown away. Raises
    StoreFullError where its log could not be taken in at the end, without which it is not whole.
    """
    try:
        keeper = duckdb.connect(str(bank), config=CONFIGURATION)
    except duckdb.Error as error:
        raise translate(error, bank) from error
    try:
        yield
    finally:
        keeper.close()
    if log_path(bank).exists():
        raise StoreFullError(no_space(bank))


def _read_everything(connection: duckdb.DuckDBPyConnection, bank: Path) -> None:
    """Touch every value, so that a block that is missing is missed before anything is written."""
    names = connection.execute(
        "select table_name from information_schema.tables where table_schema = 'main'"
    ).fetchall()
    for (name,) in names:
        quoted = '"' + name.replace('"', '""') + '"'
        connection.execute(f"select bit_xor(hash(t)) from {quoted} as t").fetchall()


def building_path(bank: Path) -> Path:
    """Under which name a bank is built before it is put in place."""
    return bank.with_name(f".{bank.name}.building")


def remove_building(bank: Path) -> None:
    """Take away what a creation has left that was killed. The caller holds the bank's lock."""
    building = building_path(bank)
    building.unlink(missing_ok=True)
    log_path(building).unlink(missing_ok=True)


def create(bank: Path, build: Callable[[duckdb.DuckDBPyConnection], None], timeout: float) -> None:
    """Make a bank where there is none, whole or not at all.

    It is built under a temporary name in the same folder and then linked into place. Another
    process may have been faster; its bank stays.
    """
    deadline = time.monotonic() + timeout
    with hold(bank, "create", timeout) as lease:
        if bank.exists():
            return
        log = log_path(bank)
        if log.exists():
            raise StoreCorruptError(
                f"{log} lies where a new bank's log would be. Move it away, or choose another name."
            )
        try:
            remove_building(bank)
            building = building_path(bank)
            with _connection(building, deadline, write=True) as connection:
                build(connection)
            if log_path(building).exists():
                raise StoreFullError(no_space(bank))
            _put_in_place(building, bank)
            lease.mark_closed(read_state(bank))
        except duckdb.Error as error:
            raise translate(error, bank) from error
        except OSError as error:
            raise refusal(error, bank) from error
        finally:
            with suppress(OSError):  # the next creation or opening clears it away
                remove_building(bank)


def _put_in_place(built: Path, bank: Path) -> None:
    try:
        os.link(built, bank)
    except OSError as error:
        if error.errno not in (
            errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS
        ):  # fmt: skip
            raise
        built.rename(bank)  # a file system without links; the lock keeps others out
