"""What is decided about proposals: callbacks of buttons and keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Operation
from pages.components import banks, frame, keys, review_queue
from pages.components.frame import Desk
from pages.components.text import count

CALM = 0.4
"""Seconds within which a second key is taken for a key that was held."""


def in_haste() -> bool:
    """Whether a key came too soon after another, or after a proposal came into sight."""
    last = st.session_state.get(keys.PACE, (None, 0.0))
    now = time.monotonic()
    # Drawn anew, it comes into sight anew: keys that waited while a slow page ran are in haste.
    st.session_state[keys.PACE] = (None, now)
    return bool(now - last[1] < CALM)


def came_into_sight(proposal_id: int) -> None:
    """To be called when a proposal has been drawn."""
    if st.session_state.get(keys.PACE, (None, 0.0))[0] != proposal_id:
        st.session_state[keys.PACE] = (proposal_id, time.monotonic())


def mode(proposal_id: int) -> str:
    """What is being done with a proposal: edit, reject, group, or nothing."""
    name, of = st.session_state.get(keys.REVIEWING, ("", None))
    return name if of == proposal_id else ""


def toggle(name: str, proposal_id: int) -> None:
    """Begin something with a proposal, or leave it."""
    if mode(proposal_id) == name:
        leave()
    else:
        st.session_state[keys.REVIEWING] = (name, proposal_id)


def leave() -> None:
    st.session_state.pop(keys.REVIEWING, None)


def skip(following: int | None) -> None:
    """Go on without a decision."""
    leave()
    if following is not None:
        review_queue.go_to(following)


def accept(desk: Desk, ids: Sequence[int], sentence: str, following: int | None) -> None:
    """Accept proposals, together as one revision, unless the key was held."""
    if not in_haste():
        _accept(desk, ids, sentence, following)


def accept_edited(
    desk: Desk, proposal_id: int, operation: Operation, base_revision: int, following: int | None
) -> None:
    """Accept what a person made of a proposal, having seen `base_revision`."""
    _accept(
        desk, [proposal_id], f"Accepted proposal {proposal_id}, edited", following,
        edited={proposal_id: operation}, base_revision=base_revision,
        reason="Edited, then accepted.",
    )  # fmt: skip


def _accept(
    desk: Desk,
    ids: Sequence[int],
    sentence: str,
    following: int | None,
    *,
    edited: dict[int, Operation] | None = None,
    base_revision: int | None = None,
    reason: str = "",
) -> None:
    try:
        revision = banks.writable(desk.bank).decide(
            ids, accept=True, reason=reason, operations=edited, base_revision=base_revision
        )
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    assert revision is not None
    frame.note(revision, sentence)
    _decided(desk, ids, following)


def reject(desk: Desk, ids: Sequence[int], reason: str, following: int | None) -> None:
    """Reject proposals, with a reason or without."""
    _reject(desk, ids, reason, following)


def reject_typed(desk: Desk, ids: Sequence[int], key: str, following: int | None) -> None:
    """Reject with the reason that was typed in a box."""
    _reject(desk, ids, str(st.session_state.get(key) or "").strip(), following)


def _reject(desk: Desk, ids: Sequence[int], reason: str, following: int | None) -> None:
    if in_haste():
        return
    if _try(lambda bank: bank.decide(ids, accept=False, reason=reason), desk):
        _decided(desk, ids, following)
        which = f"proposal {ids[0]}" if len(ids) == 1 else count(len(ids), "proposal")
        st.toast(f"Rejected {which}. It stays under Rejected, and can be accepted from there.")


def put_back(desk: Desk, ids: Sequence[int]) -> None:
    """Have rejected proposals wait again."""
    if _try(lambda bank: bank.reopen(ids), desk):
        review_queue.forget(desk, ids)


def _try(decide: Callable[[MemoryBank], object], desk: Desk) -> bool:
    try:
        decide(banks.writable(desk.bank))
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return False
    return True


def _decided(desk: Desk, ids: Sequence[int], following: int | None) -> None:
    review_queue.remember(desk, ids)
    leave()
    review_queue.go_to(following)


def undo(desk: Desk, number: int) -> None:
    """Take the revision back in which proposals were accepted; they wait again."""
    bank = banks.writable(desk.bank)
    try:
        plan = bank.plan_undo(number)
        if plan.refused:
            st.session_state[keys.NOTICE] = (
                f"Revision {number} cannot be taken back as a whole: {plan.refused[0].reason} "
                "History can undo the rest of it."
            )
            return
        revision = bank.commit(plan)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    frame.note(revision, f"Took revision {number} back; what was accepted in it waits again")
