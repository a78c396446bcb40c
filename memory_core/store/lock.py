"""One unit of work at a time on a bank, over threads and processes.

DuckDB's own lock is not enough: it is dropped when any descriptor of the file is closed in the
holding process, and acknowledged commits are lost then. So each unit first takes a blocking lock
on `<bank>.lock`, through a descriptor of its own. Blocking, because the kernel serves those who
wait in turn; polling lets a busy writer starve the others.

The lock file also says who holds it, for the error, and how the last unit left the bank, by which
a write-ahead log that someone else put beside it and a file that was cut are known (see `unit.py`).
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_core.errors import StoreBusyError, StoreError, StoreFullError, StorePermissionError
from memory_core.store.header import FileState

SHORTEST_WAIT = 0.2
"""Seconds that the thread which takes the lock is given in any case."""

RECORD_SIZE = 128
"""The record never changes its size, so that writing it needs no space once it is there."""

if sys.platform == "win32":
    import msvcrt

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

    def is_open_elsewhere(bank: Path) -> bool:
        """Whether another process has DuckDB's own lock on the bank: here its file is barred."""
        return False
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def is_open_elsewhere(bank: Path) -> bool:
        """Whether another process has DuckDB's own lock on the bank.

        The caller holds our lock and no connection.
        """
        with bank.open("rb") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
                return True
        return False


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
        try:
            if not self._ended.wait(timeout) and self._gave_up():
                return False
        except BaseException:  # Ctrl-C: the thread must not end up with a lock that nobody drops
            if not self._gave_up():
                os.close(self._descriptor)
            raise
        if self._error is not None:
            os.close(self._descriptor)
            raise self._error
        return True

    def _gave_up(self) -> bool:
        """Leave the descriptor to the thread, unless that has ended in this moment."""
        with self._guard:
            self._given_up = not self._ended.is_set()
            return self._given_up

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
    """The lock, held, and the record in its file: `state header size pid verb`."""

    def __init__(self, descriptor: int, path: Path, verb: str) -> None:
        self._descriptor = descriptor
        self._path = path
        self._verb = verb
        words = _read(descriptor)
        self.is_first = not words
        """Whether no unit has ever worked here."""
        self.left: FileState | None = None
        """How the unit before this one left the bank, when it closed it without a log."""
        if words[:1] == ["closed"] and all(word.isdecimal() for word in words[1:3]):
            self.left = FileState(int(words[1]), int(words[2]))
        self._write(self.left)

    def mark_open(self) -> None:
        """Say that a write is under way, and be sure that this outlives a power cut."""
        self._write(None)
        os.fsync(self._descriptor)

    def mark_closed(self, left: FileState) -> None:
        """Say that the bank was closed without a log, and how it looks."""
        self._write(left)

    def _write(self, left: FileState | None) -> None:
        state = "open 0 0" if left is None else f"closed {left.header} {left.size}"
        record = f"{state} {os.getpid()} {self._verb}".encode()[: RECORD_SIZE - 1]
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, record.ljust(RECORD_SIZE - 1) + b"\n")


def _read(descriptor: int) -> list[str]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, RECORD_SIZE).decode(errors="replace").split()


def lock_path(bank: Path) -> Path:
    """Where a bank's lock file lies."""
    return bank.with_name(bank.name + ".lock")


@contextmanager
def hold(bank: Path, verb: str, timeout: float) -> Iterator[Lease]:
    """Hold the bank for one unit of work.

    Raises StoreBusyError, naming the holder, when the wait takes more than `timeout` seconds. A
    unit that fails where none has ever worked leaves no lock file.
    """
    path = lock_path(bank)
    descriptor = _acquired(bank, path, timeout)
    is_first = False
    try:
        try:
            lease = Lease(descriptor, path, verb)
        except OSError as error:
            is_first = os.fstat(descriptor).st_size < RECORD_SIZE
            raise refusal(error, path) from error
        is_first = lease.is_first
        yield lease
    except BaseException:
        if is_first:
            with suppress(OSError):  # Windows keeps what is open
                path.unlink()
        raise
    finally:
        _unlock(descriptor)
        os.close(descriptor)


def _acquired(bank: Path, path: Path, timeout: float) -> int:
    """A descriptor of the lock file, which holds the lock."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            descriptor = os.open(path, flags, 0o666)
            got = _Wait(descriptor).run(max(deadline - time.monotonic(), SHORTEST_WAIT))
        except OSError as error:
            raise refusal(error, path) from error
        if not got:
            raise StoreBusyError(
                f"{bank} has been held for more than {timeout:g} s by {_holder(path)}. "
                "Wait until that has ended, or end it, and try again."
            )
        if _is_at(path, descriptor):
            return descriptor
        # Whoever held it has taken the file away, and others may hold a new one.
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _holder(path: Path) -> str:
    try:
        words = path.read_bytes().decode(errors="replace").split()
    except OSError:
        words = []
    return f"process {words[3]} ({' '.join(words[4:])})" if len(words) > 4 else "another process"


def refusal(error: OSError, path: Path) -> StoreError:
    """The operating system's error about a file or its folder as ours."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFullError(f"No space is left for {path}. Free some space and try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorePermissionError(
            f"{path} cannot be written. A bank needs a folder that you may write to, because a "
            "lock file lies beside it; change the permissions, or copy the bank elsewhere."
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return StoreError(f"{path} has no place: {path.parent} does not exist. Create it first.")
    return StoreError(f"{path} cannot be opened: {error.strerror}. Choose another place.")
