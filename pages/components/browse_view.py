"""What Browse shows of the memories that pass its filters, with the open one beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import Snapshot
from pages.components import detail, filters, selection, tables
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.text import count, md


def nothing_yet() -> None:
    """Of an empty bank: where lessons come from."""
    st.subheader("No memories yet")
    st.markdown(
        "Lessons come in from runs, from other systems, or by hand. To look around first, open "
        "the **demo library** from the bank's menu above."
    )


def nothing_matches(snapshot: Snapshot) -> None:
    """Of filters that let nothing through: the way out."""
    st.subheader("Nothing matches")
    st.markdown(f"None of {count(len(snapshot), 'memory', 'memories')} passes the filters.")
    filters.clear_button()


def shown(
    desk: Desk,
    rows: NDArray[np.int64],
    view: str,
    kind: str,
    search: str,
    chosen: dict[str, Any],
) -> None:
    """The rows as a table or as whole texts, and the detail of the memory that is open."""
    snapshot = desk.snapshot
    words = [f"{len(rows):,} of {count(len(snapshot), 'memory', 'memories')}"]
    words += [f"{name} {md(str(value))}" for name, value in chosen.items()]
    st.caption(" · ".join(words))
    opened = selection.opened(snapshot)
    main, side = st.columns([3, 2]) if opened else (st.container(), None)
    with main:
        if view == "Read":
            tables.reading(snapshot, rows)
        else:
            filtered = f"{kind}-{search}-{sorted(chosen.items())}"
            tables.table(snapshot, rows, filtered, narrow=side is not None)
        table_downloads(lambda: tables.frame_of(snapshot, rows), "memories")
    if selection.opened(snapshot) != opened:
        st.rerun()
    if side is not None and opened:
        with side:
            detail.panel(desk, opened)
