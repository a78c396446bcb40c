"""What other processes do to a bank, in the store's tests. Each function runs in one of its own.

They are forked from a server that has imported all this and never opened a bank, so that fifty
of them cost seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset

from memory_core import Add, Batch, HashEmbedder, MemoryBank, Snapshot
from memory_core.store.lock import hold
from memory_core.store.unit import CONFIGURATION

pa.array([0])  # with the imports above, what a bank imports late: once, rather than in each child

DIMENSION = 32

PATIENCE = 120.0
"""Seconds after which something hangs, rather than being slow."""


def small(path: Path, **options: Any) -> MemoryBank:
    """A bank with short vectors, so that the file and not the arithmetic takes the time.

    It waits for others as long as a busy machine may need, unless told otherwise.
    """
    options = {"timeout": PATIENCE, **options}
    return MemoryBank.open(path, embedder=HashEmbedder(DIMENSION), actor="tester", **options)


def lessons(*names: object) -> Batch:
    """A batch of one new memory for each name."""
    return Batch([Add(f"Lesson {name}: check the exit code", "tool", "shell") for name in names])


@contextmanager
def _found_by_the_server() -> Iterator[None]:
    """The server, which starts with the first child, finds this module by PYTHONPATH alone."""
    kept = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        yield
    finally:
        if kept is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = kept


def assert_equal(one: Snapshot, other: Snapshot) -> None:
    """The same revision, to the byte."""
    assert one.revision == other.revision
    assert one.epoch == other.epoch
    assert one.ids.tolist() == other.ids.tolist()
    assert one.memories == other.memories
    assert one.vectors.tobytes() == other.vectors.tobytes()


class Child:
    """A process that runs a function of this module, with a pipe to it."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
        if sys.platform != "win32":
            context.set_forkserver_preload(["children", "pytest"])
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=function, args=(theirs, *arguments), daemon=True
        )
        with _found_by_the_server():
            self.process.start()
        theirs.close()

    def receive(self, timeout: float = PATIENCE) -> Any:
        """The next thing that it says; EOFError when it has ended."""
        assert self.pipe.poll(timeout), "the child says nothing"
        return self.pipe.recv()

    def rest(self) -> list[Any]:
        """All that it said before it ended."""
        said = []
        try:
            while True:
                said.append(self.pipe.recv())
        except EOFError:
            return said

    def kill(self) -> None:
        """Kill it as a power cut would, and wait until it is gone."""
        self.process.kill()
        self.process.join()

    def end(self, timeout: float = PATIENCE) -> None:
        """Let it go on to its end."""
        self.pipe.send("go on")
        self.process.join(timeout)
        assert self.process.exitcode == 0


@contextmanager
def started(function: Callable[..., None], *arguments: object) -> Iterator[Child]:
    """A child that is killed at the end if it has not ended by itself."""
    child = Child(function, *arguments)
    try:
        yield child
    finally:
        child.kill()


def hold_lock(pipe: Connection, path: Path, verb: str) -> None:
    """Hold the bank's own lock until told to go on."""
    with hold(path, verb, PATIENCE):
        pipe.send(os.getpid())
        pipe.recv()


def hold_duckdb(pipe: Connection, path: Path, write: bool) -> None:
    """Open the bank as a program does that knows nothing of Winnow."""
    connection = duckdb.connect(str(path))
    if write:
        connection.execute("create table theirs as select 1 as one")
    pipe.send(os.getpid())
    pipe.recv()
    if write:
        connection.execute("drop table theirs")
    connection.close()


def wait_until_interrupted(pipe: Connection, path: Path) -> None:
    """Wait for the bank, be interrupted by Ctrl-C, and live on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        pipe.send("waiting")
        small(path)
    except KeyboardInterrupt:
        pipe.send("interrupted")
    pipe.recv()


def commit_until_killed(pipe: Connection, path: Path, name: str, size: int) -> None:
    """Commit batches without end; say the key before each and the revision's number after it."""
    bank = small(path)
    plans = [bank.plan(lessons(*(f"{name}-{k}-{i}" for i in range(size)))) for k in range(5)]
    pipe.send("ready")
    for plan in plans:
        pipe.send(("trying", plan.batch.key))
        pipe.send(("made", plan.batch.key, bank.commit(plan).number))


def create_until_killed(pipe: Connection, path: Path) -> None:
    """Create a bank."""
    pipe.send("ready")
    small(path)


def leave_log(pipe: Connection, path: Path, commits: int) -> None:
    """Commit, and die when all is committed but nothing has left the write-ahead log yet.

    A second connection in this process keeps DuckDB from emptying the log when ours is closed.
    """
    bank = small(path)
    kept = duckdb.connect(str(path), config=CONFIGURATION)
    for k in range(commits):
        pipe.send(bank.update(lessons(f"late {k}", f"later {k}")))
    assert kept is not None
    os.kill(os.getpid(), signal.SIGKILL)


def commit_many(pipe: Connection, path: Path, name: str, count: int) -> None:
    """Commit batches of one or two memories; say the revisions."""
    bank = small(path)
    # Planned before anyone has committed: what adds and touches nothing never goes stale.
    batches = [lessons(*(f"{name}-{k}-{i}" for i in range(1 + k % 2))) for k in range(count)]
    plans = [bank.plan(batch) for batch in batches]
    pipe.send("ready")
    pipe.recv()
    pipe.send([bank.commit(plan) for plan in plans])


def read_and_commit(pipe: Connection, path: Path, name: str, threads: int, count: int) -> None:
    """Several threads with one bank between them, each reading and committing in turn."""
    bank = small(path)
    made: list[Any] = []
    faults: list[str] = []
    pipe.send("ready")
    pipe.recv()

    def work(thread: int) -> None:
        try:
            for k in range(count):
                revision = bank.commit(bank.plan(lessons(f"{name}-{thread}-{k}")))
                made.append(revision)
                snapshot = bank.snapshot()
                (own,) = revision.ids.values()
                texts = {memory.text for memory in snapshot.memories}
                if own not in snapshot or len(texts) != len(snapshot):
                    faults.append(f"{revision.number} is not in what was read after it")
        except Exception as error:
            faults.append(repr(error))

    workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    pipe.send((made, faults))


def look_on(pipe: Connection, path: Path) -> None:
    """Do all that may be done to a bank from outside: list, stat, open and close the lock file."""
    looks = 0
    lock = path.with_name(path.name + ".lock")
    pipe.send("ready")
    while not pipe.poll(0.002):
        list(path.parent.iterdir())
        path.stat()
        lock.open("rb").close()
        looks += 1
    pipe.recv()
    pipe.send(looks)


def as_nobody(pipe: Connection, warm: Path, path: Path, commit: bool) -> None:
    """Open a bank without the rights of root; say the error."""
    small(warm).update(lessons("warm"))  # all that is imported late is imported now
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    try:
        bank = small(path, timeout=2)
        if commit:
            bank.update(lessons("nobody's"))
        pipe.send(("none", ""))
    except Exception as error:
        pipe.send((type(error).__name__, str(error)))
