"""The retrievals of the ledger, and one of them in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from memory_core import MemoryBank, RecordedRetrieval, SettingsError, Snapshot
from pages.components import keys, outcome, query_form
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.text import count, md, show

Rows = tuple[RecordedRetrieval, ...]


@st.cache_data(show_spinner=False, max_entries=8)
def _recorded(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> Rows:
    return _bank.retrievals()


def recorded(desk: Desk) -> Rows:
    """The ledger up to the revision that is looked at, the newest first."""
    rows = _recorded(str(desk.bank.path), desk.signature, desk.bank)
    until = desk.snapshot.revision or 0
    return tuple(_as_of(row, until) for row in reversed(rows) if row.revision <= until)


def _as_of(row: RecordedRetrieval, revision: int) -> RecordedRetrieval:
    """A row as it stood then: without the outcome that a later revision recorded."""
    if row.taken_back is not None and row.taken_back > revision:
        row = replace(row, taken_back=None)
    if row.outcome_revision is None or row.outcome_revision <= revision:
        return row
    hits = tuple(replace(hit, applied=False) for hit in row.hits)
    return replace(
        row, hits=hits, improved=None, reward=None, outcome_revision=None, taken_back=None
    )


def turned_out(row: RecordedRetrieval) -> str:
    said = {None: "no outcome yet", True: "improved", False: "not improved"}[row.improved]
    return said if row.taken_back is None else f"{said}, taken back"


def made_at(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, tz=UTC)


def section(desk: Desk, rows: Rows) -> None:
    """The table; a row that is chosen stands below it in full."""
    known = [bool(row.improved) for row in rows if row.has_outcome]
    words = [count(len(rows), "retrieval"), f"{len(known):,} with an outcome"]
    if known:
        words.append(f"{sum(known) / len(known):.0%} of those improved")
    st.caption(" · ".join(words) + " · choose a row to see it in full")
    event = st.dataframe(
        _frame(rows), hide_index=True, height=360, on_select="rerun",
        selection_mode="single-row", key=f"ledger-{desk.signature}-{len(rows)}",
        column_config={
            "made at": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=130),
            "task": st.column_config.TextColumn(width=520),
            "outcome": st.column_config.TextColumn(width=110),
        },
        alt=f"{len(rows)} recorded retrievals",
    )  # fmt: skip
    table_downloads(lambda: _frame(rows), "retrievals")
    if event.selection.rows:
        st.query_params.pop(keys.RETRIEVAL, None)
        _one(desk, rows[event.selection.rows[0]])
    elif named := st.query_params.get(keys.RETRIEVAL):
        _named(desk, rows, named)
    if st.session_state.pop(keys.TO_QUERY, False):
        st.switch_page("pages/query.py", query_params={})


def _named(desk: Desk, rows: Rows, retrieval_id: str) -> None:
    """The row that a link has led to."""
    found = [row for row in rows if row.id == retrieval_id]
    if found:
        _one(desk, found[0])
    else:
        st.warning(f"The address names retrieval “{md(retrieval_id, limit=40)}”, not among these.")


def _frame(rows: Rows) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "made at": [made_at(row.made_at_us) for row in rows],
            "task": [row.task for row in rows],
            "outcome": [turned_out(row) for row in rows],
            "hits": [len(row.hits) for row in rows],
            "applied": [sum(hit.applied for hit in row.hits) for row in rows],
            "reward": pd.array([row.reward for row in rows], dtype="Float64"),
            "session": [row.epoch for row in rows],
            "revision": [row.revision for row in rows],
            "actor": [row.actor for row in rows],
        }
    )


def _one(desk: Desk, row: RecordedRetrieval) -> None:
    with st.container(border=True, key="retrieval"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"{turned_out(row)} · session {row.epoch} · revision {row.revision} · "
                f"{md(row.actor, limit=40)} · {_settings(row)}"
            )
            st.button(
                "Open in Query", key="open-in-query", on_click=_open, args=(row, desk.head),
                help="The same task, settings and revision.",
            )  # fmt: skip
        show(row.task)
        left, right = st.columns([3, 2])
        with left:
            _hits(desk, row)
            if not row.has_outcome and not desk.is_past:
                ranks = {hit.memory_id: str(hit.rank) for hit in row.hits}
                outcome.form(desk.bank, row.id, ranks)
        with right:
            st.caption("Injected then")
            st.code(row.injection, language=None, wrap_lines=True)


def _settings(row: RecordedRetrieval) -> str:
    told = [f"{name.replace('_', ' ')} {value}" for name, value in row.settings.items() if value]
    return md(", ".join(told), limit=160)


def _hits(desk: Desk, row: RecordedRetrieval) -> None:
    import pandas as pd

    then = desk.bank.snapshot(row.revision)
    frame = pd.DataFrame(
        {
            "rank": [hit.rank for hit in row.hits],
            "score": [hit.score for hit in row.hits],
            "applied": ["yes" if hit.applied else "" for hit in row.hits],
            "text": [_text(then, hit.memory_id) for hit in row.hits],
            "id": [hit.memory_id for hit in row.hits],
        }
    )
    score = st.column_config.NumberColumn(format="%.2f")
    st.dataframe(frame, hide_index=True, column_config={"score": score})
    table_downloads(frame, "recorded-hits")


def _text(snapshot: Snapshot, memory_id: int) -> str:
    return snapshot.by_id(memory_id).text if memory_id in snapshot else "(gone)"


def _open(row: RecordedRetrieval, head: Snapshot) -> None:
    """Fill the form of Query; the page is opened in the run that follows."""
    revision = None if row.revision == head.revision else row.revision
    try:
        query_form.fill(row.task, row.settings, revision)
    except (SettingsError, TypeError) as error:
        st.session_state[keys.NOTICE] = f"This row's settings are not known here: {error}"
        return
    st.session_state["look"] = "Hits"
    st.session_state[keys.TO_QUERY] = True
