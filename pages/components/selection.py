"""The memories that are selected: by id, over filters, pages and reruns, never by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from memory_core import Snapshot
from pages.components import keys
from pages.components.text import md


def selected(snapshot: Snapshot) -> tuple[int, ...]:
    """The selected ids that this snapshot has."""
    return tuple(i for i in st.session_state.get(keys.SELECTED, ()) if i in snapshot)


def lost(snapshot: Snapshot) -> tuple[int, ...]:
    """The selected ids that this snapshot does not have."""
    return tuple(i for i in st.session_state.get(keys.SELECTED, ()) if i not in snapshot)


def forget(ids: Iterable[int]) -> None:
    """Select some no longer."""
    select(set(st.session_state.get(keys.SELECTED, ())) - set(ids))


def toggle(memory_id: int) -> None:
    """Select one, or no longer."""
    chosen = set(st.session_state.get(keys.SELECTED, ())) ^ {memory_id}
    st.session_state[keys.SELECTED] = tuple(sorted(chosen))


def select(ids: Iterable[int]) -> None:
    """Select these and no others; tables on show are drawn anew."""
    st.session_state[keys.SELECTED] = tuple(sorted(set(ids)))
    st.session_state[keys.SELECTION_VERSION] = version() + 1


def version() -> int:
    """Part of a table's key: a table that stands keeps its own ticks, whatever we select."""
    return int(st.session_state.get(keys.SELECTION_VERSION, 0))


def choose(visible: Sequence[int], rows: Sequence[int]) -> None:
    """Take in what a table of `visible` ids reports as chosen; what it does not show stays."""
    chosen = {visible[row] for row in rows if row < len(visible)}
    kept = set(st.session_state.get(keys.SELECTED, ())) - set(visible)
    st.session_state[keys.SELECTED] = tuple(sorted(kept | chosen))


def rows_of(visible: Sequence[int]) -> list[int]:
    """Positions of the selected ids in a table of `visible` ids."""
    ids = set(st.session_state.get(keys.SELECTED, ()))
    return [row for row, memory_id in enumerate(visible) if memory_id in ids]


def opened(snapshot: Snapshot) -> int | None:
    """The memory whose detail is open, from this session or from the address."""
    memory_id = st.session_state.get(keys.MEMORY)
    if memory_id is None and (named := st.query_params.get(keys.MEMORY)):
        if named.isdecimal() and int(named) in snapshot:
            return int(named)
        st.warning(
            f"The address names memory “{md(named, limit=20)}”, which this revision does not have."
        )
        return None
    return memory_id if memory_id in snapshot else None


def open_memory(memory_id: int | None) -> None:
    """Show a memory's detail, and say so in the address."""
    st.session_state[keys.MEMORY] = memory_id
    if memory_id is None:
        st.query_params.pop(keys.MEMORY, None)
    else:
        st.query_params[keys.MEMORY] = str(memory_id)
