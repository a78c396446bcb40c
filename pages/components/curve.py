"""Quality against size: a line for each strategy, a point for each plan."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import QualityPoint, quality_curve
from pages.components import keys
from pages.components.compress_form import COMPARED, Form
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.previews import saved_queries

STYLES = {
    "hybrid": ("#0072B2", "solid", "circle"),
    "diversity": ("#009E73", "dash", "square"),
    "importance": ("#D55E00", "dot", "diamond"),
    "temporal": ("#CC79A7", "dashdot", "triangle-up"),
    "random": ("#8A8F9C", "longdash", "x"),
}
"""Colour, dash and mark: nothing is told by colour alone."""


def section(desk: Desk, form: Form) -> None:
    """The curve, computed on request; it can be stopped, and keeps what it has."""
    name = (str(desk.bank.path), desk.snapshot.revision, repr(sorted(form.settings.items())))
    kept = st.session_state.get(keys.CURVE, {})
    points: list[QualityPoint] = kept.get("points", []) if kept.get("name") == name else []
    running = kept.get("name") == name and kept.get("running", False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Stop" if running else "Compute again" if points else "Compute the curve",
            key="curve-button", on_click=_toggle, args=(name, running),
        )  # fmt: skip
        st.caption("Each strategy and the random baseline, from the whole bank down to a tenth.")
    if running:
        points = _compute(desk, form, kept)
    if points:
        _chart(points, form.k)
        with st.expander("As a table"):
            frame = _frame(points, form.k)
            st.dataframe(frame, hide_index=True, placeholder="")
            table_downloads(frame, "quality-against-size")


def _toggle(name: object, running: bool) -> None:
    if running:
        st.session_state[keys.CURVE]["running"] = False
    else:
        st.session_state[keys.CURVE] = {"name": name, "running": True, "points": []}


def _compute(desk: Desk, form: Form, kept: dict[str, Any]) -> list[QualityPoint]:
    """Any click interrupts this run; the points so far are in the session."""
    queries = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    vectors = desk.bank.embed([query.task for query in queries])
    base = next(iter(form.settings.values()))
    total = len(COMPARED) * 10
    bar = st.progress(0.0, "Planning and measuring")
    kept["points"] = []
    for point in quality_curve(
        desk.snapshot, COMPARED, queries=queries, vectors=vectors, base=base, k=form.k
    ):
        kept["points"].append(point)
        done = len(kept["points"])
        bar.progress(min(done / total, 1.0), f"{done} of {total}: {point.strategy}")
    kept["running"] = False
    bar.empty()
    st.rerun()


def _frame(points: list[QualityPoint], k: int) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "strategy": [point.strategy for point in points],
            "size": [point.size for point in points],
            f"recall@{k}": [point.quality.recall.mean for point in points],
            "nDCG": [point.quality.ndcg.mean for point in points],
            "MRR": [point.quality.mrr.mean for point in points],
        }
    )


def _chart(points: list[QualityPoint], k: int) -> None:
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, (colour, dash, mark) in STYLES.items():
        some = [(i, point) for i, point in enumerate(points) if point.strategy == name]
        some.sort(key=lambda pair: pair[1].size)
        figure.add_scatter(
            x=[point.size for _, point in some],
            y=[point.quality.recall.mean for _, point in some],
            customdata=[i for i, _ in some],
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash},
            marker={"symbol": mark, "size": 9},
            hovertemplate=f"{name}: %{{x}} kept, recall@{k} %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(
        height=380, margin={"l": 10, "r": 10, "t": 10, "b": 10}, hovermode="closest",
        xaxis_title="memories kept", yaxis_title=f"recall@{k} on the saved queries",
        legend={"orientation": "h", "y": 1.08},
    )  # fmt: skip
    st.plotly_chart(
        figure, key="curve", on_select=_take_point, selection_mode="points",
        alt=f"recall@{k} against the number of memories kept, for each strategy",
    )  # fmt: skip
    st.caption("Click a point to see its plan.")


def _take_point() -> None:
    """The point that was clicked becomes the plan that is looked at."""
    chosen = st.session_state["curve"].selection.points
    points = st.session_state.get(keys.CURVE, {}).get("points", [])
    if not chosen:
        return
    index = chosen[0]["customdata"]
    index = int(index[0] if isinstance(index, list | tuple) else index)
    if index >= len(points):
        return
    settings = points[index].settings
    st.session_state["capacity"] = max(settings.capacity, 1)
    st.session_state["strategies"] = [
        n for n in COMPARED if n in {*st.session_state["strategies"], settings.strategy}
    ]
    st.session_state["strategy"] = settings.strategy
    if settings.strategy == "importance":
        st.session_state["fraction"] = min(float(settings.fraction), 0.95)
    if settings.strategy == "temporal":
        st.session_state["minimum"] = float(settings.minimum_weight)
