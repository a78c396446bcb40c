"""The map as a picture without WebGL: for machines that have none, and as an SVG file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memory_core import KINDS
from pages.components.map_colours import Colouring, Group
from pages.components.map_ink import ink
from pages.components.map_scene import Label, Scene, View, apart, sizes
from pages.components.svg import escaped

WIDTH, HEIGHT = 1100, 640
MARGIN = 12


def picture(scene: Scene, colouring: Colouring, chosen: NDArray[np.int64], title: str) -> str:
    """An SVG of a scene; `chosen` are rows of what is selected, which gets a ring."""
    colours = ink(dark=scene.dark)
    at = _Frame(scene.view)
    x, y = at.across(scene.positions[:, 0]), at.down(scene.positions[:, 1])
    parts = [f"<title>{escaped(title)}</title>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{colours.page}"/>']  # fmt: skip
    away = np.ones(len(x), dtype=bool)
    away[scene.rows] = False
    for row in np.flatnonzero(away).tolist():
        parts.append(_circle(x[row], y[row], 2.2, colours.away))
    fills, radii = colouring.colours(), sizes(scene) / 2
    for row in scene.rows.tolist():
        kind = KINDS[scene.snapshot.columns.kind[row]]
        parts.append(_MARKS[kind](x[row], y[row], float(radii[row]), fills[row]))
    for row in chosen.tolist():
        ring = f'fill="none" stroke="{colours.text}" stroke-width="1.6"'
        parts.append(
            f'<circle cx="{x[row]:.1f}" cy="{y[row]:.1f}" r="{radii[row] + 3:.1f}" {ring}/>'
        )
    parts += _labels(apart(scene), at, colours.text, colours.page)
    parts += _legend(colouring, colours.text, colours.page)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="14">'
    )
    return head + "".join(parts) + "</svg>"


class _Frame:
    """A view in pixels: the same scale both ways."""

    def __init__(self, view: View) -> None:
        self._middle = (sum(view.x) / 2, sum(view.y) / 2)
        spans = (view.x[1] - view.x[0], view.y[1] - view.y[0])
        self._scale = min((WIDTH - 2 * MARGIN) / spans[0], (HEIGHT - 2 * MARGIN) / spans[1])

    def across(self, x: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return WIDTH / 2 + (np.asarray(x) - self._middle[0]) * self._scale

    def down(self, y: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return HEIGHT / 2 - (np.asarray(y) - self._middle[1]) * self._scale


def _circle(x: float, y: float, r: float, fill: str) -> str:
    return f'<circle {_at(x, y, r)} fill="{fill}"/>'


def _at(x: float, y: float, r: float) -> str:
    return f'cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"'


def _square(x: float, y: float, r: float, fill: str) -> str:
    return (
        f'<rect x="{x - r * 0.88:.1f}" y="{y - r * 0.88:.1f}" width="{r * 1.77:.1f}" '
        f'height="{r * 1.77:.1f}" fill="{fill}"/>'
    )


def _diamond(x: float, y: float, r: float, fill: str) -> str:
    d = f"{r * 1.3:.1f}"
    return f'<path d="M{x:.1f} {y - r * 1.3:.1f}l{d} {d}l-{d} {d}l-{d} -{d}z" fill="{fill}"/>'


_MARKS = {"strategic": _diamond, "procedural": _circle, "tool": _square}
_BY_NAME = {"diamond": _diamond, "circle": _circle, "square": _square}


def _labels(labels: list[Label], at: _Frame, text: str, page: str) -> Iterator[str]:
    for label in labels:
        yield (
            f'<text x="{float(at.across(label.x)):.1f}" y="{float(at.down(label.y)):.1f}" '
            f'text-anchor="middle" fill="{text}" stroke="{page}" stroke-width="3" '
            f'paint-order="stroke">{escaped(label.text)}</text>'
        )


def _legend(colouring: Colouring, text: str, page: str) -> Iterator[str]:
    lines = colouring.groups or tuple(_ticks(colouring))
    tall = 18 * len(lines) + 10
    yield f'<rect x="6" y="6" width="230" height="{tall}" fill="{page}" fill-opacity="0.8"/>'
    for number, group in enumerate(lines):
        y = 22 + 18 * number
        yield _BY_NAME[group.mark](18, y - 4, 5, group.colour)
        words = (
            f"{group.label[:26]}  {group.shown:,} / {group.total:,}" if group.total else group.label
        )
        yield f'<text x="30" y="{y}" fill="{text}">{escaped(words)}</text>'


def _ticks(colouring: Colouring) -> Iterator[Group]:
    from dataclasses import replace

    ends = replace(colouring, values=np.array([at for at, _ in colouring.ticks]))
    for colour, (_, words) in zip(ends.colours(), colouring.ticks, strict=True):
        yield Group(words, colour, "circle", 0, 0)
