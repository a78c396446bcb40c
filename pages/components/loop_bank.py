"""Where the loop's games are kept: in a bank of their own, or in the one that is open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from memory_core import MemoryBank, home
from pages.components import banks, keys
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk

OWN, OPEN = "Kept in a bank of its own", "Kept in the open bank"
PLACES = (OWN, OPEN)


def own_path() -> Path:
    """Where the loop's own bank lies, or would lie."""
    return home() / "loop.duckdb"


def is_open(desk: Desk, path: Path) -> bool:
    """Whether a bank is the one on the desk."""
    return Path(desk.bank.path).resolve() == path.resolve()


def path_of(desk: Desk, place: str) -> Path:
    """The file that games are kept in."""
    return Path(desk.bank.path) if place == OPEN else own_path()


def choose(desk: Desk) -> Path:
    """In which bank games are kept, and looked for; no question where the open one is the own."""
    if is_open(desk, own_path()):
        return own_path()
    say_if_unknown("place", PLACES)
    place = st.segmented_control(
        "Bank", PLACES, default=OWN, key="place", bind="query-params", required=True,
        label_visibility="collapsed",
        help="**A bank of its own** leaves the open one as it is: games, outcomes and lessons are "
        "kept in `loop.duckdb`, in the folder of the demo bank.  \n**The open bank** takes them "
        "in itself.",
    )  # fmt: skip
    return path_of(desk, place or OWN)


def existing(desk: Desk, path: Path) -> MemoryBank | None:
    """The bank there, to read; None before the first game. Raises MemoryCoreError."""
    if is_open(desk, path):
        return desk.bank
    return banks.opened(path) if path.exists() else None


def to_play_in(desk: Desk, path: Path) -> MemoryBank:
    """The bank there, made where there is none, to write in this person's name."""
    bank = existing(desk, path)
    if bank is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        bank = MemoryBank.open(path)
    return banks.writable(bank)


def go(desk: Desk, path: Path, page: str, address: Mapping[str, str]) -> None:
    """Open the bank, and in the run that follows a page on it; to be called in a callback."""
    if not is_open(desk, path):
        banks.choose(path)
    st.session_state[keys.LOOP_GOES] = (page, dict(address))


def gone() -> None:
    """Follow the link that was clicked, if one was; at the head of the page."""
    if where := st.session_state.pop(keys.LOOP_GOES, None):
        page, address = where
        st.switch_page(page, query_params=address)
