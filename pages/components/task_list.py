"""Many tasks at once: paste them, one a line, see what each would get, keep them as queries."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Retrieval, RetrievalSettings
from pages.components import banks, keys
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.text import count

MOST = 200


def section(desk: Desk, settings: RetrievalSettings) -> None:
    """The box, and the hits of what was last run from it."""
    with st.form("many-tasks", border=False):
        st.text_area(
            f"Tasks, one a line, up to {MOST}", key="_tasks", height=160,
            placeholder="Move a branch\nFind a lost commit",
        )  # fmt: skip
        st.form_submit_button("Run them", on_click=_take)
    tasks = st.session_state.get(keys.MANY, ())
    if not tasks:
        return
    if len(tasks) > MOST:
        st.warning(f"{len(tasks):,} tasks are too many at once; the first {MOST} were run.")
        tasks = tasks[:MOST]
    found = _run(desk, tasks, settings)
    st.caption(f"{count(len(tasks), 'task')} with the settings above · a row for each hit")
    st.dataframe(
        _frame(found), hide_index=True, height=520, key="many-hits",
        column_config={
            "task": st.column_config.TextColumn(width=320),
            "text": st.column_config.TextColumn(width=460),
            "score": st.column_config.NumberColumn(format="%.2f"),
        },
        alt="Tasks with their hits",
    )  # fmt: skip
    table_downloads(lambda: _frame(found), "task-hits")
    st.button(
        f"Save {count(len(tasks), 'task')} as queries", key="save-tasks", on_click=_save,
        args=(desk.bank, tasks), help="They are then measured whenever something changes.",
    )  # fmt: skip


def tasks_of(pasted: str) -> tuple[str, ...]:
    """The tasks of a pasted text: a line each, trimmed, each once."""
    lines = (" ".join(line.split()) for line in pasted.replace("\x00", "").splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def _take() -> None:
    st.session_state[keys.MANY] = tasks_of(st.session_state["_tasks"] or "")


def _run(desk: Desk, tasks: tuple[str, ...], settings: RetrievalSettings) -> list[Retrieval]:
    with st.spinner(f"Asking {count(len(tasks), 'task')}", show_time=True):
        desk.bank.embed(tasks)  # all together; each is then at hand
        return [desk.bank.retrieve(task, settings, revision=desk.snapshot) for task in tasks]


def _frame(found: list[Retrieval]) -> Any:
    import pandas as pd

    rows = [
        (one.task, hit.rank, hit.score, hit.memory.text, hit.memory.domain, hit.memory.id)
        for one in found
        for hit in one.hits
    ]
    return pd.DataFrame(rows, columns=["task", "rank", "score", "text", "domain", "id"])


def _save(bank: MemoryBank, tasks: tuple[str, ...]) -> None:
    try:
        before = len(bank.queries())
        banks.writable(bank).save_queries(tasks)
        fresh = len(bank.queries()) - before
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.toast(f"Saved {count(fresh, 'query', 'queries')}; {len(tasks) - fresh} were there already.")
