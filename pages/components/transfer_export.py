"""Export: which memories, in which format, what it cannot hold, and the file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import MEMORY_FORMATS, MemoryExport, Snapshot, write_memories
from pages.components import filters, selection
from pages.components.frame import Desk
from pages.components.text import count, md

WRITABLE = [name for name, form in MEMORY_FORMATS.items() if form.write]
FIRST = ["winnow", "winnow-parquet"]
ORDER = [*FIRST, *sorted((n for n in WRITABLE if n not in FIRST),
                         key=lambda n: MEMORY_FORMATS[n].title.lower())]  # fmt: skip
ALL, SOME, SELECTED = "All", "Some kinds and domains", "Selected in Browse"
PREVIEWED = 1_200
"""Characters of the file that are shown."""


def section(desk: Desk) -> None:
    """The form on the left, what comes of it on the right."""
    if not len(desk.snapshot):
        st.info("This revision has no memories, so there is nothing to export.")
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        form = st.selectbox(
            "Format", ORDER, format_func=lambda name: MEMORY_FORMATS[name].title,
            key="export-format",
        )  # fmt: skip
        rows = _rows(desk.snapshot)
        size = count(len(rows), "memory", "memories")
        st.caption(
            f"**{size}** of revision {desk.snapshot.revision}. "
            "The revision menu above opens an older one."
        )
    if not len(rows):
        st.info("No memory passes; choose other kinds or domains.")
        return
    export = _written(
        str(desk.bank.path), desk.snapshot.revision, desk.snapshot.batch_key, form,
        rows.tobytes(), desk.snapshot, rows,
    )  # fmt: skip
    with left:
        st.download_button(
            f"Download {size}", export.content, export.filename, export.media_type,
            key="export", type="primary", icon="⬇️", on_click="ignore",
        )  # fmt: skip
        _lost(export)
    with right:
        _preview(export)


def _rows(snapshot: Snapshot) -> NDArray[np.int64]:
    selected = selection.selected(snapshot)
    scopes = [ALL, SOME, *([SELECTED] if selected else [])]
    scope = st.segmented_control(
        "Which memories", scopes, default=SELECTED if selected else ALL, key="export-scope",
        required=True, format_func=lambda s: f"{s} ({len(selected):,})" if s == SELECTED else s,
    )  # fmt: skip
    if scope == SELECTED:
        return np.array([snapshot.row_of(i) for i in selected], dtype=np.int64)
    if scope != SOME:
        return np.arange(len(snapshot), dtype=np.int64)
    kinds = st.pills("Kinds", list(filters.KINDS), selection_mode="multi", key="export-kinds",
                     format_func=lambda kind: f"{filters.SYMBOLS[kind]} {kind}")  # fmt: skip
    domains = st.multiselect(
        "Domains", list(snapshot.domain_counts()), key="export-domains", placeholder="All domains"
    )
    return np.array(
        [row for row in filters.rows(snapshot, filters.ALL, "", {"domain": domains})
         if not kinds or snapshot.at(int(row)).kind in kinds] if domains else
        [row for row in range(len(snapshot)) if not kinds or snapshot.at(row).kind in kinds],
        dtype=np.int64,
    )  # fmt: skip


@st.cache_resource(show_spinner="Writing the file", max_entries=4)
def _written(
    path: str,
    revision: int | None,
    batch_key: str,
    form: str,
    chosen: bytes,
    _snapshot: Snapshot,
    _rows: NDArray[np.int64],
) -> MemoryExport:
    return write_memories((_snapshot.at(int(row)) for row in _rows), form)


def _lost(export: MemoryExport) -> None:
    if not export.lost:
        st.success("Holds everything: imported again, all fields come back.", icon="✅")
        return
    with st.container(border=True, key="export-lost"):
        st.markdown("**This format cannot hold**")
        st.markdown(_listed(export.lost))


def _listed(phrases: Sequence[str]) -> str:
    return "\n".join(f"- {md(phrase)}" for phrase in phrases)


def _preview(export: MemoryExport) -> None:
    size = len(export.content)
    told = f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
    st.caption(f"{md(export.filename)} · {told}")
    if export.filename.endswith(".parquet"):
        st.info(
            "Parquet is for programs: one row a memory, readable by DuckDB, pandas, Polars and "
            "Spark. Detail, tags and provenance are JSON texts."
        )
        return
    text = export.content[: 4 * PREVIEWED].decode("utf-8", "ignore")
    cut = text[:PREVIEWED] + ("…" if len(export.content.decode()) > PREVIEWED else "")
    st.code(cut, language=None, wrap_lines=True, height=430)
