"""Memories as a table and as a page of whole texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import KINDS, Snapshot
from pages.components import selection
from pages.components.text import SYMBOLS, ago, md, show, used

TEXTS_A_PAGE = 25

ORDERS = {
    "newest first": lambda c: (-c.epoch, -c.ids),
    "oldest first": lambda c: (c.epoch, c.ids),
    "most confident first": lambda c: (-c.confidence, c.ids),
    "least confident first": lambda c: (c.confidence, c.ids),
    "most applied first": lambda c: (-c.usage_count, c.ids),
}


def frame_of(snapshot: Snapshot, rows: NDArray[np.int64]) -> Any:
    """A data frame of some rows; its index is the memories' ids."""
    import pandas as pd

    c, pool = snapshot.columns.take(rows), snapshot.pool
    used = c.usage_count
    rate = np.divide(c.success_count, used, out=np.full(len(c), np.nan), where=used > 0) * 100
    return pd.DataFrame(
        {
            "kind": [SYMBOLS[KINDS[code]] for code in c.kind],
            "text": [pool.texts[row] for row in c.text.tolist()],
            "domain": [pool.domains.value(code) for code in c.domain.tolist()],
            "confidence": c.confidence,
            "applied": used,
            "helped": rate,
            "session": c.epoch,
            "pinned": np.where(c.pinned, "📌", ""),
            "tags": [", ".join(pool.tags.value(code)) for code in c.tags.tolist()],
        },
        index=pd.Index(c.ids, name="id"),
    )


def column_config(text_width: int) -> dict[str, Any]:
    config = st.column_config
    return {
        "id": config.NumberColumn("id", width=55, format="%d"),
        "kind": config.TextColumn("", width=36, help="◆ strategic ● procedural ■ tool"),
        "text": config.TextColumn("text", width=text_width),
        "domain": config.TextColumn("domain", width=120),
        "confidence": config.NumberColumn("confidence", format="%.2f", width=85),
        "applied": config.NumberColumn("applied", width=65, help="Sessions that applied it"),
        "helped": config.NumberColumn(
            "helped", format="%.0f%%", width=65, help="Of those, how many it improved"
        ),
        "session": config.NumberColumn("session", width=65, help="Session of creation"),
        "pinned": config.TextColumn("📌", width=36, help="Pinned: survives every compression"),
        "tags": config.TextColumn("tags", width=140),
    }


NARROW = ("kind", "text", "confidence", "applied", "domain")
"""The columns that stay in sight beside an open detail."""


def table(snapshot: Snapshot, rows: NDArray[np.int64], key: str, *, narrow: bool = False) -> None:
    """One virtual table; a tick selects, a click on a cell opens the detail beside it."""
    ids = snapshot.ids[rows].tolist()
    # Keyed by what it shows: a kept selection would else point at other memories.
    key = f"table-{snapshot.revision}-{selection.version()}-{key}"
    event = st.dataframe(
        frame_of(snapshot, rows),
        column_config=column_config(400 if narrow else 480),
        column_order=NARROW if narrow else None,
        height=560,
        key=key,
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        selection_default={"selection": {"rows": selection.rows_of(ids)}},
        alt=f"{len(ids)} memories with their domain, confidence and use",
    )
    selection.choose(ids, event.selection.rows)
    cells = event.selection.cells
    clicked = (key, cells[0][0]) if cells else None
    if clicked and clicked != st.session_state.get("_clicked"):
        selection.open_memory(ids[clicked[1]])
    st.session_state["_clicked"] = clicked


def reading(snapshot: Snapshot, rows: NDArray[np.int64], open_label: str = "Open") -> None:
    """Whole texts, 25 a page, in an order of the reader's choice."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = st.selectbox("Order", list(ORDERS), key="order", bind="query-params", width=240)
        pages = max(1, -(-len(rows) // TEXTS_A_PAGE))
        page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    columns = snapshot.columns.take(rows)
    ordered = rows[np.lexsort(tuple(reversed(ORDERS[order](columns))))]
    selected, mark = set(selection.selected(snapshot)), selection.version()
    for row in ordered[(page - 1) * TEXTS_A_PAGE : page * TEXTS_A_PAGE]:
        memory = snapshot.at(int(row))
        with st.container(border=True):
            show(f"{SYMBOLS[memory.kind]} {memory.text}")
            with st.container(horizontal=True, vertical_alignment="center"):
                pin = " · 📌 pinned" if memory.pinned else ""
                st.caption(
                    f"{md(memory.domain)} · confidence {memory.confidence:.2f} · {used(memory)} · "
                    f"{ago(memory.epoch, snapshot.epoch)}{pin}"
                )
                st.checkbox(
                    "Select", memory.id in selected, key=f"pick-{mark}-{memory.id}",
                    on_change=selection.toggle, args=(memory.id,), width="content",
                )  # fmt: skip
                st.button(
                    open_label, key=f"read-{memory.id}", type="tertiary",
                    on_click=selection.open_memory, args=(memory.id,),
                )  # fmt: skip
