"""Vectors to a map: UMAP over their exact neighbours, PCA for a few, a dot for one.

The layout runs in one thread and starts from the principal components, so that the same vectors,
settings and seed give the same coordinates, in whatever process and thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.map_records import Method
from memory_core.neighbours import distinct, nearest_several
from memory_core.projection.descent import lay_out
from memory_core.projection.graph import ties
from memory_core.settings import MapSettings

Progress: TypeAlias = Callable[[str, float], None]
"""Hears what is being done, and the share in [0, 1] of all that is behind; it may raise to stop."""

FEWEST = 15
"""Different vectors below which PCA draws the map."""
SPREAD = 10.0
"""Side of the square that the layout starts from."""
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
    finding = "Finding each memory's nearest"
    progress(finding, 0.0)
    near = nearest_several(
        points,
        points,
        min(settings.neighbours, len(points)) - 1,
        within=True,
        report=lambda share: progress(finding, 0.3 * share),
    )
    start = np.round(_scaled(principal(points)) / GRID) * GRID
    progress("Tying it to them", 0.3)
    graph = ties(near)
    epochs = settings.epochs or epochs_for(len(points))
    progress("Loading what lays it out", 0.33)
    return lay_out(
        graph,
        start,
        epochs=epochs,
        min_distance=settings.min_distance,
        seed=settings.seed,
        report=lambda done: progress(
            f"Laying out, round {done + 1} of {epochs}", 0.35 + 0.5 * done / epochs
        ),
    )


def _scaled(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stretched into the square in which UMAP starts."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    scaled: NDArray[np.float64] = SPREAD * (flat - low) / np.where(high > low, high - low, 1.0)
    return scaled


def epochs_for(size: int) -> int:
    """Rounds of the layout where nobody says; umap-learn's numbers."""
    return 500 if size <= 10_000 else 200
