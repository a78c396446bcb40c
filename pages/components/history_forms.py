"""Taking a revision back, and bringing the whole bank back to one: as new revisions, previewed."""

from __future__ import annotations

import streamlit as st

from pages.components.edit_draft import Asked, Draft
from pages.components.frame import Desk
from pages.components.text import md


def undo(desk: Desk, draft: Draft) -> Asked | None:
    """What takes back one revision; what has changed again since is refused."""
    (number,) = draft.ids
    made = desk.bank.revision(number)
    st.markdown(
        f"Revision {number} by {md(made.actor, limit=60)}: {md(made.reason or 'no reason given')}"
    )
    return Asked(
        ("undo", number, draft.base),
        lambda bank: bank.plan_undo(number),
        f"Took revision {number} back",
        f"Undo revision {number}",
    )


def restore(desk: Desk, draft: Draft) -> Asked | None:
    """What brings all memories back to how they were; the revisions since then stay known."""
    (number,) = draft.ids
    return Asked(
        ("restore", number, draft.base),
        lambda bank: bank.plan_restore(number),
        f"Returned to revision {number}",
        f"Return to revision {number}",
    )
