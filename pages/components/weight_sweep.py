"""The scores of hits and near misses over the confidence weight, and where they cross."""

from __future__ import annotations

import html
import textwrap
from typing import Any

import streamlit as st

from memory_core import Retrieval, Sweep, near_misses, sweep
from pages.components.export import table_downloads
from pages.components.text import count

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def section(found: Retrieval) -> None:
    """The chart, and its numbers as a table."""
    if not found.hits:
        st.info("Nothing is eligible, so there is nothing to follow.")
        return
    below = [standing.hit.memory.id for standing in near_misses(found)]
    swept = sweep(found, [hit.memory.id for hit in found.hits] + below)
    st.caption(
        f"{count(len(found.hits), 'hit')} and {count(len(below), 'near miss', 'near misses')}: "
        f"what each would score at every confidence weight (λ). Where two lines cross "
        f"({count(len(swept.crossings), 'crossing')}), one overtakes the other; what is under the "
        "cut is not in."
    )
    st.plotly_chart(
        _figure(found, swept, set(below)), key="weight-sweep",
        alt="Scores of hits and near misses against the confidence weight",
    )  # fmt: skip
    with st.expander("As a table"):
        _tables(found, swept, set(below))


def _label(found: Retrieval, memory_id: int, below: set[int], place: int) -> str:
    return f"{'near ' if memory_id in below else ''}{place} · memory {memory_id}"


def _figure(found: Retrieval, swept: Sweep, below: set[int]) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for number, course in enumerate(swept.courses):
        text = html.escape(found.snapshot.by_id(course.memory_id).text)
        wrapped = "<br>".join(textwrap.wrap(text, 60, break_long_words=False))
        figure.add_scatter(
            x=[0, 1], y=[course.at_0, course.at_1], mode="lines", text=[wrapped] * 2,
            name=_label(found, course.memory_id, below, number + 1),
            line={
                "color": COLOURS[number % len(COLOURS)],
                "dash": DASHES[number // len(COLOURS) % len(DASHES)],
                "width": 1.2 if course.memory_id in below else 2.4,
            },
            hovertemplate="%{y:.3f} at λ %{x:.2f}<br>%{text}<extra></extra>",
        )  # fmt: skip
    for cut in swept.cuts:
        figure.add_scatter(
            x=list(cut.weights), y=list(cut.scores), mode="lines",
            name=f"cut, {cut.kind}" if cut.kind else "cut: the last hit",
            line={"color": "#8A8F9C", "dash": "dot", "width": 3},
            hovertemplate="cut %{y:.3f} at λ %{x:.2f}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[c.weight for c in swept.crossings], y=[c.score for c in swept.crossings],
        mode="markers", name="crossings", marker={"symbol": "circle-open", "size": 8,
        "color": "#8A8F9C"}, customdata=[[c.overtaking, c.overtaken] for c in swept.crossings],
        hovertemplate="from λ %{x:.3f} memory %{customdata[0]} is ahead of %{customdata[1]}"
        "<extra></extra>",
    )  # fmt: skip
    figure.add_vline(found.settings.confidence_weight, line={"color": "#8A8F9C", "width": 1},
                     annotation_text="now")  # fmt: skip
    figure.update_layout(
        height=460, margin={"l": 10, "r": 10, "t": 20, "b": 10}, hovermode="closest",
        xaxis={"title": "confidence weight (λ)", "range": [0, 1]}, yaxis_title="score",
    )  # fmt: skip
    return figure


def _tables(found: Retrieval, swept: Sweep, below: set[int]) -> None:
    import pandas as pd

    lines = pd.DataFrame(
        {
            "memory": [c.memory_id for c in swept.courses],
            "now": ["near miss" if c.memory_id in below else "hit" for c in swept.courses],
            "text": [found.snapshot.by_id(c.memory_id).text for c in swept.courses],
            "score at λ = 0": [c.at_0 for c in swept.courses],
            "score at λ = 1": [c.at_1 for c in swept.courses],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(lines, hide_index=True, column_config=dict.fromkeys(lines.columns[3:], number))
    table_downloads(lines, "weight-lines")
    crossings = pd.DataFrame(
        {
            "from λ": [c.weight for c in swept.crossings],
            "memory": [c.overtaking for c in swept.crossings],
            "is ahead of": [c.overtaken for c in swept.crossings],
            "score": [c.score for c in swept.crossings],
        }
    )
    if len(crossings):
        columns = {"from λ": number, "score": number}
        st.dataframe(crossings, hide_index=True, column_config=columns)
        table_downloads(crossings, "weight-crossings")
