"""What is alike in a bank, computed once for a revision, and what people said of it."""

from __future__ import annotations

import streamlit as st

from memory_core import DistinctPair, DuplicateGroup, MemoryBank, NearPairs, Snapshot, near_pairs
from pages.components.frame import Desk


def told_apart(desk: Desk) -> tuple[DistinctPair, ...]:
    """The pairs that people called distinct."""
    return _told(str(desk.bank.path), desk.signature, desk.snapshot.revision, desk.bank)


@st.cache_data(show_spinner=False, max_entries=8)
def _told(
    path: str, signature: tuple[int, ...], revision: int | None, _bank: MemoryBank
) -> tuple[DistinctPair, ...]:
    return _bank.distinct_pairs(revision=revision)


def pairs(desk: Desk) -> NearPairs:
    """What joins the memories that are looked at, at any threshold."""
    told = tuple(pair.ids for pair in told_apart(desk))
    snapshot = desk.snapshot
    with st.spinner("Comparing every memory with every other", show_time=True):
        return _pairs(str(desk.bank.path), snapshot.revision, snapshot.batch_key, told, snapshot)


@st.cache_resource(show_spinner=False, max_entries=3)
def _pairs(
    path: str,
    revision: int | None,
    batch_key: str,
    told: tuple[tuple[int, int], ...],
    _snapshot: Snapshot,
) -> NearPairs:
    return near_pairs(_snapshot, distinct=told)


def exact_copies(desk: Desk) -> tuple[DuplicateGroup, ...]:
    """Memories with the very same text, but for those that people called distinct."""
    told = {pair.ids for pair in told_apart(desk)}
    by_text: dict[str, list[int]] = {}
    snapshot = desk.snapshot
    for memory_id, text in zip(snapshot.ids.tolist(), snapshot.texts(), strict=True):
        by_text.setdefault(text, []).append(memory_id)
    return tuple(
        DuplicateGroup(tuple(ids), snapshot)
        for ids in by_text.values()
        if len(ids) > 1 and not any((a, b) in told for a in ids for b in ids if a < b)
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _groups(
    path: str,
    revision: int | None,
    batch_key: str,
    told: tuple[tuple[int, int], ...],
    threshold: float,
    most_alike: bool,
    _pairs: NearPairs,
) -> tuple[DuplicateGroup, ...]:
    found = _pairs.groups(threshold)
    if most_alike:
        return tuple(sorted(found, key=lambda g: (-g.tightest.similarity, -len(g), g.ids)))
    return found


def groups(
    desk: Desk, found: NearPairs, threshold: float, *, most_alike: bool
) -> tuple[DuplicateGroup, ...]:
    """The groups at a threshold: the largest first, or those with the most similar pair."""
    snapshot = desk.snapshot
    return _groups(
        str(desk.bank.path), snapshot.revision, snapshot.batch_key, found.distinct, threshold,
        most_alike, found,
    )  # fmt: skip
