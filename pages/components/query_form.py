"""The task and the settings of a query; all of them live in the address."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from memory_core import (
    KINDS,
    PRESETS,
    MemoryBank,
    Retrieval,
    RetrievalSettings,
    SavedQuery,
    Snapshot,
)
from pages.components import keys
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk

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


@st.cache_data(show_spinner=False, max_entries=16)
def _saved(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[SavedQuery, ...]:
    return _bank.queries()


def run(desk: Desk, query: Query) -> Retrieval:
    """Ask the bank at the revision that is looked at.

    The same question gives the same retrieval, with the same id, run after run: an outcome that
    is recorded twice by a hurried click is then one outcome.
    """
    snapshot, supposed = _asked_of(desk)
    name = (str(desk.bank.path), desk.snapshot.revision, desk.snapshot.batch_key, query, supposed)
    kept = st.session_state.get(keys.FOUND)
    if kept is not None and kept[0] == name:
        found: Retrieval = kept[1]
        return found
    with st.spinner("Asking the bank; the first new text also loads the model", show_time=True):
        found = desk.bank.retrieve(query.task, query.settings, revision=snapshot)
    st.session_state[keys.FOUND] = (name, found)
    return found


def _asked_of(desk: Desk) -> tuple[Snapshot, tuple[int, float] | None]:
    """The snapshot that is asked: one in which a memory has another confidence, if supposed so."""
    supposed: tuple[int, float] | None = st.session_state.get(keys.SUPPOSED)
    place = st.container()  # always there, so that what follows keeps its place on the page
    if supposed is None or supposed[0] not in desk.snapshot:
        return desk.snapshot, None
    memory_id, confidence = supposed
    memory = replace(desk.snapshot.by_id(memory_id), confidence=confidence)
    banner = place.container(
        border=True, horizontal=True, vertical_alignment="center", key="supposed"
    )
    with banner:
        st.markdown(
            f"Asked **as if memory {memory_id} had a confidence of {confidence:.4g}**; "
            "nothing of this is written."
        )
        st.button("Stop supposing", key="stop-supposing", on_click=_stop_supposing)
    return desk.snapshot.edit(put=[memory]), supposed


def _stop_supposing() -> None:
    st.session_state.pop(keys.SUPPOSED, None)


@st.cache_resource(show_spinner=False)
def _warmer(path: str, identity: object, _bank: MemoryBank) -> threading.Thread:
    thread = threading.Thread(target=_bank.warm_up, daemon=True)
    thread.start()
    return thread


def warm_up(desk: Desk) -> None:
    """Load the model in the background, so that the next, new task finds it there."""
    _warmer(str(desk.bank.path), id(desk.bank), desk.bank)
