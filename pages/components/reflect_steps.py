"""A run on show: the table of its steps, and one step beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from memory_core import Evidence, Trajectory
from pages.components import keys, run_step
from pages.components.reflect_lines import FAILED, Line, lines_of
from pages.components.text import count, md

HEIGHT = 600
"""Pixels of the table, of the step beside it and of what comes beside both."""
NARROW = 365
"""Pixels of either where a third pane stands beside them: both fit in a window of 900."""
ROWS = 14
"""Lines that fit into that height."""
WINDOW = 1_000
"""Lines of the table that are sent to the browser."""
ABOVE = 3
"""Lines that stay in sight above a step that was led to."""
LONG = 6_000
"""Characters of a field that are shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A run that is looked at."""

    key: str
    """Tells it from all others."""
    run: Trajectory
    cited: Mapping[int, str]
    """By which drafts a step is cited."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The step that is looked at."""

    key: str
    place: int
    """Its line."""
    first: int = 0
    """The first line of the table."""
    version: int = 0
    """Part of the table's key: a table that stands keeps its own cell, whatever is chosen."""


@st.cache_resource(show_spinner=False, max_entries=16)
def _lines(key: str, _run: Trajectory) -> tuple[Line, ...]:
    return lines_of(_run)


def chosen(shown: Shown) -> Chosen:
    """The step that was chosen last in this run; the first where none was."""
    found: Chosen | None = st.session_state.get(keys.STEP)
    if found is not None and found.key == shown.key:
        return found
    return Chosen(shown.key, 0)


def choose(shown: Shown, place: int, *, lead: bool = False) -> None:
    """Look at a line; `lead` brings it into sight in the table."""
    now = chosen(shown)
    in_sight = now.first <= place < now.first + WINDOW
    if lead and not (in_sight and now.first <= place < now.first + 12):
        now = replace(now, first=max(0, place - ABOVE))
    st.session_state[keys.STEP] = replace(now, place=place, version=now.version + 1)


def choose_cited(shown: Shown, number: int) -> None:
    """Look at the step of that number."""
    for place, line in enumerate(_lines(shown.key, shown.run)):
        if not line.path and line.step is not None and line.step.number == number:
            choose(shown, place, lead=True)
            return


def is_chosen(shown: Shown, number: int) -> bool:
    """Whether the step of that number is looked at."""
    found: Chosen | None = st.session_state.get(keys.STEP)
    if found is None or found.key != shown.key:
        return False
    lines = _lines(shown.key, shown.run)
    line = lines[found.place] if found.place < len(lines) else None
    return bool(line and not line.path and line.step and line.step.number == number)


def cited_steps(evidence: Mapping[int, tuple[Evidence, ...]], run_id: str) -> dict[int, str]:
    """By step, the numbers of the drafts that cite it."""
    found: dict[int, list[int]] = {}
    for draft, items in evidence.items():
        for item in items:
            for number in item.steps if item.trajectory_id == run_id else ():
                found.setdefault(number, []).append(draft)
    return {step: ", ".join(map(str, sorted(set(drafts)))) for step, drafts in found.items()}


# -- the table ------------------------------------------------------------------------------------


def table(shown: Shown, *, narrow: bool) -> None:
    """A line for each step; a click shows it whole."""
    import pandas as pd

    lines = _lines(shown.key, shown.run)
    if not lines:
        st.caption("This run has no steps.")
        return
    now = chosen(shown)
    if now.place >= len(lines):
        now = Chosen(shown.key, 0)
    window = lines[now.first : now.first + WINDOW]
    frame = pd.DataFrame({
        "step": [line.number for line in window],
        "": [line.mark for line in window],
        "role": [line.step.role if line.step else "" for line in window],
        "tool": [line.step.tool if line.step else "" for line in window],
        "by": [(line.step.tool or line.step.role) if line.step else "" for line in window],
        "first line": [line.first_line for line in window],
        "drafts": [_cited(shown, line) for line in window],
    })  # fmt: skip
    order = ["step", "", *(["by"] if narrow else ["role", "tool"]), "first line"]
    if shown.cited:
        order.insert(2, "drafts")
    key = f"steps-{shown.key}-{now.first}-{now.version}-{narrow}"
    row = now.place - now.first
    in_sight = 0 <= row < len(frame)
    marked: Any = {"selection": {"cells": [[row, "first line"]]}} if in_sight else None
    column = st.column_config.TextColumn
    st.dataframe(
        frame, hide_index=True, key=key, column_order=order,
        height="content" if len(frame) <= ROWS else HEIGHT - 40 - 40 * (len(lines) > len(window)),
        column_config={
            "step": column(width=46 if not shown.run.children else 72),
            "": column(width=28, help="✕ it failed · ? a call without result, or the reverse"),
            "role": column(width=80),
            "tool": column(width=150),
            "by": column(width=100, help="The tool, or the role where none was called"),
            "first line": column(width=400 if narrow else 480),
            "drafts": column(width=52, help="The drafts that cite it"),
        },
        on_select=lambda: _clicked(shown, key),
        selection_mode="single-cell",
        selection_default=marked,
        alt=f"{count(len(frame), 'step')} with role, tool, first line and whether it failed",
    )  # fmt: skip
    _around(shown, now, len(lines))


def _cited(shown: Shown, line: Line) -> str:
    return shown.cited.get(line.step.number, "") if line.step and not line.path else ""


def _clicked(shown: Shown, key: str) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells:
        now = chosen(shown)
        st.session_state[keys.STEP] = replace(now, place=now.first + cells[0][0])


def _around(shown: Shown, now: Chosen, total: int) -> None:
    """Which part of a long run the table shows, and the way to the others."""
    if total <= WINDOW and not now.first:
        return
    last = min(now.first + WINDOW, total)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{now.first + 1:,}–{last:,} of {total:,}")
        st.button("From the first", key="steps-first", type="tertiary", disabled=not now.first,
                  on_click=_from, args=(shown, 0))  # fmt: skip
        if last < total:
            st.button("Further", key="steps-further", type="tertiary",
                      on_click=_from, args=(shown, last))  # fmt: skip


def _from(shown: Shown, first: int) -> None:
    now = chosen(shown)
    st.session_state[keys.STEP] = replace(now, first=first, version=now.version + 1)


# -- one step -------------------------------------------------------------------------------------


def detail(shown: Shown) -> None:
    """The step that is looked at, whole, and the way to its neighbours and to what failed."""
    lines = _lines(shown.key, shown.run)
    if not lines:
        return
    place = min(chosen(shown).place, len(lines) - 1)
    line = lines[place]
    failed = [i for i, one in enumerate(lines) if one.mark == FAILED]
    later = next((i for i in failed if i > place), failed[0] if failed else None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="step-ways"):
        st.button("‹", key="step-before", disabled=place == 0, help="The step before",
                  on_click=choose, args=(shown, place - 1), kwargs={"lead": True})  # fmt: skip
        st.button("›", key="step-after", disabled=place + 1 >= len(lines), help="The step after",
                  on_click=choose, args=(shown, place + 1), kwargs={"lead": True})  # fmt: skip
        st.button(
            f"✕ {len(failed)} failed", key="step-failed", on_click=choose,
            disabled=later is None or failed == [place],
            args=(shown, later or 0), kwargs={"lead": True}, help="The next step that failed",
        )  # fmt: skip
    st.markdown(_heading(line))
    if line.step is None:
        _sub_agent(line.run)
    else:
        run_step.fields(line.step, long=LONG, key=f"step-{shown.key}-{place}")


def _heading(line: Line) -> str:
    step = line.step
    depth = "↳ " * len(line.path)
    if step is None:
        return f"**{depth}Sub-agent {md(line.run.agent or line.run.name, limit=80)}**"
    tool = f" · {md(step.tool, limit=80)}" if step.tool else ""
    of = f" of {len(line.run.steps):,}"
    return f"**{depth}Step {step.number:,}**{of} · {step.role}{tool}"


def _sub_agent(run: Trajectory) -> None:
    st.text(run.task)
    words = [count(len(run.steps), "step"), *run_step.outcome(run)]
    if run.model:
        words.append(md(run.model, limit=60))
    st.caption(" · ".join(words))
