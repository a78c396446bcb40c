"""A task on the map: where it belongs, its hits, and which of them the map puts far away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import (
    Map,
    MemoryBank,
    MemoryCoreError,
    RankDistortion,
    Retrieval,
    RetrievalSettings,
    Snapshot,
)
from pages.components import map_table, map_view, selection
from pages.components.frame import Desk
from pages.components.map_hover import literal
from pages.components.map_ink import Ink, ink
from pages.components.previews import saved_queries
from pages.components.text import SYMBOLS, md, show

HITS = 5


@dataclass(frozen=True)
class Asked:
    """A task and its hits, laid on a map."""

    task: str
    found: Retrieval
    spot: NDArray[np.float64]
    """(2,) where the task lies, by its nearest memories."""
    lies: tuple[RankDistortion, ...]
    """How each hit lies, seen from there, in their order."""

    @property
    def far_off(self) -> tuple[RankDistortion, ...]:
        return tuple(lie for lie in self.lies if lie.is_far_off)


def ask(desk: Desk, laid: Map) -> Asked | None:
    """The box for a task, and what it finds; None while nothing is asked."""
    saved = [query.task for query in saved_queries(str(desk.bank.path), desk.signature, desk.bank)]
    task = st.selectbox(
        "Ask a task on the map", saved, index=None, accept_new_options=True, key="star",
        bind="query-params", placeholder="A task: write one, or choose a saved query",
        label_visibility="collapsed",
    )  # fmt: skip
    if not task or not task.strip():
        return None
    try:
        with st.spinner("Asking; the first new text also loads the model", show_time=True):
            return _asked(
                str(desk.bank.path), desk.snapshot.revision, desk.snapshot.batch_key,
                laid.projection.id, task, desk.bank, desk.snapshot, laid,
            )  # fmt: skip
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return None


@st.cache_resource(show_spinner=False, max_entries=32)
def _asked(
    path: str, revision: int | None, batch_key: str, projection: int, task: str,
    _bank: MemoryBank, _snapshot: Snapshot, _laid: Map,
) -> Asked:  # fmt: skip
    found = _bank.retrieve(task, RetrievalSettings(limit=HITS), revision=_snapshot)
    vector = found.scoring.vector
    spot = _laid.place(vector)[0]
    ids = [hit.memory.id for hit in found.hits]
    return Asked(task, found, spot, _laid.rank_distortion(spot, vector, ids))


# -- on the map -----------------------------------------------------------------------------------


def traces(asked: Asked, laid: Map, *, dark: bool) -> tuple[Any, ...]:
    """The star, a line to each hit, dashed to one that lies far off, and the similarities."""
    import plotly.graph_objects as go

    colours = ink(dark=dark)
    ends = np.array([laid.position_of(lie.id) for lie in asked.lies]).reshape(-1, 2)
    far = np.array([lie.is_far_off for lie in asked.lies], dtype=bool)
    lines = [
        go.Scattergl(
            **_from(asked.spot, ends[which]), mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": colours.mark, "width": width, "dash": dash},
        )
        for which, width, dash in ((~far, 1.6, "solid"), (far, 1.4, "dash"))
    ]  # fmt: skip
    words = [f"{lie.similarity:.2f}{' ⚠' if lie.is_far_off else ''}" for lie in asked.lies]
    return (*lines, _rings(ends, words, colours), _star(asked, colours))


def spots(asked: Asked, laid: Map) -> NDArray[np.float64]:
    """(k, 2) the star and its hits."""
    return np.array([asked.spot, *(laid.position_of(lie.id) for lie in asked.lies)])


def _from(spot: NDArray[np.float64], ends: NDArray[np.float64]) -> dict[str, list[float | None]]:
    x: list[float | None] = []
    y: list[float | None] = []
    for end in ends.tolist():
        x += [float(spot[0]), end[0], None]
        y += [float(spot[1]), end[1], None]
    return {"x": x, "y": y}


def _rings(ends: NDArray[np.float64], words: list[str], colours: Ink) -> Any:
    import plotly.graph_objects as go

    font = {"size": 13, "color": colours.text}
    plain = {"marker": {"opacity": 1}, "textfont": {"color": colours.text}}
    return go.Scattergl(
        x=ends[:, 0], y=ends[:, 1], text=words, mode="markers+text", hoverinfo="skip",
        textposition="top center", textfont=font, showlegend=False,
        selected=plain, unselected=plain,
        marker={"symbol": "circle-open", "size": 17, "color": colours.mark, "line": {"width": 2}},
    )  # fmt: skip


def _star(asked: Asked, colours: Ink) -> Any:
    import plotly.graph_objects as go

    plain = {"marker": {"opacity": 1}}
    return go.Scattergl(
        x=[asked.spot[0]], y=[asked.spot[1]], mode="markers", showlegend=False,
        text=[literal(asked.task)], hovertemplate="%{text}<extra></extra>",
        selected=plain, unselected=plain,
        marker={"symbol": "star", "size": 20, "color": colours.mark,
                "line": {"width": 1.5, "color": colours.page}},
    )  # fmt: skip


# -- beside it ------------------------------------------------------------------------------------


def hits(asked: Asked, laid: Map) -> None:
    """The hits in words, with a warning where the map misleads."""
    if not asked.lies:
        st.caption("Nothing is found for this task.")
        return
    if asked.far_off:
        many = len(asked.far_off)
        st.warning(
            f"{many} of {len(asked.lies)} hits {'lies' if many == 1 else 'lie'} far off on the map "
            "(⚠, dashed), though alike in meaning: two dimensions cannot keep every neighbour. "
            "Trust the similarity."
        )
    ids = tuple(lie.id for lie in asked.lies)
    with st.container(horizontal=True, gap="small"):
        st.button(f"Select the {len(ids)}", key="select-hits", on_click=_select, args=(ids,))
        st.button("Zoom to them", key="zoom-hits", on_click=map_view.ask_for,
                  args=(laid.projection.id, ids))  # fmt: skip
    with st.container(height=300, key="map-hits"):
        for hit, lie in zip(asked.found.hits, asked.lies, strict=True):
            st.caption(
                f"**{hit.rank}** {SYMBOLS[hit.memory.kind]} similarity **{lie.similarity:.2f}** · "
                f"{_place(lie)}"
            )
            show(hit.memory.text)


def _select(ids: tuple[int, ...]) -> None:
    selection.select(ids)
    map_table.look_at(map_table.SELECTED)


def _place(lie: RankDistortion) -> str:
    words = f"no. {lie.true_rank:,} by meaning, no. {lie.map_rank:,} on the map"
    return f"⚠ **{words}**" if lie.is_far_off else words
