"""Asking the bank: at a revision, or at one that is only supposed."""

from __future__ import annotations

import threading
from dataclasses import replace

import streamlit as st

from memory_core import MemoryBank, Retrieval, Snapshot
from pages.components import banks, keys
from pages.components.frame import Desk
from pages.components.query_form import Query
from pages.components.text import count


def run(desk: Desk, query: Query) -> Retrieval:
    """Ask the bank at the revision that is looked at.

    The same question gives the same retrieval, with the same id, run after run: an outcome that
    is recorded twice by a hurried click is then one outcome.
    """
    snapshot, supposed = _asked_of(desk)
    name = (str(desk.bank.path), desk.snapshot.revision, desk.snapshot.batch_key, query, supposed)
    kept = st.session_state.get(keys.FOUND)
    if kept is not None and kept[0] == name:
        found: Retrieval = kept[1]
        return found
    with st.spinner("Asking the bank; the first new text also loads the model", show_time=True):
        found = desk.bank.retrieve(query.task, query.settings, revision=snapshot)
    st.session_state[keys.FOUND] = (name, found)
    return found


def _asked_of(desk: Desk) -> tuple[Snapshot, object]:
    """The snapshot that is asked, and what was supposed to make it another than the desk's."""
    snapshot = desk.snapshot
    accepted = _proposals_toggle(desk)
    if accepted:
        with st.spinner("Planning the waiting proposals", show_time=True):
            snapshot = banks.with_proposals(str(desk.bank.path), desk.signature, desk.bank)
    supposed: tuple[int, float] | None = st.session_state.get(keys.SUPPOSED)
    place = st.container()  # always there, so that what follows keeps its place on the page
    if supposed is None or supposed[0] not in snapshot:
        return snapshot, (accepted, None)
    memory_id, confidence = supposed
    memory = replace(snapshot.by_id(memory_id), confidence=confidence)
    banner = place.container(
        border=True, horizontal=True, vertical_alignment="center", key="supposed"
    )
    with banner:
        st.markdown(
            f"Asked **as if memory {memory_id} had a confidence of {confidence:.4g}**; "
            "nothing of this is written."
        )
        st.button("Stop supposing", key="stop-supposing", on_click=_stop_supposing)
    return snapshot.edit(put=[memory]), (accepted, supposed)


def _proposals_toggle(desk: Desk) -> bool:
    """Whether to ask as if all that waits for review had been accepted."""
    waiting = banks.pending(str(desk.bank.path), desk.signature, desk.bank)
    if not waiting or desk.is_past:
        return False
    return st.toggle(
        f"Ask as if the {count(waiting, 'waiting proposal')} were accepted",
        key="proposed", bind="query-params",
        help="Asks the plan that would be committed; what it refuses is left out. Nothing is "
        "written.",
    )  # fmt: skip


def _stop_supposing() -> None:
    st.session_state.pop(keys.SUPPOSED, None)


@st.cache_resource(show_spinner=False)
def _warmer(path: str, identity: object, _bank: MemoryBank) -> threading.Thread:
    thread = threading.Thread(target=_bank.warm_up, daemon=True)
    thread.start()
    return thread


def warm_up(desk: Desk) -> bool:
    """Load the model in the background, for the next new text; whether it is there by now."""
    thread = _warmer(str(desk.bank.path), id(desk.bank), desk.bank)
    thread.join(0.05)  # most often there is nothing left to wait for
    return not thread.is_alive()
