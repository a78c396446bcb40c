"""How fast each compression strategy is, how tight diversity's clusters are, what quality is kept.

    python benchmarks/compression.py                     all of it
    python benchmarks/compression.py speed --sizes 500 2000
    python benchmarks/compression.py inertia             K-means against scikit-learn's default
    python benchmarks/compression.py quality             demo queries, LoCoMo

With WINNOW_DATASETS set, speed is measured on MetaTool's queries (above 10,000: those, and jittered
copies of them) and quality on LoCoMo's turns, too; without, speed is measured on random clusters.
Every strategy keeps half: importance and temporal decay are given the p and the minimum weight that
do so. Times are in seconds, the best of three runs up to 10,000 and of one above.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import (
    STRATEGIES,
    CompressionSettings,
    Memory,
    MemoryBank,
    MiniLMEmbedder,
    RetrievalSettings,
    SavedQuery,
    Snapshot,
    build_demo,
    evaluate,
    plan_compression,
)
from memory_core.compression import select, settings_for
from memory_core.compression.clustering import cluster

SIZES = (500, 2_000, 10_000, 50_000)
TEXTS = 10_000
SESSIONS = 60
SEEDS = (0, 1, 2)
SHARES = (0.5, 0.2)
WAYS = (
    *((name, {}) for name in STRATEGIES if name != "random"),
    ("hybrid", {"rescore": False}),
    ("random", {}),
)
Vector = NDArray[np.float32]


def datasets() -> Path | None:
    folder = os.environ.get("WINNOW_DATASETS", "")
    return Path(folder, "retrieval") if folder and Path(folder, "retrieval").is_dir() else None


@cache
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def short(text: str) -> str:
    """A memory's text: 32 words at most."""
    return " ".join(text.split()[:32])


# -- speed ----------------------------------------------------------------------------------------


@cache
def real_vectors() -> Vector | None:
    """10,000 of MetaTool's queries, embedded."""
    folder = datasets()
    if folder is None:
        return None
    with (folder / "metatool" / "all_clean_data.csv").open(encoding="utf-8") as stream:
        queries = [short(row["Query"]) for row in csv.DictReader(stream) if row["Query"].strip()]
    queries = list(dict.fromkeys(queries))
    chosen = np.random.default_rng(0).permutation(len(queries))[:TEXTS]
    return embedder().embed([queries[i] for i in chosen])


def vectors(size: int) -> Vector:
    random = np.random.default_rng(size)
    real = real_vectors()
    if real is None:
        real = random.standard_normal((max(size // 10, 1), 384))
        made = real[random.integers(0, len(real), size)]
        made = made + 0.8 * random.standard_normal((size, 384))
    else:
        copies = real[random.integers(0, len(real), max(size - len(real), 0))]
        made = np.concatenate([real, copies + 0.03 * random.standard_normal(copies.shape)])[:size]
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def library(matrix: Vector) -> Snapshot:
    """Memories with random numbers over 60 sessions, one in a hundred pinned."""
    random = np.random.default_rng(len(matrix))
    lessons = [
        Memory(
            number + 1, "tool", f"lesson {number}", "git",
            confidence=float(random.uniform(0.05, 0.95)), usage_count=int(random.integers(0, 9)),
            epoch=int(random.integers(0, SESSIONS)), pinned=bool(random.random() < 0.01),
        )
        for number in range(len(matrix))
    ]  # fmt: skip
    return Snapshot.from_memories(lessons, matrix, epoch=SESSIONS)


def seconds(function: Any, *arguments: Any, runs: int = 1) -> tuple[float, Any]:
    """The best time of some runs, and the result."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        result = function(*arguments)
        best = min(best, time.perf_counter() - start)
    return best, result


def speed(sizes: Sequence[int]) -> None:
    kind = "random clusters" if real_vectors() is None else "MetaTool queries"
    print(
        f"\nTo 50 %, {kind}: seconds to choose; and to plan, that is with the nearest kept memory"
    )
    print("of each dropped one, and an operation for each. Growth is that of choosing.\n")
    print(f"{'':<22}{'memories':>10}{'choose':>10}{'plan':>10}{'growth':>10}")
    plan_compression(library(vectors(200)), CompressionSettings(capacity=100))
    before: dict[str, float] = {}
    for size in sizes:
        snapshot = library(vectors(size))
        _ = snapshot.vectors  # gathered once, not in the first strategy's time
        for strategy, extra in WAYS:
            chosen = settings_for(snapshot, strategy, 0.5, CompressionSettings(**extra))
            runs = 3 if size <= 10_000 else 1
            choosing, _ = seconds(select, snapshot, chosen, runs=runs)
            planning, _ = seconds(plan_compression, snapshot, chosen, runs=runs)
            name = strategy + " (literal)" * bool(extra)
            growth = f"{choosing / before[name]:9.1f}×" if name in before else ""
            print(f"{name:<22}{size:>10,}{choosing:>10.3f}{planning:>10.2f}{growth}", flush=True)
            before[name] = choosing


# -- inertia --------------------------------------------------------------------------------------


def spread(points: Vector, labels: NDArray[np.int64]) -> float:
    """Sum of squared distances to the means of clusters, in float64."""
    sums = np.zeros((int(labels.max()) + 1, points.shape[1]))
    np.add.at(sums, labels, points.astype(np.float64))
    means = sums / np.bincount(labels)[:, None]
    return float(((points - means[labels]) ** 2).sum())


def inertia(
    sizes: Iterable[tuple[int, int]] = ((500, 250), (2_000, 1_000), (10_000, 5_000)),
) -> None:
    from sklearn.cluster import KMeans

    print("\nK-means: inertia and seconds, against scikit-learn's default\n")
    print(f"{'n → K':<18}{'ours':>10}{'s':>8}{'sklearn':>12}{'s':>8}{'ratio':>9}")
    for size, k in sizes:
        points = vectors(size)
        took, labels = seconds(cluster, points, k, runs=3)
        theirs_took, model = seconds(KMeans(k, random_state=0).fit, points)
        ours, theirs = spread(points, labels), float(model.inertia_)
        print(
            f"{f'{size:,} → {k:,}':<18}{ours:>10.1f}{took:>8.2f}{theirs:>12.1f}"
            f"{theirs_took:>8.2f}{ours / theirs:>9.3f}"
        )


# -- quality --------------------------------------------------------------------------------------


def quality() -> None:
    print(
        "\nQuality kept, mean over queries; random over three seeds (± their SD), on which no other"
    )
    print("strategy depends")
    with tempfile.TemporaryDirectory() as folder:
        path = build_demo(Path(folder, "demo.duckdb"), embedder=embedder())
        bank = MemoryBank.open(path, embedder=embedder())
        snapshot, queries = bank.snapshot(), bank.queries()
    tasks = [query.task for query in queries]
    asked = dict(zip(tasks, embedder().embed(tasks), strict=True))
    report(f"Demo: {len(queries)} queries, {len(snapshot)} memories", [(snapshot, queries, asked)])
    folder = datasets()
    if folder is None:
        print("\nLoCoMo: set WINNOW_DATASETS")
        return
    talks = list(conversations(folder / "locomo" / "locomo10.json"))
    questions = sum(len(queries) for _, queries, _ in talks)
    turns = sum(len(snapshot) for snapshot, _, _ in talks)
    report(f"LoCoMo: {questions:,} questions, {turns:,} turns in {len(talks)} banks", talks)


Library = tuple[Snapshot, Sequence[SavedQuery], Mapping[str, Vector]]


def conversations(path: Path) -> Iterable[Library]:
    """Each of LoCoMo's conversations as a bank: its turns are memories, its sessions epochs."""
    for talk in json.loads(path.read_text(encoding="utf-8")):
        turns = talk["conversation"]
        lessons, ids = [], {}
        sessions = [key for key in turns if key.startswith("session_") and key[8:].isdigit()]
        for name in sorted(sessions, key=lambda key: int(key[8:])):
            for turn in turns[name]:
                said = f"{turn['speaker']}: {turn['text']}"
                if turn.get("blip_caption"):
                    said += f" [shares {turn['blip_caption']}]"
                ids[turn["dia_id"]] = len(lessons) + 1
                lessons.append(
                    Memory(len(lessons) + 1, "strategic", short(said), "talk", epoch=int(name[8:]))
                )
        snapshot = Snapshot.from_memories(lessons, embedder().embed([m.text for m in lessons]))
        queries = []
        for number, asked in enumerate(talk["qa"], start=1):
            evidence = {ids[turn]: 1 for turn in asked.get("evidence", ()) if turn in ids}
            if evidence:
                queries.append(SavedQuery(number, asked["question"], (), evidence))
        tasks = [query.task for query in queries]
        yield snapshot, queries, dict(zip(tasks, embedder().embed(tasks), strict=True))


def report(title: str, libraries: Sequence[Library]) -> None:
    print(f"\n{title}\n\n{'':<22}{'size':>6}{'recall@10':>18}{'nDCG@10':>10}{'MRR':>8}")
    show("uncompressed", [measure(libraries, None)])
    for share in SHARES:
        print(f"  to {share:.0%}")
        for strategy, extra in WAYS:
            seeds = SEEDS if strategy == "random" else SEEDS[:1]
            ways = [CompressionSettings(strategy=strategy, seed=s, **extra) for s in seeds]
            found = [measure(libraries, way, share) for way in ways]
            show(strategy + " (literal)" * bool(extra), found)


def measure(
    libraries: Sequence[Library], way: CompressionSettings | None, share: float = 1.0
) -> tuple[float, float, float, float]:
    """Memories left, recall@10, nDCG@10 and MRR over all queries of some banks."""
    measured, left = [], 0
    for snapshot, queries, asked in libraries:
        after = snapshot
        if way is not None:
            chosen = settings_for(snapshot, way.strategy, share, way)
            kept = select(snapshot, replace(chosen, seed=way.seed)).kept
            after = snapshot.edit(removed=snapshot.ids[~kept].tolist())
        left += len(after)
        measured += evaluate(after, queries, asked, RetrievalSettings(), 10).queries
    means = [
        float(np.mean([getattr(one, name) for one in measured]))
        for name in ("recall", "ndcg", "reciprocal_rank")
    ]
    return left, *means


def show(name: str, found: Sequence[tuple[float, ...]]) -> None:
    left, recall, ndcg, mrr = np.mean(found, axis=0)
    deviation = f" ± {np.std(found, axis=0)[1]:.3f}" if len(found) > 1 else ""
    print(f"    {name:<18}{left:>6.0f}{f'{recall:.3f}{deviation}':>18}{ndcg:>10.3f}{mrr:>8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["speed", "inertia", "quality"])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()
    unknown = set(given.parts) - {"speed", "inertia", "quality"}
    if unknown:
        parser.error(f"unknown part {unknown.pop()}; known: speed, inertia, quality")
    if "speed" in given.parts:
        speed(given.sizes)
    if "inertia" in given.parts:
        inertia()
    if "quality" in given.parts:
        quality()


if __name__ == "__main__":
    main()
