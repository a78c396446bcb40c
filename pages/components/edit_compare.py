"""Two memories side by side: what they share, what they differ in, and what to do about it."""

from __future__ import annotations

import streamlit as st

from memory_core import Memory
from pages.components import diff, edit_draft
from pages.components.edit_draft import Asked, Draft
from pages.components.export import table_downloads
from pages.components.fields import fields
from pages.components.frame import Desk
from pages.components.text import md, named, show


def side_by_side(desk: Desk, draft: Draft) -> Asked | None:
    """Both in full; nothing is asked for, but merging or editing is a click away."""
    pair = [desk.head.by_id(memory_id) for memory_id in draft.ids if memory_id in desk.head]
    if len(pair) != 2:
        st.warning("One of the two has left the bank since they were selected.")
        return None
    one, other = pair
    similarity = float(desk.head.vector_of(one.id) @ desk.head.vector_of(other.id))
    with st.container(horizontal=True, vertical_alignment="center", key="compared-ways"):
        st.markdown(f"Similarity **{similarity:.2f}**")
        st.button(
            "Merge 2 into 1", key="merge-compared", on_click=edit_draft.begin,
            args=(desk, "merge", draft.ids),
        )  # fmt: skip
    for column, memory in zip(st.columns(2, gap="medium"), pair, strict=True):
        with column, st.container(border=True, key=f"compared-{memory.id}"):
            st.caption(f"{named(memory.kind)} · {md(memory.domain, limit=60)} · memory {memory.id}")
            show(memory.text)
            st.button(
                f"Edit {memory.id}", key=f"edit-compared-{memory.id}", type="tertiary",
                on_click=edit_draft.begin, args=(desk, "edit", (memory.id,)),
            )  # fmt: skip
    if diff.are_related(one.text, other.text):
        st.caption(f"From {one.id} to {other.id}, word by word")
        diff.show(one.text, other.text)
    _table(one, other)
    return None


def _table(one: Memory, other: Memory) -> None:
    import pandas as pd

    left, right = fields(one), fields(other)
    names = list(dict.fromkeys((*left, *right)))
    frame = pd.DataFrame(
        {
            "field": names,
            f"memory {one.id}": [left.get(name, "") for name in names],
            f"memory {other.id}": [right.get(name, "") for name in names],
            "": ["" if left.get(name) == right.get(name) else "≠" for name in names],
        }
    )
    st.dataframe(
        frame, hide_index=True, height="content", alt="Both memories, field by field",
        column_config={"": st.column_config.TextColumn(width=36)},
    )  # fmt: skip
    table_downloads(frame, f"memories-{one.id}-{other.id}")
