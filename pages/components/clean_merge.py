"""Merging duplicates: the plan first, then one revision; or as proposals, for Review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from memory_core import (
    Batch,
    DuplicateGroup,
    MemoryBank,
    MemoryCoreError,
    Merge,
    Plan,
    StalePlanError,
)
from pages.components import banks, frame, gate, keys, review_queue
from pages.components.frame import Desk
from pages.components.plan_view import show_plan
from pages.components.text import count, md

SOURCE = "duplicates"
MOST_SENT = 200
"""Groups that are sent to Review at once."""


def is_open(name: str) -> bool:
    """Whether the plan of a group is on show."""
    return bool(st.session_state.get(keys.CLEANING) == name)


def plan_button(desk: Desk, name: str, label: str, *, disabled: bool = False) -> None:
    """Opens the plan of a merge, or closes it."""
    st.button(
        label, key=f"plan-{name}", disabled=disabled or desk.is_past,
        type="secondary", on_click=_toggle, args=(name,),
        help="Shows what it would do; nothing is written yet.",
    )  # fmt: skip


def _toggle(name: str) -> None:
    st.session_state[keys.CLEANING] = None if is_open(name) else name


def plan_section(desk: Desk, name: str, merges: Sequence[Merge], sentence: str) -> None:
    """What merges would do to the memories and to the saved queries, and the button for it."""
    try:
        with st.spinner("Planning it; the first new text also loads the model", show_time=True):
            plan = _plan(
                str(desk.bank.path), desk.head.revision, desk.head.batch_key,
                repr([(m.ids, m.text) for m in merges]), desk.bank, tuple(merges), sentence,
            )  # fmt: skip
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return
    gone, kept = len(plan.removed), len(plan.accepted)
    with st.container(key=f"planned-{name}"):
        with st.container(horizontal=True):
            st.button(
                f"Commit: {gone:,} memories become {kept:,}", key=f"commit-{name}",
                type="primary", disabled=bool(plan.refused), on_click=_commit,
                args=(desk, plan, sentence),
                help="One new revision; the bar at the bottom takes it back.",
            )  # fmt: skip
            st.button("Not now", key=f"leave-{name}", on_click=_toggle, args=(name,))
        show_plan(desk, plan, full=6, key=f"merge-plan-{name}")
        if st.toggle("See what it does to the saved queries", key=f"gate-{name}"):
            gate.show(desk, plan)


@st.cache_resource(show_spinner=False, max_entries=8)
def _plan(
    path: str,
    revision: int | None,
    batch_key: str,
    described: str,
    _bank: MemoryBank,
    _merges: tuple[Merge, ...],
    _sentence: str,
) -> Plan:
    return _bank.plan(Batch(_merges, _sentence, kind="merge", base_revision=revision))


def _commit(desk: Desk, plan: Plan, sentence: str) -> None:
    try:
        revision = banks.writable(desk.bank).commit(plan)
    except StalePlanError:
        st.session_state[keys.NOTICE] = (
            "The bank has changed since this plan was made; it was made again. Look once more."
        )
        return
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.session_state[keys.CLEANING] = None
    frame.note(revision, sentence)


# -- to Review ------------------------------------------------------------------------------------


def waiting_merges(desk: Desk) -> dict[frozenset[int], int]:
    """The merges that wait in Review: the proposal's id by the memories that it would merge."""
    everything = review_queue.all_proposals(str(desk.bank.path), desk.signature, desk.bank)
    return {
        frozenset(p.operation.ids): p.id
        for p in everything
        if p.state == "pending" and isinstance(p.operation, Merge)
    }


def send_button(
    desk: Desk, name: str, merge: Merge, waiting: Mapping[frozenset[int], int], *, disabled: bool
) -> None:
    """Has a merge wait for review; where it does already, leads there."""
    proposal_id = waiting.get(frozenset(merge.ids))
    if proposal_id is not None:
        st.page_link(
            "pages/review.py", label=f"Waits in Review as proposal {proposal_id}",
            query_params={keys.PROPOSAL: str(proposal_id)}, width="content",
        )  # fmt: skip
        return
    st.button(
        "Send to Review", key=f"send-{name}", type="tertiary", disabled=disabled or desk.is_past,
        on_click=_send, args=(desk, (merge,)),
        help="As a proposal, to be decided there.",
    )  # fmt: skip


def send_all_button(desk: Desk, groups: Sequence[DuplicateGroup]) -> None:
    """Has the drafts of all groups wait for review, as one group of proposals."""
    waiting = waiting_merges(desk)
    fresh = [group for group in groups if frozenset(group.ids) not in waiting][:MOST_SENT]
    if len(fresh) > 1:
        st.button(
            f"Send {'all ' if len(fresh) == len(groups) else ''}{len(fresh):,} to Review",
            key="send-all", type="tertiary", disabled=desk.is_past, on_click=_send_drafts,
            args=(desk, fresh),
            help="As proposals of one group, each with the text of its most confident memory.",
        )  # fmt: skip


def _send_drafts(desk: Desk, groups: Sequence[DuplicateGroup]) -> None:
    _send(desk, tuple(group.draft() for group in groups))


def _send(desk: Desk, merges: tuple[Merge, ...]) -> None:
    words = count(len(merges), "group")
    batch = Batch(merges, f"Near copies: {words}", base_revision=desk.head.revision)
    try:
        with st.spinner("Sending to Review"):
            banks.writable(desk.bank).propose(batch, source=SOURCE)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.toast(f"Sent {words} to Review.")
