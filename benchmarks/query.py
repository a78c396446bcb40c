"""What the query debugger costs: why-not and the lexical signal in the library, and the page.

    python benchmarks/query.py                     100,000 memories, and the page at 10,000
    python benchmarks/query.py --size 10000

Vectors are random and texts are drawn from the demo library's words; medians of 20 runs, those of
a pair taken in turn.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memory_core import KINDS, Add, Batch, Memory, MemoryBank, RetrievalSettings, Snapshot
from memory_core.demo import Sources
from memory_core.places import dashboard, data
from memory_core.retrieval import retrieve

RUNS = 20
WORDS = sorted({w for row in Sources.read(data() / "demo").memories for w in row["text"].split()})


def median_ms(action: Callable[[int], object], runs: int = RUNS) -> float:
    """The middle of `runs` times in milliseconds; the action gets the number of its run."""
    taken = []
    for run in range(runs):
        start = time.perf_counter()
        action(run)
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken)


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(12, 32)))


def library(size: int) -> None:
    """Why-not, and what the lexical signal adds to a retrieval."""
    rng, numbers = random.Random(0), np.random.default_rng(0)
    vectors = numbers.standard_normal((size, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = [
        Memory(i + 1, rng.choice(KINDS), text(rng), f"domain {i % 12}", confidence=rng.random())
        for i in range(size)
    ]
    snapshot = Snapshot.from_memories(memories, vectors)
    tasks = [text(rng) for _ in range(RUNS)]
    hybrid = RetrievalSettings(lexical_weight=0.2)
    retrieve(snapshot, tasks[0], vectors[0], hybrid)  # builds the index, once for a snapshot
    plain_ms = median_ms(lambda run: retrieve(snapshot, tasks[run], vectors[run]))
    hybrid_ms = median_ms(lambda run: retrieve(snapshot, tasks[run], vectors[run], hybrid))
    found = [retrieve(snapshot, tasks[run], vectors[run]) for run in range(RUNS)]
    why_ms = median_ms(lambda run: found[run].why_not(rng.randint(1, size)))
    print(f"{size:,} memories, ms: retrieve {plain_ms:.1f}, hybrid {hybrid_ms:.1f} ", end="")
    print(f"(+{hybrid_ms - plain_ms:.1f}), why-not {why_ms:.1f}")


def page(size: int) -> None:
    """The Query page's script on a new task each time, embedding by the real model included."""
    from streamlit.testing.v1 import AppTest

    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WINNOW_HOME"] = folder
        os.environ["WINNOW_MODEL"] = ""
        bank = MemoryBank.open(Path(folder, "bank.duckdb"))
        operations = [Add(text(rng), rng.choice(KINDS), f"domain {i % 12}") for i in range(size)]
        bank.commit(bank.plan(Batch(operations)))
        os.environ["WINNOW_BANK"] = str(bank.path)
        app = AppTest.from_file(str(dashboard() / "app.py"), default_timeout=300).run()
        app.switch_page("pages/query.py").run()
        app.text_area("task").set_value(text(rng)).run()

        def ask(run: int) -> None:
            app.text_area("task").set_value(text(rng)).run()
            assert not app.exception

        ask(0)
        print(f"Query page at {size:,} memories, script with embedding: {median_ms(ask):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--page-size", type=int, default=10_000)
    chosen = parser.parse_args()
    library(chosen.size)
    page(chosen.page_size)


if __name__ == "__main__":
    main()
