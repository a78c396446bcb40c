"""DuckDB's errors as ours. Its types alone do not tell: most of these share one."""

from __future__ import annotations

from pathlib import Path

import duckdb

from memory_core.errors import (
    NewerStoreError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StorePermissionError,
)
from memory_core.store.log import damaged

DAMAGE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
)


def no_space(bank: Path) -> str:
    """The message for a full disk."""
    return f"No space is left for {bank}. Nothing was written; free some space and try again."


def is_locked(error: Exception, bank: Path) -> bool:
    """Whether a program that does not know our lock has the file open."""
    return "could not set lock" in _said(error, bank)


def translate(error: Exception, bank: Path) -> StoreError:
    """What an error of DuckDB's means for a bank, and what to do about it."""
    said, detail = _said(error, bank), f"DuckDB says: {_first_line(str(error))}"
    if is_locked(error, bank) or "different configuration" in said:
        return StoreBusyError(
            f"{bank} is open in a program that does not share Winnow's lock. Close it there and "
            f"try again. {detail}"
        )
    if isinstance(error, duckdb.TransactionException) and "conflict" in said:
        return StoreBusyError(f"{bank} was changed by another program meanwhile. {detail}")
    if any(sign in said for sign in ("no space left", "disk full", "quota exceeded")):
        return StoreFullError(no_space(bank))
    if any(sign in said for sign in ("permission denied", "read-only file system")):
        return StorePermissionError(
            f"{bank} cannot be opened for writing, or its folder cannot. Change the permissions, "
            "or copy the bank elsewhere."
        )
    if "newer version" in said or "unsupported storage version" in said:
        return NewerStoreError(
            f"{bank} was written by a newer DuckDB than this one ({duckdb.__version__}). It was "
            "not changed; upgrade Winnow, or its duckdb package."
        )
    if "wal" in said.split() and any(s in said for s in ("replay", "corrupt", "checksum")):
        return damaged(bank, detail)
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
        return StoreCorruptError(
            f"{bank} is a DuckDB file but not a bank of Winnow's. It was not changed; give another "
            f"path. {detail}"
        )
    if isinstance(error, DAMAGE) or "corrupt" in said:
        return StoreCorruptError(
            f"{bank} was cut short or is damaged. It was not changed; restore a copy. {detail}"
        )
    return StoreError(f"{bank} could not be read or written. {detail}")


def _said(error: Exception, bank: Path) -> str:
    """An error's words without the file's name, which may hold any of those looked for."""
    return str(error).replace(str(bank), "").lower()


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:300]
