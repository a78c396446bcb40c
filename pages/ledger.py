"""Ledger: what was injected, how the sessions turned out, who helps and who rides along."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import frame, ledger_memories, ledger_silent, ledger_table
from pages.components.filters import say_if_unknown
from pages.components.text import md

LOOKS = {
    "Retrievals": ledger_table.section,
    "Memories": ledger_memories.section,
    "Never fired": ledger_silent.section,
}

desk = frame.open_desk()
st.caption(
    "What agents were given, and whether it helped. A query writes nothing; recording its outcome "
    "in Query, or keeping it there, puts it here."
)
say_if_unknown("ledger", LOOKS)
look = st.segmented_control(
    "Look at", list(LOOKS), default="Retrievals", key="ledger", bind="query-params",
    required=True, label_visibility="collapsed",
)  # fmt: skip
try:
    rows = ledger_table.recorded(desk)
    if not rows:
        st.subheader("Nothing is recorded yet")
        st.markdown("Ask something in **Query**, and record there how the session turned out.")
        st.page_link("pages/query.py", label="Open Query")
        st.stop()
    LOOKS[look or "Retrievals"](desk, rows)
except MemoryCoreError as error:
    st.error(md(str(error)))
