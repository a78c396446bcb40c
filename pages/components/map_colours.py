"""What colours say on the map: one column of the memories at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import KINDS, Snapshot
from pages.components.text import count

KIND_COLOURS = {"strategic": "#0072B2", "procedural": "#D55E00", "tool": "#009E73"}
KIND_MARKS = {"strategic": "diamond", "procedural": "circle", "tool": "square"}
"""Plotly's names of ◆ ● ■."""
PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#999933",
    "#C0392B", "#44AA99", "#A6761D", "#E78AC3",
)  # fmt: skip
OTHERS, NONE = "#5F6B7A", "#A9B0BC"
VIRIDIS = ("#3E4989", "#31688E", "#26828E", "#1F9E89", "#35B779", "#6DCD59", "#B4DE2C", "#FDE725")
"""Without its darkest end, which a dark page swallows."""
LABEL = 26


@dataclass(frozen=True)
class Group:
    """One line of a legend."""

    label: str
    """As it is; it may hold a person's text."""
    colour: str
    mark: str
    shown: int
    total: int

    @property
    def line(self) -> str:
        """For Plotly, which reads HTML."""
        name = self.label if len(self.label) <= LABEL else self.label[: LABEL - 1] + "…"
        return f"{escape(name, quote=False)}  {self.shown:,} / {self.total:,}"


@dataclass(frozen=True)
class Colouring:
    """Colours by one column."""

    name: str
    values: NDArray[np.int64]
    """(n,) whole numbers, one for each row of the snapshot, that the scale turns to colours."""
    scale: tuple[tuple[float, str], ...]
    low: float
    high: float
    groups: tuple[Group, ...] = ()
    """What the legend lists; nothing where a bar tells."""
    ticks: tuple[tuple[float, str], ...] = ()
    """Of the bar."""

    def colours(self) -> list[str]:
        """(n,) one colour for each row, for a picture that knows no scale."""
        shares = np.clip((self.values - self.low) / (self.high - self.low), 0, 1)
        stops = np.array([stop for stop, _ in self.scale])
        rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for _, c in self.scale])
        parts = [np.interp(shares, stops, rgb[:, i]).round().astype(int) for i in range(3)]
        return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in zip(*parts, strict=True)]


def colourings(
    snapshot: Snapshot, rows: NDArray[np.int64], clusters: Any | None
) -> tuple[Colouring, ...]:
    """All ways to colour a snapshot of which `rows` are shown, the first one first."""
    made = [_by_kind(snapshot, rows), _by_domain(snapshot, rows)]
    if clusters is not None:
        made.append(_by_cluster(snapshot, rows, clusters))
    return (*made, *(numbers(snapshot) for numbers in _NUMBERS))


def names(*, clustered: bool) -> tuple[str, ...]:
    return ("Kind", "Domain", *(("Cluster",) if clustered else ()), "Confidence", "Applied",
            "Session", "Helped")  # fmt: skip


# -- groups ---------------------------------------------------------------------------------------


def _by_kind(snapshot: Snapshot, rows: NDArray[np.int64]) -> Colouring:
    codes = snapshot.columns.kind.astype(np.int64)
    labels = list(KINDS)
    marks = [KIND_MARKS[kind] for kind in KINDS]
    return _discrete("Kind", codes, rows, labels, [KIND_COLOURS[k] for k in KINDS], marks)


def _by_domain(snapshot: Snapshot, rows: NDArray[np.int64]) -> Colouring:
    codes = snapshot.columns.domain
    present, counts = np.unique(codes, return_counts=True)
    order = present[np.argsort(-counts, kind="stable")]
    labels = [snapshot.pool.domains.value(int(code)) for code in order[: len(PALETTE)]]
    place = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    place[order] = np.minimum(np.arange(len(order)), len(PALETTE))
    return _ranked("Domain", place[codes], rows, labels, len(order), "domain")


def _by_cluster(snapshot: Snapshot, rows: NDArray[np.int64], clusters: Any) -> Colouring:
    by_size = sorted(clusters.clusters, key=lambda cluster: -len(cluster.ids))
    place = {cluster.number: min(i, len(PALETTE)) for i, cluster in enumerate(by_size)}
    labels = [cluster.label for cluster in by_size[: len(PALETTE)]]
    nowhere = len(labels) + (len(by_size) > len(PALETTE))
    values = np.array([place.get(int(n), nowhere) for n in clusters.labels], dtype=np.int64)
    return _ranked("Cluster", values, rows, labels, len(by_size), "cluster", outside="in none")


def _ranked(
    name: str, values: NDArray[np.int64], rows: NDArray[np.int64], labels: list[str], found: int,
    noun: str, outside: str = "",
) -> Colouring:  # fmt: skip
    """The largest groups each in a colour of its own, all others together in one."""
    labels, colours = list(labels), list(PALETTE[: len(labels)])
    if found > len(labels):
        labels.append(count(found - len(labels), f"more {noun}"))
        colours.append(OTHERS)
    if outside:
        labels.append(outside)
        colours.append(NONE)
    return _discrete(name, values, rows, labels, colours, ["circle"] * len(labels))


def _discrete(
    name: str, values: NDArray[np.int64], rows: NDArray[np.int64], labels: list[str],
    colours: list[str], marks: list[str],
) -> Colouring:  # fmt: skip
    size = max(len(labels), 1)
    total = np.bincount(values, minlength=size)
    shown = np.bincount(values[rows], minlength=size)
    groups = tuple(
        Group(label, colour, mark, int(shown[i]), int(total[i]))
        for i, (label, colour, mark) in enumerate(zip(labels, colours, marks, strict=True))
        if total[i]
    )
    scale = tuple(
        (edge / size, colour) for i, colour in enumerate(colours) for edge in (i, i + 1)
    ) or ((0.0, NONE), (1.0, NONE))
    return Colouring(name, values, scale, -0.5, size - 0.5, groups)


# -- numbers --------------------------------------------------------------------------------------


def _spread(low: float = 0.0) -> tuple[tuple[float, str], ...]:
    """Viridis from `low` to 1."""
    steps = np.linspace(low, 1, len(VIRIDIS))
    return tuple(zip(steps.tolist(), VIRIDIS, strict=True))


def _by_confidence(snapshot: Snapshot) -> Colouring:
    values = np.rint(snapshot.columns.confidence * 100).astype(np.int64)
    ticks = tuple((100 * share, f"{share:.2f}") for share in (0, 0.25, 0.5, 0.75, 1))
    return Colouring("Confidence", values, _spread(), 0, 100, ticks=ticks)


def _by_use(snapshot: Snapshot) -> Colouring:
    used = snapshot.columns.usage_count
    values = np.rint(100 * np.log10(1 + used)).astype(np.int64)
    top = max(int(used.max(initial=0)), 1)
    steps = [step for step in (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000) if step <= top]
    ticks = tuple((float(100 * np.log10(1 + step)), f"{step:,}×") for step in steps)
    return Colouring("Applied", values, _spread(), 0, float(100 * np.log10(1 + top)), ticks=ticks)


def _by_session(snapshot: Snapshot) -> Colouring:
    values = snapshot.columns.epoch.astype(np.int64)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 1)
    high = max(high, low + 1)
    steps = sorted({low, (low + high) // 2, high})
    ticks = tuple((float(step), f"session {step}") for step in steps)
    return Colouring("Session", values, _spread(), low, high, ticks=ticks)


_NEVER = -12
"""Where on the scale of success rates a memory lies that was never applied."""


def _by_success(snapshot: Snapshot) -> Colouring:
    c = snapshot.columns
    rate = 100 * c.success_count / np.maximum(c.usage_count, 1)
    values = np.where(c.usage_count > 0, np.rint(rate), _NEVER).astype(np.int64)
    edge = -_NEVER / (100 - _NEVER)
    scale = ((0.0, NONE), (edge / 2, NONE), *_spread(edge / 2 + 1e-6))
    ticks = ((_NEVER, "never applied"), (0, "0 %"), (50, "50 %"), (100, "100 %"))
    return Colouring("Helped", values, scale, _NEVER, 100, ticks=ticks)


_NUMBERS: tuple[Callable[[Snapshot], Colouring], ...] = (
    _by_confidence, _by_use, _by_session, _by_success,
)  # fmt: skip
