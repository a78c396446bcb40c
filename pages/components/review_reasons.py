"""Why a proposal is rejected: a reason from a few, or in one's own words."""

from __future__ import annotations

import streamlit as st

from memory_core import Proposal
from pages.components import review_decide
from pages.components.frame import Desk

REASONS = ("Too generic", "Already known", "Wrong", "Not worth a place")
"""What proposals are most often rejected for."""


def reasons(desk: Desk, proposal: Proposal, following: int | None) -> None:
    """The common reasons as buttons, each with a digit for its key, and a box for others."""
    with st.container(border=True, key="reject-reasons"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Reject because**")
            for digit, reason in enumerate(REASONS, start=1):
                st.button(
                    reason, key=f"reject-{digit}", shortcut=str(digit),
                    on_click=review_decide.reject, args=(desk, [proposal.id], reason, following),
                )  # fmt: skip
            st.button(
                "No reason", key="reject-0", shortcut="0",
                on_click=review_decide.reject, args=(desk, [proposal.id], "", following),
            )  # fmt: skip
            st.button("Leave it", key="reject-leave", type="tertiary", shortcut="Escape",
                      on_click=review_decide.leave)  # fmt: skip
        key = f"reject-reason-{proposal.id}"
        form = st.form(f"reject-form-{proposal.id}", border=False)
        with form, st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Or in your own words", key=key, width=560)
            st.form_submit_button(
                "Reject with this reason", on_click=review_decide.reject_typed,
                args=(desk, [proposal.id], key, following),
            )  # fmt: skip
