"""Duplicates: the threshold, how much it joins, and the groups, twenty a page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core import DuplicateGroup, Merge, NearPairs
from pages.components import clean_group, clean_merge, clean_pairs
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.text import count

GROUPS_A_PAGE = 20
LOWEST, USUAL = 0.8, 0.9
LARGEST, ALIKE = "largest first", "most alike first"
ORDERS = (LARGEST, ALIKE)


def section(desk: Desk) -> None:
    """The whole part."""
    found = clean_pairs.pairs(desk)
    clean_group.said_apart(desk)
    with st.container(horizontal=True, vertical_alignment="bottom", key="clean-controls"):
        threshold, order = _controls(found)
        shown = clean_pairs.groups(desk, found, threshold, most_alike=order == ALIKE)
        clean_merge.send_all_button(desk, shown)
    _exact(desk)
    if shown:
        _page(desk, shown, threshold)
    else:
        _none(desk, found, threshold)
    _told(desk)


def _controls(found: NearPairs) -> tuple[float, str]:
    """The slider, with what it joins at each step beside it."""
    say_if_unknown("clean_order", ORDERS)
    threshold = st.slider(
        "Similarity from which two are taken for the same", LOWEST, 1.0, USUAL, 0.01,
        key="alike", bind="query-params", width=400,
    )  # fmt: skip
    order = st.selectbox("Order", ORDERS, key="clean_order", bind="query-params", width=180)
    counted = found.counts(threshold)
    with st.container(width="content", gap=None):
        st.markdown(
            f"**{count(counted.groups, 'group')}** with "
            f"**{count(counted.memories, 'memory', 'memories')}**"
        )
        st.caption(_elsewhere(found, threshold))
    return float(threshold), order


def _elsewhere(found: NearPairs, threshold: float) -> str:
    """What a lower and a higher threshold would join."""
    words = []
    for step in (-0.05, 0.05):
        other = round(threshold + step, 2)
        if LOWEST <= other <= 1:
            words.append(f"{count(found.counts(other).groups, 'group')} at {other:.2f}")
    return " · ".join(words)


def _page(desk: Desk, shown: tuple[DuplicateGroup, ...], threshold: float) -> None:
    pages = -(-len(shown) // GROUPS_A_PAGE)
    page = 1
    if pages > 1:
        page = st.pagination(pages, key="clean_page", bind="query-params")
    waiting = clean_merge.waiting_merges(desk)
    for group in shown[(page - 1) * GROUPS_A_PAGE : page * GROUPS_A_PAGE]:
        clean_group.card(desk, group, threshold, waiting)


def _none(desk: Desk, found: NearPairs, threshold: float) -> None:
    st.subheader("No two are that alike")
    lower = [step / 100 for step in range(round(threshold * 100) - 1, 79, -1)]
    first = next((t for t in lower if found.counts(t).groups), None)
    if first is None:
        size = len(desk.snapshot)
        st.markdown(
            f"No two of {size:,} memories reach 0.80."
            if size > 1
            else "One memory has no duplicate."
        )
        return
    st.markdown(f"The most similar ones appear at {first:.2f}.")
    st.button(f"Look from {first:.2f}", on_click=_set_threshold, args=(first,), type="primary")


def _set_threshold(value: float) -> None:
    st.session_state["alike"] = value


def _exact(desk: Desk) -> None:
    """Those with the very same text need no look at each: one merge for all of them."""
    exact = clean_pairs.exact_copies(desk)
    if not exact:
        return
    some = sum(len(group) for group in exact)
    with st.container(border=True, key="exact-copies"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{count(len(exact), 'group')} of exact copies**, "
                f"{count(some, 'memory', 'memories')} in all"
            )
            clean_merge.plan_button(desk, "exact", f"Merge all {len(exact)}")
        if clean_merge.is_open("exact"):
            clean_merge.plan_section(
                desk, "exact", [_exact_draft(group) for group in exact],
                f"Merged {count(len(exact), 'group')} of exact copies",
            )  # fmt: skip


def _exact_draft(group: DuplicateGroup) -> Merge:
    return replace(group.draft(), rationale=f"The same text {len(group)} times.")


def _told(desk: Desk) -> None:
    told = clean_pairs.told_apart(desk)
    if not told:
        return
    with st.expander(f"Said to be no duplicates ({len(told):,})", key="told-apart"):
        pages = -(-len(told) // GROUPS_A_PAGE)
        page = st.pagination(pages, key="_told_page") if pages > 1 else 1
        for pair in told[(page - 1) * GROUPS_A_PAGE : page * GROUPS_A_PAGE]:
            clean_group.pair_apart(desk, pair)
