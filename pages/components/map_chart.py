"""The map on the page: one figure that stands while memories are selected in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import Clustering, Map
from pages.components import (
    keys,
    map_asking,
    map_bridge,
    map_clusters,
    map_table,
    map_view,
    selection,
)
from pages.components.frame import Desk
from pages.components.map_asking import Asked
from pages.components.map_colours import Colouring, colourings
from pages.components.map_figure import CONFIG, POINTS, figure
from pages.components.map_hover import beginnings, hovers
from pages.components.map_scene import Scene, View, is_crowd
from pages.components.text import count

CHART = "map-chart"
# Plotly's legend takes the mouse even when its lines do nothing: no lasso could begin there.
_LEGEND = f".st-key-{map_bridge.CANVAS} .infolayer [class*=legend]"
_LEGEND_LETS_THROUGH = f"<style>{_LEGEND}, {_LEGEND} * {{pointer-events: none !important}}</style>"


@dataclass(frozen=True)
class Content:
    """What there is to draw, but for the selection."""

    desk: Desk
    laid: Map
    rows: NDArray[np.int64]
    """Those that pass the filters."""
    clustering: Clustering | None
    asked: Asked | None
    alike: bool
    """Whether all points have one size."""

    @property
    def name(self) -> tuple[object, ...]:
        """Tells this content from any other."""
        snapshot, found = self.desk.snapshot, self.clustering
        named = () if found is None else tuple(cluster.label for cluster in found.clusters)
        return (
            str(self.desk.bank.path), snapshot.revision, snapshot.batch_key,
            self.laid.projection.id, hashlib.blake2b(self.rows.tobytes()).hexdigest(),
            found and repr(found.settings), named, self.asked and self.asked.task,
            map_view.stamp(self.desk, self.laid), is_dark(), self.alike,
            tuple(self.lost.tolist()),
        )  # fmt: skip

    @property
    def lost(self) -> NDArray[np.int64]:
        """Rows of what is selected, though it is filtered out."""
        chosen = list(selection.selected(self.desk.snapshot))
        rows = np.flatnonzero(np.isin(self.desk.snapshot.ids, chosen))
        return np.setdiff1d(rows, self.rows)

    def colourings(self) -> tuple[Colouring, ...]:
        return colourings(self.desk.snapshot, self.rows, self.clustering)

    def _hovers(self) -> list[str]:
        bank, revision, batch_key, projection, *_ = self.name
        snapshot = self.desk.snapshot
        if is_crowd(self.rows):
            return beginnings(bank, revision, batch_key, snapshot)  # type: ignore[arg-type]
        placed = self.laid.placed
        return hovers(bank, revision, batch_key, projection, snapshot, placed)  # type: ignore[arg-type]

    def scene(self, view: View, colour: str, seed: Sequence[int], tool: str = "pan") -> Scene:
        """Of `seed`, ids, those that are shown are selected from the beginning."""
        snapshot, laid, coloured = self.desk.snapshot, self.laid, self.colourings()
        names = [one.name for one in coloured]
        chosen = np.flatnonzero(np.isin(snapshot.ids[self.rows], seed)) if seed else None
        dark, asked = is_dark(), self.asked
        return Scene(
            snapshot=snapshot,
            positions=laid.positions,
            rows=self.rows,
            colourings=coloured,
            hovers=self._hovers(),
            view=view,
            labels=map_clusters.labels(self.clustering, laid),
            chosen=chosen,
            lost=self.lost,
            over=map_asking.traces(asked, laid, dark=dark) if asked else (),
            spots=map_asking.spots(asked, laid) if asked else None,
            first=names.index(colour) if colour in names else 0,
            dark=dark,
            alike=self.alike,
            tool=tool,
        )


def is_dark() -> bool:
    return st.context.theme.type == "dark"


@dataclass(frozen=True)
class Drawn:
    """The figure that stands on the page."""

    content: tuple[object, ...]
    view: View
    colour: str
    tool: str
    seed: tuple[int, ...]
    """Ids that were selected when it was drawn."""
    visible: frozenset[int]
    """Ids that can be selected in it."""
    reported: tuple[int, ...]
    """Ids that are selected in it now, as the browser says."""

    @property
    def figure(self) -> tuple[object, ...]:
        """Names the figure itself, whatever is selected in it since."""
        return (self.content, self.view, self.colour, self.tool, self.seed)


def show(content: Content) -> None:
    """The chart. What is selected in it is selected everywhere, and the other way round."""
    drawn = _drawn(content)
    made = _figure(
        drawn.figure,
        lambda: content.scene(drawn.view, drawn.colour, drawn.seed, drawn.tool),
    )
    with st.container(key=map_bridge.CANVAS):
        st.html(_LEGEND_LETS_THROUGH)
        st.plotly_chart(
            made, key=CHART, on_select=lambda: _take(drawn.figure),
            selection_mode=("points", "box", "lasso"), config=CONFIG, alt=sentence(content),
        )  # fmt: skip
    map_bridge.listen()


def sentence(content: Content) -> str:
    """The map in words, for who cannot see it."""
    shown, size = len(content.rows), len(content.desk.snapshot)
    words = f"Map of {count(size, 'memory', 'memories')}, {shown:,} shown and the others grey"
    found = content.clustering
    if found is not None and found.clusters:
        largest = ", ".join(f"{c.label} ({len(c):,})" for c in found.clusters[:3])
        words += f"; {count(len(found.clusters), 'cluster')}, the largest {largest}"
    return words + ". The table below lists them."


def _drawn(content: Content) -> Drawn:
    """The figure that stands, unless something other than a selection in it has changed."""
    visible = frozenset(content.desk.snapshot.ids[content.rows].tolist())
    now = tuple(i for i in selection.selected(content.desk.snapshot) if i in visible)
    drawn: Drawn | None = st.session_state.get(keys.MAP_DRAWN)
    entered = CHART not in st.session_state  # the chart of another visit of the page is gone
    if drawn and not entered and drawn.content == content.name and drawn.reported == now:
        return drawn
    view = map_view.view(content.desk, content.laid)
    colour = map_bridge.colour() or (drawn.colour if drawn else "")
    tool = "pan" if entered else map_bridge.tool()
    drawn = Drawn(content.name, view, colour, tool, now, visible, now)
    st.session_state[keys.MAP_DRAWN] = drawn
    return drawn


@st.cache_resource(show_spinner=False, max_entries=12)
def _figure(name: object, _scene: Callable[[], Scene]) -> Any:
    return figure(_scene())


def _take(figure: tuple[object, ...]) -> None:
    """What the browser says is selected; ids that the figure does not show stay selected."""
    drawn: Drawn = st.session_state[keys.MAP_DRAWN]
    if drawn.figure != figure:
        return  # the last word of one that is being taken away, in which nothing is selected
    event = st.session_state[CHART].selection
    points = [point for point in event["points"] if point.get("curve_number") == POINTS]
    ids = {int(point["customdata"]) for point in points} & drawn.visible
    hidden = set(st.session_state.get(keys.SELECTED, ())) - drawn.visible
    selection.select(hidden | ids)
    st.session_state[keys.MAP_DRAWN] = replace(drawn, reported=tuple(sorted(ids)))
    map_table.look_at(map_table.SELECTED)
    if len(ids) == 1 and not event["box"] and not event["lasso"]:
        selection.open_memory(next(iter(ids)))
