"""The hits of a query with the numbers that ranked them, and what just missed."""

from __future__ import annotations

import streamlit as st

from memory_core import Retrieval, Standing, near_misses, standings
from pages.components import judging, selection, why_not
from pages.components.frame import Desk
from pages.components.score_bar import legend, score_bar, sentence
from pages.components.sparkline import Curves, curves, in_words, sparkline
from pages.components.text import SYMBOLS, ago, count, marked, md


def ranked(desk: Desk, found: Retrieval) -> None:
    """The hits, best first, in full; below the cut what came next."""
    if not found.hits:
        st.subheader("No memory is eligible")
        st.markdown("The chosen domains and kinds leave nothing to rank. Take one of them out.")
        return
    lexical = found.settings.lexical_weight > 0
    st.caption(f"{count(len(found.hits), 'hit')} · {legend(lexical=lexical)}")
    full = max(1.0, *(hit.score for hit in found.hits))
    moved = curves(desk, [hit.memory.id for hit in found.hits])
    for place, standing in enumerate(standings(found), start=1):
        _hit(desk, found, place, standing, full, moved)
    _below_the_cut(found, full)


def _hit(
    desk: Desk, found: Retrieval, place: int, standing: Standing, full: float, moved: Curves
) -> None:
    hit, memory = standing.hit, standing.hit.memory
    points = moved.get(memory.id, ())
    with st.container(border=True, key=f"hit-{place}"):
        head, bar, curve = st.columns([1.1, 5, 1], vertical_alignment="center")
        head.markdown(f"**{place}** {SYMBOLS[memory.kind]} **{hit.score:.2f}**")
        with bar:
            score_bar(hit, full=full)
        with curve:
            sparkline(points, desk.snapshot.epoch)
        st.markdown(marked(memory.text, found.task))
        st.caption(
            f"{md(memory.domain)} · {ago(memory.epoch, desk.snapshot.epoch)} · {sentence(hit)} · "
            f"{_by_similarity(standing)} · {in_words(points)}"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            if (saved := judging.saved_as(desk, found.task)) is not None:
                judging.buttons(desk, saved, memory.id)
            if st.button("Open in Browse", key=f"open-{memory.id}", type="tertiary"):
                selection.open_memory(memory.id)
                st.switch_page("pages/browse.py", query_params={"memory": str(memory.id)})


def _by_similarity(standing: Standing) -> str:
    """The place it would have by similarity alone, and what the rest of the score did to it."""
    moved = standing.rank_by_similarity - standing.hit.rank
    arrow = f" (▲ {moved})" if moved > 0 else f" (▼ {-moved})" if moved < 0 else ""
    return f"#{standing.rank_by_similarity:,} by similarity alone{arrow}"


def _below_the_cut(found: Retrieval, full: float) -> None:
    below = near_misses(found)
    if not below:
        return
    st.divider()
    st.caption(f"Below the cut · {count(len(below), 'near miss', 'near misses')}, by their margin")
    for number, standing in enumerate(below, start=1):
        _near_miss(found, number, standing, full)


def _near_miss(found: Retrieval, number: int, standing: Standing, full: float) -> None:
    hit, memory = standing.hit, standing.hit.memory
    with st.container(key=f"near-{number}"):
        head, bar, ask = st.columns([2, 4, 1.3], vertical_alignment="center")
        margin = f"{standing.margin:+.3f}".replace("-", "−")
        head.markdown(f"{hit.rank:,} {SYMBOLS[memory.kind]} {hit.score:.2f} ({margin})")
        with bar:
            score_bar(hit, full=full)
        ask.button(
            "Why not?", key=f"why-not-{memory.id}", type="tertiary",
            on_click=why_not.ask_about, args=(memory.id,),
        )  # fmt: skip
        st.markdown(marked(memory.text, found.task))
        st.caption(f"{md(memory.domain)} · {sentence(hit)} · {_by_similarity(standing)}")
