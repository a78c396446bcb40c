"""The Map page, put together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import Map, MemoryCoreError
from pages.components import (
    filters,
    keys,
    map_asking,
    map_chart,
    map_clusters,
    map_difference,
    map_fitting,
    map_picture,
    map_table,
    map_view,
    selection,
)
from pages.components.bulk_bar import selection_bar
from pages.components.frame import Desk
from pages.components.map_chart import Content
from pages.components.map_scene import SYMBOLS_UP_TO
from pages.components.text import md

ONE, TWO = "One revision", "Two revisions"


def stored_map(desk: Desk) -> Map | None:
    """The map over what is looked at; None when none was fitted. Ends the page on an error."""
    try:
        return desk.bank.map(desk.snapshot)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        st.stop()


def show(desk: Desk, laid: Map) -> None:
    """The page of a bank that has a map."""
    filters.say_if_unknown("sides", (ONE, TWO))
    sides = st.session_state.get("sides") or st.query_params.get("sides")
    if sides == TWO:
        with st.container(horizontal=True, vertical_alignment="center", key="map-controls"):
            _sides()
        map_difference.two_revisions(desk)
        map_fitting.honesty(desk, laid)
        return
    controls = _controls(desk, laid)
    opened = selection.opened(desk.snapshot)
    before = _session()
    canvas, side = st.columns([3.1, 1], gap="medium")
    with side:
        asked = map_asking.ask(desk, laid)
        found = map_clusters.clustering(desk, controls.clusters)
        if asked is not None:
            map_asking.hits(asked, laid)
        if found is not None:
            map_clusters.table(desk, found, height=400 if asked is None else 250)
    content = Content(desk, laid, controls.rows, found, asked, controls.alike)
    with canvas:
        if controls.static:
            map_picture.show(content)
        else:
            map_chart.show(content)
        with st.container(horizontal=True, vertical_alignment="center", key="under-map"):
            map_fitting.honesty(desk, laid)
            if len(controls.rows) > SYMBOLS_UP_TO and not controls.static:
                st.caption("In this crowd all are dots, so that no kind hides another.")
            map_picture.files(content)
    if not len(controls.rows):
        st.caption("No memory passes the filters: all are grey.")
        filters.clear_button()
    map_table.section(desk, controls.rows, opened)
    if found is None:
        map_clusters.begin(desk, controls.clusters)
    if before != _session():
        st.rerun()  # a tick or a click in the table, which the map above does not show yet
    selection_bar(desk)


def _session() -> tuple[object, object]:
    return st.session_state.get(keys.SELECTED), st.session_state.get(keys.MEMORY)


def without_map(desk: Desk) -> None:
    """The table twin alone."""
    opened, before = selection.opened(desk.snapshot), _session()
    map_table.section(desk, np.arange(len(desk.snapshot)), opened)
    if before != _session():
        st.rerun()
    selection_bar(desk)


@dataclass(frozen=True)
class _Controls:
    rows: NDArray[np.int64]
    clusters: map_clusters.ClusterSettings
    static: bool
    alike: bool


def _controls(desk: Desk, laid: Map) -> _Controls:
    snapshot = desk.snapshot
    with st.container(horizontal=True, vertical_alignment="center", key="map-controls"):
        kind = filters.kind_tabs(snapshot)
        search = filters.search_box()
        chosen = filters.filter_menu(snapshot)
        map_view.buttons(desk, laid)
        with st.popover("Options", key="map-menu"):
            clusters = map_clusters.settings()
            static = st.toggle(
                "Static picture", key="static", bind="query-params",
                help="A picture without WebGL, for machines that have none. Select in the tables.",
            )  # fmt: skip
            alike = st.toggle(
                "One size", key="one_size", bind="query-params",
                help="Without it, memories that were applied more often are larger.",
            )  # fmt: skip
            st.divider()
            map_fitting.controls(desk, laid)
        _sides()
    rows = filters.rows(snapshot, kind, search, chosen)
    return _Controls(rows, clusters, bool(static), bool(alike))


def _sides() -> None:
    st.segmented_control(
        "Sides", (ONE, TWO), default=ONE, key="sides", required=True, bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
