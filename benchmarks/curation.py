"""How fast copies are found, batches planned and committed, and banks audited.

    python benchmarks/curation.py                        all of it
    python benchmarks/curation.py groups --sizes 10000 50000
    python benchmarks/curation.py plan
    python benchmarks/curation.py audit

Memories are sentences of made-up words with their vectors by HashEmbedder, which stands in for the
model: nothing here embeds while the clock runs. One in twenty is a reworded copy of another.
`groups` has two more banks: one that is a single cluster of near twins, and one of exact copies.
Times are in seconds, the best of three runs up to 10,000 and of one above; the load of the machine
is printed beside them.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import (
    Add,
    Batch,
    HashEmbedder,
    Memory,
    MemoryBank,
    Modify,
    Snapshot,
    audit,
    near_pairs,
)

SIZES = (10_000,)
BATCH = 1_000
THRESHOLDS = (0.8, 0.85, 0.9, 0.95)
KINDS = ("strategic", "procedural", "tool")
WORDS = 4_000


def sentences(count: int, seed: int) -> list[str]:
    """Distinct texts of 8 to 24 made-up words; one in twenty is another with a word exchanged."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(random.choice(letters, random.integers(3, 9))) for _ in range(WORDS)]
    texts: dict[str, None] = {}
    while len(texts) < count:
        chosen = [words[i] for i in random.integers(0, WORDS, random.integers(8, 25))]
        texts[" ".join(chosen)] = None
        if random.random() < 0.05:
            chosen[random.integers(0, len(chosen))] = words[random.integers(0, WORDS)]
            texts[" ".join(chosen)] = None
    return list(texts)[:count]


def library(texts: list[str], vectors: NDArray[np.float32]) -> Snapshot:
    lessons = [
        Memory(number, KINDS[number % 3], text, f"domain {number % 20}", epoch=number % 60)
        for number, text in enumerate(texts, 1)
    ]
    return Snapshot.from_memories(lessons, vectors, revision=1, epoch=60)


def seconds(function: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The best time of some runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(runs):
        begin = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - begin)
    return best, result


def show(what: str, value: float, more: str = "") -> None:
    load = os.getloadavg()[0]
    print(f"{what:<46} {value:8.3f} s   load {load:4.1f}   {more}", flush=True)


def peak() -> str:
    return f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB"


def groups(size: int, runs: int) -> None:
    texts = sentences(size, size)
    random = np.random.default_rng(size)
    twins = random.standard_normal((1, 384)) + 0.4 * random.standard_normal((size, 384))
    copies = HashEmbedder().embed(texts[:2])[np.arange(size) % 2]
    banks: dict[str, Any] = {
        "as they come": HashEmbedder().embed(texts),
        "exact copies of two": copies,
    }
    if size <= 10_000:  # 50 million pairs and more: the worst case, and not the common one
        banks["one cluster of near twins"] = twins
    for name, vectors in banks.items():
        snapshot = library(texts, vectors)
        spent, pairs = seconds(lambda s=snapshot: near_pairs(s), runs)
        show(f"{size:,} {name}: all thresholds", spent, peak())
        spent, _ = seconds(lambda p=pairs: [p.counts(t) for t in THRESHOLDS], runs)
        show("  counts at one of them", spent / len(THRESHOLDS))
        spent, found = seconds(lambda p=pairs: p.groups(0.9), runs)
        show("  the groups at 0.9", spent, f"{len(found):,} groups")


def plan(size: int, runs: int) -> None:
    """600 Adds and 400 Modifies in one batch, all with new texts whose vectors are stored."""
    texts = sentences(size + BATCH, size)
    with tempfile.TemporaryDirectory() as folder:
        bank = MemoryBank.open(Path(folder) / "bank.duckdb", embedder=HashEmbedder())
        for start in range(0, size, 10_000):
            part = texts[start : min(start + 10_000, size)]
            bank.update(Batch([Add(text, "tool", "git") for text in part]))
        fresh = texts[size:]
        for text in fresh:
            bank.embed([text])
        bank.save_queries(fresh)
        bank.snapshot()
        changes = [Modify(i + 1, text=text) for i, text in enumerate(fresh[600:])]
        batch = Batch([*(Add(text, "tool", "git") for text in fresh[:600]), *changes])
        planning, planned = seconds(lambda: bank.plan(batch), runs)
        doubts = f"{len(planned.lints):,} doubts"
        show(f"{size:,} plan of {BATCH:,} operations", planning, doubts)
        committing, _ = seconds(lambda: bank.commit(planned), 1)
        show(f"{size:,} commit of {BATCH:,} operations", committing)
        show("  together", planning + committing)


def whole_audit(size: int, runs: int) -> None:
    texts = sentences(size, size)
    snapshot = library(texts, HashEmbedder().embed(texts))
    last = dict.fromkeys(range(1, size, 2), 55)
    spent, found = seconds(lambda: audit(snapshot, last_applied=last), runs)
    show(f"{size:,} audit", spent, f"{len(found):,} findings, {peak()}")


PARTS = {"groups": groups, "plan": plan, "audit": whole_audit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("part", nargs="?", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    chosen = parser.parse_args()
    for size in chosen.sizes:
        for name, part in PARTS.items():
            if chosen.part in (name, "all"):
                part(size, 3 if size <= 10_000 else 1)


if __name__ == "__main__":
    main()
