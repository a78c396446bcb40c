"""Clean: find what is there twice, and what should not be there at all."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import clean_audit, clean_groups, frame
from pages.components.bulk_bar import selection_bar
from pages.components.filters import say_if_unknown
from pages.components.text import md

PARTS = {"Duplicates": clean_groups.section, "Audit": clean_audit.section}

desk = frame.open_desk()
st.caption(
    "Memories that say the same take places from others; some should not be there at all. "
    "Nothing changes before you have seen its plan."
)
if not len(desk.snapshot):
    st.subheader("Nothing to clean yet")
    st.markdown("This bank has no memories. Add some by hand in **Browse**, or import a library.")
    st.page_link("pages/browse.py", label="Open Browse")
    st.stop()
say_if_unknown("clean", PARTS)
part = st.segmented_control(
    "Look for", list(PARTS), default="Duplicates", key="clean", bind="query-params",
    required=True, label_visibility="collapsed",
)  # fmt: skip
try:
    PARTS[part or "Duplicates"](desk)
except MemoryCoreError as error:
    st.error(md(str(error)))
selection_bar(desk)
