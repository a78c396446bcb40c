"""The task and the settings of a query; all of them live in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from memory_core import (
    KINDS,
    PRESETS,
    RetrievalSettings,
)
from pages.components import keys
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.previews import saved_queries

DEFAULTS = RetrievalSettings()
OWN = "own"
SIMILARITIES = (*PRESETS, OWN)
OF_EACH_KIND = 3


@dataclass(frozen=True)
class Query:
    """What is asked."""

    task: str
    settings: RetrievalSettings


def show(desk: Desk) -> Query:
    """The form; on the first visit it holds the first saved query."""
    say_if_unknown("domains", desk.snapshot.domain_counts())
    say_if_unknown("kinds", KINDS)
    say_if_unknown("preset", SIMILARITIES)
    saved = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    if "task" not in st.session_state and "task" not in st.query_params and saved:
        st.session_state["task"] = saved[0].task
    task = st.text_area(
        "Task", key="task", bind="query-params", height=80,
        placeholder="What is the agent about to do?",
        help="Only the first 256 tokens of a long task are embedded.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", key="query-settings"):
        if saved:
            with st.popover(f"Saved queries ({len(saved)})"):
                st.selectbox(
                    "Saved query", saved, index=None, format_func=lambda query: query.task,
                    key="saved-query", on_change=_take, placeholder="Choose one to run it",
                )  # fmt: skip
        settings = _settings(desk)
    return Query(task or "", settings)


def _take() -> None:
    chosen = st.session_state["saved-query"]
    if chosen is not None:
        st.session_state["task"] = chosen.task


def _settings(desk: Desk) -> RetrievalSettings:
    domains = list(desk.snapshot.domain_counts())
    limit = st.number_input(
        "Limit", 1, 50, DEFAULTS.limit, key="limit", bind="query-params", width=110,
        help="Hits over all kinds, or of each kind.",
    )  # fmt: skip
    per_kind = st.toggle(
        "of each kind", key="per_kind", bind="query-params", on_change=_other_limit,
        help="So many hits of each kind, instead of over all kinds.",
    )  # fmt: skip
    chosen = st.multiselect(
        "Domains", domains, key="domains", bind="query-params", placeholder="all", width=240
    )
    kinds = st.multiselect(
        "Kinds", KINDS, key="kinds", bind="query-params", placeholder="all", width=200,
    )  # fmt: skip
    weight = st.slider(
        "Confidence weight (λ)", 0.0, 1.0, DEFAULTS.confidence_weight, 0.01, key="weight",
        bind="query-params", width=220,
        help="Share of confidence in the score; 0 ranks by similarity alone.",
    )  # fmt: skip
    preset = st.segmented_control(
        "Similarity", SIMILARITIES, default="published", key="preset", bind="query-params",
        required=True, help="*hybrid* lets matching words count for a fifth of the similarity; "
        "*own* for as much as you say.",
    )  # fmt: skip
    count = int(limit or DEFAULTS.limit)
    return RetrievalSettings(
        limit=DEFAULTS.limit if per_kind else count,
        confidence_weight=weight,
        lexical_weight=lexical_weight(preset, "words"),
        domains=tuple(chosen),
        kinds=tuple(kinds),
        per_kind=count if per_kind else None,
    )


def lexical_weight(preset: str | None, key: str) -> float:
    """The weight of matching words by a preset, or, for one's own, by a box of that key."""
    if preset != OWN:
        return PRESETS[preset or "published"].lexical_weight
    weight = st.number_input(
        "Weight of matching words (μ)", 0.0, 1.0, 0.2, 0.05, key=key, bind="query-params", width=150
    )
    return float(weight or 0.0)


def _other_limit() -> None:
    st.session_state["limit"] = OF_EACH_KIND if st.session_state["per_kind"] else DEFAULTS.limit


def fill(task: str, settings: Mapping[str, object], revision: int | None) -> None:
    """Put a task and settings into the form, to be called in a callback."""
    asked = RetrievalSettings(**settings)  # type: ignore[arg-type]
    named = [name for name, one in PRESETS.items() if one.lexical_weight == asked.lexical_weight]
    values: dict[str, object] = {
        keys.REVISION: revision,
        "task": task,
        "limit": min(asked.per_kind or asked.limit, 50),
        "per_kind": asked.per_kind is not None,
        "domains": list(asked.domains or ()),
        "kinds": list(asked.kinds or ()),
        "weight": asked.confidence_weight,
        "preset": named[0] if named else OWN,
    }
    if not named:
        values["words"] = asked.lexical_weight
    for name, value in values.items():
        st.session_state[name] = value
    st.session_state.pop(keys.SUPPOSED, None)
