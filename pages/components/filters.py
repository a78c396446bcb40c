"""The filters of Browse: widgets that live in the address, and the rows that they let through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import KINDS, Snapshot
from pages.components.text import SYMBOLS, md

ALL = "all"
VIEWS = ("Table", "Read")
STRIDE = 0.01


def kind_tabs(snapshot: Snapshot) -> str:
    """Which kind is browsed: one of them, or all.

    Not bound to the address by Streamlit, which would put the label there, counts and all.
    """
    counts = snapshot.kind_counts()
    labels = {kind: f"{SYMBOLS[kind]} {kind.capitalize()} {counts[kind]:,}" for kind in KINDS}
    labels[ALL] = f"All {len(snapshot):,}"
    named = st.query_params.get("kind", ALL)
    chosen = st.segmented_control(
        "Kind",
        list(labels),
        default=named if named in labels else ALL,
        format_func=labels.__getitem__,
        key="_kind",
        required=True,
        label_visibility="collapsed",
        on_change=_kind_to_address,
    )
    return chosen or ALL


def _kind_to_address() -> None:
    if st.session_state["_kind"] == ALL:
        st.query_params.pop("kind", None)
    else:
        st.query_params["kind"] = st.session_state["_kind"]


def search_box() -> str:
    return (
        st.text_input(
            "Search in texts", key="search", placeholder="Search in texts", icon="🔍",
            label_visibility="collapsed", live="300ms", bind="query-params",
        )
        or ""
    )  # fmt: skip


def filter_menu(snapshot: Snapshot) -> dict[str, Any]:
    """The popover of filters; the values of those that are set."""
    columns = snapshot.columns
    domains, tags = list(snapshot.domain_counts()), tag_names(snapshot)
    with st.popover("Filters", key="filter-menu"):
        chosen: dict[str, Any] = {
            "domain": _many("Domain", "domain", domains),
            "tag": _many("Tag", "tag", tags),
            "confidence": _range("Confidence", "confidence", 0.0, 1.0, STRIDE),
            "used": _range(
                "Times applied", "used", 0, max(int(columns.usage_count.max(initial=0)), 1)
            ),
            "session": _range("Session of creation", "session", 0, max(snapshot.epoch, 1)),
            "pinned": st.toggle("Pinned only", key="pinned", bind="query-params"),
        }
        st.button("Clear filters", on_click=_clear, key="clear-filters")
    return {name: value for name, value in chosen.items() if value}


FILTERS = ("search", "domain", "tag", "confidence", "used", "session", "pinned")


def _clear() -> None:
    for name in FILTERS:
        if name in st.session_state:
            st.session_state[name] = _BLANK.get(name, [])
    for name in ("confidence", "used", "session"):
        st.session_state.pop(name, None)


_BLANK: dict[str, object] = {"search": "", "pinned": False}


def clear_button() -> None:
    st.button("Clear filters", on_click=_clear, key="clear-filters-empty", type="primary")


def check_address(snapshot: Snapshot) -> None:
    """Say what the address asks for that is not here; to be called above the widgets."""
    say_if_unknown("kind", (*KINDS, ALL))
    say_if_unknown("domain", snapshot.domain_counts())
    say_if_unknown("tag", tag_names(snapshot))
    say_if_unknown("view", VIEWS)


def tag_names(snapshot: Snapshot) -> list[str]:
    """All tags of a snapshot, by name."""
    vocabulary = snapshot.pool.tags
    codes = np.unique(snapshot.columns.tags).tolist()
    return sorted({tag for code in codes for tag in vocabulary.value(code)})


def _many(label: str, name: str, options: Sequence[str]) -> list[str]:
    return st.multiselect(label, options, key=name, bind="query-params")


def _range(label: str, name: str, low: Any, high: Any, step: Any = 1) -> tuple[Any, Any] | None:
    """A range; None when it spans everything."""
    chosen = st.slider(label, low, high, (low, high), step=step, key=name, bind="query-params")
    return None if chosen == (low, high) else chosen


def say_if_unknown(name: str, options: Any) -> None:
    """Streamlit drops what it does not know from the address without a word."""
    unknown = [value for value in st.query_params.get_all(name) if value not in options]
    if unknown:
        st.warning(
            f"The address asks for the {name} “{md(unknown[0], limit=40)}”, which is not here."
        )


def rows(snapshot: Snapshot, kind: str, search: str, chosen: dict[str, Any]) -> NDArray[np.int64]:
    """The rows that pass all filters."""
    columns = snapshot.columns
    mask = np.ones(len(snapshot), dtype=bool)
    if kind != ALL:
        mask &= columns.kind == KINDS.index(kind)  # type: ignore[arg-type]
    for name, test in _TESTS.items():
        if name in chosen:
            mask &= test(snapshot, chosen[name])
    found = np.flatnonzero(mask)
    words = search.casefold().split()
    if words:
        texts = snapshot.pool.texts
        keep = [all(w in texts[columns.text[row]].casefold() for w in words) for row in found]
        found = found[np.array(keep, dtype=bool)]
    return found


def _in_domains(snapshot: Snapshot, names: list[str]) -> NDArray[np.bool_]:
    codes = [snapshot.pool.domains.find(name) for name in names]
    return np.isin(snapshot.columns.domain, [code for code in codes if code is not None])


def _has_tags(snapshot: Snapshot, names: list[str]) -> NDArray[np.bool_]:
    codes = np.unique(snapshot.columns.tags)
    wanted = set(names)
    having = [c for c in codes if wanted & set(snapshot.pool.tags.value(int(c)))]
    return np.isin(snapshot.columns.tags, having)


def _between(column: str) -> Callable[[Snapshot, tuple[Any, Any]], NDArray[np.bool_]]:
    def test(snapshot: Snapshot, ends: tuple[Any, Any]) -> NDArray[np.bool_]:
        values = getattr(snapshot.columns, column)
        return (values >= ends[0]) & (values <= ends[1])

    return test


_TESTS: dict[str, Callable[[Snapshot, Any], NDArray[np.bool_]]] = {
    "domain": _in_domains,
    "tag": _has_tags,
    "confidence": _between("confidence"),
    "used": _between("usage_count"),
    "session": _between("epoch"),
    "pinned": lambda snapshot, _: snapshot.columns.pinned,
}
