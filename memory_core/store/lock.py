"""One unit of work at a time on a bank, over threads and processes.

DuckDB's own lock is not enough: it is dropped when any descriptor of the file is closed in the
holding process, and acknowledged commits are lost then. So each unit first takes a blocking lock
on `<bank>.lock`, through a descriptor of its own. Blocking, because the kernel serves those who
wait in turn; polling lets a busy writer starve the others.

The lock file also says who holds it, for the error, and whether the last unit closed clean, by
which a write-ahead log that someone else put beside the bank is known (see `unit.py`).
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_core.errors import StoreBusyError, StoreFullError, StorePermissionError

RECORD_SIZE = 128
"""The record never changes its size, so that writing it needs no space once it is there."""

if sys.platform == "win32":
    import msvcrt
    import time

    _FAR = 1 << 30  # a byte past the record: Windows forbids reading what is locked

    def _lock(descriptor: int) -> None:
        while True:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLOCK):
                    raise
                time.sleep(0.01)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class _Wait:
    """Takes the lock in a thread of its own, so that the wait can be given up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._given_up = False
        self._error: OSError | None = None

    def run(self, timeout: float) -> bool:
        """Whether the lock was got; if not, the descriptor is closed as soon as it can be."""
        threading.Thread(target=self._take, daemon=True).start()
        if not self._ended.wait(timeout):
            with self._guard:
                if not self._ended.is_set():
                    self._given_up = True
                    return False
        if self._error is not None:
            raise self._error
        return True

    def _take(self) -> None:
        try:
            _lock(self._descriptor)
        except OSError as error:
            self._error = error
        with self._guard:
            if self._given_up:
                os.close(self._descriptor)
            self._ended.set()


class Lease:
    """The lock, held."""

    def __init__(self, descriptor: int, path: Path, verb: str) -> None:
        self._descriptor = descriptor
        self._path = path
        self._verb = verb
        self.was_clean = _read(descriptor).startswith(b"closed ")
        """Whether the unit before this one closed the bank without leaving a log."""

    def mark(self, *, clean: bool, durable: bool = False) -> None:
        """Write the record. `durable` before a write: after a power cut, "open" must be there."""
        state = "closed" if clean else "open"
        record = f"{state} {os.getpid()} {self._verb}".encode()[: RECORD_SIZE - 1]
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, record.ljust(RECORD_SIZE - 1) + b"\n")
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            raise _refusal(error, self._path) from error


def _read(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, RECORD_SIZE)


def lock_path(bank: Path) -> Path:
    return bank.with_name(bank.name + ".lock")


@contextmanager
def hold(bank: Path, verb: str, timeout: float) -> Iterator[Lease]:
    """Hold the bank for one unit of work.

    Raises StoreBusyError, naming the holder, when the wait takes more than `timeout` seconds.
    """
    path = lock_path(bank)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise _refusal(error, path) from error
    try:
        got = _Wait(descriptor).run(timeout)
    except OSError as error:
        os.close(descriptor)
        raise _refusal(error, path) from error
    if not got:
        raise StoreBusyError(
            f"{bank} has been held for more than {timeout:g} s by {_holder(path)}. "
            "Wait until that has ended, or end it, and try again."
        )
    try:
        yield Lease(descriptor, path, verb)
    finally:
        _unlock(descriptor)
        os.close(descriptor)


def _holder(path: Path) -> str:
    words = path.read_bytes().decode(errors="replace").split()
    return f"process {words[1]} ({' '.join(words[2:])})" if len(words) > 2 else "another process"


def _refusal(error: OSError, path: Path) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFullError(f"No space left for {path}. Free some space and try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorePermissionError(
            f"{path} cannot be written. A bank needs a folder that you may write to, because a "
            "lock file lies beside it; change the permissions, or copy the bank elsewhere."
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return StorePermissionError(f"The folder {path.parent} does not exist. Create it first.")
    return StorePermissionError(f"{path} cannot be opened: {error.strerror}.")
