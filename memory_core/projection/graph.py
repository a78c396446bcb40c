"""UMAP's graph: how strongly each vector is tied to its nearest.

    w(i → j) = exp(−max(0, d(i, j) − ρᵢ) / σᵢ)     ρᵢ the distance to i's nearest,
                                                    σᵢ such that Σⱼ w(i → j) = log₂ k
    w(i, j)  = w(i → j) + w(j → i) − w(i → j)·w(j → i)

over the k − 1 nearest of each (McInnes, Healy and Melville 2018, section 3.1). That is what
umap-learn computes, in NumPy: compiling umap-learn's takes longer than the whole map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.neighbours import NearestSeveral

HALVINGS = 64
CLOSE_ENOUGH = 1e-5
LEAST_SCALE = 1e-3
"""σ is at least this share of the mean distance, or a vector among twins would be tied to none."""


@dataclass(frozen=True, slots=True)
class Ties:
    """The ties between vectors, each in both directions, in the order of heads."""

    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    weight: NDArray[np.float64]
    """In (0, 1]."""


def ties(near: NearestSeveral) -> Ties:
    """The graph of vectors whose nearest others are given, nearest first."""
    from scipy.sparse import csr_array

    n, others = near.rows.shape
    apart = np.maximum(1.0 - near.similarity, 0.0)
    strength = _strength(apart, np.log2(others + 1))
    starts = np.arange(0, n * others + 1, others)
    one_way = csr_array((strength.ravel(), near.rows.ravel(), starts), shape=(n, n))
    other_way = one_way.T.tocsr()
    both = (one_way + other_way - one_way * other_way).tocoo()
    order = np.lexsort((both.col, both.row))
    return Ties(
        both.row[order].astype(np.int32), both.col[order].astype(np.int32), both.data[order]
    )


def _strength(apart: NDArray[np.float64], wanted: float) -> NDArray[np.float64]:
    """(n, others) how strongly each is tied to its nearest, by ascending distances."""
    nearest = np.where(apart > 0, apart, np.inf).min(axis=1)
    nearest[np.isinf(nearest)] = 0.0  # of twins alone
    beyond = np.maximum(apart - nearest[:, None], 0.0)
    scale = np.ones(len(apart))
    low, high = np.zeros(len(apart)), np.full(len(apart), np.inf)
    for _ in range(HALVINGS):
        total = np.exp(-beyond / scale[:, None]).sum(axis=1)
        open_ = np.abs(total - wanted) >= CLOSE_ENOUGH
        if not open_.any():
            break
        much = total > wanted
        high = np.where(open_ & much, scale, high)
        low = np.where(open_ & ~much, scale, low)
        half = np.where(np.isinf(high), 2 * scale, (low + high) / 2)
        scale = np.where(open_, half, scale)
    mean = apart.mean(axis=1) * apart.shape[1] / (apart.shape[1] + 1)  # itself is 0 apart
    least = LEAST_SCALE * np.where(nearest > 0, mean, mean.mean())
    scale = np.maximum(scale, least)
    scale[scale == 0] = 1.0
    strength: NDArray[np.float64] = np.exp(-beyond / scale[:, None])
    return strength
