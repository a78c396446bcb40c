"""One group of near duplicates: its members in full, the merge that is drafted, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from memory_core import DistinctPair, DuplicateGroup, Memory, MemoryCoreError, Merge
from pages.components import banks, clean_merge, diff, forms, keys
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, ago, count, md, used

IN_FULL = 12
"""How many members are shown one by one; more stand in a table."""


def card(
    desk: Desk, group: DuplicateGroup, threshold: float, waiting: Mapping[frozenset[int], int]
) -> None:
    """A group with all that can be done to it."""
    name = name_of(group.ids)
    draft = group.draft()
    with st.container(border=True, key=f"group-{name}"):
        st.markdown(_about(group, threshold))
        for first, second in group.apart:
            st.caption(f"You said that {first} and {second} are no duplicates; others join them.")
        chosen = _members(desk, group, name, draft)
        text = forms.text_line("Merged into", draft.text, key=f"text-{name}")
        members = [m for m in group.memories if m.id in chosen]
        with st.container(horizontal=True, gap="medium"):
            with st.container(width="content"):
                fits = forms.word_count(text)
            if members:
                st.caption(_result(members))
        merge = replace(draft, ids=tuple(chosen), text=text)
        ready = fits and len(chosen) > 1
        _buttons(desk, name, merge, ready, waiting)
        if ready and clean_merge.is_open(name):
            sentence = f"Merged {len(chosen)} memories into one: {text}"
            clean_merge.plan_section(desk, name, [merge], sentence)


def name_of(ids: tuple[int, ...]) -> str:
    """What tells a group's widgets from those of others."""
    return "-".join(map(str, ids)) if len(ids) <= IN_FULL else f"{len(ids)}-{hash(ids)}"


def _about(group: DuplicateGroup, threshold: float) -> str:
    tight, loose = group.tightest, group.loosest
    words = f"**{len(group)} memories**"
    if len(group) == 2:
        return f"{words} · similarity {tight.similarity:.2f}"
    words += f" · tightest {tight.first} and {tight.second}: {tight.similarity:.2f}"
    words += f" · loosest {loose.first} and {loose.second}: {loose.similarity:.2f}"
    if loose.similarity < threshold:
        words += " (joined through others)"
    return words


def _members(desk: Desk, group: DuplicateGroup, name: str, draft: Merge) -> list[int]:
    """Each member in full; the ids of those that take part."""
    if len(group) > IN_FULL:
        return _many(desk, group, name)
    chosen = []
    for memory in group.memories:
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            takes_part = st.checkbox(
                f"Memory {memory.id} takes part", True, key=f"part-{name}-{memory.id}",
                label_visibility="collapsed", width="content",
            )  # fmt: skip
            with st.container(gap=None):
                st.markdown(f"{SYMBOLS[memory.kind]} {diff.words(draft.text, memory.text)}")
                st.caption(_numbers(desk, memory))
        if takes_part:
            chosen.append(memory.id)
    return chosen


def _many(desk: Desk, group: DuplicateGroup, name: str) -> list[int]:
    import numpy as np

    from pages.components.tables import column_config, frame_of

    rows = np.array([desk.snapshot.row_of(i) for i in group.ids])
    event = st.dataframe(
        frame_of(desk.snapshot, rows), column_config=column_config(480), height=300,
        key=f"members-{name}", on_select="rerun", selection_mode="multi-row",
        selection_default={"selection": {"rows": list(range(len(group)))}},
        alt=f"{len(group)} memories; the ticked ones take part",
    )  # fmt: skip
    return [group.ids[row] for row in sorted(event.selection.rows) if row < len(group)]


def _numbers(desk: Desk, memory: Memory) -> str:
    pinned = " · 📌 pinned" if memory.pinned else ""
    return (
        f"memory {memory.id} · {md(memory.domain, limit=60)} · confidence {memory.confidence:.2f} "
        f"· {used(memory)} · {ago(memory.epoch, desk.snapshot.epoch)}{pinned}"
    )


def _result(members: list[Memory]) -> str:
    """What the merged memory takes over."""
    uses, helped = sum(m.usage_count for m in members), sum(m.success_count for m in members)
    best = max(members, key=lambda m: m.confidence)
    pinned = " · pinned" if any(m.pinned for m in members) else ""
    return (
        f"confidence {best.confidence:.2f}, the highest · applied {uses:,}, helped {helped:,}, "
        f"the sums{pinned} · all their tags"
    )


def _buttons(
    desk: Desk, name: str, merge: Merge, ready: bool, waiting: Mapping[frozenset[int], int]
) -> None:
    some = len(merge.ids)
    with st.container(horizontal=True, vertical_alignment="center"):
        clean_merge.plan_button(desk, name, f"Merge {some} into 1", disabled=not ready)
        st.button(
            "Not duplicates", key=f"apart-{name}", disabled=desk.is_past or some < 2,
            on_click=_mark_apart, args=(desk, merge.ids),
            help="Remembered for as long as they read as they do now; it can be taken back.",
        )  # fmt: skip
        clean_merge.send_button(desk, name, merge, waiting, disabled=not ready)


# -- what people said of them ---------------------------------------------------------------------


def _mark_apart(desk: Desk, ids: tuple[int, ...]) -> None:
    try:
        banks.writable(desk.bank).mark_distinct(ids)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.session_state[keys.APART] = (str(desk.bank.path), ids)


def _take_back(desk: Desk, ids: tuple[int, ...]) -> None:
    st.session_state.pop(keys.APART, None)
    try:
        banks.writable(desk.bank).unmark_distinct(ids)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)


def said_apart(desk: Desk) -> None:
    """What was said here last, with the way back."""
    path, ids = st.session_state.get(keys.APART, ("", ()))
    if path != str(desk.bank.path):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="said-apart"):
        named = ", ".join(map(str, ids[:8])) + (", …" if len(ids) > 8 else "")
        st.markdown(f"{count(len(ids), 'memory', 'memories')} are no duplicates: {named}.")
        st.button("Take it back", key="take-apart-back", disabled=desk.is_past,
                  on_click=_take_back, args=(desk, ids))  # fmt: skip


def pair_apart(desk: Desk, pair: DistinctPair) -> None:
    """Two that a person called distinct, with the way back."""
    with st.container(border=True, key=f"told-{pair.first}-{pair.second}"):
        for memory_id in pair.ids:
            if memory_id in desk.snapshot:
                st.markdown(f"{memory_id}: {md(desk.snapshot.by_id(memory_id).text)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"said by {md(pair.actor, limit=60)}")
            st.button(
                "Take back", key=f"take-back-{pair.first}-{pair.second}", type="tertiary",
                disabled=desk.is_past, on_click=_take_back, args=(desk, pair.ids),
            )  # fmt: skip
