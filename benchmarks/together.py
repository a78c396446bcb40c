"""How long a commit takes where many commit at once: a part of `speed.py`.

Every process opens the bank anew, plans all it will commit, and waits until all are ready. The
vectors are short, so that the file and not the arithmetic takes the time.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from memory_core import Add, Batch, HashEmbedder, MemoryBank

DIMENSION = 32
PATIENCE = 300.0
"""Seconds that a commit may wait before it is an error."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who commits at once."""

    title: str
    processes: int
    threads: int
    """Of each process, which share one open bank."""
    commits: int
    """Of each thread, one after the other."""


CROWDS = (
    Crowd("one alone", 1, 1, 100),
    Crowd("four processes", 4, 1, 100),
    Crowd("two processes of eight threads", 2, 8, 12),
)


def opened(path: Path) -> MemoryBank:
    embedder = HashEmbedder(DIMENSION)
    return MemoryBank.open(path, embedder=embedder, actor="benchmark", timeout=PATIENCE)


def work(pipe: Connection, path: Path, name: str, crowd: Crowd) -> None:
    """Commit in every thread, and say how many seconds each commit took."""
    bank = opened(path)
    took: list[float] = []
    plans = [
        [bank.plan(Batch([Add(f"Lesson {name} {t} {k}", "tool", "shell")]))
         for k in range(crowd.commits)]
        for t in range(crowd.threads)
    ]  # fmt: skip

    def commit(thread: int) -> None:
        for plan in plans[thread]:
            start = time.perf_counter()
            bank.commit(plan)
            took.append(time.perf_counter() - start)

    threads = [threading.Thread(target=commit, args=(t,)) for t in range(crowd.threads)]
    pipe.send("ready")
    pipe.recv()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send(took)


def measure(crowd: Crowd) -> tuple[list[float], float]:
    """Seconds of each commit, and of all together."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bank.duckdb")
        opened(path)
        pipes, processes = [], []
        for number in range(crowd.processes):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=work, args=(theirs, path, f"p{number}", crowd), daemon=True
            )
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        for pipe in pipes:
            pipe.recv()
        start = time.perf_counter()
        for pipe in pipes:
            pipe.send("go")
        took = [seconds for pipe in pipes for seconds in pipe.recv()]
        whole = time.perf_counter() - start
        for process in processes:
            process.join()
        count = crowd.processes * crowd.threads * crowd.commits
        assert len(took) == len(opened(path).revisions()) == count
    return took, whole


def table(crowds: Sequence[Crowd] = CROWDS) -> str:
    """Median, 95th percentile and worst in milliseconds, and how many commits a second in all."""
    lines = [f"{'commits at once':<34}{'median':>10}{'p95':>10}{'worst':>10}{'a second':>10}"]
    for crowd in crowds:
        took, whole = measure(crowd)
        p95 = statistics.quantiles(took, n=20)[-1]
        cells = (statistics.median(took) * 1e3, p95 * 1e3, max(took) * 1e3)
        lines.append(f"{crowd.title:<34}" + "".join(f"{cell:>10,.0f}" for cell in cells)
                     + f"{len(took) / whole:>10,.1f}")  # fmt: skip
    return "\n".join(lines)
