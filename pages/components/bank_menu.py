"""Choosing a bank: the demo, a recent one, one by its path, a new one; and under whose name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError
from pages.components import banks, keys
from pages.components.text import md


def bank_menu(bank: MemoryBank | None) -> None:
    """The open bank, recent ones, a new or another one, the demo; and one's name."""
    if bank is not None:
        st.caption("Open now")
        st.code(str(bank.path), language=None, wrap_lines=True)
    others = [path for path in banks.recent() if bank is None or path != str(bank.path)]
    for path in others:
        st.button(
            md(Path(path).stem, limit=40), key=f"recent-{path}", help=md(path), width="stretch",
            on_click=_try, args=(banks.choose, path),
        )  # fmt: skip
    with st.form("open-bank", border=False):
        path = st.text_input("Open or create a bank", placeholder="/path/to/memories.duckdb")
        with st.container(horizontal=True):
            opened = st.form_submit_button("Open")
            created = st.form_submit_button("Create empty")
    if path and (opened or created):
        _try(banks.choose if opened else banks.create, path)
        st.rerun()
    demo_button("Reset the demo bank" if bank and banks.is_demo(bank) else "Demo library")
    st.text_input(
        "Your name, for the revisions you make",
        value=banks.actor(),
        key="actor-name",
        on_change=lambda: banks.rename_actor(st.session_state["actor-name"]),
    )


def _try(action: Callable[[Path], None], path: str) -> None:
    try:
        action(Path(path))
    except (MemoryCoreError, OSError) as error:
        st.session_state[keys.NOTICE] = str(error)


def demo_button(label: str, *, key: str = "build-demo") -> None:
    """Builds the demo bank, anew where there is one, and opens it."""
    if not st.button(label, key=key, width="stretch"):
        return
    bar = st.progress(0.0, "Building the demo library")
    try:
        banks.build(lambda doing, fraction: bar.progress(fraction, doing))
    except (MemoryCoreError, OSError) as error:
        st.session_state[keys.NOTICE] = str(error)
    st.rerun()
