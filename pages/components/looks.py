"""The ways of looking at what a query found; only the one that is looked at is computed."""

from __future__ import annotations

import streamlit as st

from memory_core import Retrieval
from pages.components import hits, outcome, settings_beside, weight_sweep, why_not
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk

HITS, SWEEP, BESIDE, MANY = "Hits", "Over λ", "Compare", "Many tasks"
LOOKS = (HITS, why_not.WHY_NOT, SWEEP, BESIDE, MANY)


def choose() -> str:
    """Which way; it lives in the address."""
    say_if_unknown("look", LOOKS)
    chosen = st.segmented_control(
        "Look at", LOOKS, default=HITS, key="look", bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen or HITS


def show(look: str, desk: Desk, found: Retrieval) -> None:
    if look == why_not.WHY_NOT:
        why_not.section(desk, found)
    elif look == SWEEP:
        weight_sweep.section(found)
    elif look == BESIDE:
        settings_beside.section(desk, found)
    else:
        left, right = st.columns([3, 2])
        with left:
            hits.ranked(desk, found)
        with right:
            outcome.injected(desk, found)
            outcome.section(desk, found)
