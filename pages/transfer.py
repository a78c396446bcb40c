"""Transfer: memories in from other systems, and out to them."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import frame, transfer_export, transfer_import
from pages.components.filters import say_if_unknown
from pages.components.text import md

PARTS = {"Import": transfer_import.section, "Export": transfer_export.section}

desk = frame.open_desk()
st.caption(
    "Bring in what other agents learned, and take yours to them. An import shows what it would do "
    "before anything is written; an export says what its format cannot hold."
)
say_if_unknown("transfer", PARTS)
part = st.segmented_control(
    "Direction", list(PARTS), default="Import", key="transfer", bind="query-params",
    required=True, label_visibility="collapsed",
)  # fmt: skip
try:
    PARTS[part or "Import"](desk)
except MemoryCoreError as error:
    st.error(md(str(error)))
