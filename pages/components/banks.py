"""Which bank is open: the one that was asked for, the demo, or a recent one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from memory_core import (
    BANK_VARIABLE,
    MemoryBank,
    MemoryCoreError,
    Snapshot,
    build_demo,
    demo_bank,
    home,
)
from pages.components import keys

RECENT = 8


@st.cache_resource(show_spinner=False)
def _opened(path: str, identity: tuple[int, ...]) -> MemoryBank:
    return MemoryBank.open(path, create=False)


def _identity(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return (stat.st_dev, stat.st_ino)


def current() -> MemoryBank | None:
    """The open bank; None when there is none yet. Raises MemoryCoreError when it cannot be read."""
    path = current_path()
    if not path.exists():
        return None
    bank = _opened(str(path), _identity(path))
    bank.snapshot()
    return bank


def opened(path: Path) -> MemoryBank:
    """A bank that is there, whichever is on the desk. Raises MemoryCoreError."""
    return _opened(str(path), _identity(path))


def current_path() -> Path:
    """Where the open bank lies, or would lie."""
    chosen = st.session_state.get(keys.BANK) or os.environ.get(BANK_VARIABLE)
    return Path(chosen).expanduser() if chosen else demo_bank()


def is_demo(bank: MemoryBank) -> bool:
    return Path(bank.path) == demo_bank()


def writable(bank: MemoryBank) -> MemoryBank:
    """A bank to write through, in the name of the person at this desk."""
    return bank.acting_as(actor())


def actor() -> str:
    """The name under which changes are made."""
    return str(st.session_state.get(keys.ACTOR) or _remembered().get("actor") or _login())


def _login() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "me"


def choose(path: Path) -> None:
    """Open another bank in this session; raises MemoryCoreError when it is none."""
    path = path.expanduser().absolute()
    MemoryBank.open(path, create=False)
    _leave_for(path)


def create(path: Path) -> None:
    """Make a new, empty bank and open it. Raises MemoryCoreError."""
    path = path.expanduser().absolute()
    if path.exists():
        raise MemoryCoreError(f"{path} exists already. Open it, or give the new bank another name.")
    MemoryBank.open(path)
    _leave_for(path)


def build(progress: Callable[[str, float], None]) -> None:
    """Build the demo bank anew and open it."""
    build_demo(progress=progress)
    _leave_for(demo_bank())


def _leave_for(path: Path) -> None:
    st.session_state[keys.BANK] = str(path)
    for key in (keys.MADE, keys.SELECTED, keys.MEMORY):
        st.session_state.pop(key, None)
    st.session_state[keys.REVISION] = None
    _remember(recent=[str(path), *(r for r in recent() if r != str(path))][:RECENT])


def recent() -> list[str]:
    """Paths of banks that were open, the last one first; those that are gone are left out."""
    return [path for path in _remembered().get("recent", []) if Path(path).exists()]


def rename_actor(name: str) -> None:
    st.session_state[keys.ACTOR] = name.strip()
    _remember(actor=name.strip())


def _file() -> Path:
    return home() / "dashboard.json"


def _remembered() -> dict[str, object]:
    try:
        content = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a convenience only: without it nothing is lost but a list of names
    return content if isinstance(content, dict) else {}


def _remember(**values: object) -> None:
    try:
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(json.dumps(_remembered() | values), encoding="utf-8")
    except OSError:
        return


@st.cache_data(show_spinner=False, max_entries=16)
def pending(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> int:
    """How many proposals wait."""
    return len(_bank.proposals())


@st.cache_resource(show_spinner=False, max_entries=4)
def with_proposals(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> Snapshot:
    """The bank as if all that waits for review were accepted, but for what is refused."""
    ids = [proposal.id for proposal in _bank.proposals()]
    return _bank.plan_proposals(ids).accepted_only().after


@st.cache_data(show_spinner=False, max_entries=16)
def capacity(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[str, int]:
    """The bank's name and capacity."""
    settings = _bank.settings
    return settings.name or Path(path).stem, settings.capacity
