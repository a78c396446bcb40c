"""Settings against quality: a heat map over both weights, and whether its best is to be trusted."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import Measure, RetrievalSettings, Tuning, Verdict, tunings
from pages.components import keys
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.measuring import (
    NAMES,
    Form,
    difference_between,
    signed,
)
from pages.components.text import count

MARK = "#E5484D"
"""Told from every shade of the scale, and from a light page as from a dark one."""


def section(desk: Desk, asked: Form) -> None:
    """The sweep, computed on request; any click stops it, and what is measured stays."""
    name = (str(desk.bank.path), desk.snapshot.revision, asked.k, repr(asked.settings),
            repr(asked.queries))  # fmt: skip
    kept = st.session_state.get(keys.TUNED, {})
    ours = kept.get("name") == name
    running = ours and kept.get("running", False)
    judged = sum(bool(query.relevant) for query in asked.queries)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Stop" if running else "Compute again" if ours and "found" in kept else
            "Try 121 pairs of weights",
            key="tune", on_click=_toggle, args=(name, running), type="primary",
        )  # fmt: skip
        st.caption(
            "Every confidence weight (λ) with every lexical weight (μ), from 0 to 1, on "
            f"{count(judged, 'judged query', 'judged queries')}."
        )
    if running:
        _compute(desk, asked, kept, judged)
    if ours and "found" in kept:
        measured = len(kept["found"].present.queries)
        if measured < judged:
            st.caption(f"Stopped: measured on the first {measured:,} of {judged:,} queries only.")
        _show(kept["found"], asked)


def _toggle(name: object, running: bool) -> None:
    kept = st.session_state.get(keys.TUNED, {}) if running else {}
    st.session_state[keys.TUNED] = {**kept, "name": name, "running": not running}


def _compute(desk: Desk, asked: Form, kept: dict[str, Any], judged: int) -> None:
    bar = st.progress(0.0, "Asking every query under every pair of weights")
    vectors = desk.bank.embed([query.task for query in asked.queries])
    found = tunings(desk.snapshot, asked.queries, vectors, asked.settings, asked.k)
    for done, so_far in enumerate(found):
        if done:
            kept["found"] = so_far
        bar.progress(done / max(judged, 1), f"{done} of {count(judged, 'query', 'queries')}")
    kept["running"] = False
    st.rerun()


def _show(found: Tuning, asked: Form) -> None:
    labels = {name: measure for measure, name in NAMES.items()}
    chosen = st.segmented_control(
        "Measure", list(labels), default="nDCG", key="tuned-by", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    measure = labels.get(chosen or "nDCG", "ndcg")
    verdict = found.verdict(measure)
    st.markdown(_in_words(verdict, asked))
    best = verdict.best.settings
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            "pages/query.py", label="Use these settings in Query", icon="🔎",
            query_params=_address(best, asked.k),
        )  # fmt: skip
        st.button("Measure with these", key="take-best", on_click=_take, args=(best,),
                  help="Put them into the settings of this page.")  # fmt: skip
    st.plotly_chart(
        _figure(found, verdict, asked), key="tuning-map",
        alt=f"{asked.name(measure)} for each pair of confidence and lexical weight",
    )  # fmt: skip
    with st.expander("As a table"):
        st.dataframe(
            _grid(found, measure),
            column_config={
                name: st.column_config.NumberColumn(format="%.3f")
                for name in _grid(found, measure).columns
            },
        )
        table_downloads(lambda: _grid(found, measure), f"weights-{measure}")


def _in_words(verdict: Verdict, asked: Form) -> str:
    best, present = verdict.best, verdict.present
    name, gain = asked.name(verdict.measure), verdict.gain
    if best is present:
        return (
            f"**No pair of weights has a higher {name} than the present one** "
            f"({_weights(present.settings)}: {present.mean(verdict.measure):.3f})."
        )
    words = (
        f"**Best: {_weights(best.settings)}, {name} {best.mean(verdict.measure):.3f}**, against "
        f"{present.mean(verdict.measure):.3f} with the present {_weights(present.settings)}: "
        f"{signed(gain.mean)} (interval {difference_between(gain)}). "
    )
    if not verdict.is_clear:
        words += (
            f":orange-badge[too few to tell] The interval holds 0: {gain.count} queries are too "
            "few to tell this from chance; judge more before you change anything. "
        )
    held = verdict.held_out_gain
    if held.count:
        words += (
            "The best flatters itself, as it was chosen by the queries that it is measured on: "
            f"chosen without each query in turn, and measured on that one, it is "
            f"{signed(held.mean)} ({difference_between(held)})."
        )
    return words


def _weights(settings: RetrievalSettings) -> str:
    return f"λ {settings.confidence_weight:g}, μ {settings.lexical_weight:g}"


def _address(best: RetrievalSettings, k: int) -> dict[str, str]:
    return {
        "limit": str(k),
        "weight": f"{best.confidence_weight:g}",
        "preset": "own",
        "words": f"{best.lexical_weight:g}",
    }


def _take(best: RetrievalSettings) -> None:
    st.session_state["lambda"] = best.confidence_weight
    st.session_state["mu"] = best.lexical_weight


def _grid(found: Tuning, measure: Measure) -> Any:
    import pandas as pd

    return pd.DataFrame(
        found.grid(measure),
        index=pd.Index([f"μ {mu:g}" for mu in found.lexical_weights], name="lexical weight"),
        columns=[f"λ {lam:g}" for lam in found.confidence_weights],
    )


def _figure(found: Tuning, verdict: Verdict, asked: Form) -> Any:
    import plotly.graph_objects as go

    measure = verdict.measure
    name = asked.name(measure)
    figure = go.Figure(
        go.Heatmap(
            x=list(found.confidence_weights), y=list(found.lexical_weights),
            z=found.grid(measure).tolist(), colorscale="Cividis", xgap=1, ygap=1,
            colorbar={"title": {"text": name}, "thickness": 14},
            hovertemplate=f"λ %{{x}}, μ %{{y}}: {name} %{{z:.3f}}<extra></extra>",
        )
    )  # fmt: skip
    marks = [("present", verdict.present, "circle-open", 24), ("best", verdict.best, "star", 15)]
    for label, point, symbol, size in marks:
        figure.add_scatter(
            x=[point.settings.confidence_weight], y=[point.settings.lexical_weight],
            mode="markers", name=label,
            marker={"symbol": symbol, "size": size, "color": MARK,
                    "line": {"width": 3, "color": MARK}},
            hovertemplate=f"{label}: {_weights(point.settings)}, {name} "
            f"{point.mean(measure):.3f}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        height=430, margin={"l": 10, "r": 10, "t": 30, "b": 10},
        xaxis_title="confidence weight (λ)", yaxis_title="lexical weight (μ)",
        legend={"orientation": "h", "y": 1.1},
    )  # fmt: skip
    figure.update_xaxes(dtick=0.1, range=[-0.05, 1.05], constrain="domain")
    figure.update_yaxes(dtick=0.1, range=[-0.05, 1.05])
    return figure
