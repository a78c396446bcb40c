"""What a picture of the map is made from, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import Snapshot
from pages.components.map_colours import Colouring

HEIGHT = 620
SYMBOLS_UP_TO = 5_000
"""Points of which kinds have symbols. WebGL draws one symbol after the other, and in a crowd the
last would hide the others; there, all are dots, in the order of their ids."""


@dataclass(frozen=True)
class Label:
    """A name on the map."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class View:
    """The part of the map that is looked at, as far as we say and not the mouse."""

    x: tuple[float, float]
    y: tuple[float, float]
    stamp: str = ""
    """Changes at each click for a view, so that the same one can be asked for again."""


@dataclass(frozen=True)
class Scene:
    """All that a figure is made from."""

    snapshot: Snapshot
    positions: NDArray[np.float64]
    """(n, 2), in the order of the snapshot's rows."""
    rows: NDArray[np.int64]
    """Those that pass the filters; all others are grey."""
    colourings: tuple[Colouring, ...]
    hovers: list[str]
    """(n,) what each point says; in a crowd only how its text begins."""
    view: View
    labels: tuple[Label, ...] = ()
    chosen: NDArray[np.int64] | None = None
    """Positions within `rows` of what is selected; None for nothing."""
    lost: NDArray[np.int64] | None = None
    """Rows that are selected though they are filtered out."""
    over: tuple[Any, ...] = ()
    """Traces that lie over the points: a query and its hits."""
    spots: NDArray[np.float64] | None = None
    """(k, 2) what no label may cover."""
    first: int = 0
    """Position of the colouring that is shown at first."""
    dark: bool = False
    alike: bool = False
    """Whether all points have one size, and not one that goes by their use."""
    tool: str = "pan"
    """What the mouse does: pan, select (a box) or lasso."""

    @property
    def is_crowded(self) -> bool:
        return is_crowd(self.rows)


def is_crowd(rows: NDArray[np.int64]) -> bool:
    """Whether so many points are shown that each has to say less."""
    return len(rows) > SYMBOLS_UP_TO


def whole(positions: NDArray[np.float64], stamp: str = "") -> View:
    """The view that shows all."""
    return around(positions, stamp, least=1.0)


def around(positions: NDArray[np.float64], stamp: str, least: float = 0.0) -> View:
    """The view of some points, with a margin; `least` is the smallest width."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) * 0.54, max(least / 2, 1e-3))
    x, y = zip((middle - half).tolist(), (middle + half).tolist(), strict=True)
    return View((x[0], x[1]), (y[0], y[1]), stamp)


def sizes(scene: Scene) -> NDArray[np.float32]:
    """(n,) diameters in pixels, growing with use; in a crowd all are smaller."""
    crowd = len(scene.snapshot) > 1_500
    if scene.alike:
        return np.full(len(scene.snapshot), 6.0 if crowd else 9.0, dtype=np.float32)
    least = 5.0 if crowd else 7.0
    used = np.sqrt(scene.snapshot.columns.usage_count)
    return np.round(np.minimum(least + 1.6 * used, least + 13), 1).astype(np.float32)


def apart(scene: Scene) -> list[Label]:
    """Those labels that cover no earlier one and no spot, at about the size of the page's map."""
    view = scene.view
    scale = min(850 / (view.x[1] - view.x[0]), (HEIGHT - 40) / (view.y[1] - view.y[0]))
    spots = () if scene.spots is None else scene.spots.tolist()
    taken = [Label("spot", x, y) for x, y in spots]
    kept: list[Label] = []
    for one in scene.labels:
        clear = all(
            abs(one.y - other.y) * scale > 19
            or abs(one.x - other.x) * scale > 3.4 * (len(one.text) + len(other.text)) + 4
            for other in (*taken, *kept)
        )
        if clear:
            kept.append(one)
    return kept
