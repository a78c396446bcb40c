"""The change that a person is at work on in this session: one at a time, until it is committed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import streamlit as st

from memory_core import MemoryBank, Plan
from pages.components import keys
from pages.components.frame import Desk


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being changed, as it was seen, and how far it has come."""

    verb: str
    ids: tuple[int, ...]
    """Memories; for undo and restore, the number of the revision."""
    path: str
    """The bank's: a draft for another bank is none."""
    base: int
    """The revision that its author saw."""
    token: str
    """Random: widgets of another draft are other widgets, and a late click is told by it."""
    values: Any = None
    """What the form is filled with when it is shown again."""
    is_asked: bool = False
    """That its plan is to be shown."""
    plan: Plan | None = None
    planned: Any = None
    """What the plan was made from."""
    trouble: str = ""
    """Why the last attempt came to nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form asks for."""

    same: Any
    """Equal for equal wishes, so that a plan stands until something else is asked."""
    make: Callable[[MemoryBank], Plan]
    sentence: str
    """What was done, for the bar and the history."""
    button: str
    """What the button that commits says."""
    values: Any = None


def current(desk: Desk) -> Draft | None:
    """The draft of this session, if it is one for the bank on the desk, which can be changed."""
    draft: Draft | None = st.session_state.get(keys.DRAFT)
    if draft is None or draft.path != str(desk.bank.path) or desk.is_past:
        return None
    return draft


def begin(desk: Desk, verb: str, ids: tuple[int, ...] = (), values: Any = None) -> None:
    """Open the form of a verb; to be called in a callback. What was open before is dropped."""
    st.session_state[keys.DRAFT] = Draft(
        verb, ids, str(desk.bank.path), int(desk.head.revision or 0), uuid4().hex, values
    )


def update(draft: Draft, **fields: Any) -> Draft:
    """The draft with some fields changed, kept in the session."""
    changed = replace(draft, **fields)
    st.session_state[keys.DRAFT] = changed
    return changed


def close() -> None:
    """Drop the draft."""
    st.session_state.pop(keys.DRAFT, None)


def ask(token: str) -> None:
    """Have the plan shown of the draft with this token; to be called in a callback."""
    draft = st.session_state.get(keys.DRAFT)
    if draft is not None and draft.token == token:
        update(draft, is_asked=True, trouble="")


def reopen(token: str) -> None:
    """Back from the plan to the form; to be called in a callback."""
    draft = st.session_state.get(keys.DRAFT)
    if draft is not None and draft.token == token:
        update(draft, is_asked=False, plan=None, trouble="")


def rebase(token: str, base: int, values: Any) -> None:
    """Go on from a newer revision, and show the plan against that; to be called in a callback."""
    draft = st.session_state.get(keys.DRAFT)
    if draft is not None and draft.token == token:
        # Widgets that have just been on show keep what stood in them; other values need others.
        fresh = token if values is None else uuid4().hex
        update(
            draft, base=base, values=values, token=fresh, is_asked=True, plan=None, trouble=""
        )  # fmt: skip
