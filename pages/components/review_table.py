"""The queue as a table: tick several and decide them together, click one to look at it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components import review_decide, review_group
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.review_one import MARKS
from pages.components.review_queue import (
    ACCEPTED,
    REJECTED,
    WAITING,
    Queue,
    change_of,
    domain_of,
    go_to,
    text_of,
)
from pages.components.review_reasons import REASONS
from pages.components.text import count

VIEW = "review_view"
_CLICKED = "_review_clicked"


def show(desk: Desk, found: Queue) -> None:
    """All that is looked at; what is ticked is decided below."""
    frame = frame_of(desk, found)
    # Keyed by what it shows: a kept tick would else point at another proposal.
    key = f"review-table-{found.state}-{hash(found.ids)}"
    text = st.column_config.TextColumn
    is_done = found.state == ACCEPTED
    event = st.dataframe(
        frame,
        column_config={
            "id": st.column_config.NumberColumn(width=50, format="%d"),
            "": text(width=32, help="+ add · ~ modify · − delete · ⋈ merge"),
            "text": text(width=430),
            "refused because": text(width=200, help="As it stands; edit it to make it right"),
            "domain": text(width=120),
            "from": text(width=90),
            "by": text(width=80),
            "why": text(width=340),
            "group": text(width=220),
            "revision": st.column_config.NumberColumn(width=75, format="%d"),
            "because": text(width=180),
            "decided by": text(width=90),
        },
        height=min(38 + 35 * len(frame), 460),
        key=key,
        on_select="rerun",
        selection_mode=["single-cell"] if is_done else ["multi-row", "single-cell"],
        alt=f"{len(frame)} proposals",
    )  # fmt: skip
    table_downloads(frame, "proposals")
    if event.selection.cells:
        go_to(found.ids[event.selection.cells[0][0]])
        st.session_state[_CLICKED] = True
        st.rerun()
    chosen = [found.ids[row] for row in event.selection.rows if row < len(found.ids)]
    if chosen:
        _decide(desk, found, chosen)
    elif is_done:
        st.caption("Click a cell to look at one, and to take its revision back.")
    else:
        st.caption("Tick proposals to decide them together; click a cell to look at one.")


def open_if_clicked(view: str) -> None:
    """Go over to a view after a click in the table; to be called above the view's widget."""
    if st.session_state.pop(_CLICKED, False):
        st.session_state[VIEW] = view


def frame_of(desk: Desk, found: Queue) -> Any:
    """A data frame with a row for each proposal; its index is their ids."""
    import pandas as pd

    rows = [
        {
            "": MARKS[change_of(p.operation)],
            "text": text_of(p.operation, desk.head),
            "revision": p.revision,
            "because": p.decision_reason,
            "decided by": p.decided_by,
            "domain": domain_of(p.operation, desk.head),
            "from": p.source,
            "refused because": found.refused.get(p.id, ""),
            "why": str(p.operation.rationale),
            "by": p.actor,
            "group": p.reason,
        }
        for p in found.proposals
    ]
    frame = pd.DataFrame(rows, index=pd.Index(found.ids, name="id"))
    unused = {
        WAITING: ["decided by", "because", "revision"],
        REJECTED: ["revision"],
        ACCEPTED: ["refused because"],
    }[found.state]
    if not frame["refused because"].any():
        unused = list({*unused, "refused because"})
    return frame.drop(columns=unused)


def _decide(desk: Desk, found: Queue, chosen: list[int]) -> None:
    with st.container(border=True, key="bulk"):
        st.markdown(f"**{count(len(chosen), 'proposal')} ticked**")
        if found.state == REJECTED:
            st.button(
                f"Put {len(chosen)} back to wait", key="put-back-ticked", disabled=desk.is_past,
                on_click=review_decide.put_back, args=(desk, chosen),
            )  # fmt: skip
        else:
            _reject(desk, found, chosen)
        review_group.together(desk, found, chosen, key="ticked")


def _reject(desk: Desk, found: Queue, chosen: list[int]) -> None:
    following = next((i for i in found.ids if i not in chosen), None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        reason = st.selectbox(
            "Reason, if they are rejected", REASONS, index=None, key="bulk-reason",
            accept_new_options=True, placeholder="None, one of these, or your own words", width=340,
        )  # fmt: skip
        st.button(
            f"Reject {len(chosen)}", key="reject-ticked", disabled=desk.is_past,
            on_click=review_decide.reject, args=(desk, chosen, reason or "", following),
        )  # fmt: skip
