"""What is done to one memory or to many at once: pin, tag, move, delete."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from memory_core import Batch, Delete, Memory, Modify, Operation
from pages.components import filters
from pages.components.edit_draft import Asked, Draft
from pages.components.frame import Desk
from pages.components.text import count


def pin(desk: Desk, draft: Draft) -> Asked | None:
    """Pinned memories survive every compression."""
    operations = [Modify(memory_id, pinned=True) for memory_id in draft.ids]
    return asked(draft, operations, f"Pinned {_some(draft)}", f"Pin {_some(draft)}")


def unpin(desk: Desk, draft: Draft) -> Asked | None:
    operations = [Modify(memory_id, pinned=False) for memory_id in draft.ids]
    return asked(draft, operations, f"Unpinned {_some(draft)}", f"Unpin {_some(draft)}")


def delete(desk: Desk, draft: Draft) -> Asked | None:
    """Past revisions keep what is deleted."""
    operations = [Delete(memory_id) for memory_id in draft.ids]
    return asked(draft, operations, f"Deleted {_some(draft)}", f"Delete {_some(draft)}")


def tag(desk: Desk, draft: Draft) -> Asked | None:
    """Tags to put on all, and tags to take off."""
    memories = _memories(desk, draft)
    mine = sorted({tag for memory in memories for tag in memory.tags})
    left, right = st.columns(2)
    with left:
        given = st.multiselect(
            "Put on", filters.tag_names(desk.head), key=f"{draft.token}-on",
            accept_new_options=True, placeholder="Choose, or type a new one",
        )  # fmt: skip
    with right:
        taken = st.multiselect(
            "Take off", mine, key=f"{draft.token}-off",
            placeholder="Choose" if mine else "None of them has a tag", disabled=not mine,
        )  # fmt: skip
    on = [name.replace("\x00", "").strip() for name in given]
    on = [name for name in on if name and name not in taken]
    if not on and not taken:
        st.caption("Choose tags to put on or to take off; what changes shows here.")
        return None
    operations = [
        Modify(memory.id, tags=tags)
        for memory in memories
        if (tags := _retagged(memory, on, taken)) != memory.tags
    ]
    if not operations:
        st.caption("All of them are tagged like that already.")
        return None
    told = " ".join([*(f"+{name}" for name in on), *(f"−{name}" for name in taken)])
    some = count(len(operations), "memory", "memories")
    return asked(draft, operations, f"Tagged {some}: {told}", f"Tag {some}")


def _retagged(memory: Memory, on: Iterable[str], off: Iterable[str]) -> tuple[str, ...]:
    kept = [name for name in memory.tags if name not in off]
    return tuple(dict.fromkeys((*kept, *on)))


def move(desk: Desk, draft: Draft) -> Asked | None:
    """Another domain for all."""
    chosen = st.selectbox(
        "To the domain", list(desk.head.domain_counts()), index=None,
        key=f"{draft.token}-domain", accept_new_options=True,
        placeholder="Choose one, or type a new one",
    )  # fmt: skip
    domain = (chosen or "").replace("\x00", "").strip().lower()
    if not domain:
        st.caption("Choose where they go; what changes shows here.")
        return None
    moving = [memory for memory in _memories(desk, draft) if memory.domain != domain]
    if not moving:
        st.caption("All of them are there already.")
        return None
    some = count(len(moving), "memory", "memories")
    operations = [Modify(memory.id, domain=domain) for memory in moving]
    return asked(draft, operations, f"Moved {some} to {domain}", f"Move {some}")


def asked(draft: Draft, operations: Iterable[Operation], sentence: str, button: str) -> Asked:
    """Operations against the revision that their author saw."""
    wanted = tuple(operations)
    return Asked(
        (wanted, draft.base),
        lambda bank: bank.plan(Batch(wanted, sentence, base_revision=draft.base)),
        sentence,
        button,
    )


def _memories(desk: Desk, draft: Draft) -> list[Memory]:
    """As they were when the form was opened; those that are gone are refused by the plan."""
    seen = desk.bank.snapshot(draft.base)
    return [seen.by_id(memory_id) for memory_id in draft.ids if memory_id in seen]


def _some(draft: Draft) -> str:
    return count(len(draft.ids), "memory", "memories")
