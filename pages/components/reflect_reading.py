"""How what was handed in is read: its format, what was masked in it, and the runs."""

from __future__ import annotations

import streamlit as st

from memory_core import (
    TRAJECTORY_FORMATS,
    MemoryBank,
    MemoryCoreError,
    Reading,
    Trajectory,
    UnreadableTrajectoryError,
    read_files,
    read_trajectories,
)
from pages.components import reflect_given
from pages.components.frame import Desk
from pages.components.reflect_given import FORMAT, Given
from pages.components.text import count, md

DETECT = "as it was recognized"
MOST_WARNINGS = 6


def bar(desk: Desk, found: Given) -> tuple[Reading, str] | None:
    """What was handed in and how it is read; the reading, and what tells it from all others."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="run-bar"):
        st.markdown(_told_of(found))
        form = _format(desk, found) if found.files else None
        st.button("Another run", key="another-run", on_click=reflect_given.let_go, icon="↩️")
    try:
        reading = read(desk, found, form)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return None
    _masked(reading)
    for warning in reading.warnings[:MOST_WARNINGS]:
        st.caption(f"ℹ️ {md(warning, limit=240)}")
    if len(reading.warnings) > MOST_WARNINGS:
        st.caption(f"and {count(len(reading.warnings) - MOST_WARNINGS, 'more remark')}")
    return reading, f"{found.digest[:16]}-{form or ''}"


def _told_of(found: Given) -> str:
    if not found.files:
        return f"**{md(found.title, limit=100)}**"
    size = found.size
    told = f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
    return f"**{md(found.title, limit=60)}** · {told}"


def _format(desk: Desk, found: Given) -> str | None:
    """The format, which can be said otherwise; None as it was recognized."""
    chosen = st.selectbox(
        "Format", [DETECT, *TRAJECTORY_FORMATS], key=FORMAT, width=260,
        format_func=lambda name: _recognized(desk, found) if name == DETECT else name,
        label_visibility="collapsed",
    )  # fmt: skip
    return None if chosen == DETECT else chosen


def _recognized(desk: Desk, found: Given) -> str:
    try:
        return f"{read(desk, found, None).format} (recognized)"
    except MemoryCoreError:
        return "not recognized"


def _masked(reading: Reading) -> None:
    if not reading.masked:
        return
    kinds: dict[str, int] = {}
    for one in reading.masked:
        kinds[one.kind] = kinds.get(one.kind, 0) + one.count
    where = sorted({(one.trajectory + 1, step) for one in reading.masked for step in one.steps})
    several = len(reading.trajectories) > 1
    places = [f"run {run}, step {step}" if several else f"step {step}" for run, step in where]
    told = ", ".join(f"{md(kind)} × {n}" for kind, n in kinds.items())
    more = f" and {count(len(places) - 8, 'more place')}" if len(places) > 8 else ""
    st.caption(
        f"🔒 Masked before anything is kept or sent: {told} · in "
        + ("; ".join(places[:8]) + more if places else "the task")
    )


def read(desk: Desk, found: Given, form: str | None) -> Reading:
    """The runs in it. Raises MemoryCoreError."""
    if found.kept:
        return _kept(desk, found.kept)
    return _read(found.digest, form, found)


@st.cache_resource(show_spinner="Reading the run", max_entries=3)
def _read(digest: str, form: str | None, _given: Given) -> Reading:
    if len(_given.files) == 1:
        name, content = _given.files[0]
        return read_trajectories(content, name or None, format=form)
    return read_files(_given.files, format=form)


def _kept(desk: Desk, ids: tuple[str, ...]) -> Reading:
    formats = _formats(str(desk.bank.path), desk.signature, desk.bank)
    runs = [run for _, run in kept_runs(desk, ids)]
    if not runs:
        raise UnreadableTrajectoryError("The bank keeps these runs no longer; hand them in again.")
    return Reading(tuple(runs), formats.get(ids[0], ""))


def kept_runs(desk: Desk, ids: tuple[str, ...]) -> tuple[tuple[str, Trajectory], ...]:
    """Those runs of these ids that the bank keeps, each with its id."""
    return _several(str(desk.bank.path), id(desk.bank), ids, desk.bank)


@st.cache_resource(show_spinner=False, max_entries=3)
def _several(
    path: str, identity: int, ids: tuple[str, ...], _bank: MemoryBank
) -> tuple[tuple[str, Trajectory], ...]:
    found = ((name, _bank.trajectory(name)) for name in ids)
    return tuple((name, run) for name, run in found if run is not None)


@st.cache_data(show_spinner=False, max_entries=4)
def _formats(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> dict[str, str]:
    return {one.id: one.format for one in _bank.trajectories()}
