"""One saved query: its hits with their grades, the ideal order beside; adding and deleting."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core import (
    MEASURES,
    Hit,
    MemoryCoreError,
    Quality,
    SavedQuery,
    Snapshot,
    ideal_order,
)
from pages.components import banks, judging, keys
from pages.components.frame import Desk
from pages.components.measuring import Form
from pages.components.quality_list import open_query
from pages.components.text import SYMBOLS, count, md, show

BEYOND = 5
"""Hits that are shown below the cut."""


def panel(desk: Desk, query: SavedQuery, quality: Quality, asked: Form) -> None:
    """The query's hits to be judged, and the order that would be best."""
    with st.container(border=True, key="opened-query"):
        show(query.task)
        about = f" · about {', '.join(md(name) for name in query.domains)}" if query.domains else ""
        st.caption(f"Saved query {query.id}{about} · {_numbers(query, quality, asked)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            _to_query(query, asked)
            _delete_button(desk, query)
        if not len(desk.snapshot):
            st.info("This revision has no memories, so nothing can be found.")
            return
        hits = _hits(desk, query, asked)
        left, right = st.columns([3, 2])
        with left:
            st.caption(judging.MEANING)
            for hit in hits:
                if hit.rank == asked.k + 1:
                    st.caption(f"── below the cut of {asked.k} ──")
                _hit(desk, query, hit)
        with right:
            _ideal(desk, query, hits)


def _numbers(query: SavedQuery, quality: Quality, asked: Form) -> str:
    found = next((one for one in quality.queries if one.query.id == query.id), None)
    if found is None:
        return "no memory is judged relevant yet, so it is not measured"
    names = {**{m: asked.name(m) for m in MEASURES}, "reciprocal_rank": "reciprocal rank"}
    return " · ".join(f"{names[m]} {getattr(found, m):.2f}" for m in MEASURES)


def _hits(desk: Desk, query: SavedQuery, asked: Form) -> tuple[Hit, ...]:
    deeper = replace(asked.settings, limit=asked.k + BEYOND)
    return desk.bank.retrieve(query.task, deeper, revision=desk.snapshot).hits


def _hit(desk: Desk, query: SavedQuery, hit: Hit) -> None:
    memory = hit.memory
    with st.container(border=True, key=f"judged-{hit.rank}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{hit.rank}** {SYMBOLS[memory.kind]} {hit.score:.2f}")
            judging.buttons(desk, query, memory.id)
        show(memory.text)


def _ideal(desk: Desk, query: SavedQuery, hits: tuple[Hit, ...]) -> None:
    """The relevant memories, best first, with the rank that each has."""
    ranks = {hit.memory.id: hit.rank for hit in hits}
    grades = query.grades_in(desk.snapshot)
    order = ideal_order(grades)
    st.caption(f"The ideal order · {count(len(order), 'relevant memory', 'relevant memories')}")
    for place, memory_id in enumerate(order, start=1):
        _judged(desk, query, memory_id, f"**{place}** grade {grades[memory_id]}", ranks)
    wrong = [i for i, grade in grades.items() if grade == 0 and i not in ranks]
    if wrong:
        with st.expander(f"Judged not relevant, and not among these hits ({len(wrong)})"):
            for memory_id in wrong:
                _judged(desk, query, memory_id, "grade 0", ranks)


def _judged(
    desk: Desk, query: SavedQuery, memory_id: int, head: str, ranks: dict[int, int]
) -> None:
    snapshot: Snapshot = desk.snapshot
    here = memory_id in snapshot
    rank = ranks.get(memory_id)
    where = f"is at rank {rank}" if rank else "is further down" if here else "is not in the bank"
    with st.container(border=True):
        st.markdown(f"{head} · {where}")
        if here:
            show(snapshot.by_id(memory_id).text)
        else:
            st.caption(f"Memory {memory_id} has left, or was not there yet: it counts as missed.")
        if rank is None:
            judging.buttons(desk, query, memory_id)


def _to_query(query: SavedQuery, asked: Form) -> None:
    st.page_link(
        "pages/query.py", label="Open in Query", icon="🔎",
        query_params={"task": query.task, **address_of(asked)},
    )  # fmt: skip


def address_of(asked: Form) -> dict[str, str]:
    """The settings of a form, as Query has them in its address."""
    return {
        "limit": str(asked.k),
        "weight": f"{asked.settings.confidence_weight:g}",
        "preset": "own",
        "words": f"{asked.settings.lexical_weight:g}",
    }


def _delete_button(desk: Desk, query: SavedQuery) -> None:
    with st.popover("Delete", disabled=desk.is_past, key="delete-query-menu"):
        judged = count(len(query.judgements), "judgement")
        st.markdown(
            "Queries and judgements are not under revisions: this cannot be undone. An export "
            "keeps them."
        )
        st.button(
            f"Delete this query and its {judged}", key="delete-query", type="primary",
            on_click=_delete, args=(desk, query.id),
        )  # fmt: skip


def _delete(desk: Desk, query_id: int) -> None:
    try:
        banks.writable(desk.bank).delete_query(query_id)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
    open_query(None)


def add_button(desk: Desk, asked: Form) -> None:
    """A new saved query; it opens, so that its hits can be judged."""
    with (
        st.popover("Add a query", icon="➕", disabled=desk.is_past, key="add-query-menu"),
        st.form("add-query", border=False, clear_on_submit=True),
    ):
        task = st.text_area(
            "Task", key="new-task", placeholder="What would an agent be about to do?", height=90
        )
        domains = st.multiselect(
            "About", list(desk.head.domain_counts()), key="new-domains", placeholder="no label",
            help="A label for you; it does not narrow the search.",
        )  # fmt: skip
        added = st.form_submit_button("Add this query", type="primary")
    if not added:
        return
    known = next((query.id for query in asked.queries if query.task == (task or "").strip()), None)
    if not (task or "").strip():
        st.warning("Write the task of the query first.")
        return
    try:
        with st.spinner("Saving; the first new text also loads the model", show_time=True):
            bank = banks.writable(desk.bank)
            open_query(known or bank.save_query(task.strip(), domains=domains))
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
    st.rerun()
