"""What a task is about, by its nearest memories; a person decides whether to ask within it."""

from __future__ import annotations

import streamlit as st

from memory_core import Retrieval, Snapshot, domain_shares, infer_domains
from pages.components.frame import Desk
from pages.components.text import md

SHOWN = 4


@st.cache_data(show_spinner=False, max_entries=256)
def _about(
    name: object, _snapshot: Snapshot, _found: Retrieval
) -> tuple[dict[str, float], tuple[str, ...]]:
    vector = _found.scoring.vector
    return domain_shares(_snapshot, vector), infer_domains(_snapshot, vector)


def section(desk: Desk, found: Retrieval) -> None:
    """The shares of the domains, what follows, and a button to use it or to take it back."""
    name = (str(desk.bank.path), desk.snapshot.revision, desk.snapshot.batch_key, found.task)
    shares, inferred = _about(name, desk.snapshot, found)
    with st.container(horizontal=True, vertical_alignment="center", key="inference"):
        st.caption(_sentence(shares, inferred))
        if found.settings.domains:
            st.button("Ask within all domains", key="all-domains", type="tertiary",
                      on_click=_within, args=(()))  # fmt: skip
        if inferred and found.settings.domains != inferred:
            st.button(f"Ask within {md(inferred[0], limit=40)} only", key="infer-domain",
                      type="tertiary", on_click=_within, args=inferred)  # fmt: skip


def _sentence(shares: dict[str, float], inferred: tuple[str, ...]) -> str:
    if not shares:
        return "No memory is near enough to say what domain this task is about."
    told = " · ".join(f"{md(d, limit=40)} {s:.0%}" for d, s in list(shares.items())[:SHOWN])
    left = len(shares) - SHOWN
    told += f" · {left} more" if left > 0 else ""
    verdict = f"it is about **{md(inferred[0], limit=40)}**" if inferred else "ambiguous: no filter"
    return f"Its ten nearest memories: {told}. By them, {verdict}."


def _within(*domains: str) -> None:
    st.session_state["domains"] = list(domains)
