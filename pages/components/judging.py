"""Judging: how relevant a memory is to a saved query, from 0 to 3, by one click."""

from __future__ import annotations

import streamlit as st

from memory_core import MemoryCoreError, SavedQuery
from pages.components import banks, keys
from pages.components.frame import Desk
from pages.components.previews import saved_queries

GRADES = (0, 1, 2, 3)
MEANING = (
    "**3** exactly what is needed · **2** helps · **1** is related · **0** does not help; a second "
    "click takes a grade back."
)


def saved_as(desk: Desk, task: str) -> SavedQuery | None:
    """The saved query that asks exactly this."""
    queries = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    return next((query for query in queries if query.task == task), None)


def buttons(desk: Desk, query: SavedQuery, memory_id: int) -> None:
    """Four grades for a memory under a saved query; what is not judged counts as not relevant."""
    key = f"grade-{query.id}-{memory_id}"
    # Anew at each run: the bank knows best, whoever judged since, on whatever page.
    grade = query.grades_in(desk.snapshot).get(memory_id)
    st.session_state[key] = grade
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.segmented_control(
            f"Grade of memory {memory_id}", GRADES, key=key, label_visibility="collapsed",
            disabled=desk.is_past, on_change=_judge, args=(desk, query.id, memory_id, key),
        )  # fmt: skip
        if grade is None:
            st.badge("unjudged", color="orange")
        elif memory_id not in query.judgements:
            st.badge("from before the merge", color="gray")


def _judge(desk: Desk, query_id: int, memory_id: int, key: str) -> None:
    grade = st.session_state[key]
    try:
        banks.writable(desk.bank).judge(query_id, memory_id, grade)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
