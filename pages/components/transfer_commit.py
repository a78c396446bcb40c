"""Carrying an import out: as one revision, or as proposals for Review."""

from __future__ import annotations

import streamlit as st

from memory_core import Add, Batch, ImportReading, MemoryCoreError, Plan, StalePlanError
from pages.components import banks, frame, keys
from pages.components.frame import Desk
from pages.components.text import count

CHANGED = "The bank has changed since this plan was made; it was made again. Look once more."


def buttons(
    desk: Desk, reading: ImportReading, plan: Plan, for_review: Batch, refused: int
) -> None:
    """Both ways, each with what it will do in its name."""
    mendable = len(for_review.operations) - len(plan.accepted)
    along = f" {count(mendable, 'text')} too long to take in can be shortened there."
    with st.container(horizontal=True, vertical_alignment="center", key="import-buttons"):
        st.button(
            f"Commit {_accepted(plan)} as one revision", key="commit-import", type="primary",
            disabled=not plan.accepted, on_click=_commit, args=(desk, reading, plan, refused),
            help="The bar at the bottom takes it back.",
        )  # fmt: skip
        st.button(
            f"Send {len(for_review.operations):,} to Review", key="propose-import",
            disabled=not for_review.operations, on_click=_propose, args=(desk, for_review),
            help="They wait there until you accept or reject each." + along * bool(mendable),
        )  # fmt: skip


def _accepted(plan: Plan) -> str:
    """How much a plan takes in, in words."""
    if all(isinstance(planned.operation, Add) for planned in plan.accepted):
        return count(len(plan.accepted), "memory", "memories")
    return count(len(plan.accepted), "change")


def _commit(desk: Desk, reading: ImportReading, plan: Plan, refused: int) -> None:
    if desk.bank.snapshot().batch_key != plan.before.batch_key:
        # New memories touch none that are there, but what came in since may be the same lessons.
        st.session_state[keys.NOTICE] = CHANGED
        return
    try:
        made = banks.writable(desk.bank).commit(plan.accepted_only())
    except StalePlanError:
        st.session_state[keys.NOTICE] = CHANGED
        return
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    let_go()
    left = f"; {count(refused, 'record')} refused" if refused else ""
    frame.note(made, f"Imported {_accepted(plan)} from {reading.title}{left}")


def _propose(desk: Desk, batch: Batch) -> None:
    try:
        sent = banks.writable(desk.bank).propose(batch)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    let_go()
    st.session_state[keys.SENT] = len(sent)


def let_go() -> None:
    """Forget what was handed in."""
    for key in (keys.GIVEN, keys.STATE_GIVEN, keys.IMPORT, "import-format"):
        st.session_state.pop(key, None)
