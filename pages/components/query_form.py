"""The task and the settings of a query; all of them live in the address."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import streamlit as st

from memory_core import (
    KINDS,
    PRESETS,
    MemoryBank,
    Retrieval,
    RetrievalSettings,
    SavedQuery,
)
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk

DEFAULTS = RetrievalSettings()


@dataclass(frozen=True)
class Query:
    """What is asked."""

    task: str
    settings: RetrievalSettings


def show(desk: Desk) -> Query:
    """The form; on the first visit it holds the first saved query."""
    say_if_unknown("domains", desk.snapshot.domain_counts())
    say_if_unknown("kinds", KINDS)
    say_if_unknown("preset", PRESETS)
    saved = _saved(str(desk.bank.path), desk.signature, desk.bank)
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
        "Limit", 1, 50, DEFAULTS.limit, key="limit", bind="query-params", width=110
    )
    chosen = st.multiselect(
        "Domains", domains, key="domains", bind="query-params", placeholder="all", width=260
    )
    kinds = st.multiselect(
        "Kinds", KINDS, key="kinds", bind="query-params", placeholder="all", width=220,
    )  # fmt: skip
    weight = st.slider(
        "Confidence weight (λ)", 0.0, 1.0, DEFAULTS.confidence_weight, 0.05, key="weight",
        bind="query-params", width=220,
        help="Share of confidence in the score; 0 ranks by similarity alone.",
    )  # fmt: skip
    preset = st.segmented_control(
        "Similarity", list(PRESETS), default="published", key="preset", bind="query-params",
        required=True, help="*hybrid* lets matching words count for a fifth of the similarity.",
    )  # fmt: skip
    return RetrievalSettings(
        limit=int(limit or DEFAULTS.limit),
        confidence_weight=weight,
        lexical_weight=PRESETS[preset or "published"].lexical_weight,
        domains=tuple(chosen),
        kinds=tuple(kinds),
    )


@st.cache_data(show_spinner=False, max_entries=16)
def _saved(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[SavedQuery, ...]:
    return _bank.queries()


def run(desk: Desk, query: Query) -> Retrieval:
    """Ask the bank at the revision that is looked at."""
    with st.spinner("Asking the bank; the first new text also loads the model", show_time=True):
        return desk.bank.retrieve(query.task, query.settings, revision=desk.snapshot)


@st.cache_resource(show_spinner=False)
def _warmer(path: str, identity: object, _bank: MemoryBank) -> threading.Thread:
    thread = threading.Thread(target=_bank.warm_up, daemon=True)
    thread.start()
    return thread


def warm_up(desk: Desk) -> None:
    """Load the model in the background, so that the next, new task finds it there."""
    _warmer(str(desk.bank.path), id(desk.bank), desk.bank)
