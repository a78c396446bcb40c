"""Quality: how well saved queries are answered, by people's judgement, and what changes that."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import (
    frame,
    gate,
    judgement_files,
    measuring,
    quality_history,
    quality_list,
    quality_query,
    tuning_map,
)
from pages.components.filters import say_if_unknown
from pages.components.text import md

PARTS = ("Queries", "Weights", "History", "Compare", "Files")

desk = frame.open_desk()
st.caption("How well your test queries are answered, by your own judgement; and what changes that.")
say_if_unknown("part", PARTS)
asked = measuring.form(desk)
with st.container(horizontal=True, vertical_alignment="center", key="quality-parts"):
    part = st.segmented_control(
        "Part", PARTS, default="Queries", key="part", required=True, bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    quality_query.add_button(desk, asked)

if part == "Files":
    judgement_files.section(desk, asked)
    st.stop()
if not asked.queries:
    st.subheader("No saved queries yet")
    st.markdown(
        "A saved query is a task with your judgement of which memories help with it. Add one, or "
        "import judgements under *Files*; then judge its hits here."
    )
    st.stop()
try:
    quality = measuring.quality(desk, asked)
except MemoryCoreError as error:
    st.error(md(str(error)))
    st.stop()
opened = quality_list.opened_query(asked)
if not quality.queries:
    st.info("No query has a relevant memory yet. Open one below and judge its hits.")
elif part == "Queries":
    quality_list.means(desk, quality, asked)

if part == "Queries" or not quality.queries:
    quality_list.table(desk, quality, asked)
    if opened is not None:
        quality_query.panel(desk, opened, quality, asked)
elif part == "Weights":
    tuning_map.section(desk, asked)
elif part == "History":
    quality_history.section(desk, asked)
else:
    gate.two_revisions(desk, asked.settings, asked.k)
