"""History: every revision of the bank, what it changed and why, and the way back."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import edit_dialog, frame, history_compare, history_life, history_list
from pages.components.filters import say_if_unknown
from pages.components.text import md

LOOKS = {
    "Revisions": history_list.section,
    "Compare two": history_compare.section,
    "One memory's life": history_life.section,
}

desk = frame.open_desk()
st.caption(
    "Every change made a revision, and none is ever overwritten. See what each did and why, look "
    "at the bank as it was, take one back."
)
say_if_unknown("history", LOOKS)
look = st.segmented_control(
    "Look at", list(LOOKS), default="Revisions", key="history", bind="query-params",
    required=True, label_visibility="collapsed",
)  # fmt: skip
try:
    LOOKS[look or "Revisions"](desk)
except MemoryCoreError as error:
    st.error(md(str(error)))
edit_dialog.dialog(desk)
