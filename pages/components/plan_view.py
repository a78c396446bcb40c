"""What a plan would do, or what lies between two revisions: each memory before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from memory_core import Diff, Lint, Memory, Merge, Plan, PlannedOperation, Refusal
from pages.components import diff
from pages.components.export import table_downloads
from pages.components.fields import field_changes, told
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md

FULL = 12
"""How many changes are shown in full; the others stand in a table."""
SOURCES = 8
"""How many memories of a merge are shown."""
ADDED, REMOVED, CHANGED, MERGED, SAME = "+", "−", "~", "⋈", "="
COLOURS = {ADDED: "green", REMOVED: "red", CHANGED: "orange", MERGED: "violet", SAME: "gray"}
VERBS = {ADDED: "added", REMOVED: "removed", CHANGED: "changed", MERGED: "merged", SAME: "as it is"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory that comes, goes or changes."""

    mark: str
    before: Memory | None
    after: Memory | None
    sources: tuple[Memory, ...] = ()
    """What a merge puts it in the place of."""
    rationale: str = ""
    doubts: tuple[Lint, ...] = ()

    @property
    def memory(self) -> Memory:
        found = self.after or self.before
        assert found is not None
        return found


# -- plans ----------------------------------------------------------------------------------------


def show_plan(desk: Desk, plan: Plan, *, full: int = FULL, key: str = "plan") -> None:
    """Each operation of a plan before and after, what is refused and why, and what is doubtful.

    The first `full` are shown whole, the others in a table. `key` tells two plans of one page
    apart.
    """
    found = entries(plan)
    st.markdown(summary(plan, found))
    _refusals(plan.refused, full, key)
    show_entries(found, full=full, key=key)


def entries(plan: Plan) -> list[Entry]:
    """One entry for each accepted operation, in their order."""
    doubts: dict[int, tuple[Lint, ...]] = {}
    for lint in plan.lints:
        doubts[lint.index] = (*doubts.get(lint.index, ()), lint)
    found = [_entry(planned, doubts.get(planned.index, ())) for planned in plan.accepted]
    # What is the reason for all of it need not stand with each.
    return [
        replace(entry, rationale="") if entry.rationale == plan.batch.reason else entry
        for entry in found
    ]


def _entry(planned: PlannedOperation, doubts: tuple[Lint, ...]) -> Entry:
    operation, last = planned.operation, planned.changes[-1]
    if isinstance(operation, Merge):
        sources = tuple(c.before for c in planned.changes[:-1] if c.before)
        return Entry(MERGED, None, last.after, sources, operation.rationale, doubts)
    mark = _mark(last.before, last.after)
    return Entry(mark, last.before, last.after, (), operation.rationale, doubts)


def _mark(before: Memory | None, after: Memory | None) -> str:
    if before is None:
        return ADDED
    if after is None:
        return REMOVED
    return SAME if before == after else CHANGED


def summary(plan: Plan, found: Sequence[Entry]) -> str:
    """Markdown: how many of each, and what becomes of the bank's size."""
    words = [tally(found)] if found else []
    if plan.refused:
        words.append(f"**{count(len(plan.refused), 'operation')} refused**")
    if plan.lints:
        words.append(f"{count(len(plan.lints), 'doubt')}")
    before, after = len(plan.before), len(plan.after)
    if before != after:
        words.append(f"the bank goes from {before:,} to {count(after, 'memory', 'memories')}")
    return " · ".join(words) or "Nothing would change."


def tally(found: Sequence[Entry]) -> str:
    """Markdown: how many entries bear each mark."""
    marks = [entry.mark for entry in found]
    return " ".join(
        f"{marked(mark)} {marks.count(mark):,} {VERBS[mark]}" for mark in COLOURS if mark in marks
    )


def marked(mark: str) -> str:
    """Markdown of a mark on its colour."""
    return f":{COLOURS[mark]}-background[**{md(mark)}**]"


def _refusals(refused: Sequence[Refusal], full: int, key: str) -> None:
    for refusal in refused[:full]:
        with st.container(border=True, key=f"{key}-refused-{refusal.index}"):
            st.markdown(f":orange-background[**✕ refused**] {_asked(refusal)}")
            st.markdown(md(refusal.reason))
            for conflict in refusal.conflicts:
                if conflict.seen and conflict.current:
                    st.caption("As it was looked at, and as it is now:")
                    show_change(conflict.seen, conflict.current)
    if len(refused) > full:
        import pandas as pd

        st.caption(f"and {len(refused) - full:,} more that are refused")
        rest = refused[full:]
        table = pd.DataFrame(
            {
                "operation": [refusal.index + 1 for refusal in rest],
                "what": [type(refusal.operation).__name__.lower() for refusal in rest],
                "reason": [refusal.reason for refusal in rest],
            }
        )
        st.dataframe(table, hide_index=True, height=min(38 + 35 * len(rest), 300))
        table_downloads(table, f"{key}-refused")


def _asked(refusal: Refusal) -> str:
    operation: Any = refusal.operation
    ids = getattr(operation, "ids", None) or getattr(operation, "id", None)
    of = f" of memory {md(str(ids))}" if isinstance(ids, int) else ""
    of = f" of {', '.join(map(str, ids[:10]))}" if isinstance(ids, tuple) else of
    text = getattr(operation, "text", None)
    said = f": {md(text, limit=160)}" if isinstance(text, str) else ""
    return f"operation {refusal.index + 1}, {type(operation).__name__.lower()}{of}{said}"


# -- revisions ------------------------------------------------------------------------------------


def entries_between(found: Diff) -> list[Entry]:
    """One entry for each memory that differs; what a new one was merged from stands with it."""
    gone = {memory.id: memory for memory in found.removed}
    listed: list[Entry] = []
    merged: set[int] = set()
    for memory in found.added:
        sources = tuple(gone[i] for i in memory.provenance.merged_from if i in gone)
        merged |= {source.id for source in sources}
        mark = MERGED if len(sources) > 1 else ADDED
        listed.append(Entry(mark, None, memory, sources if mark == MERGED else ()))
        if mark == ADDED:
            merged -= {source.id for source in sources}
    listed += [Entry(CHANGED, c.before, c.after) for c in found.changed]
    listed += [Entry(REMOVED, memory, None) for memory in found.removed if memory.id not in merged]
    return listed


# -- entries --------------------------------------------------------------------------------------


def show_entries(found: Sequence[Entry], *, full: int = FULL, key: str = "plan") -> None:
    """The first in full, the others in a table."""
    for number, entry in enumerate(found[:full]):
        with st.container(border=True, key=f"{key}-entry-{number}", gap="small"):
            show_entry(entry)
    rest = found[full:]
    if rest:
        frame = table_of(rest)
        st.caption(f"and {count(len(rest), 'more change')}")
        st.dataframe(
            frame, hide_index=True, height=min(38 + 35 * len(rest), 380), key=f"{key}-rest",
            column_config={
                "": st.column_config.TextColumn(width=30),
                "id": st.column_config.NumberColumn(width=55, format="%d"),
                "text": st.column_config.TextColumn(width=420),
                "text before": st.column_config.TextColumn(width=300),
                "what changes": st.column_config.TextColumn(width=320),
            },
            alt=f"{len(rest)} further changes",
        )  # fmt: skip
    if len(found) > 1:
        table_downloads(lambda: table_of(found), key)


def show_entry(entry: Entry) -> None:
    """One memory: its mark, its text before and after, and what else changes."""
    memory = entry.memory
    name = f"memory {memory.id}" if memory.id > 0 else "new memory"
    place = f"{SYMBOLS[memory.kind]} {memory.kind} · {md(memory.domain, limit=80)} · {name}"
    st.markdown(f"{marked(entry.mark)} {place}")
    if entry.mark == MERGED:
        _merged(entry)
    elif entry.before and entry.after:
        show_change(entry.before, entry.after)
        if entry.mark == SAME:
            st.caption("Stays as it is.")
    else:
        text = md(memory.text)
        if entry.mark == REMOVED:
            text = f":red-background[~~{text}~~]"
        st.markdown(text)
        st.caption(told(memory))
    if entry.rationale:
        st.caption(f"Why: {md(entry.rationale)}")
    for doubt in entry.doubts:
        st.markdown(f":orange-background[**{md(doubt.rule)}**] {md(doubt.message)}")


def show_change(before: Memory, after: Memory) -> None:
    """Two versions of one memory: the text word by word, then each field that differs."""
    if before.text == after.text:
        st.text(after.text)
    else:
        diff.show(before.text, after.text)
    changes = field_changes(before, after)
    short = [change.markdown for change in changes if change.is_short]
    if short:
        st.markdown(" · ".join(short))
    for change in changes:
        if not change.is_short:
            st.markdown(change.markdown)


def _merged(entry: Entry) -> None:
    """The sources struck, then what stands for them, against the source it is most like."""
    assert entry.after is not None
    for source in entry.sources[:SOURCES]:
        st.markdown(
            f"{marked(REMOVED)} {source.id}: :red-background[~~{md(source.text)}~~] "
            f"confidence {source.confidence:.2f}, applied {source.usage_count}"
        )
    if len(entry.sources) > SOURCES:
        st.caption(f"and {len(entry.sources) - SOURCES} more")
    st.markdown(f"{marked(ADDED)} **{md(entry.after.text)}**")
    st.caption(told(entry.after))


def table_of(found: Sequence[Entry]) -> Any:
    """A data frame with a row for each entry."""
    import pandas as pd

    rows = [
        {
            "": entry.mark,
            "id": entry.memory.id if entry.memory.id > 0 else None,
            "text": entry.memory.text,
            "text before": _text_before(entry),
            "what changes": _in_words(entry),
            "doubts": "; ".join(doubt.message for doubt in entry.doubts),
        }
        for entry in found
    ]
    frame = pd.DataFrame(rows)
    frame["id"] = frame["id"].astype("Int64")
    return frame if frame["doubts"].any() else frame.drop(columns="doubts")


def _text_before(entry: Entry) -> str:
    if entry.mark == MERGED:
        return " | ".join(source.text for source in entry.sources)
    return entry.before.text if entry.before and entry.before.text != entry.memory.text else ""


def _in_words(entry: Entry) -> str:
    if entry.mark == MERGED:
        return "merged from " + ", ".join(str(source.id) for source in entry.sources)
    if not entry.before or not entry.after:
        return VERBS[entry.mark]
    parts = ["text"] if entry.before.text != entry.after.text else []
    parts += [change.plain for change in field_changes(entry.before, entry.after)]
    return "; ".join(parts)
