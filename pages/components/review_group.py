"""All that was proposed together: its plan, and accepting it as one revision."""

from __future__ import annotations

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Plan, Proposal
from pages.components import gate, plan_view, review_decide
from pages.components.frame import Desk
from pages.components.review_queue import Queue
from pages.components.text import count, md


def section(desk: Desk, found: Queue, proposal: Proposal) -> None:
    """What accepting the whole group would do, what is refused, and the button for it."""
    group = found.group_of(proposal)
    with st.container(border=True, key="group"):
        with st.container(horizontal=True, vertical_alignment="center"):
            some = count(len(group), "proposal")
            st.markdown(f"**{some} of one group** · {md(proposal.reason)}")
            st.button("Back to the one", key="leave-group", type="tertiary", shortcut="Escape",
                      on_click=review_decide.leave)  # fmt: skip
        together(desk, found, [p.id for p in group], key="group")


@st.cache_resource(show_spinner=False, max_entries=32)
def plan_of(
    path: str,
    signature: tuple[int, ...],
    revision: int | None,
    ids: tuple[int, ...],
    _bank: MemoryBank,
) -> Plan:
    """What accepting proposals, together and with nothing else, would do."""
    return _bank.plan_proposals(ids)


def together(desk: Desk, found: Queue, ids: list[int], *, key: str) -> None:
    """The plan of several proposals, and the button that accepts what is not refused of them."""
    try:
        with st.spinner("Planning them together", show_time=True):
            plan = plan_of(
                str(desk.bank.path), desk.signature, desk.head.revision, tuple(sorted(ids)),
                desk.bank,
            )  # fmt: skip
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return
    in_order = sorted(set(ids))  # as the plan's operations are
    refused = {in_order[refusal.index] for refusal in plan.refused}
    accepted = [i for i in in_order if i not in refused]
    following = next((i for i in found.ids if i not in accepted), None)
    words = f"Accept {count(len(accepted), 'proposal')} as one revision"
    st.button(
        words, key=f"accept-{key}", type="primary", disabled=desk.is_past or not accepted,
        on_click=review_decide.accept,
        args=(desk, accepted, f"Accepted {count(len(accepted), 'proposal')} together", following),
        help="What is refused stays in the queue, with its reason.",
    )  # fmt: skip
    if refused:
        st.caption(
            f"{count(len(refused), 'proposal')} {'is' if len(refused) == 1 else 'are'} refused and "
            f"will stay: {', '.join(map(str, sorted(refused)))}"
        )
    plan_view.show_plan(desk, plan, full=8, key=f"{key}-plan")
    if accepted and st.toggle("See what it does to the saved queries", key=f"{key}-gate"):
        gate.show(desk, plan.accepted_only())
