"""Why an operation is refused, what was asked for, and both versions where it came too late."""

from __future__ import annotations

import streamlit as st

from memory_core import Add, Delete, Memory, Merge, Modify, Refusal
from pages.components import diff
from pages.components.text import md


def show(refusal: Refusal, *, key: str = "") -> None:
    """The reason first, then what was asked for, in full; `key` tells several plans apart."""
    st.warning(f"**Refused as it stands.** {md(refusal.reason)}", icon="✋")
    with st.container(border=True, key=f"asked-{key}{refusal.index}", gap="small"):
        _asked(refusal)
        for conflict in refusal.conflicts:
            _versions(conflict.memory_id, conflict.seen, conflict.current)


def _asked(refusal: Refusal) -> None:
    operation = refusal.operation
    match operation:
        case Add(text=text):
            _text(text)
        case Modify(id=memory_id, text=text):
            st.caption(f"was to change memory {md(str(memory_id))}")
            if text is not None:
                _text(text)
        case Merge(ids=ids, text=text):
            st.caption(f"was to merge {md(', '.join(map(str, ids)) or 'nothing')} into")
            _text(text)
        case Delete(id=memory_id):
            st.caption(f"was to delete memory {md(str(memory_id))}")


def _text(text: object) -> None:
    """A text that may be anything, as it was proposed."""
    words = str(text)
    st.text(words if words.strip() else "(an empty text)")
    st.caption(f"{len(words.split())} of 32 words")


def _versions(memory_id: int, seen: Memory | None, current: Memory | None) -> None:
    st.caption(f"Memory {memory_id}, as the proposal's author saw it, and as it is now")
    if seen is None or current is None:
        kept = seen or current
        if kept is not None:
            st.text(kept.text)
        st.caption("It was not there then." if seen is None else "It has left the bank since.")
        return
    diff.show(seen.text, current.text)
