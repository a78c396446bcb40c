"""A memory that changed while somebody was at work on it: both versions, and the person decides."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core import Memory
from pages.components import edit_draft
from pages.components.edit_draft import Draft
from pages.components.forms import Filled, blank
from pages.components.frame import Desk
from pages.components.plan_view import show_change
from pages.components.text import md

FIELDS = ("text", "domain", "detail", "tags", "pinned")


def news(desk: Desk, draft: Draft, seen: Memory) -> None:
    """Says above an open form what has become of its memory since."""
    now = desk.head.by_id(seen.id) if seen.id in desk.head else None
    if now == seen:
        return
    what = "was changed" if now else "left the bank"
    st.warning(
        f"Memory {seen.id} {what} while this form was open{_by_whom(desk, seen.id)}. What you "
        "typed stays; the review shows both versions before anything is written."
    )


def _by_whom(desk: Desk, memory_id: int) -> str:
    made = desk.bank.history(memory_id)[-1].revision
    if made is None:
        return ""
    why = f": {md(made.reason, limit=120)}" if made.reason else ""
    return f", in revision {made.number} by {md(made.actor, limit=40)}{why}"


def is_conflict(draft: Draft) -> bool:
    """Whether the plan was refused since its memory is no longer as it was seen."""
    return bool(draft.plan and draft.plan.refused and draft.plan.refused[0].conflicts)


def both_versions(desk: Desk, draft: Draft) -> None:
    """Theirs and mine, each against what both started from, and the ways on."""
    assert draft.plan is not None
    filled: Filled = draft.values
    (conflict,) = draft.plan.refused[0].conflicts
    seen, now = conflict.seen, conflict.current
    assert seen is not None
    gone = "has left the bank" if now is None else "has changed"
    st.error(
        f"Memory {seen.id} {gone} since you opened it{_by_whom(desk, seen.id)}. Nothing was "
        "written."
    )
    theirs, mine = st.columns(2, gap="medium")
    with theirs, st.container(border=True, key="theirs"):
        st.caption("Theirs, in the bank now")
        if now is None:
            st.markdown(f":red-background[~~{md(seen.text)}~~]")
        else:
            show_change(seen, now)
    with mine, st.container(border=True, key="mine"):
        st.caption("Yours, not saved")
        _mine(seen, filled)
    with st.container(horizontal=True, key="conflict-ways"):
        if now is None:
            st.button(
                "Save mine as a new memory", key="save-as-new", type="primary",
                on_click=edit_draft.begin, args=(desk, "add", (), filled),
            )  # fmt: skip
        else:
            st.button(
                "Put mine on top of theirs", key="mine-on-top", type="primary",
                on_click=edit_draft.rebase,
                args=(draft.token, int(desk.head.revision or 0), on_top(filled, seen, now)),
                help="Takes what you changed, leaves the rest as they have it, and shows the "
                "plan once more.",
            )  # fmt: skip
        st.button("Back to the form", key="reopen", on_click=edit_draft.reopen, args=(draft.token,))
        st.button("Keep theirs, drop mine", key="keep-theirs", on_click=edit_draft.close)


def on_top(mine: Filled, seen: Memory, now: Memory) -> Filled:
    """Their version with what I changed of the one that I had seen."""
    old = blank(seen)
    changed = {name: getattr(mine, name) for name in FIELDS}
    return replace(
        blank(now), **{name: v for name, v in changed.items() if v != getattr(old, name)}
    )


def _mine(seen: Memory, filled: Filled) -> None:
    after = replace(
        seen, text=filled.text, domain=filled.domain, detail=filled.detail, tags=filled.tags,
        pinned=filled.pinned,
    )  # fmt: skip
    before = replace(seen, text=blank(seen).text, detail=blank(seen).detail)
    show_change(before, after)
