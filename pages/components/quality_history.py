"""How the saved queries were answered over the bank's life: a line over a sample of revisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from memory_core import MEASURES, Quality, Revision
from pages.components import keys
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.measuring import ABOUT, NAMES, Form, measured
from pages.components.text import count

SAMPLE = 24
LINE = "#4F46E5"
BAND = "rgba(79, 70, 229, 0.18)"


@st.cache_data(show_spinner=False, max_entries=8)
def _revisions(path: str, signature: tuple[int, ...], _desk: Desk) -> tuple[Revision, ...]:
    return _desk.bank.revisions()


def section(desk: Desk, asked: Form) -> None:
    """The line, computed on request; it can be stopped, and keeps what it has."""
    revisions = _revisions(str(desk.bank.path), desk.signature, desk)
    upto = [made for made in revisions if made.number <= (desk.snapshot.revision or 0)]
    chosen = sample([made.number for made in upto if made.size])
    name = (str(desk.bank.path), asked.k, repr(asked.settings), repr(asked.queries))
    kept = st.session_state.get(keys.MEASURED, {})
    if kept.get("name") != name:
        kept = {"name": name, "points": {}, "running": False}
    keyed = {made.number: made.key for made in upto}
    points: dict[tuple[int, str], Quality] = kept["points"]
    missing = [number for number in chosen if (number, keyed[number]) not in points]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _label(kept["running"], len(missing)),
            key="measure-history", type="primary", disabled=not missing and not kept["running"],
            on_click=_toggle, args=(kept,),
        )  # fmt: skip
        st.caption(
            f"{len(chosen)} of {count(len(upto), 'revision')}, by today's judgements: what was not "
            "there yet counts as missed."
        )
    if kept["running"]:
        _compute(desk, asked, kept, {number: keyed[number] for number in missing})
    found = {n: points[n, keyed[n]] for n in chosen if (n, keyed[n]) in points}
    if found:
        _show(found, {made.number: made for made in upto}, asked)


def _label(running: bool, missing: int) -> str:
    if running:
        return "Stop"
    return f"Measure {count(missing, 'revision')}" if missing else "All measured"


def sample(numbers: list[int]) -> list[int]:
    """At most 24 of some numbers, evenly apart, the first and the last among them."""
    if len(numbers) <= SAMPLE:
        return numbers
    places = np.linspace(0, len(numbers) - 1, SAMPLE).round().astype(int)
    return [numbers[place] for place in places]


def _toggle(kept: dict[str, Any]) -> None:
    kept["running"] = not kept["running"]
    st.session_state[keys.MEASURED] = kept


def _compute(desk: Desk, asked: Form, kept: dict[str, Any], missing: dict[int, str]) -> None:
    """Any click interrupts this run; the points so far are in the session."""
    bar = st.progress(0.0, "Measuring")
    for done, (number, key) in enumerate(missing.items()):
        bar.progress(done / len(missing), f"Revision {number}")
        snapshot = desk.bank.snapshot(number)
        kept["points"][number, key] = measured(desk.bank, snapshot, asked)
    kept["running"] = False
    st.rerun()


def _show(found: dict[int, Quality], made: dict[int, Revision], asked: Form) -> None:
    labels = {name: measure for measure, name in NAMES.items()}
    chosen = st.segmented_control(
        "Measure", list(labels), default="nDCG", key="history-of", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    measure = labels.get(chosen or "nDCG", "ndcg")
    st.caption(ABOUT[measure])
    st.plotly_chart(
        _figure(found, asked.name(measure), measure), key="quality-history",
        alt=f"{asked.name(measure)} by revision, with its interval",
    )  # fmt: skip
    with st.expander("As a table"):
        frame = _frame(found, made, asked)
        st.dataframe(frame, hide_index=True, placeholder="")
        table_downloads(frame, "quality-history")


def _frame(found: dict[int, Quality], made: dict[int, Revision], asked: Form) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "revision": number,
                "memories": made[number].size,
                "reason": made[number].reason,
                **{asked.name(m): quality.mean(m).mean for m in MEASURES},
            }
            for number, quality in found.items()
        ]
    )


def _figure(found: dict[int, Quality], name: str, measure: Any) -> Any:
    import plotly.graph_objects as go

    numbers = list(found)
    means = [quality.mean(measure) for quality in found.values()]
    figure = go.Figure()
    figure.add_scatter(
        x=numbers + numbers[::-1],
        y=[one.high for one in means] + [one.low for one in means][::-1],
        fill="toself", mode="lines", fillcolor=BAND, line={"width": 0}, name="interval (95 %)",
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=numbers, y=[one.mean for one in means], name="mean", mode="lines+markers",
        line={"color": LINE}, marker={"size": 8},
        hovertemplate=f"revision %{{x}}: {name} %{{y:.3f}}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(
        height=360, margin={"l": 10, "r": 10, "t": 10, "b": 10}, xaxis_title="revision",
        yaxis_title=f"mean {name}", legend={"orientation": "h", "y": 1.1},
    )  # fmt: skip
    figure.update_xaxes(tickformat="d")
    figure.update_yaxes(range=[0, 1.02])
    return figure
