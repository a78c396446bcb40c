"""Ways to spoil a file, and what has to stay as it was, in the store's tests."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from children import small

from memory_core import StoreError

HEADER = 4096


def contents(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in a folder, lock files by name only: they say who came by."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".lock":
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[str(path.relative_to(folder))] = ""
    return found


def refused(
    path: Path, error: type[StoreError], action: Callable[[Path], object] | None = None
) -> str:
    """What is said when a bank is refused, with this very error and its folder unchanged."""
    before = contents(path.parent)
    with pytest.raises(StoreError) as told:
        (action or (lambda path: small(path, timeout=1)))(path)
    assert type(told.value) is error, repr(told.value)
    assert contents(path.parent) == before
    assert str(path) in str(told.value)
    return str(told.value)


def flipped(content: bytes, position: int, bit: int) -> bytes:
    """The same bytes but for one bit."""
    changed = bytearray(content)
    changed[position] ^= 1 << bit
    return bytes(changed)


def checksum(block: bytes) -> int:
    """DuckDB's checksum of a header: 5381 and every 64-bit word times a constant, by XOR."""
    words = np.frombuffer(block, dtype="<u8")
    with np.errstate(over="ignore"):
        products = words * np.uint64(0xBF58476D1CE4E5B9)
    return 5381 ^ int(np.bitwise_xor.reduce(products))


def with_storage_version(content: bytes, version: int) -> bytes:
    """A DuckDB file that says it is of another storage version, with checksums that agree."""
    changed = bytearray(content)
    # DuckDB 1 says it in the main header, 2 in both of the database headers.
    for header, field in ((0, 12), (HEADER, HEADER + 56), (2 * HEADER, 2 * HEADER + 56)):
        struct.pack_into("<Q", changed, field, version)
        struct.pack_into(
            "<Q", changed, header, checksum(bytes(changed[header + 8 : header + HEADER]))
        )
    return bytes(changed)
