"""The hits of a query, with the numbers that ranked them, and the block that is injected."""

from __future__ import annotations

import streamlit as st

from memory_core import Hit, Retrieval
from pages.components import selection
from pages.components.frame import Desk
from pages.components.score_bar import legend, score_bar, sentence
from pages.components.text import SYMBOLS, ago, count, md, show


def ranked(desk: Desk, found: Retrieval) -> None:
    """The hits, best first, in full."""
    if not found.hits:
        st.subheader("No memory is eligible")
        st.markdown("The chosen domains and kinds leave nothing to rank. Take one of them out.")
        return
    lexical = found.settings.lexical_weight > 0
    st.caption(f"{count(len(found.hits), 'hit')} · {legend(lexical=lexical)}")
    full = max(1.0, *(hit.score for hit in found.hits))
    for hit in found.hits:
        _hit(desk, hit, full)


def _hit(desk: Desk, hit: Hit, full: float) -> None:
    memory = hit.memory
    with st.container(border=True, key=f"hit-{hit.rank}"):
        head, bar = st.columns([1, 5], vertical_alignment="center")
        head.markdown(f"**{hit.rank}** {SYMBOLS[memory.kind]} **{hit.score:.2f}**")
        with bar:
            score_bar(hit, full=full)
        show(memory.text)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"{md(memory.domain)} · {ago(memory.epoch, desk.snapshot.epoch)} · {sentence(hit)}"
            )
            if st.button("Open in Browse", key=f"open-{memory.id}", type="tertiary"):
                selection.open_memory(memory.id)
                st.switch_page("pages/browse.py", query_params={"memory": str(memory.id)})


def injected(found: Retrieval) -> None:
    """What an agent would read, with a button to copy it."""
    words = len(found.injection.split())
    lines = count(len(found.hits), "line")
    st.caption(f"Injected at the head of the system prompt · {lines}, {count(words, 'word')}")
    st.code(found.injection, language=None, wrap_lines=True)
