"""How fast a map is fitted, and how far it can be trusted, beside umap-learn's own default.

    python benchmarks/map.py                        500, 2,000, 10,000 and 50,000 memories
    python benchmarks/map.py --sizes 500 10000
    python benchmarks/map.py --no-default           without umap-learn's own

With WINNOW_DATASETS set, on MetaTool's queries (above 10,000: those, and jittered copies of them);
without, on random clusters. Each fit runs in a process of its own, twice: the first time whatever
it needs is loaded and compiled, too. `default` is `umap.UMAP(metric="cosine").fit_transform`.
Above 10,000 trustworthiness is measured on 2,000 of the memories, against all. Seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import (
    Add,
    Batch,
    ClusterSettings,
    HashEmbedder,
    MapSettings,
    Memory,
    MemoryBank,
    MiniLMEmbedder,
    Snapshot,
    clusters,
)
from memory_core.projection import fit, measure

SIZES = (500, 2_000, 10_000, 50_000)
TEXTS = 10_000
Vectors = NDArray[np.float32]


def queries() -> list[str]:
    """10,000 of MetaTool's, each once, in a fixed random order; none without the outside data."""
    path = Path(
        os.environ.get("WINNOW_DATASETS", ""), "retrieval", "metatool", "all_clean_data.csv"
    )
    if not os.environ.get("WINNOW_DATASETS") or not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        texts = dict.fromkeys(" ".join(row["Query"].split()[:32]) for row in rows)
    texts.pop("", None)
    every = list(texts)
    return [every[i] for i in np.random.default_rng(0).permutation(len(every))[:TEXTS]]


def vectors(size: int, folder: Path) -> Vectors:
    """`size` unit vectors; the embedded queries are kept in `folder`."""
    random = np.random.default_rng(size)
    kept = folder / "queries.npy"
    if not kept.exists():
        texts = queries()
        np.save(kept, MiniLMEmbedder().embed(texts) if texts else np.empty((0, 384), np.float32))
    real = np.load(kept)
    if len(real):
        copies = real[random.integers(0, len(real), max(size - len(real), 0))]
        made = np.concatenate([real, copies + 0.03 * random.standard_normal(copies.shape)])[:size]
    else:
        centres = random.standard_normal((max(size // 50, 1), 384))
        made = centres[random.integers(0, len(centres), size)]
        made = made + 0.8 * random.standard_normal((size, 384))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def timed(verb: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = verb()
    return time.perf_counter() - start, result


# -- in a process of its own ----------------------------------------------------------------------


def ours(matrix: Vectors) -> NDArray[np.float64]:
    return fit(matrix, MapSettings()).positions


def default(matrix: Vectors) -> NDArray[np.float64]:
    import umap

    return np.asarray(umap.UMAP(metric="cosine").fit_transform(matrix), dtype=np.float64)


def measured(way: str, path: str) -> None:
    """Print the figures of one way to lay out the vectors in a file."""
    matrix = np.load(path)
    lay_out = {"ours": ours, "default": default}[way]
    first, _ = timed(lambda: lay_out(matrix))
    again, positions = timed(lambda: lay_out(matrix))
    honesty = measure(matrix, positions)
    print(json.dumps({
        "first": first, "again": again, "trust": honesty.trustworthiness,
        "kept": honesty.neighbourhood_preservation,
    }))  # fmt: skip


# -- all of it ------------------------------------------------------------------------------------


class Given(HashEmbedder):
    """An embedder of lessons that are known by their numbers."""

    name = "given"

    def __init__(self, matrix: Vectors) -> None:
        super().__init__(matrix.shape[1])
        self._matrix = matrix

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._matrix[[int(text.split()[1]) for text in texts]]


def in_a_bank(matrix: Vectors, folder: Path) -> dict[str, float]:
    """Fitting, storing, opening and placing through a bank."""
    size = len(matrix) - 100
    path = folder / f"{size}.duckdb"
    bank = MemoryBank.open(path, embedder=Given(matrix))
    for start in range(0, size, 10_000):
        numbers = range(start, min(start + 10_000, size))
        bank.update(Batch([Add(f"lesson {n}", "tool", "git") for n in numbers]))
    bank.fit_map()
    other = MemoryBank.open(path, embedder=Given(matrix))
    opening, _ = timed(other.map)
    rerun, _ = timed(other.map)
    other.update(Batch([Add(f"lesson {n}", "tool", "git") for n in range(size, size + 100)]))
    other.snapshot()
    placing, _ = timed(other.map)
    other.update(Batch([Add("lesson 0", "tool", "git")]))
    other.snapshot()
    after, _ = timed(other.map)
    return {"open": opening, "rerun": rerun, "place": placing, "next": after}


def cluster_times(matrix: Vectors) -> dict[str, float]:
    lessons = [Memory(n + 1, "tool", f"lesson {n}", "git") for n in range(len(matrix))]
    snapshot = Snapshot.from_memories(lessons, matrix)
    return {
        method: timed(lambda method=method: clusters(snapshot, ClusterSettings(method)))[0]
        for method in ("hdbscan", "kmeans")
    }


COLUMNS = ("first fit", "again", "trust", "kept")
MORE = ("open", "rerun", "place 100", "1 more", "hdbscan", "kmeans")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--no-default", action="store_true")
    parser.add_argument("--measured", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measured:
        measured(*given.measured)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        titles = "".join(f"{title:>11}" for title in (*COLUMNS, *MORE))
        print(f"{'':<16}{titles}", flush=True)
        for size in given.sizes:
            matrix = vectors(size + 100, folder)
            np.save(folder / "vectors.npy", matrix[:size])
            for way in ("ours",) if given.no_default else ("ours", "default"):
                report(size, way, matrix, folder)


def report(size: int, way: str, matrix: Vectors, folder: Path) -> None:
    command = [sys.executable, __file__, "--measured", way, str(folder / "vectors.npy")]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    cells = [f"{found['first']:.2f}", f"{found['again']:.2f}"]
    cells += [f"{found['trust']:.4f}", f"{found['kept']:.3f}"]
    if way == "ours":
        more = in_a_bank(matrix, folder) | cluster_times(matrix[:size])
        cells += [f"{value:.3f}" for value in more.values()]
    print(f"{size:>8,} {way:<7}" + "".join(f"{cell:>11}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
