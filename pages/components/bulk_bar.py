"""The bar of the selected memories, and the dialog that their buttons open."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.components import edit_dialog, edit_draft, selection
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.tables import frame_of
from pages.components.text import count

MERGED = 50
"""Most memories that can be merged into one."""
NAMED = 6
"""How many ids of lost memories are named."""


def selection_bar(desk: Desk) -> None:
    """What can be done with the selected memories; a page that edits calls it last."""
    ids = selection.selected(desk.snapshot)
    lost = () if desk.is_past else selection.lost(desk.snapshot)
    if ids or lost:
        with st.bottom:
            _lost(lost)
            if ids:
                _bar(desk, ids)
    edit_dialog.dialog(desk)


def _bar(desk: Desk, ids: tuple[int, ...]) -> None:
    some = len(ids)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="selection"):
        st.markdown(f"**{count(some, 'memory', 'memories')} selected**")
        if some == 1:
            _button(desk, "Edit", "edit", ids)
        _button(desk, f"Tag {some:,}", "tag", ids)
        _button(desk, f"Move {some:,}", "move", ids, "To another domain.")
        _button(desk, f"Pin {some:,}", "pin", ids, "Pinned memories survive every compression.")
        _button(desk, f"Unpin {some:,}", "unpin", ids)
        if 1 < some <= MERGED:
            _button(desk, f"Merge {some:,} into 1", "merge", ids)
        if some == 1:
            _button(desk, "Split", "split", ids, "Into two.")
        if some == 2:
            _button(desk, "Compare", "compare", ids, "Side by side.")
        _button(desk, f"Delete {some:,}", "delete", ids)
        table_downloads(lambda: _table(desk, ids), "memories-selected")
        st.button("Clear selection", key="clear-selected", type="tertiary",
                  on_click=selection.select, args=((),))  # fmt: skip


def _button(desk: Desk, label: str, verb: str, ids: tuple[int, ...], told: str = "") -> None:
    st.button(
        label, key=f"{verb}-selected", disabled=desk.is_past, on_click=edit_draft.begin,
        args=(desk, verb, ids), help=told or None,
    )  # fmt: skip


def _lost(ids: tuple[int, ...]) -> None:
    """Says which of the selected have left the bank, by somebody else's hand."""
    if not ids:
        return
    named = ", ".join(map(str, ids[:NAMED])) + (", …" if len(ids) > NAMED else "")
    have, them = ("has", "it") if len(ids) == 1 else ("have", "them")
    with st.container(horizontal=True, vertical_alignment="center", key="selection-lost"):
        st.markdown(
            f":orange-background[**{count(len(ids), 'selected memory', 'selected memories')}**] "
            f"{have} left the bank since: {named}. Nothing will be done to {them}."
        )
        st.button("Forget them", key="forget-lost", type="tertiary", on_click=selection.forget,
                  args=(ids,))  # fmt: skip


def _table(desk: Desk, ids: tuple[int, ...]) -> object:
    return frame_of(desk.snapshot, np.array([desk.snapshot.row_of(i) for i in ids]))
