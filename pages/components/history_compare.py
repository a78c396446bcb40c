"""What lies between any two revisions."""

from __future__ import annotations

import streamlit as st

from memory_core import Revision
from pages.components.frame import Desk
from pages.components.history_list import NEW, OLD, difference, revisions
from pages.components.plan_view import (
    CHANGED,
    COLOURS,
    VERBS,
    Entry,
    entries_between,
    show_entries,
    tally,
)
from pages.components.text import count, md

FULL = 25


def section(desk: Desk) -> None:
    """Two numbers, and each memory that differs, before and after."""
    head = int(desk.head.revision or 0)
    if not head:
        st.info("This bank has no revision yet, so there is nothing to compare.")
        return
    made = revisions(desk)
    with st.container(horizontal=True, vertical_alignment="bottom", key="compared"):
        old = _number("From revision", OLD, max(head - 1, 0), head)
        new = _number("to revision", NEW, head, head)
        st.button("Swap", key="swap-revisions", on_click=_swap, args=(old, new))
    for number in dict.fromkeys((old, new)):
        st.caption(f"{number}: {_about(made, number)}")
    if old == new:
        st.info("That is one and the same revision.")
        return
    with st.spinner("Comparing", show_time=True):
        found = entries_between(difference(desk, old, new))
    if not found:
        st.success("All memories are the same in both.")
        return
    st.markdown(tally(found))
    show_entries(_chosen(found), full=FULL, key=f"between-{old}-{new}")


def _number(label: str, key: str, default: int, head: int) -> int:
    """A revision's number, from 0, the empty bank, to the latest."""
    named = st.query_params.get(key)
    if named is not None and key not in st.session_state and not _is_there(named, head):
        st.warning(f"The address names revision “{md(named, limit=20)}”, which is not here.")
    value = st.number_input(
        label, 0, head, default, key=key, bind="query-params", width=150,
        help="0 is the empty bank.",
    )  # fmt: skip
    return default if value is None else int(value)


def _is_there(named: str, head: int) -> bool:
    return named.isdecimal() and int(named) <= head


def _swap(old: int, new: int) -> None:
    st.session_state[OLD], st.session_state[NEW] = new, old


def _about(made: tuple[Revision, ...], number: int) -> str:
    if number == 0:
        return "the empty bank"
    revision = made[number - 1]
    return (
        f"{revision.made_at:%Y-%m-%d %H:%M} UTC · {md(revision.actor, limit=40)} · "
        f"{md(revision.reason or revision.kind, limit=160)} · "
        f"{count(revision.size, 'memory', 'memories')}"
    )


def _chosen(found: list[Entry]) -> list[Entry]:
    """Those with the marks that are asked for; changes of the text stand before others."""
    marks = [mark for mark in COLOURS if any(entry.mark == mark for entry in found)]
    wanted = marks
    if len(marks) > 1:
        wanted = (
            st.pills(
                "Show", marks, selection_mode="multi", default=marks, key="marks",
                format_func=lambda mark: f"{md(mark)} {VERBS[mark]}", label_visibility="collapsed",
            )
            or []
        )  # fmt: skip
    text_first = [
        entry
        for entry in found
        if entry.mark != CHANGED or (entry.before and entry.before.text != entry.memory.text)
    ]
    rest = [entry for entry in found if entry not in text_first]
    return [entry for entry in (*text_first, *rest) if entry.mark in wanted]
