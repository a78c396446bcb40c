"""Two states of the bank on the same coordinates: what stays, goes, comes and is merged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import Map, MapDifference, MapState, Plan, Snapshot, map_difference
from pages.components import banks
from pages.components.export import as_csv
from pages.components.frame import Desk
from pages.components.map_figure import CONFIG, buttons, plain_layout
from pages.components.map_hover import TEMPLATE, literal
from pages.components.map_ink import Ink, ink
from pages.components.map_scene import whole
from pages.components.text import SYMBOLS, count

HEIGHT = 560


@dataclass(frozen=True)
class _Look:
    """How one state is drawn."""

    sign: str
    colour: str
    mark: str
    size: int
    before: bool
    after: bool


LOOKS: dict[MapState, _Look] = {
    "kept": _Look("=", "#9AA4B5", "circle", 6, True, True),
    "changed": _Look("~", "#B7791F", "diamond", 6, True, True),
    "dropped": _Look("−", "#D64545", "x", 9, True, False),
    "merged": _Look("⋈", "#8E5BD0", "hexagram", 10, True, False),
    "added": _Look("+", "#2F9E58", "cross", 10, False, True),
}
"""Signs and colours of plans; each state has a mark of its own, too."""


def show(
    desk: Desk,
    before: Snapshot,
    after: Snapshot | Plan,
    *,
    arrows: Sequence[tuple[int, int]] = (),
    key: str = "map-difference",
) -> None:
    """The map of `before` and `after`, either of which may be a plan's snapshot.

    `arrows` are pairs of ids: from what goes to what takes its place, such as each dropped memory
    and its nearest that stays. Merged memories have theirs by themselves. `key` tells two such
    maps on one page apart. Says so, and shows nothing, where the bank has no map yet.
    """
    laid = desk.bank.map(before)
    if laid is None:
        st.info("This bank has no map yet.")
        st.page_link("pages/map.py", label="Fit one", icon="🗺️")
        return
    later = after.after if isinstance(after, Plan) else after
    name = (str(desk.bank.path), laid.projection.id, _digest(before), _digest(later),
            tuple(arrows))  # fmt: skip
    found = _difference(name, laid, later)
    st.markdown(in_words(found))
    dark = st.context.theme.type == "dark"
    pairs = (*arrows, *_merges(found))
    made = _figure((name, dark), lambda: _drawn(found, pairs, ink(dark=dark)))
    st.plotly_chart(made, key=key, config=CONFIG, alt=f"Map, before and after: {in_words(found)}")
    with st.expander("As a table"):
        _table(found, pairs, key)


def _digest(snapshot: Snapshot) -> str:
    """Tells the content of a bank's snapshot, which as a plan's has no number, from any other."""
    digest = hashlib.blake2b(digest_size=16)
    for column in snapshot.columns:
        digest.update(column.tobytes())
    return digest.hexdigest()


@st.cache_resource(show_spinner=False, max_entries=6)
def _difference(name: object, _laid: Map, _after: Snapshot) -> MapDifference:
    return map_difference(_laid, _after)


@st.cache_resource(show_spinner=False, max_entries=6)
def _figure(name: object, _draw: Callable[[], Any]) -> Any:
    return _draw()


def in_words(found: MapDifference) -> str:
    """`+3 added · −2 dropped · 310 kept`."""
    counts = found.counts
    signs = {"dropped": "−", "added": "\\+", "merged": "⋈ ", "changed": "~ ", "kept": ""}
    parts = [f"{sign}{counts[state]:,} {state}" for state, sign in signs.items()
             if counts[state] or state == "kept"]  # type: ignore[index]  # fmt: skip
    return " · ".join(parts)


def _merges(found: MapDifference) -> tuple[tuple[int, int], ...]:
    rows = np.flatnonzero(found.into).tolist()
    return tuple((int(found.ids[row]), int(found.into[row])) for row in rows)


# -- the figure -----------------------------------------------------------------------------------


def _drawn(found: MapDifference, pairs: Sequence[tuple[int, int]], colours: Ink) -> Any:
    import plotly.graph_objects as go

    states = np.array(found.states, dtype=object)
    traces = [_state(found, states, state, look, colours) for state, look in LOOKS.items()]
    arrows = _arrows(found, pairs, colours)
    total = {state: int(np.count_nonzero(states == state)) for state in LOOKS}
    for trace, (state, look) in zip(traces, LOOKS.items(), strict=True):
        trace.name = f"{look.sign} {state}  {total[state]:,}"
        trace.showlegend = total[state] > 0
    layout = plain_layout(whole(_all(found)), colours, HEIGHT)
    layout["updatemenus"] = [_toggle(len(arrows), colours)]
    layout["legend"] = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "top",
                        "bgcolor": "rgba(0,0,0,0)", "font": {"color": colours.text}}  # fmt: skip
    return go.Figure(data=[*traces, *arrows], layout=layout)


def _all(found: MapDifference) -> NDArray[np.float64]:
    return found.positions if len(found) else np.zeros((1, 2))


def _state(
    found: MapDifference, states: NDArray[Any], state: MapState, look: _Look, colours: Ink
) -> Any:
    import plotly.graph_objects as go

    rows = np.flatnonzero(states == state)
    faint = state in ("kept", "changed")
    return go.Scattergl(
        x=found.positions[rows, 0].astype(np.float32),
        y=found.positions[rows, 1].astype(np.float32),
        mode="markers", text=[_hover(found, row, look) for row in rows.tolist()],
        hovertemplate=TEMPLATE,
        marker={"symbol": look.mark, "size": look.size, "color": look.colour,
                "opacity": 0.55 if faint else 0.95,
                "line": {"width": 0.0 if faint else 0.6, "color": colours.page}},
    )  # fmt: skip


def _hover(found: MapDifference, row: int, look: _Look) -> str:
    memory_id = int(found.ids[row])
    side = found.after if memory_id in found.after.snapshot else found.before
    memory = side.snapshot.by_id(memory_id)
    state = found.states[row]
    heir = int(found.into[row])
    into = f" into memory {heir}" if heir > 0 else " into a new memory" if heir else ""
    return (
        f"<b>{look.sign} {state}{into}</b><br>{literal(memory.text)}<br><br>"
        f"{SYMBOLS[memory.kind]} {memory.kind} · {literal(memory.domain)} · "
        f"confidence {memory.confidence:.2f}"
    )


def _arrows(found: MapDifference, pairs: Sequence[tuple[int, int]], colours: Ink) -> list[Any]:
    """Lines from what goes to what takes its place, with a dot at the end that stays."""
    import plotly.graph_objects as go

    if not pairs:
        return []
    row_of = {int(memory_id): row for row, memory_id in enumerate(found.ids.tolist())}
    known = [(row_of[a], row_of[b]) for a, b in pairs if a in row_of and b in row_of]
    x: list[float | None] = []
    y: list[float | None] = []
    for a, b in known:
        (x0, y0), (x1, y1) = found.positions[a].tolist(), found.positions[b].tolist()
        x += [x0, x1, None]
        y += [y0, y1, None]
    ends = found.positions[[b for _, b in known]] if known else np.empty((0, 2))
    return [
        go.Scattergl(
            x=x, y=y, mode="lines", hoverinfo="skip", name="→ what takes its place",
            line={"color": colours.soft, "width": 1}, opacity=0.7, legendgroup="arrows",
        ),
        go.Scattergl(
            x=ends[:, 0], y=ends[:, 1], mode="markers", hoverinfo="skip", showlegend=False,
            legendgroup="arrows",
            marker={"symbol": "circle-open", "size": 11, "color": colours.soft},
        ),
    ]  # fmt: skip


def _toggle(arrows: int, colours: Ink) -> dict[str, Any]:
    """Both, before, after: nothing moves, only what is not there is taken away."""
    looks = list(LOOKS.values())
    sides = {
        "Both": [True] * (len(looks) + arrows),
        "Before": [look.before for look in looks] + [False] * arrows,
        "After": [look.after for look in looks] + [False] * arrows,
    }
    made = [
        {"label": label, "method": "restyle", "args": [{"visible": shown}]}
        for label, shown in sides.items()
    ]
    return buttons(made, colours)


# -- the table ------------------------------------------------------------------------------------


def _table(found: MapDifference, pairs: Sequence[tuple[int, int]], key: str) -> None:
    import pandas as pd

    to = dict(pairs)
    rows = [row for row, state in enumerate(found.states) if state != "kept"]
    if not rows:
        st.caption("Nothing differs.")
        return
    memories = []
    for row in rows:
        memory_id = int(found.ids[row])
        side = found.after if memory_id in found.after.snapshot else found.before
        memories.append(side.snapshot.by_id(memory_id))
    frame = pd.DataFrame(
        {
            "state": [f"{LOOKS[found.states[r]].sign} {found.states[r]}" for r in rows],
            "kind": [SYMBOLS[memory.kind] for memory in memories],
            "text": [memory.text for memory in memories],
            "domain": [memory.domain for memory in memories],
            "confidence": [memory.confidence for memory in memories],
            "to": [to.get(memory.id) for memory in memories],
        },
        index=pd.Index([memory.id for memory in memories], name="id"),
    )
    st.dataframe(
        frame, height=300, placeholder="", key=f"{key}-table",
        column_config={
            "kind": st.column_config.TextColumn("", width=36),
            "text": st.column_config.TextColumn(width=480),
            "confidence": st.column_config.NumberColumn(format="%.2f"),
            "to": st.column_config.NumberColumn("→", format="%d", help="What takes its place"),
        },
        alt=f"{count(len(rows), 'memory', 'memories')} that differ",
    )  # fmt: skip
    st.download_button("CSV", lambda: as_csv(frame), "difference.csv", "text/csv",
                       key=f"{key}-csv")  # fmt: skip


# -- two revisions --------------------------------------------------------------------------------


def two_revisions(desk: Desk) -> None:
    """Any revision beside any other, or beside what Review would make of the latest."""
    latest = int(desk.head.revision or 0)
    waiting = banks.pending(str(desk.bank.path), desk.signature, desk.bank)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = _revision("Before: revision", "earlier", max(latest - 1, 0), latest)
        planned = bool(waiting) and st.toggle(
            f"After: the {count(waiting, 'waiting proposal')} accepted", key="planned",
            bind="query-params", help="What is refused of them is left out.",
        )  # fmt: skip
        if not planned:
            second = _revision("After: revision", "later", latest, latest)
    if planned:
        with st.spinner("Planning the waiting proposals", show_time=True):
            after = banks.with_proposals(str(desk.bank.path), desk.signature, desk.bank)
        show(desk, desk.bank.snapshot(first), after)
        return
    if first == second:
        st.info("A revision does not differ from itself; choose another one.")
        return
    show(desk, desk.bank.snapshot(first), desk.bank.snapshot(second))


def _revision(label: str, key: str, value: int, latest: int) -> int:
    chosen = st.number_input(
        label, 0, max(latest, 1), value, step=1, key=key, bind="query-params", width=150
    )
    return min(value if chosen is None else int(chosen), latest)
