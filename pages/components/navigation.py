"""The pages, and a guard for the first visit."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components import keys


def navigation() -> Any:
    """The navigation at the top; the page that was asked for."""
    return st.navigation(
        {
            "": [
                st.Page("pages/browse.py", title="Browse", default=True),
                st.Page("pages/query.py", title="Query"),
                st.Page("pages/map.py", title="Map"),
            ],
            "Curate": [
                st.Page("pages/reflect.py", title="Reflect"),
                st.Page("pages/review.py", title="Review"),
                st.Page("pages/clean.py", title="Clean"),
            ],
            "Prune": [
                st.Page("pages/compress.py", title="Compress"),
                st.Page("pages/quality.py", title="Quality"),
            ],
            "More": [
                st.Page("pages/loop.py", title="Loop"),
                st.Page("pages/history.py", title="History"),
                st.Page("pages/ledger.py", title="Ledger"),
                st.Page("pages/transfer.py", title="Transfer"),
            ],
        },
        position="top",
    )


def frame_is_there() -> None:
    """Say that app.py has run."""
    st.session_state[keys.FRAMED] = True


def ensure_frame() -> None:
    """Have app.py run first.

    A server that was just started takes every file in `pages/` for a page of its own until
    app.py has called `st.navigation` once: an address that leads to a page would open it bare.
    """
    if keys.FRAMED not in st.session_state:
        frame_is_there()
        navigation()
        st.rerun()
