"""A new map turned so that it lies on the one before: people keep their bearings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAME = 1e-9
"""Maps that differ by less than this share of their size are the same one."""


def align(
    positions: NDArray[np.float64],
    shared: NDArray[np.int64],
    before: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(n, 2) positions moved, turned, mirrored and scaled so that rows `shared` (s,) come as near
    as can be to where they were `before` (s, 2).

    Orthogonal Procrustes (Schönemann 1966) after both have been centred. The scale is not that of
    least squares, which shrinks the map the less the two agree, but the one with which the shared
    points spread as widely as before: UMAP's coordinates have no unit, and a window of the map
    that someone looks through should hold about as much as it did.
    """
    if not len(shared):
        return positions
    own = positions[shared]
    centre, target = own.mean(axis=0), before.mean(axis=0)
    moved, aim = own - centre, before - target
    spread, wanted = np.sqrt((moved**2).sum()), np.sqrt((aim**2).sum())
    if spread == 0 or wanted == 0:
        moved_only: NDArray[np.float64] = positions - centre + target
        return moved_only
    u, _, v = np.linalg.svd(moved.T @ aim)
    aligned: NDArray[np.float64] = (positions - centre) @ (u @ v) * (wanted / spread) + target
    if np.abs(aligned[shared] - before).max() <= SAME * wanted:
        aligned[shared] = before  # the same fit again: the same numbers
    return aligned
