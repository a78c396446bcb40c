"""The map's table twin: what is selected or shown, with one memory's detail beside it."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.components import detail, keys, selection, tables
from pages.components.frame import Desk
from pages.components.text import count

SELECTED, SHOWN = "Selected", "Shown"
AT_ONCE = 2_000
"""Rows up to which the shown ones are listed unasked."""


def section(desk: Desk, rows: NDArray[np.int64], opened: int | None) -> None:
    """The table of some rows, or of the selected ones; ticks share the selection.

    The detail of the memory that is `opened` stands beside it.
    """
    snapshot = desk.snapshot
    ids = selection.selected(snapshot)
    if not ids or keys.MAP_ROWS not in st.session_state:
        look_at(SELECTED if ids else SHOWN)
    with st.container(horizontal=True, vertical_alignment="center", key="map-rows"):
        which = st.segmented_control(
            "Rows", (SELECTED, SHOWN), key=keys.MAP_ROWS, required=True, disabled=not ids,
            label_visibility="collapsed",
        )  # fmt: skip
        st.caption(_in_words(len(ids), len(rows), len(snapshot)))
    if which == SELECTED:
        rows = np.array([snapshot.row_of(i) for i in ids], dtype=np.int64)
    listed = len(rows) and (which == SELECTED or len(rows) <= AT_ONCE or _wanted(len(rows)))
    main, side = st.columns([3, 2]) if opened else (st.container(), None)
    if listed:
        with main:
            named = hash(rows.tobytes())
            tables.table(snapshot, rows, f"map-{which}-{named}", narrow=side is not None)
    if side is not None and opened:
        with side:
            detail.panel(desk, opened)


def _wanted(size: int) -> bool:
    """A large table is as heavy as the map itself, so it comes when it is asked for."""
    return st.toggle(f"List all {size:,}", key="map-list")


def look_at(which: str) -> None:
    """List what is selected, or all that is shown; in a callback, or above the table."""
    st.session_state[keys.MAP_ROWS] = which


def _in_words(selected: int, shown: int, size: int) -> str:
    return f"{selected:,} selected · {shown:,} of {count(size, 'memory', 'memories')} shown"
