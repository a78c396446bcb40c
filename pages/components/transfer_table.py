"""The records of an import as tables: what is taken, what is refused and why, what is doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import streamlit as st

from memory_core import ImportDraft, Plan
from pages.components import plan_view
from pages.components.export import table_downloads
from pages.components.text import SYMBOLS, md, show

Rows: TypeAlias = list[dict[str, Any]]
SENT = 2_000
"""Rows of a table that are sent to the browser; its download has all."""
ROWS = 9
"""Rows that are in sight, so that the one that is opened below is, too."""
TAKEN, REFUSED, DOUBTS = "Taken", "Refused", "Doubtful"


def tables(draft: ImportDraft, plan: Plan) -> dict[str, Rows]:
    """Rows by look; a look without any is left out."""
    taken = _taken(draft, plan)
    found = {
        TAKEN: taken,
        REFUSED: _refused(draft, plan),
        DOUBTS: [row for row in taken if row["doubts"]],
    }
    return {name: rows for name, rows in found.items() if rows}


def _taken(draft: ImportDraft, plan: Plan) -> Rows:
    doubts: dict[int, list[str]] = {}
    for lint in plan.lints:
        doubts.setdefault(lint.index, []).append(lint.message)
    cut = set(draft.cut)
    rows = []
    for place, planned in enumerate(plan.accepted):
        memory = planned.changes[-1].after or planned.changes[-1].before
        assert memory is not None
        rows.append({
            "from": draft.entries[planned.index].where,
            "their id": cell(draft.entries[planned.index].source_id),
            "becomes": type(planned.operation).__name__.lower(),
            "kind": SYMBOLS[memory.kind],
            "text": memory.text,
            "cut": "✂" if planned.index in cut else "",
            "domain": memory.domain,
            "confidence": memory.confidence,
            "applied": memory.usage_count,
            "helped": memory.success_count,
            "doubts": " ".join(doubts.get(planned.index, ())),
            "_place": place,
        })  # fmt: skip
    return rows


def _refused(draft: ImportDraft, plan: Plan) -> Rows:
    rows = [
        {
            "from": draft.entries[refusal.index].where,
            "reason": refusal.reason,
            "text": cell(getattr(refusal.operation, "text", "")),
        }
        for refusal in plan.refused
    ]
    return rows + [
        {"from": problem.where, "reason": problem.message, "text": ""} for problem in draft.problems
    ]


def cell(value: object) -> str:
    """Whatever a file holds, as a text that a table can carry."""
    text = value if isinstance(value, str) else ascii(value)[:60]
    return text.encode("utf-8", "backslashreplace").decode()


def table(name: str, rows: Rows) -> int | None:
    """One table; the position of the row that was clicked."""
    import pandas as pd

    frame = pd.DataFrame(rows).drop(columns="_place", errors="ignore")
    unused = [column for column in frame.columns if not frame[column].astype(bool).any()]
    if all(row["their id"] in row["from"] for row in rows if "their id" in row):
        unused.append("their id")
    frame = frame.drop(columns=unused, errors="ignore")
    column = st.column_config
    places = 110 if frame["from"].str.len().max() <= 14 else 220
    event = st.dataframe(
        frame.head(SENT), hide_index=True,
        height="content" if len(frame) <= ROWS else 38 + 35 * ROWS,
        key=f"import-table-{name}", on_select="rerun", selection_mode="single-cell",
        column_config={
            "from": column.TextColumn("from", width=places, pinned=True),
            "their id": column.TextColumn("their id", width=120),
            "becomes": column.TextColumn("becomes", width=75),
            "kind": column.TextColumn("", width=36, help="◆ strategic ● procedural ■ tool"),
            "text": column.TextColumn("text", width=560),
            "cut": column.TextColumn("", width=36, help="Cut; the whole stays in the note"),
            "domain": column.TextColumn("domain", width=130),
            "confidence": column.NumberColumn("confidence", format="%.2f", width=85),
            "applied": column.NumberColumn("applied", width=65),
            "helped": column.NumberColumn("helped", width=65),
            "reason": column.TextColumn("reason", width=460),
            "doubts": column.TextColumn("doubts", width=320),
        },
        alt=f"{len(frame)} records of the file: {name.lower()}",
    )  # fmt: skip
    if len(frame) > SENT:
        st.caption(f"The first {SENT:,} of {len(frame):,}; a download has all.")
    table_downloads(frame, f"import-{name.lower()}")
    cells = event.selection.cells
    return cells[0][0] if cells and cells[0][0] < len(rows) else None


def show_row(row: dict[str, Any], entries: Sequence[plan_view.Entry]) -> None:
    """One record whole: what it becomes, and what its memory's note will keep of it."""
    with st.container(border=True, key="import-row"):
        if "_place" not in row:
            st.markdown(f":orange-background[**✕ refused**] {md(row['from'])}")
            st.markdown(md(row["reason"]))
            show(row["text"])
            return
        entry = entries[row["_place"]]
        plan_view.show_entry(entry)
        after = entry.after
        if after is not None and after.detail is not None:
            st.caption("Detail")
            show("\n".join(_detail_lines(after.detail)))
        if after is not None and after.provenance.note:
            st.caption("Note")
            show(after.provenance.note)


def _detail_lines(detail: Any) -> list[str]:
    lines: list[str] = []
    for name in getattr(type(detail), "__slots__", ()):
        value = getattr(detail, name)
        text = "; ".join(value) if isinstance(value, tuple) else value
        if text:
            lines.append(f"{name}: {text}")
    return lines
