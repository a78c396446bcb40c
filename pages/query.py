"""Query: what an agent would get for a task, and the arithmetic that ranked it."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import asking, frame, inference, looks, query_form, task_list
from pages.components.text import md

desk = frame.open_desk()
query = query_form.show(desk)
look = looks.choose()
if not query.task.strip() and look != looks.MANY:
    st.info("Write a task, or choose a saved query, to see which memories an agent would get.")
    st.stop()
if not len(desk.snapshot):
    st.info("This bank has no memories yet, so nothing can be found. Add some in Browse.")
    st.stop()
try:
    if look == looks.MANY:
        task_list.section(desk, query.settings)
    else:
        found = asking.run(desk, query)
        inference.section(desk, found)
        looks.show(look, desk, found)
except MemoryCoreError as error:
    st.error(md(str(error)))
    st.stop()
asking.warm_up(desk)
