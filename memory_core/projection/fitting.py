"""Vectors to a map: UMAP over their exact neighbours, PCA for a few, a dot for one.

UMAP's layout runs in one thread and starts from the principal components, so that the same
vectors, settings and seed give the same coordinates, in whatever process and thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.map_records import Method
from memory_core.neighbours import NearestSeveral, distinct, nearest_several
from memory_core.settings import MapSettings

Progress: TypeAlias = Callable[[str, float], None]
"""Hears what is being done, and the share in [0, 1] of all that is behind; it may raise to stop."""

FEWEST = 15
"""Different vectors below which PCA draws the map."""
SPREAD = 10.0
"""Side of the square in which UMAP starts."""
REPELLED_BY = 10
LEARNING_RATE = 0.5
"""How many random others push a point away for each neighbour that draws it, and the length of the
first step; UMAP's own are 5 and 1. On four samples of 10,000 sentences, at one cost, 120 rounds of
these are truer by both measures than 200 of those, and than UMAP's default, which takes 500."""
GRID = 2.0**-10
"""The start is rounded to this, so that how a sum was ordered does not change the map."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Coordinates for vectors."""

    positions: NDArray[np.float64]
    """(n, 2) around (0, 0); equal vectors lie on one spot."""
    method: Method


def silent(doing: str, share: float) -> None:
    """Progress that nobody listens to."""


def fit(vectors: NDArray[np.float32], settings: MapSettings, progress: Progress = silent) -> Fit:
    """A map of unit vectors (n, d); n is 1 or more."""
    groups = distinct(vectors)
    points = np.ascontiguousarray(vectors[groups.first])
    if len(points) < FEWEST:
        method: Method = "single" if len(points) == 1 else "pca"
        flat = principal(points)
    else:
        method = "umap"
        flat = _umap(points, settings, progress)
    positions = flat[groups.group]
    return Fit(positions - positions.mean(axis=0), method)


def principal(points: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n, 2) the first two principal components; those that there are not are 0.

    Of the two directions of each, the one in which its largest loading is positive.
    """
    centred = points.astype(np.float64)
    centred -= centred.mean(axis=0)
    flat = np.zeros((len(points), 2))
    axes = _axes(centred)
    flat[:, : axes.shape[1]] = centred @ axes
    return flat


def _axes(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d, up to 2) the directions in which centred points vary most."""
    variances, directions = np.linalg.eigh(centred.T @ centred)
    kept = directions[:, ::-1][:, :2][:, variances[::-1][:2] > 1e-12]
    largest = kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])]
    signed: NDArray[np.float64] = kept * np.where(largest < 0, -1.0, 1.0)
    return signed


def _umap(
    points: NDArray[np.float32], settings: MapSettings, progress: Progress
) -> NDArray[np.float64]:
    progress("Finding each memory's nearest", 0.0)
    near = nearest_several(
        points,
        points,
        min(settings.neighbours, len(points)) - 1,
        within=True,
        report=lambda share: progress("Finding each memory's nearest", 0.3 * share),
    )
    start = np.round(_scaled(principal(points)) / GRID) * GRID
    return _laid_out(near, start, settings, progress)


def _scaled(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stretched into UMAP's square, as it would do itself."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    scaled: NDArray[np.float64] = SPREAD * (flat - low) / np.where(high > low, high - low, 1.0)
    return scaled


def epochs_for(size: int) -> int:
    """Rounds of the layout: a start that is right at large leaves little to do, and small maps are
    quick with any number."""
    return 300 if size < 2_000 else 120


def _laid_out(
    near: NearestSeveral, start: NDArray[np.float64], settings: MapSettings, progress: Progress
) -> NDArray[np.float64]:
    """UMAP's graph of the neighbours, and its layout."""
    progress("Loading UMAP", 0.3)
    from umap import umap_

    progress("Building the graph", 0.35)
    graph = neighbour_graph(near)
    a, b = umap_.find_ab_params(1.0, settings.min_distance)
    epochs = settings.epochs or epochs_for(len(start))
    flat, _ = umap_.simplicial_set_embedding(
        start, graph, 2, LEARNING_RATE, a, b, 1.0, REPELLED_BY, epochs, start.astype(np.float32),
        np.random.RandomState(settings.seed), "euclidean", {}, False, {}, False,
        tqdm_kwds=_told(epochs, progress),
    )  # fmt: skip
    return np.asarray(flat, dtype=np.float64)


def neighbour_graph(near: NearestSeveral) -> Any:
    """`umap_.fuzzy_simplicial_set` of the neighbours: (n, n), sparse, symmetric.

    By its own functions, compiled for one thread: that takes half as long as for several, and a
    mean that threads share would be another with their number.
    """
    from scipy.sparse import coo_matrix

    n = len(near.rows)
    indices = np.concatenate([np.arange(n)[:, None], near.rows], axis=1)
    apart = np.maximum(1.0 - near.similarity, 0.0)
    distances = np.concatenate([np.zeros((n, 1)), apart], axis=1).astype(np.float32)
    smooth, strengths = _compiled()
    widths, nearest = smooth(distances, float(indices.shape[1]), local_connectivity=1.0)
    rows, columns, values, _ = strengths(indices, distances, widths, nearest, False)
    directed = coo_matrix((values, (rows, columns)), shape=(n, n))
    directed.eliminate_zeros()
    back = directed.transpose()
    graph = directed + back - directed.multiply(back)  # near by either's account
    graph.eliminate_zeros()
    return graph


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """UMAP's `smooth_knn_dist` and `compute_membership_strengths`, for one thread."""
    from numba import njit
    from umap import umap_

    return njit(umap_.smooth_knn_dist.py_func), njit(umap_.compute_membership_strengths.py_func)


def _told(epochs: int, progress: Progress) -> dict[str, Any]:
    """What makes UMAP's progress bar write each epoch to us."""
    return {
        "disable": False, "file": _Epochs(epochs, progress), "bar_format": "{n}",
        "mininterval": 0, "miniters": 1,
    }  # fmt: skip


class _Epochs:
    """A file that is told of epochs. What `progress` raises comes out of the layout's loop."""

    def __init__(self, epochs: int, progress: Progress) -> None:
        self._epochs = epochs
        self._progress = progress
        self._told = -1

    def write(self, text: str) -> int:
        done = text.strip()
        if done.isdecimal() and int(done) > self._told:
            self._told = int(done)
            try:
                share = 0.35 + 0.5 * self._told / self._epochs
                self._progress(f"Laying out, round {done} of {self._epochs}", share)
            except BaseException:
                self._told = self._epochs  # the bar writes once more when it is closed
                self._let_go()
                raise
        return len(text)

    @staticmethod
    def _let_go() -> None:
        """Give back the lock that tqdm holds while it writes: it would keep it for good."""
        from tqdm import tqdm

        tqdm.get_lock().release()

    def flush(self) -> None:
        pass
