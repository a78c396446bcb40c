"""The same task under two settings: who moves, and how far the two rankings agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from memory_core import Contrast, Place, Retrieval, RetrievalSettings, contrast
from pages.components.export import table_downloads
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.query_form import DEFAULTS, SIMILARITIES, lexical_weight
from pages.components.text import SYMBOLS


def section(desk: Desk, found: Retrieval) -> None:
    """The second settings, and what they change."""
    settings = _second(found.settings)
    other = desk.bank.retrieve(found.task, settings, revision=found.snapshot)
    told = contrast(found, other)
    with st.container(horizontal=True, key="contrast"):
        st.metric(
            f"overlap@{told.limit}", f"{told.overlap:.2f}",
            help="Share of the hits that both have.", width=180,
        )  # fmt: skip
        st.metric(
            "rank-biased overlap", f"{told.rank_biased_overlap:.2f}",
            help="Agreement of the first 50 places, the first ones counting most.", width=180,
        )  # fmt: skip
    if not told.moves:
        st.info("Neither finds anything.")
        return
    st.dataframe(
        _frame(told), hide_index=True, placeholder="", height="content", key="moves",
        column_config={
            "kind": st.column_config.TextColumn("", width=36),
            "text": st.column_config.TextColumn("text", width=520),
            "score": st.column_config.NumberColumn(format="%.3f"),
            "second score": st.column_config.NumberColumn(format="%.3f"),
        },
        alt="The hits of both settings, with their ranks",
    )  # fmt: skip
    table_downloads(lambda: _frame(told), "two-settings")
    st.caption("· marks a place that is no hit. ▲ rises under the second settings, ▼ falls.")
    st.button("Use the second settings", key="use-second", on_click=_use, args=(settings,))


def _second(first: RetrievalSettings) -> RetrievalSettings:
    say_if_unknown("preset2", SIMILARITIES)
    st.caption("The second settings; domains and kinds are those of the form.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="second-settings"):
        limit = st.number_input(
            "Second limit", 1, 50, DEFAULTS.limit, key="limit2", bind="query-params", width=110
        )
        weight = st.slider(
            "Second confidence weight (λ)", 0.0, 1.0, DEFAULTS.confidence_weight, 0.01,
            key="weight2", bind="query-params", width=220,
        )  # fmt: skip
        preset = st.segmented_control(
            "Second similarity", SIMILARITIES, default="hybrid", key="preset2",
            bind="query-params", required=True,
        )  # fmt: skip
        words = lexical_weight(preset, "words2")
    count = int(limit or DEFAULTS.limit)
    return replace(
        first,
        limit=first.limit if first.per_kind else count,
        per_kind=count if first.per_kind else None,
        confidence_weight=weight,
        lexical_weight=words,
    )


def _use(settings: RetrievalSettings) -> None:
    st.session_state["limit"] = settings.per_kind or settings.limit
    st.session_state["weight"] = settings.confidence_weight
    st.session_state["preset"] = st.session_state["preset2"]
    if "words2" in st.session_state:
        st.session_state["words"] = st.session_state["words2"]


def _frame(told: Contrast) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "rank": [_rank(move.one) for move in told.moves],
            "second rank": [_rank(move.other) for move in told.moves],
            "move": [_move(move.steps) for move in told.moves],
            "kind": [SYMBOLS[move.memory.kind] for move in told.moves],
            "text": [move.memory.text for move in told.moves],
            "score": [move.one.score if move.one else None for move in told.moves],
            "second score": [move.other.score if move.other else None for move in told.moves],
            "id": [move.memory.id for move in told.moves],
        }
    )


def _rank(place: Place | None) -> str:
    return "not eligible" if place is None else f"{place.rank:,}" + " ·" * (not place.is_hit)


def _move(steps: int | None) -> str:
    return "" if not steps else f"▲ {steps:,}" if steps > 0 else f"▼ {-steps:,}"
