"""What can be done with the selected memories."""

from __future__ import annotations

import streamlit as st

from memory_core import Batch, MemoryCoreError, Modify
from pages.components import banks, frame, keys, selection
from pages.components.frame import Desk
from pages.components.tables import frame_of
from pages.components.text import count


def selection_bar(desk: Desk) -> None:
    """How many are selected, and what can be done with them."""
    ids = selection.selected(desk.snapshot)
    if not ids:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="selection"):
        st.markdown(f"**{count(len(ids), 'memory', 'memories')} selected**")
        for label, pinned in (("Pin", True), ("Unpin", False)):
            st.button(
                f"{label} {len(ids)}", key=f"{label}-selected", disabled=desk.is_past,
                on_click=_pin, args=(desk, ids, pinned),
                help="Pinned memories survive every compression.",
            )  # fmt: skip
        rows = [desk.snapshot.row_of(i) for i in ids]
        st.download_button(
            "CSV", lambda: _csv(desk, rows), "memories.csv", "text/csv", key="csv-selected"
        )
        st.button("Clear selection", key="clear-selected", type="tertiary",
                  on_click=selection.select, args=((),))  # fmt: skip


def _pin(desk: Desk, ids: tuple[int, ...], pinned: bool) -> None:
    verb = "Pinned" if pinned else "Unpinned"
    sentence = f"{verb} {count(len(ids), 'memory', 'memories')}"
    bank = banks.writable(desk.bank)
    operations = tuple(Modify(memory_id, pinned=pinned) for memory_id in ids)
    try:
        revision = bank.commit(bank.plan(Batch(operations, sentence)))
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    frame.note(revision, sentence)


def _csv(desk: Desk, rows: list[int]) -> bytes:
    import numpy as np

    from pages.components.export import as_csv

    return as_csv(frame_of(desk.snapshot, np.array(rows)))
