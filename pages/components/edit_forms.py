"""The forms that write lessons: add, edit, merge into one, split in two."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core import KINDS, Memory, Merge, Operation, split
from pages.components import edit_conflict, edit_draft
from pages.components.bulk_forms import asked
from pages.components.edit_draft import Asked, Draft
from pages.components.forms import Filled, memory_form, nearest_to, text_line, word_count
from pages.components.frame import Desk
from pages.components.text import count, md, named, show


def add_button(desk: Desk, kind: str) -> None:
    """Opens the form of a new memory, of the kind that is browsed if it is one."""
    start = Filled("", kind if kind in KINDS else KINDS[0], "")  # type: ignore[arg-type]
    st.button(
        "Add a memory", key="add-memory", disabled=desk.is_past, on_click=edit_draft.begin,
        args=(desk, "add", (), start),
    )  # fmt: skip


def add(desk: Desk, draft: Draft) -> Asked | None:
    """A new memory."""
    filled = memory_form(desk, key=draft.token, value=draft.values)
    if filled is None:
        return None
    return _asked(draft, filled.as_add(), "Added a memory", "Add the memory", filled)


def edit(desk: Desk, draft: Draft) -> Asked | None:
    """One memory, as it was when the form was opened."""
    (memory_id,) = draft.ids
    seen = desk.bank.snapshot(draft.base).by_id(memory_id)
    edit_conflict.news(desk, draft, seen)
    filled = memory_form(
        desk, key=draft.token, kind=seen.kind, value=draft.values or seen,
        original=" ".join(seen.text.split()), ignore=(memory_id,),
    )  # fmt: skip
    if filled is None:
        return None
    change = filled.as_modify(seen)
    if change is None:
        st.caption("Nothing is changed yet.")
        return None
    return _asked(draft, change, f"Edited memory {memory_id}", f"Save memory {memory_id}", filled)


def merge(desk: Desk, draft: Draft) -> Asked | None:
    """One memory in the place of several: the most confident one's text to begin with."""
    seen = desk.bank.snapshot(draft.base)
    sources = [seen.by_id(memory_id) for memory_id in draft.ids if memory_id in seen]
    if not sources:
        st.warning("All of them have left the bank since they were selected.")
        return None
    for memory in sources[:6]:
        st.caption(
            f"{named(memory.kind)} · {md(memory.domain, limit=40)} · memory {memory.id} · "
            f"confidence {memory.confidence:.2f}"
        )
        show(memory.text)
    if len(sources) > 6:
        st.caption(f"and {len(sources) - 6} more")
    with st.container(border=True, key="merged-into"):
        filled = memory_form(
            desk, key=draft.token, value=draft.values or _drafted(sources), ignore=draft.ids,
            pin=False,
        )  # fmt: skip
    if filled is None:
        return None
    # One that had left before its author looked is no source; one that leaves after is told.
    operation = Merge(
        tuple(memory.id for memory in sources),
        filled.text,
        filled.kind,
        filled.domain,
        filled.detail,
        filled.tags,
    )
    some = count(len(sources), "memory", "memories")
    return _asked(
        draft, operation, f"Merged {some} into one", f"Merge {len(sources):,} into 1", filled
    )


def _drafted(sources: list[Memory]) -> Filled:
    """As the merge itself would choose: the most confident first."""
    best = max(sources, key=lambda memory: (memory.confidence, memory.usage_count, -memory.id))
    tags = dict.fromkeys(tag for memory in sources for tag in memory.tags)
    details = [m.detail for m in sources if m.kind == best.kind and m.detail is not None]
    detail = best.detail or next(iter(details), None)
    text = " ".join(best.text.split())
    return Filled(text, best.kind, best.domain, detail, tuple(tags), any(m.pinned for m in sources))


def split_in_two(desk: Desk, draft: Draft) -> Asked | None:
    """Two memories in the place of one; both keep its domain, detail, tags and confidence."""
    (memory_id,) = draft.ids
    seen = desk.bank.snapshot(draft.base).by_id(memory_id)
    edit_conflict.news(desk, draft, seen)
    st.caption(f"{named(seen.kind)} · {md(seen.domain, limit=60)} · memory {seen.id}")
    show(seen.text)
    texts: list[str] = []
    valid = True
    given = draft.values or (" ".join(seen.text.split()), "")
    for number, label in enumerate(("First lesson", "Second lesson")):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            text = text_line(label, given[number], key=f"{draft.token}-part-{number}")
            valid = word_count(text) and valid
        with right:
            nearest_to(desk, text, ignore=(memory_id,), limit=3)
        texts.append(text)
    if not valid or texts[0] == texts[1]:
        return None
    wanted, done = (*texts, draft.base), f"Split memory {memory_id} in two"
    return Asked(
        wanted,
        lambda bank: bank.plan(split(seen, texts, base_revision=draft.base, reason=done)),
        done,
        f"Split memory {memory_id} in two",
        tuple(texts),
    )


def _asked(draft: Draft, operation: Operation, done: str, button: str, filled: Filled) -> Asked:
    return replace(asked(draft, [operation], done, button), values=filled)
