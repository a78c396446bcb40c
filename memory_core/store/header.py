"""What a file's first bytes say, read before DuckDB opens it.

DuckDB attaches a SQLite file as if nothing were amiss, and reads blocks only when asked for, so
that a file that was cut short may open. DuckDB's storage begins with a main header with the magic
`DUCK` at byte 8, then at 4096 and 8192 two database headers (checksum, iteration, meta block, free
list, count of blocks, block size, all 64-bit little-endian), of which the one with the higher
iteration holds, then the blocks. Their count is no lower bound of the file's size (free blocks at
the end may never have been written), so a cut is told by the size that the file had when it was
last closed under the same header; where that is not known, by reading everything once.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from memory_core.errors import StoreCorruptError, StoreError, StorePermissionError

HEADER = 4096
_FIELDS = struct.Struct("<QQQQQQ")


@dataclass(frozen=True, slots=True)
class FileState:
    """What tells whether a file is as it was left."""

    header: int
    """The checksum of the header that holds: another one after every checkpoint."""
    size: int
    """Bytes."""
    described: int = 0
    """Bytes that all blocks would take which the header counts, written or not."""


def read_state(bank: Path) -> FileState:
    """Read a bank's header. Raises StoreCorruptError where the file is no DuckDB file.

    The caller holds the bank's lock and no connection: closing a descriptor of an open bank
    would drop DuckDB's own lock.
    """
    try:
        if not stat.S_ISREG(bank.stat().st_mode):  # opening a pipe would wait for ever
            what = "a folder" if bank.is_dir() else "no regular file"
            raise StoreCorruptError(f"{bank} is {what}, so it is no bank; give another path.")
        with bank.open("rb") as file:
            head = file.read(3 * HEADER)
            size = file.seek(0, 2)
    except FileNotFoundError:
        raise StoreError(
            f"{bank} is gone. It was moved or deleted; open it at its new place."
        ) from None
    except PermissionError:
        raise StorePermissionError(
            f"{bank} may not be read. Change its permissions, or copy it elsewhere."
        ) from None
    if head[8:12] != b"DUCK":
        what = "is not a DuckDB file" if size else "is empty"
        raise StoreCorruptError(f"{bank} {what}. It was not changed; give another path.")
    if len(head) < 3 * HEADER:
        raise cut_short(bank, size, 3 * HEADER)
    headers = [_FIELDS.unpack_from(head, HEADER * which) for which in (1, 2)]
    checksum, _, _, _, blocks, block_size = max(headers, key=lambda fields: fields[1])
    return FileState(checksum, size, 3 * HEADER + blocks * block_size)


def cut_short(bank: Path, size: int, least: int) -> StoreCorruptError:
    """The error for a file that has lost its end."""
    return StoreCorruptError(
        f"{bank} was cut short: {size:,} of {least:,} bytes are there. It was not changed; "
        "restore a copy."
    )
