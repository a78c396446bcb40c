"""Reflect: runs of agents as one can read them, and the lessons that are worth keeping."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import frame, reflect_desk, reflect_given, reflect_past, reflect_work
from pages.components.text import md

desk = frame.open_desk()
try:
    reflect_work.open_if_done(desk)
    opened = reflect_past.opened(desk)
    given = reflect_given.given()
    if opened is None and (given is None or desk.is_past):
        st.caption(
            "Lessons come from what agents did. Hand in a run: it is read in whatever format it "
            "has, and what it teaches comes as drafts with the steps that bear them out. Nothing "
            "of it is in the bank until you accept it."
        )
    if opened is not None:
        if desk.is_past:
            st.info("Drafts are decided on the latest revision: go back to it to decide.")
        reflect_desk.reflection(desk, opened)
    elif desk.is_past:
        st.info("Runs are reflected on with the latest revision; go back to it to reflect.")
        reflect_past.section(desk)
    elif given is not None:
        reflect_desk.runs(desk, given)
    else:
        reflect_work.section(desk)
        reflect_given.hand_in()
        reflect_past.section(desk)
except MemoryCoreError as error:
    st.error(md(str(error)))
