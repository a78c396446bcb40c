"""The saved queries with their measures, and what those are on the whole."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import MEASURES, Quality, QueryQuality, SavedQuery, ideal
from pages.components import keys
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.measuring import ABOUT, Form, between
from pages.components.text import count, md


def means(desk: Desk, quality: Quality, asked: Form) -> None:
    """Each measure's mean, how far it can be trusted, and what the ideal order would reach."""
    best = ideal(asked.queries, asked.k, snapshot=desk.snapshot)
    for column, measure in zip(st.columns(len(MEASURES)), MEASURES, strict=True):
        found = quality.mean(measure)
        with column:
            st.metric(asked.name(measure), f"{found.mean:.2f}", help=ABOUT[measure])
            st.caption(f"{between(found)} · ideal {best.mean(measure).mean:.2f}")
    judged = count(len(quality.queries), "query", "queries")
    places = sum(len(query.ranking) for query in quality.queries)
    unjudged = sum(query.unjudged for query in quality.queries)
    st.caption(
        f"Means over {judged}; 95 % of means over queries drawn anew lie within the interval. "
        f"{unjudged:,} of {count(places, 'hit')} {'is' if unjudged == 1 else 'are'} unjudged and "
        f"count as not relevant."
        + (f" {len(quality.skipped)} without a relevant memory are not measured."
           if quality.skipped else "")
    )  # fmt: skip


def table(desk: Desk, quality: Quality, asked: Form) -> None:
    """One row for each saved query; a tick opens it."""
    ids = [query.id for query in asked.queries]
    opened = opened_query(asked)
    frame = _frame(desk, quality, asked)
    key = f"saved-queries-{hash(tuple(ids))}"
    number = st.column_config.NumberColumn
    st.dataframe(
        frame,
        placeholder="",
        column_config={
            "id": number(width=45, format="%d"),
            "query": st.column_config.TextColumn("query", width=400),
            **{asked.name(measure): number(format="%.2f", help=ABOUT[measure])
               for measure in MEASURES},
            "at most": number(
                format="%.2f", help=f"Recall@{asked.k} of the ideal order: below 1 where more "
                "memories are relevant than hits count",
            ),
            "relevant": number(width=70, help="Memories that are judged 1 or more"),
            "unjudged": number(
                width=80, help=f"Of the first {asked.k} hits, those that nobody has judged"
            ),
        },
        height=min(38 + 35 * len(ids), 430),
        key=key,
        on_select=lambda: _open_chosen(key, ids),
        selection_mode="single-row",
        selection_default={
            "selection": {"rows": [ids.index(opened.id)] if opened is not None else []}
        },
        alt=f"{len(ids)} saved queries with their measures",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        if opened is None:
            st.caption("Tick a query to see its hits beside the ideal order, and to judge them.")
        table_downloads(frame, "quality")


def _frame(desk: Desk, quality: Quality, asked: Form) -> Any:
    import pandas as pd

    found = {one.query.id: one for one in quality.queries}
    ideals = ideal(asked.queries, asked.k, snapshot=desk.snapshot).queries
    best = {one.query.id: one.recall for one in ideals}
    rows = [_row(query, found.get(query.id), best.get(query.id), asked) for query in asked.queries]
    return pd.DataFrame(rows, index=pd.Index([query.id for query in asked.queries], name="id"))


def _row(
    query: SavedQuery, found: QueryQuality | None, best: float | None, asked: Form
) -> dict[str, Any]:
    values = {asked.name(m): None if found is None else getattr(found, m) for m in MEASURES}
    return {
        "query": query.task,
        **values,
        "at most": best,
        "relevant": len(query.relevant),
        "unjudged": None if found is None else found.unjudged,
    }


# -- the query that is open -----------------------------------------------------------------------


def opened_query(asked: Form) -> SavedQuery | None:
    """The query that is opened, by this session or by the address."""
    number = st.session_state.get(keys.ASKED)
    named = st.query_params.get(keys.ASKED)
    if number is None and named:
        if not (named.isdecimal() and any(str(query.id) == named for query in asked.queries)):
            st.warning(f"The address names saved query “{md(named, limit=20)}”, which is not here.")
            return None
        number = int(named)
    return next((query for query in asked.queries if query.id == number), None)


def open_query(number: int | None) -> None:
    """Show a query below the table, and say so in the address."""
    st.session_state[keys.ASKED] = number
    if number is None:
        st.query_params.pop(keys.ASKED, None)
    else:
        st.query_params[keys.ASKED] = str(number)


def _open_chosen(key: str, ids: list[int]) -> None:
    rows = st.session_state[key].selection.rows
    open_query(ids[rows[0]] if rows and rows[0] < len(ids) else None)
