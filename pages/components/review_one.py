"""One proposal: what it would do and why, what bears it out, what is near it, and the decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

from memory_core import Memory, MemoryCoreError, Plan, Proposal
from pages.components import (
    plan_view,
    proposal_evidence,
    proposal_refused,
    review_decide,
    review_edit,
    review_group,
    review_reasons,
)
from pages.components.detail import kind_detail
from pages.components.fields import fields
from pages.components.frame import Desk
from pages.components.review_queue import (
    ACCEPTED,
    REJECTED,
    Queue,
    change_of,
    domain_of,
    go_to,
    text_of,
)
from pages.components.text import count, md

MARKS = {
    "add": plan_view.ADDED,
    "modify": plan_view.CHANGED,
    "delete": plan_view.REMOVED,
    "merge": plan_view.MERGED,
    "adjust": plan_view.CHANGED,
    "restore": plan_view.ADDED,
}
CLIPPED = 160
"""Characters of a detail that an entry of a plan shows."""
DONE = {
    "add": "added",
    "modify": "changed",
    "delete": "deleted",
    "merge": "merged",
    "adjust": "changed",
    "restore": "put back",
}


def show(desk: Desk, found: Queue, proposal: Proposal) -> None:
    """A proposal with its decision above it, so that the buttons never move."""
    with st.container(key="proposal"):
        if found.state == ACCEPTED:
            _accepted(desk, found, proposal)
            return
        plan = _plan(desk, proposal)
        if plan is None:
            return
        mode = review_decide.mode(proposal.id)
        if mode == "edit" and not desk.is_past:
            _head(desk, proposal, found)
            review_edit.section(desk, proposal, found.after(proposal.id))
            return
        if mode == "group" and len(found.group_of(proposal)) > 1:
            review_group.section(desk, found, proposal)
            return
        _decision(desk, found, proposal, plan)
        is_borne_out = bool(proposal.operation.evidence)
        left, right = st.columns([3, 2], gap="large")
        with left:
            _head(desk, proposal, found)
            _change(desk, plan)
            if is_borne_out:  # steps are long, and neighbours below them would be out of sight
                proposal_evidence.neighbours(desk, proposal, plan)
        with right:
            proposal_evidence.runs(desk, proposal)
            if not is_borne_out:
                proposal_evidence.neighbours(desk, proposal, plan)
    review_decide.came_into_sight(proposal.id)


def _plan(desk: Desk, proposal: Proposal) -> Plan | None:
    with st.spinner("Planning it; the first new text also loads the model", show_time=True):
        try:
            return review_group.plan_of(
                str(desk.bank.path), desk.signature, desk.head.revision, (proposal.id,), desk.bank
            )
        except MemoryCoreError as error:
            st.error(md(str(error)))
            return None


# -- the decision ---------------------------------------------------------------------------------


def _decision(desk: Desk, found: Queue, proposal: Proposal, plan: Plan) -> None:
    """The buttons, each with its key; and the reasons, once it is to be rejected."""
    following = found.after(proposal.id)
    mode = review_decide.mode(proposal.id)
    group = found.group_of(proposal)
    with st.container(horizontal=True, vertical_alignment="center", key="decision"):
        st.button(
            "Accept",
            key="accept-proposal",
            shortcut="a",
            type="primary",
            disabled=desk.is_past or bool(plan.refused),
            on_click=review_decide.accept,
            args=(desk, [proposal.id], sentence(desk, proposal), following),
            help="It cannot be accepted as it stands: edit it."
            if plan.refused
            else "One new revision; the bar at the bottom takes it back.",
        )
        st.button(
            "Edit",
            key="edit-proposal",
            shortcut="e",
            disabled=desk.is_past,
            on_click=review_decide.toggle,
            args=("edit", proposal.id),
            help="Make it right first; what you make of it is what is committed.",
        )
        if found.state == REJECTED:
            st.button(
                "Put back to wait",
                key="put-back",
                shortcut="b",
                disabled=desk.is_past,
                on_click=review_decide.put_back,
                args=(desk, [proposal.id]),
            )
        else:
            st.button(
                "Reject",
                key="reject-proposal",
                shortcut="x",
                disabled=desk.is_past,
                on_click=review_decide.toggle,
                args=("reject", proposal.id),
            )
        st.button(
            "Skip",
            key="skip-proposal",
            shortcut="s",
            disabled=following is None,
            on_click=review_decide.skip,
            args=(following,),
        )
        if len(group) > 1:
            st.button(
                f"Group of {len(group)}",
                key="group-proposal",
                shortcut="g",
                on_click=review_decide.toggle,
                args=("group", proposal.id),
                help="See all that was proposed with this one, and accept it as one revision.",
            )
    if mode == "reject" and found.state != REJECTED:
        review_reasons.reasons(desk, proposal, following)


def sentence(desk: Desk, proposal: Proposal) -> str:
    """What accepting a proposal did, for the bar with Undo."""
    text = text_of(proposal.operation, desk.head)
    return f"Accepted proposal {proposal.id}, {DONE[change_of(proposal.operation)]}: {text}"


# -- what it would do -----------------------------------------------------------------------------


def _head(desk: Desk, proposal: Proposal, found: Queue) -> None:
    """What is proposed, by whom, when and why."""
    change = change_of(proposal.operation)
    mark = plan_view.marked(MARKS[change])
    domain = domain_of(proposal.operation, desk.head)
    st.markdown(f"{mark} **{change.capitalize()}** · {md(domain)} · proposal {proposal.id}")
    if proposal.operation.rationale:
        st.markdown(f"**Why:** {md(str(proposal.operation.rationale))}")
    st.caption(" · ".join(_origin(proposal, len(found.group_of(proposal)))))
    if proposal.state == "rejected":
        st.markdown(f":red-background[**✕ rejected**] {_decided(proposal)}")


def _origin(proposal: Proposal, together: int) -> list[str]:
    words = [f"from {md(proposal.source, limit=60)}", f"by {md(proposal.actor, limit=60)}"]
    words += [_day(proposal.made_at_us), f"made on revision {proposal.base_revision}"]
    if proposal.reason:
        words.append(md(proposal.reason, limit=160))
    if together > 1:
        words.append(f"{together} of its group wait")
    return words


def _day(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1e6, tz=UTC):%Y-%m-%d %H:%M} UTC"


def _decided(proposal: Proposal) -> str:
    words = f"by {md(proposal.decided_by, limit=60)}"
    if proposal.decided_at_us is not None:
        words += f" · {_day(proposal.decided_at_us)}"
    return words + (f" · {md(proposal.decision_reason)}" if proposal.decision_reason else "")


def _change(desk: Desk, plan: Plan) -> None:
    for refusal in plan.refused:
        proposal_refused.show(refusal)
    for number, entry in enumerate(plan_view.entries(plan)):
        with st.container(border=True, key=f"change-{number}", gap="small"):
            show_entry(replace(entry, rationale=""))  # which stands above


def show_entry(entry: plan_view.Entry) -> None:
    """One memory before and after; what is new is shown with its whole detail."""
    if entry.after is None or entry.before is not None or not is_long(entry.after):
        plan_view.show_entry(entry)
        return
    plan_view.show_entry(replace(entry, after=replace(entry.after, detail=None)))
    kind_detail(entry.after)


def is_long(memory: Memory) -> bool:
    """Whether an entry of a plan shows a part of the detail only."""
    return any(len(value) > CLIPPED for value in fields(memory).values())


# -- what was decided -----------------------------------------------------------------------------


def _accepted(desk: Desk, found: Queue, proposal: Proposal) -> None:
    """What became of it, and the way back."""
    number = proposal.revision
    together = [p for p in found.everything.values() if p.revision == number]
    following = found.after(proposal.id)
    with st.container(horizontal=True, vertical_alignment="center", key="decision"):
        others = len(together) - 1
        st.button(
            f"Undo revision {number}" + (f", {len(together)} proposals" if others else ""),
            key="undo-accepted", disabled=desk.is_past or number is None,
            on_click=review_decide.undo, args=(desk, number),
            help="Takes the revision back, all that was accepted in it; it then waits again.",
        )  # fmt: skip
        st.button(
            "Next", key="skip-proposal", shortcut="s", disabled=following is None,
            on_click=go_to, args=(following,),
        )  # fmt: skip
    left, right = st.columns([3, 2], gap="large")
    with left:
        _head(desk, proposal, found)
        st.markdown(f":green-background[**✓ accepted**] {_decided(proposal)}")
        if number is None:
            return
        try:
            made = desk.bank.diff(number - 1, number)
        except MemoryCoreError as error:
            st.error(md(str(error)))
            return
        if others:
            st.caption(f"Revision {number} carried out {count(len(together), 'proposal')} together")
        plan_view.show_entries(plan_view.entries_between(made), full=6, key="accepted")
    with right:
        proposal_evidence.runs(desk, proposal)
