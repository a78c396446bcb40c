"""What a newcomer sees above the demo library: what this is, and the ways in."""

from __future__ import annotations

import streamlit as st

from pages.components import banks
from pages.components.frame import Desk

HIDDEN = "_first_minute_over"


def four_ways_in(desk: Desk) -> None:
    """One line on what a memory is, and a link to each page that shows something at once."""
    if not banks.is_demo(desk.bank) or desk.is_past or st.session_state.get(HIDDEN):
        return
    with st.container(border=True, key="first-minute"):
        st.markdown(
            "A **memory** is one lesson of at most 32 words that an agent drew from its work: a "
            "◆ strategy, a ● procedure, or how to use a ■ tool. Agents get the few that fit their "
            "task; here you see, test and prune them."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/query.py", label="Ask a question", icon="🔎")
            st.page_link("pages/map.py", label="See the map", icon="🗺️")
            size, capacity = len(desk.snapshot), desk.capacity
            if size > capacity:
                st.page_link(
                    "pages/compress.py",
                    label=f"Compress {size} to {capacity} and see what breaks",
                    icon="🗜️",
                )
            st.page_link(
                "pages/compress.py", label="A guided tour of that", icon="🧭",
                query_params={"tour": "1"},
            )  # fmt: skip
            st.page_link("pages/reflect.py", label="Reflect on a sample run", icon="🪞")
            st.button("Got it", key="first-minute-over", type="tertiary", on_click=_hide)


def _hide() -> None:
    st.session_state[HIDDEN] = True
