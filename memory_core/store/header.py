"""What a file's first bytes say, read before DuckDB opens it.

DuckDB attaches a SQLite file as if nothing were amiss, and reads blocks only when asked for, so
that a file that was cut short may open. Both are told here, from the layout of DuckDB's storage:
a main header with the magic `DUCK` at byte 8, then at 4096 and 8192 two database headers
(checksum, iteration, meta block, free list, block count, block size, all 64-bit little-endian),
of which the one with the higher iteration holds, then the blocks.
"""

from __future__ import annotations

import struct
from pathlib import Path

from memory_core.errors import StoreCorruptError, StorePermissionError

HEADER = 4096
_FIELDS = struct.Struct("<QQQQQQ")


def check_file(bank: Path) -> None:
    """Raise StoreCorruptError where the file is no DuckDB file or shorter than it says.

    The caller holds the bank's lock and no connection: closing a descriptor of an open bank
    would drop DuckDB's own lock.
    """
    try:
        with bank.open("rb") as file:
            head = file.read(3 * HEADER)
            size = file.seek(0, 2)
    except FileNotFoundError:
        raise StoreCorruptError(
            f"{bank} is gone. It was moved or deleted; open it at its new place."
        ) from None
    except IsADirectoryError:
        raise StoreCorruptError(f"{bank} is a folder, not a bank.") from None
    except PermissionError:
        raise StorePermissionError(
            f"{bank} may not be read. Change its permissions, or copy it elsewhere."
        ) from None
    if head[8:12] != b"DUCK":
        what = "is empty" if not size else "is not a DuckDB file"
        raise StoreCorruptError(f"{bank} {what}. It was not changed; give another path.")
    if len(head) < 3 * HEADER:
        raise _cut(bank, size, 3 * HEADER)
    headers = [_FIELDS.unpack_from(head, HEADER * which) for which in (1, 2)]
    *_, blocks, block_size = max(headers, key=lambda fields: fields[1])
    least = 3 * HEADER + blocks * block_size
    if block_size and size < least:
        raise _cut(bank, size, least)


def _cut(bank: Path, size: int, least: int) -> StoreCorruptError:
    return StoreCorruptError(
        f"{bank} was cut short: {size:,} of at least {least:,} bytes are there. It was not "
        "changed; restore a copy."
    )
