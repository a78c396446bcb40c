"""One memory's whole life: each revision that touched it, why, and what it was like after it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import Change, MemoryBank, MemoryNotFoundError
from pages.components import keys, selection
from pages.components.export import table_downloads
from pages.components.fields import field_changes, told
from pages.components.frame import Desk
from pages.components.history_list import look_at
from pages.components.plan_view import ADDED, CHANGED, MERGED, REMOVED, marked, show_change
from pages.components.text import count, md, named

MARKS = {
    "added": ADDED, "changed": CHANGED, "removed": REMOVED, "merged": MERGED, "restored": CHANGED,
}  # fmt: skip
MATCHES = 50
LINE = "#B7791F"
"""That of confidence everywhere."""


@st.cache_data(show_spinner=False, max_entries=64)
def _life(
    path: str, signature: tuple[int, ...], memory_id: int, _bank: MemoryBank
) -> tuple[Change, ...]:
    return _bank.history(memory_id)


def life(desk: Desk, memory_id: int) -> tuple[Change, ...]:
    """All that ever happened to a memory, oldest first. Raises MemoryNotFoundError."""
    return _life(str(desk.bank.path), desk.signature, memory_id, desk.bank)


def section(desk: Desk) -> None:
    """A memory by its number, or by words of its text, living or gone."""
    asked = st.text_input(
        "Memory", key="life", bind="query-params", live="300ms", width=520,
        placeholder="its number, also of one that is gone, or words of its text",
    )  # fmt: skip
    memory_id = _chosen(desk, (asked or "").strip())
    if memory_id is None:
        return
    try:
        changes = life(desk, memory_id)
    except MemoryNotFoundError:
        st.warning(f"There never was a memory {memory_id} in this bank.")
        return
    _head(desk, memory_id, changes)
    if st.session_state.pop(keys.TO_BROWSE, False):
        st.switch_page("pages/browse.py", query_params={keys.MEMORY: str(memory_id)})
    _curve(changes)
    for place, change in reversed(list(enumerate(changes))):
        with st.container(border=True, key=f"life-{place}", gap="small"):
            show(desk, change)
    table_downloads(lambda: frame_of(changes), f"memory-{memory_id}-life")


def _chosen(desk: Desk, asked: str) -> int | None:
    if not asked:
        st.caption("Name a memory to see how it came, changed and, perhaps, went.")
        return None
    if asked.isdecimal() and len(asked) < 19:
        return int(asked)
    wanted = asked.casefold().split()
    found = [
        int(desk.head.ids[row])
        for row, text in enumerate(desk.head.texts())
        if all(word in text.casefold() for word in wanted)
    ][:MATCHES]
    if not found:
        st.warning(
            f"No memory in the bank has the words “{md(asked, limit=60)}”; one that is gone is "
            "found by its number."
        )
        return None
    if len(found) == 1:
        return found[0]
    labels = {i: f"{i} · {desk.head.by_id(i).text}" for i in found}
    return st.selectbox(
        count(len(found), "memory", "memories") + " with these words"
        + (", the first of them" if len(found) == MATCHES else ""),
        found, format_func=labels.__getitem__, key=f"life-of-{desk.head.revision}-{asked}",
    )  # fmt: skip


def _head(desk: Desk, memory_id: int, changes: tuple[Change, ...]) -> None:
    last = changes[-1].after or changes[-1].before
    assert last is not None
    here = memory_id in desk.head
    words = [f"{named(last.kind)} · {md(last.domain, limit=60)} · memory {memory_id}"]
    words.append(count(len(changes), "change"))
    words.append("in the bank" if here else "no longer in the bank")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(" · ".join(words))
        if memory_id in desk.snapshot:
            st.button("Open in Browse", key="life-to-browse", type="tertiary",
                      on_click=_to_browse, args=(memory_id,))  # fmt: skip


def _to_browse(memory_id: int) -> None:
    selection.open_memory(memory_id)
    st.session_state[keys.TO_BROWSE] = True


def _curve(changes: tuple[Change, ...]) -> None:
    import pandas as pd

    points = [
        (change.revision.number, change.after.confidence)
        for change in changes
        if change.revision and change.after
    ]
    if len({confidence for _, confidence in points}) < 2:
        return
    frame = pd.DataFrame(points, columns=["revision", "confidence"])
    st.line_chart(frame, x="revision", y="confidence", height=180, color=LINE)


def show(desk: Desk, change: Change) -> None:
    """One change: by which revision, whose, why, and what it did."""
    made = change.revision
    assert made is not None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{marked(MARKS[change.action])} **{change.action}** in revision {made.number} · "
            f"{md(made.kind)} · session {made.epoch} · {made.made_at:%Y-%m-%d %H:%M} UTC · "
            f"{md(made.actor, limit=60)}"
        )
        st.button(
            "Look at it", key=f"life-look-{made.number}-{change.memory_id}", type="tertiary",
            on_click=look_at, args=(made.number,), disabled=made.number == desk.snapshot.revision,
            help="The whole bank after this revision, read-only, on every page.",
        )  # fmt: skip
    if made.reason:
        st.caption(md(made.reason, limit=300))
    before, after = change.before, change.after
    if before and after:
        show_change(before, after)
    elif after:
        st.markdown(md(after.text))
        st.caption(told(after))
    elif before:
        st.markdown(f":red-background[~~{md(before.text)}~~]")
    if change.rationale and change.rationale != made.reason:
        st.caption(f"Why: {md(change.rationale)}")
    if change.evidence:
        runs = ", ".join(md(item.trajectory_id, limit=60) for item in change.evidence)
        st.caption(f"Borne out by run {runs}")


def frame_of(changes: tuple[Change, ...]) -> Any:
    """A data frame with a row for each change, oldest first."""
    import pandas as pd

    return pd.DataFrame([_row(change) for change in changes])


def _row(change: Change) -> dict[str, Any]:
    made, stands = change.revision, change.after
    assert made is not None
    differs = field_changes(change.before, stands) if change.before and stands else ()
    return {
        "revision": made.number,
        "made at": made.made_at,
        "session": made.epoch,
        "actor": made.actor,
        "reason": made.reason,
        "change": change.action,
        "text": stands.text if stands else "",
        "confidence": stands.confidence if stands else None,
        "what else changed": "; ".join(field.plain for field in differs),
        "why": change.rationale,
    }
