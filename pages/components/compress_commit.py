"""Committing a compression: one revision, and a typed word where it would hurt."""

from __future__ import annotations

import streamlit as st

from memory_core import MemoryCoreError, StalePlanError
from pages.components import banks, frame, keys, previews
from pages.components.frame import Desk
from pages.components.previews import Preview
from pages.components.text import count


def commit_bar(desk: Desk, name: str, preview: Preview) -> None:
    """The button that does it, with what it will do in its name."""
    gone = len(preview.plan.dropped)
    if not gone:
        return
    only = preview.impact.comparison.losing_only
    confirmed = True
    with st.container(horizontal=True, vertical_alignment="bottom", key="commit-compression"):
        if only:
            queries = count(len(only), "saved query loses", "saved queries lose")
            typed = st.text_input(
                f"{queries} the only relevant lesson. Type {gone} to confirm.",
                key="confirm-compression", width=380,
            )  # fmt: skip
            confirmed = (typed or "").strip() == str(gone)
        verb = "merges" if preview.plan.settings.merge and name == "diversity" else "drops"
        st.button(
            f"Commit {name}: {verb} {count(gone, 'memory', 'memories')}",
            type="primary", key="commit", disabled=desk.is_past or not confirmed,
            on_click=_commit, args=(desk, name, preview),
            help="One new revision; the bar at the bottom takes it back.",
        )  # fmt: skip


def _commit(desk: Desk, name: str, preview: Preview) -> None:
    bank = banks.writable(desk.bank)
    try:
        revision = bank.commit(preview.plan.plan)
    except StalePlanError:
        st.session_state[keys.NOTICE] = (
            "The bank has changed since this plan was made; it was made again. Look once more."
        )
        return
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    previews.spare_nothing()
    st.session_state[keys.COMPRESSED] = (
        revision.number,
        [query.query.task for query in preview.impact.comparison.losing],
    )
    frame.note(
        revision, f"Compressed by {name}: {count(revision.removed, 'memory', 'memories')} went"
    )
