"""Query: what an agent would get for a task, and the arithmetic that ranked it."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import frame, hits, query_form
from pages.components.text import md

desk = frame.open_desk()
query = query_form.show(desk)
if not query.task.strip():
    st.info("Write a task, or choose a saved query, to see which memories an agent would get.")
    st.stop()
if not len(desk.snapshot):
    st.info("This bank has no memories yet, so nothing can be found. Add some in Browse.")
    st.stop()
try:
    found = query_form.run(desk, query)
except MemoryCoreError as error:
    st.error(md(str(error)))
    st.stop()

left, right = st.columns([3, 2])
with left:
    hits.ranked(desk, found)
with right:
    hits.injected(found)
query_form.warm_up(desk)
