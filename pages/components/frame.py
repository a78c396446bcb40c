"""What stands on every page: which bank and revision this is, and the way back."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Revision, RevisionNotFoundError, Snapshot
from pages.components import banks, keys, news
from pages.components.bank_menu import bank_menu
from pages.components.navigation import ensure_frame
from pages.components.text import count, md

HELD = 0.5
"""Seconds in which a second Undo is taken for the same one."""


@dataclass(frozen=True)
class Desk:
    """The bank on the desk, at the revision that is looked at."""

    bank: MemoryBank
    snapshot: Snapshot
    head: Snapshot
    name: str
    capacity: int
    signature: tuple[int, ...]

    @property
    def is_past(self) -> bool:
        return self.snapshot.revision != self.head.revision


def open_desk() -> Desk:
    """The desk of this session; where it cannot be opened, the page says why and ends."""
    ensure_frame()
    try:
        bank = banks.current()
        if bank is None:
            _no_bank()
            st.stop()
        head = bank.snapshot()
        signature = bank.signature()
        name, capacity = banks.capacity(str(bank.path), signature, bank)
        snapshot = _looked_at(bank, head)
    except MemoryCoreError as error:
        _cannot_open(error)
        st.stop()
    return Desk(bank, snapshot, head, name, capacity, signature)


def _looked_at(bank: MemoryBank, head: Snapshot) -> Snapshot:
    # The widget, once it is there, knows better than an address that it has yet to correct.
    named = st.query_params.get(keys.REVISION) or None
    wanted = st.session_state.get(keys.REVISION, named)
    if wanted is None:
        return head
    try:
        return bank.snapshot(int(wanted))
    except (RevisionNotFoundError, ValueError):
        st.session_state[keys.NOTICE] = (
            f"There is no revision {str(wanted)[:20]}; the latest, {head.revision}, is shown."
        )
        return head


# Streamlit leaves 6 rem above the first line, which no setting takes away; a desk has no lobby.
_CLOSER = "<style>[data-testid=stMainBlockContainer] {padding-top: 4rem}</style>"


def header(desk: Desk) -> None:
    """The status line, what has gone wrong, and the banner of a past revision."""
    st.html(_CLOSER)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="status-line"):
        with st.popover(md(desk.name, limit=40), icon="🗄️", key="bank-menu"):
            bank_menu(desk.bank)
        with st.popover(f"Revision {desk.snapshot.revision}", key="revision-menu"):
            st.number_input(
                "Look at revision",
                value=None,
                step=1,
                key=keys.REVISION,
                bind="query-params",
                placeholder=f"latest ({desk.head.revision})",
                help="Everything on every page is then shown as it was, read-only.",
            )
        waiting = banks.pending(str(desk.bank.path), desk.signature, desk.bank)
        st.markdown(_status(desk, waiting))
        if waiting:
            words = f"{count(waiting, 'proposal')} to review"
            st.page_link("pages/review.py", label=words, width="content")
        size, full = len(desk.snapshot), desk.capacity
        over = size > full
        st.badge(
            f"{size:,} / {full:,}" + (f" · {size - full:,} over capacity" if over else ""),
            color="orange" if over else "gray",
            help="Memories in the bank, and the size above which compression has something to do.",
        )
        if not desk.is_past:
            news.watch(desk.bank, desk.signature, int(desk.head.revision or 0), waiting)
    _show_notice()
    if desk.is_past:
        _past_banner(desk)


def _status(desk: Desk, waiting: int) -> str:
    kinds = desk.snapshot.kind_counts()
    words = [
        f"session {desk.snapshot.epoch}",
        f"◆ {kinds['strategic']:,} strategic",
        f"● {kinds['procedural']:,} procedural",
        f"■ {kinds['tool']:,} tool",
    ]
    return " · ".join(words if waiting else [*words, "0 proposals to review"])


def _past_banner(desk: Desk) -> None:
    number = int(desk.snapshot.revision or 0)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.badge("Read-only", icon="🔒", color="orange")
        st.markdown(f"**Revision {number}** of {desk.head.revision}" + _about(desk, number))
        st.button("Back to latest", on_click=_back, type="primary")


def _about(desk: Desk, number: int) -> str:
    if number == 0:
        return " · the empty bank"
    made = desk.bank.revision(number)
    return f" · {made.made_at:%Y-%m-%d %H:%M} UTC · {md(made.actor)} · {md(made.reason, limit=120)}"


def _back() -> None:
    st.session_state[keys.REVISION] = None


# -- the bar of what was done ---------------------------------------------------------------------


def note(revision: Revision, sentence: str) -> None:
    """Say in the bar what a revision did, until the next change."""
    st.session_state[keys.MADE] = (revision.number, sentence)


def footer(desk: Desk) -> None:
    """The bar of what was done last, with Undo."""
    made = st.session_state.get(keys.MADE)
    if not made:
        return
    number, sentence = made
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="undo-bar"):
        st.markdown(f"**Revision {number}** · {md(sentence, limit=160)}")
        st.button("Undo", key="undo", on_click=undo, args=(desk.bank, number))
        st.button("Dismiss", key="dismiss-undo", type="tertiary", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state.pop(keys.MADE, None)


def undo(bank: MemoryBank, number: int) -> None:
    """Take back what the bar tells of; the second click of a double one is not another wish."""
    made = st.session_state.get(keys.MADE)
    again = time.monotonic() - st.session_state.get(keys.UNDONE_AT, -HELD) < HELD
    if again or (made and made[0] != number):
        return
    try:
        desk = banks.writable(bank)
        revision = desk.commit(desk.plan_undo(number))
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.session_state[keys.UNDONE_AT] = time.monotonic()
    note(revision, f"Took revision {number} back")


def _no_bank() -> None:
    _show_notice()
    st.header("No bank is open yet")
    st.markdown(
        "A *bank* is one file with all that your agents learned, and every change it went through."
        f" There is none at {md(str(banks.current_path()))}. Build the demo library to look "
        "around, or open a bank of your own."
    )
    with st.container(width=520):
        bank_menu(None)


def _cannot_open(error: MemoryCoreError) -> None:
    _show_notice()
    st.error(md(str(error)))
    with st.container(width=520):
        bank_menu(None)


def _show_notice() -> None:
    notice = st.session_state.pop(keys.NOTICE, None)
    if notice:
        st.warning(md(notice))
