"""The runs that lie on the desk: which are reflected on, and which is on show."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_core import Trajectory
from pages.components import keys, run_step
from pages.components.reflect_lines import count_calls, count_errors, start_of
from pages.components.text import count, md

SHOWN_ROWS = 6
MOST = 20
"""Runs up to which all are chosen at first."""


def on_show(key: str, runs: Sequence[Trajectory]) -> int:
    """The position of the run that is looked at."""
    known = st.session_state.get(keys.RUN_SHOWN)
    return known[1] if known and known[0] == key and known[1] < len(runs) else 0


def show(key: str, place: int) -> None:
    st.session_state[keys.RUN_SHOWN] = (key, place)


def table(key: str, runs: Sequence[Trajectory], *, choosable: bool) -> list[int]:
    """A row for each run, a click shows it; the positions of those that are ticked."""
    import pandas as pd

    now = on_show(key, runs)
    frame = pd.DataFrame({
        "on show": ["▸" if place == now else "" for place in range(len(runs))],
        "run": [run.name or str(place) for place, run in enumerate(runs, start=1)],
        "task": [start_of(run.task) for run in runs],
        "steps": [len(run.steps) for run in runs],
        "tool calls": [count_calls(run) for run in runs],
        "errors": [count_errors(run) for run in runs],
        "outcome": [_outcome(run) for run in runs],
    })  # fmt: skip
    column = st.column_config
    name = f"runs-{key}-{choosable}"
    at_first = list(range(len(runs))) if len(runs) <= MOST else [0]
    event = st.dataframe(
        frame, hide_index=True, key=name,
        height="content" if len(runs) <= SHOWN_ROWS else 38 + 35 * SHOWN_ROWS,
        column_config={
            "on show": column.TextColumn("", width=28),
            "run": column.TextColumn("run", width=130),
            "task": column.TextColumn("task", width=520),
            "steps": column.NumberColumn("steps", width=60),
            "tool calls": column.NumberColumn("tool calls", width=80),
            "errors": column.NumberColumn("errors", width=60),
            "outcome": column.TextColumn("outcome", width=160),
        },
        on_select=lambda: _clicked(name, key),
        selection_mode=["multi-row", "single-cell"] if choosable else "single-cell",
        selection_default={"selection": {"rows": at_first}} if choosable else None,
        alt=f"{count(len(runs), 'run')} with steps, tool calls, errors and outcome",
    )  # fmt: skip
    if not choosable:
        return list(range(len(runs)))
    return [row for row in event.selection.rows if row < len(runs)]


def _clicked(name: str, key: str) -> None:
    cells = st.session_state[name]["selection"]["cells"]
    if cells:
        show(key, cells[0][0])


def _outcome(run: Trajectory) -> str:
    ended = run.outcome
    words = [] if ended.success is None else ["succeeded" if ended.success else "failed"]
    words += [] if ended.reward is None else [f"reward {ended.reward:g}"]
    return " · ".join(words) or "not told"


def facts(run: Trajectory) -> None:
    """What a run was about, and how it ended."""
    if run.task.strip():
        with st.container(height=100 if len(run.task) > 700 else "content", border=False):
            st.markdown(f"**Task** {md(run.task, limit=4_000)}")
    words = run_step.outcome(run) or ["how it ended is not told"]
    words += [f"by {md(run.agent, limit=60)}"] if run.agent else []
    words += [md(run.model, limit=60)] if run.model else []
    st.caption(" · ".join(words))


def counts(run: Trajectory) -> str:
    """Markdown of how many steps it took, and how many of them failed."""
    words = [count(len(run.steps), "step")]
    calls, errors = count_calls(run), count_errors(run)
    words += [count(calls, "tool call")] if calls else []
    words += [f":red-background[✕ {count(errors, 'error')}]"] if errors else []
    words += [count(len(run.children), "sub-agent")] if run.children else []
    return " · ".join(words)
