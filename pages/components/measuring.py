"""How saved queries are measured on Quality: the settings, in the address, and the results."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from memory_core import (
    PRESETS,
    Estimate,
    Measure,
    MemoryBank,
    Quality,
    RetrievalSettings,
    SavedQuery,
    Snapshot,
    evaluate,
)
from pages.components.frame import Desk
from pages.components.previews import saved_queries

DEFAULTS = RetrievalSettings()
NAMES: dict[Measure, str] = {
    "ndcg": "nDCG",
    "recall": "recall",
    "precision": "precision",
    "hit": "hit",
    "reciprocal_rank": "MRR",
}
ABOUT: dict[Measure, str] = {
    "ndcg": "Gain of the first k hits by their grades, later places counting less, against that "
    "of the ideal order.",
    "recall": "Share of the relevant memories that are among the first k.",
    "precision": "Share of the first k places that hold a relevant memory.",
    "hit": "Share of the queries with a relevant memory among the first k.",
    "reciprocal_rank": "One over the rank of the first relevant memory, in the whole ranking.",
}


@dataclass(frozen=True)
class Form:
    """What is measured."""

    queries: tuple[SavedQuery, ...]
    settings: RetrievalSettings
    k: int

    def name(self, measure: Measure) -> str:
        """A measure's name with its cut: `recall@5`."""
        return NAMES[measure] + ("" if measure == "reciprocal_rank" else f"@{self.k}")


def form(desk: Desk) -> Form:
    """The settings under which the saved queries are asked."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="quality-form"):
        k = st.number_input(
            "Hits that count (k)", 1, 50, 5, key="k", bind="query-params", width=140
        )
        lam = st.slider(
            "Confidence weight (λ)", 0.0, 1.0, DEFAULTS.confidence_weight, 0.05, key="lambda",
            bind="query-params", width=180, help="Share of confidence in the score.",
        )  # fmt: skip
        mu = st.slider(
            "Lexical weight (μ)", 0.0, 1.0, DEFAULTS.lexical_weight, 0.05, key="mu",
            bind="query-params", width=180, help="Share of matching words in the similarity.",
        )  # fmt: skip
        for name, preset in PRESETS.items():
            st.button(name, key=f"preset-{name}", on_click=_take, args=(preset,),
                      help=f"λ {preset.confidence_weight}, μ {preset.lexical_weight}")  # fmt: skip
    queries = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    settings = RetrievalSettings(confidence_weight=lam, lexical_weight=mu)
    return Form(queries, settings, int(k or 5))


def _take(preset: RetrievalSettings) -> None:
    st.session_state["lambda"] = preset.confidence_weight
    st.session_state["mu"] = preset.lexical_weight


def quality(desk: Desk, asked: Form) -> Quality:
    """The saved queries, measured on the revision that is looked at."""
    snapshot = desk.snapshot
    with st.spinner("Asking the saved queries", show_time=True):
        return _quality(
            str(desk.bank.path), desk.signature, snapshot.revision, asked.k, repr(asked.settings),
            desk.bank, snapshot, asked,
        )  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=16)
def _quality(
    path: str,
    signature: tuple[int, ...],
    revision: int | None,
    k: int,
    described: str,
    _bank: MemoryBank,
    _snapshot: Snapshot,
    _asked: Form,
) -> Quality:
    return measured(_bank, _snapshot, _asked)


def measured(bank: MemoryBank, snapshot: Snapshot, asked: Form) -> Quality:
    """The saved queries of a form, asked of a snapshot. Their vectors are stored: no model."""
    vectors = bank.embed([query.task for query in asked.queries])
    return evaluate(snapshot, asked.queries, vectors, asked.settings, asked.k)


def signed(value: float) -> str:
    """A difference with a sign that is as wide as the other: +0.02, −0.02."""
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


def between(estimate: Estimate) -> str:
    """The ends of an interval."""
    return f"{estimate.low:.2f} to {estimate.high:.2f}"


def difference_between(estimate: Estimate) -> str:
    return f"{signed(estimate.low)} to {signed(estimate.high)}"
