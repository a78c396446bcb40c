"""Edit, then accept: what a person makes of a proposal, with its plan beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from memory_core import (
    KINDS,
    Add,
    Delete,
    Memory,
    MemoryCoreError,
    Merge,
    Modify,
    Operation,
    Proposal,
    Snapshot,
    nearest,
)
from pages.components import asking, diff, forms, keys, plan_view, proposal_refused, review_decide
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md


def section(desk: Desk, proposal: Proposal, following: int | None) -> None:
    """The form of an operation, what it would do then, and the buttons."""
    place = st.container(horizontal=True, key="edit-buttons")  # above, so that they never move
    base = _base(desk, proposal)
    with st.container(border=True, key="edit"):
        edited = _form(desk, proposal)
        accepted = edited is not None and _preview(desk, proposal, edited, base)
        with place:
            st.button(
                "Accept as edited", key="accept-edited", type="primary", shortcut="ctrl+enter",
                disabled=desk.is_past or not accepted, on_click=review_decide.accept_edited,
                args=(desk, proposal.id, edited, base, following),
                help="What stands in the form is committed; the proposal keeps what was proposed.",
            )  # fmt: skip
            st.button("Leave the edit", key="leave-edit", on_click=review_decide.leave)


def _base(desk: Desk, proposal: Proposal) -> int:
    """The revision that the form was opened on; what has changed since is shown."""
    known = st.session_state.get(keys.EDIT_BASE, (None, 0))
    head = int(desk.head.revision or 0)
    if known[0] != proposal.id or known[1] > head:
        _rebase(proposal.id, head)
        return head
    then = desk.bank.snapshot(known[1])
    changed = [i for i in _ids(proposal.operation) if _at(then, i) != _at(desk.head, i)]
    if not changed:
        _rebase(proposal.id, head)
        return head
    with st.container(border=True, key="edit-conflict"):
        st.warning("The bank has changed under this form.", icon="⚠️")
        for memory_id in changed:
            old, new = _at(then, memory_id), _at(desk.head, memory_id)
            st.caption(f"Memory {memory_id}" + ("" if new else " has left the bank"))
            if old and new:
                diff.show(old.text, new.text)
        st.button("I have seen it: go on from the latest", key="edit-rebase",
                  on_click=_rebase, args=(proposal.id, head))  # fmt: skip
    return int(known[1])


def _rebase(proposal_id: int, revision: int) -> None:
    st.session_state[keys.EDIT_BASE] = (proposal_id, revision)


def _at(snapshot: Snapshot, memory_id: int) -> Memory | None:
    return snapshot.by_id(memory_id) if memory_id in snapshot else None


def _ids(operation: Operation) -> tuple[int, ...]:
    if isinstance(operation, Merge):
        return tuple(operation.ids)
    return () if isinstance(operation, Add) else (operation.id,)


def _preview(desk: Desk, proposal: Proposal, edited: Operation, base: int) -> bool:
    """What the edit would do; whether it would be carried out."""
    text = getattr(edited, "text", None)
    is_new = text and text != getattr(proposal.operation, "text", None)
    if is_new and not desk.head.ids_with_text(text) and not asking.warm_up(desk):
        st.caption("The model is being loaded; what it would do shows as you go on.")
        return True  # committing waits for the model, and checks it again
    try:
        plan = desk.bank.plan_proposals(
            proposal.id, operations={proposal.id: edited}, base_revision=base
        )
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return False
    for refusal in plan.refused:
        proposal_refused.show(refusal)
    for entry in plan_view.entries(plan):
        with st.container(border=True, key="edit-preview", gap="small"):
            plan_view.show_entry(entry)
    return not plan.refused


# -- one form an operation ------------------------------------------------------------------------


def _form(desk: Desk, proposal: Proposal) -> Operation | None:
    key = f"edit-{proposal.id}"
    match proposal.operation:
        case Add() as operation:
            return _add(desk, key, operation)
        case Modify() as operation:
            return _modify(desk, key, operation)
        case Merge() as operation:
            return _merge(desk, key, operation)
        case Delete() as operation:
            memory = _target(desk, key, operation.id)
            return replace(operation, id=memory.id) if memory else None
        case _:
            st.caption("There is nothing to edit in it.")
            return None


def _add(desk: Desk, key: str, operation: Add) -> Add | None:
    sound = _sound(operation)
    filled = forms.memory_form(desk, key=key, value=sound)
    if filled is None:
        return None
    return replace(
        sound, text=filled.text, kind=filled.kind, domain=filled.domain, detail=filled.detail,
        tags=filled.tags, pinned=filled.pinned,
    )  # fmt: skip


def _sound(operation: Add) -> Add:
    """The same with fields that a form can hold: what was proposed may be anything."""
    asked: Any = operation
    kind = asked.kind if asked.kind in KINDS else "strategic"
    used = asked.usage_count if _is_count(asked.usage_count) else 0
    helped = asked.success_count if _is_count(asked.success_count) else 0
    confidence = asked.confidence
    in_range = isinstance(confidence, int | float) and 0.05 <= confidence <= 0.95
    return replace(
        operation,
        kind=kind,
        text=_text(asked.text),
        domain=_text(asked.domain).lower(),
        detail=asked.detail if kind == asked.kind else None,
        confidence=confidence if in_range else 0.5,
        usage_count=used,
        success_count=min(helped, used),
        tags=tuple(tag for tag in map(_text, asked.tags or ()) if tag),
        pinned=bool(asked.pinned),
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _modify(desk: Desk, key: str, operation: Modify) -> Modify | None:
    memory = _target(desk, key, operation.id)
    if memory is None:
        return None
    named = {
        name: value
        for name in ("text", "detail", "domain", "tags", "pinned")
        if (value := getattr(operation, name)) is not None
    }
    wanted = replace(memory, **named)
    filled = forms.memory_form(
        desk, key=f"{key}-{memory.id}", kind=memory.kind, value=wanted, ignore=(memory.id,)
    )
    if filled is None:
        return None
    edited = filled.as_modify(memory, rationale=operation.rationale, evidence=operation.evidence)
    if edited is None:
        st.caption("This would change nothing of the memory.")
    return edited


LARGEST_ID = 2**53 - 1
"""What a box for numbers can hold."""


def _is_id(value: object) -> bool:
    return _is_count(value) and 1 <= int(str(value)) <= LARGEST_ID


def _target(desk: Desk, key: str, memory_id: int) -> Memory | None:
    """The memory that an operation is about, which may be another than was named."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.number_input(
            "Memory", value=memory_id if _is_id(memory_id) else None, step=1, min_value=1,
            max_value=LARGEST_ID, key=f"{key}-target", width=150,
        )  # fmt: skip
        memory = None if chosen is None else _at(desk.head, int(chosen))
        if memory is None:
            st.markdown(f":red[There is no memory {chosen or ''} in the bank; name another.]")
        else:
            st.caption(f"{SYMBOLS[memory.kind]} {md(memory.text)} · {md(memory.domain, limit=60)}")
    return memory


def _merge(desk: Desk, key: str, operation: Merge) -> Merge | None:
    text = forms.text_line("Merged into", _text(operation.text), key=f"{key}-text")
    fits = forms.word_count(text)
    named = tuple(i for i in operation.ids if isinstance(i, int))
    here = [i for i in named if i in desk.head]
    options = list(dict.fromkeys((*here, *_near(desk.head, here))))
    chosen = st.multiselect(
        "Memories that it takes the place of", options, default=here, key=f"{key}-ids",
        format_func=lambda i: _label(desk.head, i),
        help="Those that were named and are here, and what is nearest to them.",
    )  # fmt: skip
    gone = [i for i in named if i not in desk.head]
    if gone:
        st.caption(f"Not in the bank any more: {', '.join(map(str, gone))}")
    if len(chosen) < 2:
        st.markdown(
            f":red[A merge needs two memories or more; {count(len(chosen), 'is', 'are')} chosen.]"
        )
        return None
    if not fits:
        return None
    return replace(operation, ids=tuple(chosen), text=text)


def _near(snapshot: Snapshot, ids: Sequence[int]) -> list[int]:
    found = [n for i in ids for n in nearest(snapshot, i, limit=10)]
    found.sort(key=lambda neighbour: -neighbour.similarity)
    return [neighbour.memory.id for neighbour in found]


def _label(snapshot: Snapshot, memory_id: int) -> str:
    memory = snapshot.by_id(memory_id)
    text = memory.text if len(memory.text) <= 70 else memory.text[:69] + "…"
    return f"{memory.id} {SYMBOLS[memory.kind]} {text}"
