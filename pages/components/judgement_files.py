"""Judgements to and from files: TREC qrels and JSON lines, looked through before they are taken."""

from __future__ import annotations

import streamlit as st

from memory_core import JudgementImport, JudgementReading, MemoryCoreError, read_judgements
from pages.components import banks, keys
from pages.components.frame import Desk
from pages.components.measuring import Form
from pages.components.text import count, md

SHOWN = 200


def section(desk: Desk, asked: Form) -> None:
    """Export on the left, import on the right."""
    left, right = st.columns(2)
    with left:
        _export(desk, asked)
    with right:
        _import(desk)


def _export(desk: Desk, asked: Form) -> None:
    st.markdown("**Export**")
    judged = sum(len(query.judgements) for query in asked.queries)
    st.caption(
        f"{count(len(asked.queries), 'query', 'queries')}, {count(judged, 'judgement')}. JSON "
        "lines carry tasks and texts, so that another bank can take them; TREC qrels carry numbers "
        "only, for tools such as trec_eval."
    )
    with st.container(horizontal=True):
        st.download_button(
            "JSON lines", lambda: desk.bank.export_judgements("jsonl"), "judgements.jsonl",
            "application/jsonl", key="export-jsonl",
        )  # fmt: skip
        st.download_button(
            "TREC qrels", lambda: desk.bank.export_judgements("qrels"), "judgements.qrels",
            "text/plain", key="export-qrels",
        )  # fmt: skip


def _import(desk: Desk) -> None:
    st.markdown("**Import**")
    st.caption(
        "A grade of the file takes the place of the bank's own; what the file does not name stays."
    )
    file = st.file_uploader(
        "Judgements", key="judgement-file", label_visibility="collapsed",
        type=["qrels", "txt", "jsonl", "ndjson", "json"], disabled=desk.is_past,
    )  # fmt: skip
    if file is None:
        return
    try:
        reading = read_judgements(file.getvalue())
        planned = desk.bank.plan_judgements(reading)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return
    _plan(desk, reading, planned)


def _plan(desk: Desk, reading: JudgementReading, planned: JudgementImport) -> None:
    new = count(len(planned.new), "new query", "new queries")
    st.markdown(
        f"Read as {reading.format}: **{count(planned.count, 'judgement')} to take**, "
        f"{planned.replaced} of them in the place of another grade; {new}; "
        f"{planned.unchanged} stand already."
    )
    if planned.problems:
        st.warning(f"{count(len(planned.problems), 'line or part', 'lines or parts')} not taken:")
        problems = "\n".join(map(str, planned.problems[:SHOWN]))
        more = len(planned.problems) - SHOWN
        problems += f"\n… and {more:,} more" if more > 0 else ""
        height = 220 if len(planned.problems) > 6 else "content"
        st.code(problems, language=None, wrap_lines=True, height=height)
    if planned.count or planned.new:
        st.button(
            f"Import {count(planned.count, 'judgement')}"
            + (f" and {new}" if planned.new else ""),
            key="import-judgements", type="primary", on_click=_take, args=(desk, reading),
            disabled=desk.is_past,
        )  # fmt: skip


def _take(desk: Desk, reading: JudgementReading) -> None:
    try:
        made = banks.writable(desk.bank).import_judgements(reading)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.session_state[keys.NOTICE] = f"Took in {count(made.count, 'judgement')}."
