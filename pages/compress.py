"""Compress: what each way of making the bank smaller would cost, before it is done."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import compress_commit, compress_form, compress_view, curve, frame, tour
from pages.components.previews import previews, say_if_gone_on
from pages.components.text import count, md

desk = frame.open_desk()
st.caption("See what a smaller bank would cost your test queries; argue; commit it or leave it.")
if not len(desk.snapshot):
    st.info("This bank has no memories yet, so there is nothing to compress.")
    st.stop()
form = compress_form.show(desk)
if not form.settings:
    st.info("Choose at least one strategy to see what it would do.")
    st.stop()
say_if_gone_on(desk)
guide = st.container()
try:
    made = previews(desk, form)
except MemoryCoreError as error:
    st.error(md(str(error)))
    st.stop()

compress_view.side_by_side(made, form.k)
names = list(made)
if st.session_state.get("strategy") not in names:
    st.session_state.pop("strategy", None)
name = st.segmented_control(
    "Look at", names, default=names[0], key="strategy", required=True, bind="query-params"
)
name = name if name in made else names[0]
preview = made[name]
with guide:
    tour.guide(desk, name, preview, made)
st.markdown(f"**{md(preview.impact.sentence)}**")

queries, gone, mapped, against_size = st.tabs(
    ["Queries that lose", "What goes", "On the map", "Quality against size"],
    key="cost", on_change="rerun",
)  # fmt: skip
with queries:
    asked = len(preview.impact.comparison.queries)
    st.caption(f"{count(asked, 'saved query', 'saved queries')}, measured before and after.")
    compress_view.losses(preview)
with gone:
    compress_view.dropped(desk, name, preview)
with mapped:
    if mapped.open:  # a map of 10,000 is not drawn for nobody
        compress_view.on_the_map(desk, name, preview)
with against_size:
    curve.section(desk, form)
compress_commit.commit_bar(desk, name, preview)
