"""Everything about one memory: its fields, where it comes from, its history, its neighbours."""

from __future__ import annotations

import streamlit as st

from memory_core import (
    Change,
    Memory,
    MemoryBank,
    ProceduralDetail,
    Snapshot,
    StrategicDetail,
    ToolDetail,
    nearest,
)
from pages.components import diff, edit_draft, selection
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, ago, count, md, named, show, show_list, used

NEIGHBOURS = 10


def panel(desk: Desk, memory_id: int) -> None:
    """The detail of a memory, to stand beside a table."""
    memory = desk.snapshot.by_id(memory_id)
    with st.container(border=True, key="detail"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{named(memory.kind)} · {md(memory.domain)} · memory {memory.id}")
            if memory.pinned:
                st.badge("pinned", icon="📌", color="gray")
            st.button("Close", key="close-detail", type="tertiary",
                      on_click=selection.open_memory, args=(None,))  # fmt: skip
        _actions(desk, memory)
        with st.container(key="detail-text"):
            show(memory.text)
        _numbers(desk, memory)
        kind_detail(memory)
        if memory.tags:
            st.caption("Tags: " + " · ".join(md(tag) for tag in memory.tags))
        _provenance(memory)
        with st.expander("Nearest memories", expanded=True):
            _nearest(desk.snapshot, memory_id)
        with st.expander("History"):
            _history(desk, memory_id)


def _actions(desk: Desk, memory: Memory) -> None:
    """What can be done to this one; each shows its plan first."""
    verbs = {
        "edit": "Edit",
        "unpin" if memory.pinned else "pin": "Unpin" if memory.pinned else "Pin",
        "tag": "Tag",
        "move": "Move",
        "split": "Split",
        "delete": "Delete",
    }
    with st.container(horizontal=True, gap="small", key="detail-actions"):
        for verb, label in verbs.items():
            st.button(
                label, key=f"{verb}-one", disabled=desk.is_past, on_click=edit_draft.begin,
                args=(desk, verb, (memory.id,)), type="secondary" if verb == "edit" else "tertiary",
            )  # fmt: skip


def _numbers(desk: Desk, memory: Memory) -> None:
    st.markdown(
        f"confidence **{memory.confidence:.2f}** · {used(memory)} · "
        f"{ago(memory.epoch, desk.snapshot.epoch)} · {count(memory.word_count, 'word')}"
    )


def kind_detail(memory: Memory) -> None:
    """What belongs to a memory's kind, in full."""
    detail = memory.detail
    match detail:
        case StrategicDetail(problem) if problem:
            _field("Problem", problem)
        case ToolDetail(tool, usage):
            if tool:
                _field("Tool", tool)
            if usage:
                st.caption("Usage")
                st.code(usage, language=None, wrap_lines=True)
        case ProceduralDetail(steps, preconditions):
            if preconditions:
                st.caption("Before the first step")
                show_list(preconditions)
            if steps:
                st.caption("Steps")
                show_list(steps, numbered=True)


def _field(label: str, value: str) -> None:
    st.caption(label)
    show(value)


def _provenance(memory: Memory) -> None:
    origin = memory.provenance
    words = [f"From {origin.source}"]
    for item in origin.evidence:
        steps = f", steps {', '.join(map(str, item.steps))}" if item.steps else ""
        words.append(f"run {md(item.trajectory_id)}{steps}")
    if origin.merged_from:
        words.append("merged from " + ", ".join(map(str, origin.merged_from)))
    st.caption(" · ".join(words))
    if origin.note:
        _field("Note", origin.note)


def _nearest(snapshot: Snapshot, memory_id: int) -> None:
    found = nearest(snapshot, memory_id, limit=NEIGHBOURS)
    if not found:
        st.caption("There is no other memory yet.")
    for neighbour in found:
        show(neighbour.memory.text)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(
                f"**{neighbour.similarity:.2f}** similar · {SYMBOLS[neighbour.memory.kind]} "
                f"{md(neighbour.memory.domain, limit=40)} · memory {neighbour.memory.id}"
            )
            st.button(
                "Open", key=f"near-{neighbour.memory.id}", type="tertiary",
                on_click=selection.open_memory, args=(neighbour.memory.id,),
            )  # fmt: skip


@st.cache_data(show_spinner=False, max_entries=64)
def _changes(
    path: str, signature: tuple[int, ...], memory_id: int, _bank: MemoryBank
) -> tuple[Change, ...]:
    return _bank.history(memory_id)


def _history(desk: Desk, memory_id: int) -> None:
    changes = _changes(str(desk.bank.path), desk.signature, memory_id, desk.bank)
    st.page_link(
        "pages/history.py", label="Its whole life in History",
        query_params={"history": "One memory's life", "life": str(memory_id)},
    )  # fmt: skip
    curve = [c.after.confidence for c in changes if c.after]
    if len(curve) > 2:
        st.line_chart(curve, height=110, y_label="confidence", x_label="change")
    for change in reversed(changes):
        _change(change)


def _change(change: Change) -> None:
    made = change.revision
    assert made is not None
    st.markdown(
        f"**{change.action}** in revision {made.number} · session {made.epoch} · {md(made.actor)}"
        + (f" · {md(made.reason, limit=120)}" if made.reason else "")
    )
    before, after = change.before, change.after
    if before and after and before.text != after.text:
        diff.show(before.text, after.text)
    if before and after and before.confidence != after.confidence:
        st.caption(f"confidence {before.confidence:.2f} → {after.confidence:.2f}")
    if change.rationale:
        st.caption(md(change.rationale))
