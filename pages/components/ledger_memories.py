"""What each memory did in the retrievals of the ledger, and how its confidence moved."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import MemoryUse, Snapshot, memory_uses
from pages.components import selection
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.ledger_table import Rows, made_at, turned_out
from pages.components.sparkline import curves, in_words
from pages.components.text import count, md, show

ALONG = "ride along and never help"


def section(desk: Desk, rows: Rows) -> None:
    """A row for each memory that was ever a hit; the one that is chosen stands below."""
    uses = sorted(memory_uses(rows), key=lambda use: (-use.retrieved, use.memory_id))
    riding = [use for use in uses if use.rides_along]
    only = st.toggle(
        f"Only those that {ALONG} ({len(riding):,})", key="riding", bind="query-params",
        help="Three times or more among the hits of a session with an outcome, and never applied "
        "in one that improved. They take a place from others.",
    )  # fmt: skip
    shown = riding if only else uses
    if not shown:
        st.info("No memory rides along without ever helping, as far as outcomes are recorded.")
        return
    st.caption(f"{count(len(shown), 'memory', 'memories')} · choose one to see its outcomes")
    number = st.column_config.NumberColumn
    event = st.dataframe(
        _frame(desk.snapshot, shown), hide_index=True, placeholder="", height=360,
        on_select="rerun",
        selection_mode="single-row", key=f"uses-{desk.signature}-{only}",
        column_config={
            "text": st.column_config.TextColumn(width=460),
            "confidence": number(format="%.2f"),
            "with outcome": number(help="Retrievals of it whose outcome is recorded"),
            "improved": number(help="Of those, the sessions that improved, applied or not"),
            "helped": number(help="Sessions that applied it and improved"),
        },
        alt="Memories with their use in the ledger",
    )  # fmt: skip
    table_downloads(lambda: _frame(desk.snapshot, shown), "memory-use")
    if event.selection.rows:
        _one(desk, shown[event.selection.rows[0]].memory_id, rows)


def _frame(snapshot: Snapshot, uses: list[MemoryUse]) -> Any:
    import pandas as pd

    here = [snapshot.by_id(u.memory_id) if u.memory_id in snapshot else None for u in uses]
    return pd.DataFrame(
        {
            "text": [memory.text if memory else "(no longer in the bank)" for memory in here],
            "confidence": pd.array([m.confidence if m else None for m in here], dtype="Float64"),
            "retrieved": [use.retrieved for use in uses],
            "with outcome": [use.with_outcome for use in uses],
            "improved": [use.in_improved for use in uses],
            "applied": [use.applied for use in uses],
            "helped": [use.helped for use in uses],
            "": [f"{ALONG}" if use.rides_along else "" for use in uses],
            "id": [use.memory_id for use in uses],
        }
    )


def _one(desk: Desk, memory_id: int, rows: Rows) -> None:
    points = curves(desk, [memory_id]).get(memory_id, ())
    with st.container(border=True, key="memory-outcomes"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Memory {memory_id} · {in_words(points)}")
            if memory_id in desk.snapshot and st.button("Open in Browse", type="tertiary"):
                selection.open_memory(memory_id)
                st.switch_page("pages/browse.py", query_params={"memory": str(memory_id)})
        if memory_id in desk.snapshot:
            show(desk.snapshot.by_id(memory_id).text)
        left, right = st.columns(2)
        with left:
            _curve(points)
        with right:
            _outcomes(memory_id, rows)


def _curve(points: Any) -> None:
    import pandas as pd

    if len(points) < 2:
        st.caption("Its confidence has not moved yet.")
        return
    curve = pd.DataFrame(
        {"session": [p.epoch for p in points], "confidence": [p.confidence for p in points]}
    )
    st.line_chart(curve.groupby("session").last(), height=220, y_label="confidence at its end",
                  x_label="session")  # fmt: skip


def _outcomes(memory_id: int, rows: Rows) -> None:
    mine = [(row, hit) for row in rows for hit in row.hits if hit.memory_id == memory_id]
    for row, hit in mine[:20]:
        applied = ", applied" if hit.applied else ", not applied"
        applied = applied if row.has_outcome else ""
        st.markdown(
            f"session {row.epoch} · rank {hit.rank}{applied} · **{turned_out(row)}** · "
            f"{made_at(row.made_at_us):%Y-%m-%d} · {md(row.task, limit=90)}"
        )
    if len(mine) > 20:
        st.caption(f"… and {len(mine) - 20} earlier")
