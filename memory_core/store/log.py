"""DuckDB's write-ahead log beside a bank: where it lies, and whether it is whole.

A process that is killed leaves one, and the next unit of work takes it in. DuckDB takes an entry
that reaches past the end for one whose writing was cut off, and drops it. So one flipped bit in the
length of an entry, or in the head, would silently drop that commit and all after it.

The log is a head of 8 bytes, then entries of length, checksum (both 64-bit little-endian) and
content; the last entry of every commit is always the same one.
"""

from __future__ import annotations

import re
from pathlib import Path

from memory_core.errors import StoreCorruptError

_HEAD = re.compile(rb"\x64\x00\x62\x65\x00([\x00-\x7f])\xff\xff")
_FORMAT = b"\x02"
"""Of the log that goes with the storage version in which banks are written."""
_COMMIT = bytes.fromhex("e7fe7d722fed3d5e640064ffff")
"""Checksum and content of an entry that ends a commit."""


def log_path(bank: Path) -> Path:
    """Where DuckDB keeps a bank's log."""
    return bank.with_name(bank.name + ".wal")


def check_log(bank: Path) -> None:
    """Raise StoreCorruptError where the log has lost whole commits. DuckDB checks the rest."""
    try:
        log = log_path(bank).read_bytes()
    except FileNotFoundError:
        return
    head = _HEAD.match(log)
    if head and head.group(1) != _FORMAT:
        return  # all that can be told is what DuckDB tells
    start = _unfinished(log, head.end()) if head else 0
    if _COMMIT in log[start:]:
        raise damaged(bank, f"The entry at byte {start:,} does not end where it says.")


def _unfinished(log: bytes, start: int) -> int:
    """Where the entry begins that reaches past the end; the end itself where none does."""
    while True:
        end = start + 16 + int.from_bytes(log[start : start + 8], "little")
        if end > len(log):
            return start
        start = end


def damaged(bank: Path, detail: str) -> StoreCorruptError:
    """The error for a log that cannot be replayed."""
    return StoreCorruptError(
        f"The log {log_path(bank).name} of {bank} is damaged and was not replayed; neither file "
        "was changed. Restore a copy, or move the log away to go on without the commits in it. "
        f"{detail}"
    )
