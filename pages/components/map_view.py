"""Which part of the map is looked at: all, the selection, or where the mouse has gone."""

from __future__ import annotations

import numpy as np
import streamlit as st

from memory_core import Map
from pages.components import keys, map_bridge, selection
from pages.components.frame import Desk
from pages.components.map_scene import View, around, whole

CLOSEST = 0.06
"""The least part of the whole map's width that is zoomed to."""


def stamp(desk: Desk, laid: Map) -> str:
    """Names the view that was last asked for, on these coordinates."""
    asked = st.session_state.get(keys.MAP_VIEW, {})
    return f"{desk.bank.path}|{laid.projection.id}|{asked.get('count', 0)}"


def view(desk: Desk, laid: Map) -> View:
    """Where the mouse has gone since it was last asked for a part; else that part; else all."""
    name = stamp(desk, laid)
    told = map_bridge.seen(name)
    if told:
        (x0, x1), (y0, y1) = told["x"], told["y"]
        return View((float(x0), float(x1)), (float(y0), float(y1)), name)
    asked = st.session_state.get(keys.MAP_VIEW, {})
    ids = [i for i in asked.get("ids", ()) if i in laid.snapshot]
    if not ids or asked.get("map") != laid.projection.id:
        return whole(laid.positions, name)
    rows = np.array([laid.snapshot.row_of(i) for i in ids])
    width = float(np.ptp(laid.positions, axis=0).max())
    return around(laid.positions[rows], name, least=CLOSEST * width)


def buttons(desk: Desk, laid: Map) -> None:
    """*Whole map*, *Zoom to selection*."""
    ids = selection.selected(desk.snapshot)
    st.button("Whole map", key="whole-map", on_click=ask_for, args=(laid.projection.id, ()))
    st.button(
        "Zoom to selection", key="zoom-selection", disabled=not ids,
        on_click=ask_for, args=(laid.projection.id, ids),
    )  # fmt: skip


def ask_for(projection: int, ids: tuple[int, ...]) -> None:
    """Look at these memories, or at all for none; to be called in a callback."""
    count = st.session_state.get(keys.MAP_VIEW, {}).get("count", 0) + 1
    st.session_state[keys.MAP_VIEW] = {"map": projection, "ids": ids, "count": count}
