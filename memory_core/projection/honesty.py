"""How far a map can be trusted, measured against the vectors that it was made from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.map_records import Honesty
from memory_core.neighbours import blocks, distinct
from memory_core.projection.fitting import Progress, silent

NEIGHBOURS = 15
EXACT = 10_000
"""Up to so many points all are measured; of more, a sample of SAMPLE, each against all."""
SAMPLE = 2_000
FITTING = 2**17
"""Products that are counted together, so that they stay in the cache."""


def measure(
    vectors: NDArray[np.float32],
    positions: NDArray[np.float64],
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Honesty:
    """How far the `positions` (n, 2) of unit vectors (n, d) can be trusted.

    Equal vectors count once. See `map_records` for the formulas.
    """
    first = distinct(vectors).first
    points, flat = np.ascontiguousarray(vectors[first]), positions[first]
    n = len(points)
    k = min(NEIGHBOURS, (n - 1) // 2)
    if k < 1:
        return Honesty(1.0, 1.0, 0, 0, n, n)
    asked = np.arange(n)
    if n > EXACT:
        asked = np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))
    ranks = _true_ranks(points, asked, nearest_on_map(flat, asked, k), progress)
    outside = np.maximum(ranks - k, 0)
    penalty = 2.0 * outside.sum() / (len(asked) * k * (2 * n - 3 * k - 1))
    return Honesty(
        trustworthiness=float(1.0 - penalty),
        neighbourhood_preservation=float((outside == 0).mean()),
        neighbours=k,
        reach=int(np.ceil(np.quantile(ranks, 0.9))),
        size=n,
        measured=len(asked),
    )


def nearest_on_map(
    positions: NDArray[np.float64], asked: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """(len(asked), k) rows nearest on the map to each asked row, itself left out."""
    from scipy.spatial import cKDTree

    _, found = cKDTree(positions).query(positions[asked], k=k + 1)
    itself = found == asked[:, None]
    itself[~itself.any(axis=1), -1] = True  # crowded out by others on its very spot
    near: NDArray[np.int64] = found[~itself].reshape(len(asked), k)
    return near


def _true_ranks(
    points: NDArray[np.float32],
    asked: NDArray[np.int64],
    near: NDArray[np.int64],
    progress: Progress,
) -> NDArray[np.int64]:
    """(len(asked), k) the rank, from 1, that each neighbour on the map has by its cosine."""
    ranks = np.empty(near.shape, dtype=np.int64)
    height = max(1, FITTING // len(points))
    for block in blocks(len(asked), len(points)):
        rows = asked[block]
        products = points[rows] @ points.T
        products[np.arange(len(rows)), rows] = -np.inf
        own = np.take_along_axis(products, near[block], axis=1)
        for start in range(0, len(rows), height):
            part = slice(start, start + height)
            for column in range(near.shape[1]):
                nearer = products[part] > own[part, column, None]
                ranks[block][part, column] = np.count_nonzero(nearer, axis=1) + 1
        progress("Measuring how far it can be trusted", 0.85 + 0.14 * block.stop / len(asked))
    return ranks
