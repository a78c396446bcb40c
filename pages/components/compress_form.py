"""Which strategies are compared, and with which parameters; all of it lives in the address."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from memory_core import CompressionSettings
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk

PUBLISHED = ("hybrid", "diversity", "importance", "temporal")
COMPARED = (*PUBLISHED, "random")
DEFAULTS = CompressionSettings()

ABOUT = {
    "hybrid": "lowest utility first: confidence, age and distance to the nearest other",
    "diversity": "one per cluster, the most confident",
    "importance": "the least confident fraction",
    "temporal": "what has grown old",
    "random": "a baseline to compare with",
}


@dataclass(frozen=True)
class Form:
    """What is compared."""

    settings: dict[str, CompressionSettings]
    """By strategy, in the order in which they are shown."""
    k: int
    """Hits that the saved queries are measured by."""


def show(desk: Desk) -> Form:
    say_if_unknown("strategies", COMPARED)
    with st.container(horizontal=True, vertical_alignment="bottom", key="compress-form"):
        chosen = st.pills(
            "Strategies", COMPARED, selection_mode="multi", default=list(PUBLISHED),
            key="strategies", bind="query-params",
            help="\n".join(f"- **{name}**: {about}" for name, about in ABOUT.items()),
        )  # fmt: skip
        capacity = st.number_input(
            "Capacity", min_value=1, value=desk.capacity, step=10, key="capacity",
            bind="query-params", width=140,
            help="Memories to keep. Hybrid, diversity and random heed it; importance and temporal "
            "follow their own rule.",
        )  # fmt: skip
        with st.popover("Parameters"):
            base = _parameters()
    base = replace(base, capacity=int(capacity or desk.capacity))
    ordered = [name for name in COMPARED if name in chosen]
    return Form({name: replace(base, strategy=name) for name in ordered}, k=5)


def _parameters() -> CompressionSettings:
    """The published defaults, unless changed."""
    d = DEFAULTS
    st.caption("importance")
    fraction = _number("Share to drop (p)", "fraction", d.fraction, 0.0, 0.95, 0.05)
    st.caption("temporal and hybrid")
    decay = _number("Decay per session (λ)", "decay", d.decay, 0.001, 2.0, 0.01)
    minimum = _number("Minimum weight", "minimum", d.minimum_weight, 0.0, 1.0, 0.05)
    st.caption("hybrid")
    beta = _number("Exponent of confidence (β)", "beta", d.beta, 0.01, 10.0, 0.1)
    gamma = _number("Exponent of the time weight (γ)", "gamma", d.gamma, 0.01, 10.0, 0.1)
    delta = _number("Exponent of the distance (δ)", "delta", d.delta, 0.01, 10.0, 0.1)
    rescore = st.toggle(
        "Measure distances anew after each drop", value=d.rescore, key="rescore",
        bind="query-params", help="Without it, of two identical lessons both go.",
    )  # fmt: skip
    st.caption("diversity")
    merge = st.toggle(
        "Merge a cluster instead of dropping", value=d.merge, key="merging", bind="query-params"
    )
    st.caption("random")
    seed = st.number_input("Seed", 0, 10_000, d.seed, key="seed", bind="query-params")
    return CompressionSettings(
        fraction=fraction, decay=decay, minimum_weight=minimum, beta=beta, gamma=gamma,
        delta=delta, rescore=rescore, merge=merge, seed=int(seed or 0),
    )  # fmt: skip


def _number(label: str, key: str, value: float, low: float, high: float, step: float) -> float:
    chosen = st.number_input(
        label, low, high, float(value), step, format="%.3f", key=key, bind="query-params"
    )
    return float(value if chosen is None else chosen)
