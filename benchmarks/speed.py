"""How fast the library is, and how much memory it takes, by the size of the bank.

    python benchmarks/speed.py                      500, 10,000, 100,000 and 1,000,000 memories
    python benchmarks/speed.py --sizes 500 10000
    python benchmarks/speed.py --parts together     commits of many processes and threads at once

Vectors are random unit vectors, so no model is loaded. Each bank is built in a temporary folder
by one process and measured by another, so that the peak memory is that of using it. Times are
medians in milliseconds; two that are compared are taken in turn.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from together import table as together

from memory_core import Add, Batch, MemoryBank, Snapshot
from memory_core.retrieval import retrieve

PARTS = ("sizes", "together")
SIZES = (500, 10_000, 100_000, 1_000_000)
ADDS_A_BATCH = 20_000
KINDS = ("strategic", "procedural", "tool")
LIMIT = 5

ROWS = (
    ("retrieve, no embedding", "retrieve"),
    ("  bare V @ q, argpartition", "bare"),
    ("  ratio", "retrieve / bare"),
    ("plan one Add", "plan"),
    ("commit one Add", "commit"),
    ("  then refresh the snapshot", "refresh"),
    ("commit confidence of 5", "outcome"),
    ("  then refresh the snapshot", "outcome refresh"),
    ("  matrix shared", "shared"),
    ("snapshot, cold", "cold"),
    ("matrix, MB", "matrix"),
    ("peak RSS, MB", "peak"),
    ("  before opening, MB", "before"),
    ("file, MB", "file"),
)


class RandomEmbedder:
    """Random unit vectors, a new one for each text that it is given."""

    name = "random"
    fingerprint = "1"
    dimension = 384

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.standard_normal((len(texts), self.dimension), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def opened(path: Path, seed: int) -> MemoryBank:
    return MemoryBank.open(path, embedder=RandomEmbedder(seed), actor="benchmark")


def lesson(number: int) -> Add:
    return Add(
        f"When request {number} times out, retry it {number % 7} times with the key r-{number}",
        KINDS[number % 3],
        f"domain {number % 20}",
        confidence=0.05 + 0.9 * (number % 97) / 97,
    )


def build(path: Path, size: int) -> None:
    """A bank of `size` memories of all kinds in 20 domains, with all sorts of confidence."""
    bank = opened(path, seed=0)
    for start in range(0, size, ADDS_A_BATCH):
        adds = [lesson(number) for number in range(start, min(start + ADDS_A_BATCH, size))]
        bank.commit(bank.plan(Batch(adds, reason="Benchmark")))


# -- measuring ------------------------------------------------------------------------------------


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def peak_mb() -> float:
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measure(path: Path, runs: int) -> dict[str, float | bool]:
    """All figures for one bank."""
    before = peak_mb()
    cold = [timed(lambda: opened(path, seed=1)) for _ in range(3)]
    bank = opened(path, seed=1)
    snapshot = bank.snapshot()
    return {
        "cold": statistics.median(cold),
        "before": before,
        **retrievals(snapshot, runs=10 * runs),
        **commits(bank, runs=runs),
        **outcomes(bank, runs=runs),
        "matrix": snapshot.vectors.nbytes / 1e6,
        "peak": peak_mb(),
        "file": path.stat().st_size / 1e6,
    }


def retrievals(snapshot: Snapshot, *, runs: int) -> dict[str, float | bool]:
    matrix, embedder = snapshot.vectors, RandomEmbedder(seed=2)

    def bare(query: NDArray[np.float32]) -> NDArray[np.intp]:
        scores = matrix @ query
        return np.argpartition(scores, len(scores) - LIMIT)[-LIMIT:]

    queries = embedder.embed(["query"] * (runs + 2))
    times = [
        (timed(lambda q=q: retrieve(snapshot, "query", q)), timed(lambda q=q: bare(q)))
        for q in queries
    ]
    ours, theirs = (statistics.median(column) for column in zip(*times[2:], strict=True))
    return {"retrieve": ours, "bare": theirs, "retrieve / bare": ours / theirs}


def commits(bank: MemoryBank, *, runs: int) -> dict[str, float | bool]:
    """One Add after the other; each is planned, committed and seen."""
    times = []
    for number in range(runs + 1):
        batch = Batch([lesson(10**9 + number)], reason="Benchmark")
        start = time.perf_counter()
        plan = bank.plan(batch)
        planned = time.perf_counter()
        bank.commit(plan)
        times.append(((planned - start) * 1e3, (time.perf_counter() - planned) * 1e3,
                      timed(bank.snapshot)))  # fmt: skip
    plans, commits, refreshes = zip(*times[1:], strict=True)
    return {
        "plan": statistics.median(plans),
        "commit": statistics.median(commits),
        "refresh": statistics.median(refreshes),
    }


def outcomes(bank: MemoryBank, *, runs: int) -> dict[str, float | bool]:
    """A session's outcome on five memories, and the snapshot after it."""
    commit, refresh, shared = [], [], True
    for number in range(runs + 1):
        found = bank.retrieve(f"query {number}", record=True)
        applied = [hit.memory.id for hit in found.hits]
        before = bank.snapshot().vectors
        record = partial(bank.record_outcome, found, improved=True, applied=applied)
        commit.append(timed(record))
        refresh.append(timed(bank.snapshot))
        shared &= bool(np.shares_memory(before, bank.snapshot().vectors))
    return {
        "outcome": statistics.median(commit[1:]),
        "outcome refresh": statistics.median(refresh[1:]),
        "shared": shared,
    }


# -- printing -------------------------------------------------------------------------------------


def shown(value: float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def table(results: dict[int, dict[str, float | bool]]) -> str:
    width = max(len(title) for title, _ in ROWS)
    lines = [" " * width + "".join(f"{size:>12,}" for size in results)]
    for title, name in ROWS:
        cells = "".join(f"{shown(result[name]):>12}" for result in results.values())
        lines.append(f"{title:<{width}}{cells}")
    return "\n".join(lines)


def elsewhere(*arguments: str) -> str:
    """What this script prints in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="memories in a bank")
    parser.add_argument("--runs", type=int, default=20, help="commits of each sort")
    parser.add_argument("--build", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        build(Path(options.build), options.sizes[0])
        return
    if options.measure:
        print(json.dumps(measure(Path(options.measure), options.runs)))
        return
    if "sizes" in options.parts:
        print(by_size(options.sizes, options.runs))
    if "together" in options.parts:
        print("Many commit at once …", file=sys.stderr, flush=True)
        print(together())


def by_size(sizes: Sequence[int], runs: int) -> str:
    """The figures of banks of each size, as a table."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = str(Path(folder, f"{size}.duckdb"))
            print(f"{size:,} memories …", file=sys.stderr, flush=True)
            elsewhere("--build", path, "--sizes", str(size))
            results[size] = json.loads(elsewhere("--measure", path, "--runs", str(runs)))
            Path(path).unlink()
    return table(results)


if __name__ == "__main__":
    main()
