"""Counters that never fired: memories that no recorded retrieval found, queries never asked."""

from __future__ import annotations

import numpy as np
import streamlit as st

from memory_core import never_asked, never_retrieved
from pages.components import selection
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.ledger_table import Rows
from pages.components.previews import saved_queries
from pages.components.tables import column_config, frame_of
from pages.components.text import count, show_list


def section(desk: Desk, rows: Rows) -> None:
    """Both lists; the memories can be taken to Browse as a selection."""
    silent = never_retrieved(desk.snapshot, rows)
    share = len(silent) / max(len(desk.snapshot), 1)
    st.markdown(
        f"**{count(len(silent), 'memory', 'memories')}** of {len(desk.snapshot):,} ({share:.0%}) "
        f"were never among the hits of the {count(len(rows), 'recorded retrieval')}."
    )
    if silent:
        ids = np.array(silent, dtype=np.int64)
        found = np.searchsorted(desk.snapshot.ids, ids)
        st.dataframe(
            frame_of(desk.snapshot, found), column_config=column_config(480), height=360,
            key=f"silent-{desk.snapshot.revision}", alt="Memories that were never retrieved",
        )  # fmt: skip
        table_downloads(lambda: frame_of(desk.snapshot, found), "never-retrieved")
        if st.button("Select them in Browse", key="select-silent"):
            selection.select(silent)
            st.switch_page("pages/browse.py", query_params={})
    queries = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    unasked = never_asked(queries, rows)
    label = f"{count(len(unasked), 'saved query', 'saved queries')} that no session asked"
    with st.expander(label):
        show_list(tuple(query.task for query in unasked[:100]))
