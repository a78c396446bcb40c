"""The list of revisions, its filters, and the one that is chosen, in full."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import Diff, MemoryBank, Revision
from pages.components import edit_draft, keys
from pages.components.export import table_downloads
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.plan_view import entries_between, show_entries, tally
from pages.components.text import count, md

OLD, NEW = "from", "to"
"""Names of the two revisions that are compared, in the address."""


@st.cache_data(show_spinner=False, max_entries=4)
def _revisions(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[Revision, ...]:
    return _bank.revisions()


def revisions(desk: Desk) -> tuple[Revision, ...]:
    """All revisions of the bank, oldest first, whichever is looked at."""
    return _revisions(str(desk.bank.path), desk.signature, desk.bank)


@st.cache_resource(show_spinner=False, max_entries=16)
def _difference(
    path: str, signature: tuple[int, ...], old: int, new: int, _bank: MemoryBank
) -> Diff:
    return _bank.diff(old, new)


def difference(desk: Desk, old: int, new: int) -> Diff:
    """What distinguishes two revisions, made once."""
    return _difference(str(desk.bank.path), desk.signature, old, new, desk.bank)


def section(desk: Desk) -> None:
    """The revisions, the newest first; the chosen one stands beside them."""
    made = revisions(desk)
    if not made:
        st.subheader("Nothing has happened yet")
        st.markdown(
            "The first memory that is added makes revision 1. To look around first, open the "
            "**demo library** from the bank's menu above."
        )
        return
    shown = _filtered(made)
    st.caption(f"{len(shown):,} of {count(len(made), 'revision')} · choose one to see what it did")
    if not shown:
        st.subheader("No revision matches")
        st.button("Clear filters", key="clear-history", on_click=_clear, type="primary")
        return
    opened = _opened(made)
    main, side = st.columns([3, 2]) if opened else (st.container(), None)
    with main:
        _table(desk, shown, opened)
    if opened and side is not None:
        with side, st.container(border=True, key="revision-detail"):
            one(desk, opened)


# -- filters --------------------------------------------------------------------------------------


def _filtered(made: tuple[Revision, ...]) -> list[Revision]:
    kinds = list(dict.fromkeys(revision.kind for revision in made))
    actors = list(dict.fromkeys(revision.actor for revision in made))
    say_if_unknown("change", kinds)
    say_if_unknown("by", actors)
    with st.container(horizontal=True, vertical_alignment="center", key="history-filters"):
        words = st.text_input(
            "Search in reasons", key="reason", placeholder="Search in reasons", icon="🔍",
            label_visibility="collapsed", live="300ms", bind="query-params", width=280,
        )  # fmt: skip
        chosen = st.multiselect(
            "Kind of change", kinds, key="change", bind="query-params", width=260,
            placeholder="Kind of change", label_visibility="collapsed",
        )  # fmt: skip
        by = st.multiselect(
            "By whom", actors, key="by", bind="query-params", width=240,
            placeholder="By whom", label_visibility="collapsed",
        )  # fmt: skip
    wanted = (words or "").casefold().split()
    return [
        revision
        for revision in reversed(made)
        if (not chosen or revision.kind in chosen)
        and (not by or revision.actor in by)
        and all(word in revision.reason.casefold() for word in wanted)
    ]


def _clear() -> None:
    st.session_state["reason"] = ""
    st.session_state["change"] = []
    st.session_state["by"] = []


# -- the table ------------------------------------------------------------------------------------


def _table(desk: Desk, shown: list[Revision], opened: Revision | None) -> None:
    numbers = [revision.number for revision in shown]
    frame = frame_of(shown)
    # Keyed by what it shows: a kept selection would else point at another revision.
    key = f"revisions-{hash(tuple(numbers))}"
    small = st.column_config.NumberColumn
    st.dataframe(
        frame,
        column_config={
            "revision": small(width=70, format="%d"),
            "made at": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=130),
            "kind": st.column_config.TextColumn(width=95),
            "reason": st.column_config.TextColumn(width=250 if opened else 420),
            "actor": st.column_config.TextColumn(width=90),
            "+": small(width=50, format="localized", help="Memories added"),
            "~": small(width=50, format="localized", help="Memories changed"),
            "−": small(width=50, format="localized", help="Memories removed"),
            "size": small("memories", width=80, format="localized", help="In the bank after it"),
            "session": small(width=70, help="After it"),
        },
        column_order=(
            ("revision", "kind", "reason", "+", "~", "−", "actor") if opened else None
        ),
        height=min(38 + 35 * len(shown), 560),
        key=key,
        on_select=lambda: _open_chosen(key, numbers),
        selection_mode=["single-row", "single-cell"],
        selection_default={
            "selection": {
                "rows": [numbers.index(opened.number)]
                if opened and opened.number in numbers
                else []
            }
        },
        alt=f"{len(shown)} revisions with what they changed",
    )  # fmt: skip
    table_downloads(frame, "revisions")


def frame_of(shown: list[Revision]) -> Any:
    """A data frame of revisions; its index is their numbers."""
    import pandas as pd

    return pd.DataFrame(
        {
            "made at": [revision.made_at for revision in shown],
            "kind": [revision.kind for revision in shown],
            "reason": [revision.reason for revision in shown],
            "+": [revision.added for revision in shown],
            "~": [revision.changed for revision in shown],
            "−": [revision.removed for revision in shown],
            "size": [revision.size for revision in shown],
            "session": [revision.epoch for revision in shown],
            "actor": [revision.actor for revision in shown],
        },
        index=pd.Index([revision.number for revision in shown], name="revision"),
    )


def _open_chosen(key: str, numbers: list[int]) -> None:
    chosen = st.session_state[key].selection
    rows = list(chosen.rows) or [cell[0] for cell in chosen.cells]
    open_revision(numbers[rows[0]] if rows and rows[0] < len(numbers) else None)


def open_revision(number: int | None) -> None:
    """Show a revision beside the list, and say so in the address."""
    st.session_state[keys.OPENED_REVISION] = number
    if number is None:
        st.query_params.pop(keys.OPENED_REVISION, None)
    else:
        st.query_params[keys.OPENED_REVISION] = str(number)


def _opened(made: tuple[Revision, ...]) -> Revision | None:
    number = st.session_state.get(keys.OPENED_REVISION)
    named = st.query_params.get(keys.OPENED_REVISION)
    if number is None and named:
        if not (named.isdecimal() and 1 <= int(named) <= len(made)):
            st.warning(f"The address names revision “{md(named, limit=20)}”, which is not here.")
            return None
        number = int(named)
    return made[number - 1] if number is not None and number <= len(made) else None


# -- one revision ---------------------------------------------------------------------------------


def one(desk: Desk, revision: Revision) -> None:
    """Who made it, when and why, what it changed, and the ways back."""
    number = revision.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Revision {number}** of {desk.head.revision}")
        st.button("Close", key="close-revision", type="tertiary", on_click=open_revision,
                  args=(None,))  # fmt: skip
    st.caption(
        f"{md(revision.kind)} · {md(revision.actor, limit=60)} · "
        f"{revision.made_at:%Y-%m-%d %H:%M} UTC · session {revision.epoch} · "
        f"{count(revision.size, 'memory', 'memories')} after it"
    )
    if revision.reason:
        st.markdown(md(revision.reason))
    _ways(desk, number)
    found = entries_between(difference(desk, number - 1, number))
    if not found:
        st.caption("It changed no memory.")
        return
    st.markdown(tally(found))
    show_entries(found, full=8, key=f"revision-{number}")


def _ways(desk: Desk, number: int) -> None:
    is_latest = number == desk.head.revision
    with st.container(horizontal=True, gap="small", key="revision-ways"):
        st.button(
            "Look at this revision", key="look-at", on_click=look_at, args=(number,),
            disabled=number == desk.snapshot.revision,
            help="Read-only, on every page, until you go back to the latest.",
        )  # fmt: skip
        st.button(
            f"Undo revision {number}", key="undo-revision", disabled=desk.is_past,
            on_click=edit_draft.begin, args=(desk, "undo", (number,)),
            help="As a new revision, which is shown first. What has changed again since stays.",
        )  # fmt: skip
        st.button(
            f"Return to revision {number}", key="restore-revision",
            disabled=desk.is_past or is_latest,
            on_click=edit_draft.begin, args=(desk, "restore", (number,)),
            help="Brings all memories back to how they were then, as a new revision, which is "
            "shown first.",
        )  # fmt: skip
        st.button(
            "Compare with the latest", key="compare-revision", type="tertiary",
            disabled=is_latest, on_click=compare, args=(number, desk.head.revision),
        )  # fmt: skip


def look_at(number: int) -> None:
    """Show a revision on every page, read-only; to be called in a callback."""
    st.session_state[keys.REVISION] = number


def compare(old: int, new: int) -> None:
    """Show what lies between two revisions; to be called in a callback."""
    st.session_state["history"] = "Compare two"
    st.session_state[OLD] = old
    st.session_state[NEW] = new
