"""Compression plans and what they would cost, made once for a revision and its parameters."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from memory_core import (
    CompressionPlan,
    CompressionSettings,
    Impact,
    MemoryBank,
    SavedQuery,
    Snapshot,
    impact,
    plan_compression,
)
from pages.components import keys
from pages.components.compress_form import Form
from pages.components.frame import Desk


@dataclass(frozen=True)
class Preview:
    """One strategy's plan, and what it would cost."""

    plan: CompressionPlan
    impact: Impact


def spared() -> tuple[int, ...]:
    """Ids that a person has pinned while arguing with a plan; they are pinned with its commit."""
    return tuple(st.session_state.get(keys.SPARED, ()))


def spare(ids: list[int]) -> None:
    st.session_state[keys.SPARED] = tuple(sorted({*spared(), *ids}))


def spare_nothing() -> None:
    st.session_state.pop(keys.SPARED, None)


def previews(desk: Desk, form: Form) -> dict[str, Preview]:
    """A preview for each strategy. Raises MemoryCoreError where the parameters cannot be met."""
    pins = tuple(i for i in spared() if i in desk.snapshot)
    made: dict[str, Preview] = {}
    for name, settings in form.settings.items():
        with st.spinner(f"Planning {name}", show_time=True):
            made[name] = _preview(
                str(desk.bank.path), desk.snapshot.revision, repr(settings), pins, form.k,
                desk.signature, desk.bank, desk.snapshot, settings,
            )  # fmt: skip
    return made


@st.cache_resource(show_spinner=False, max_entries=24)
def _preview(
    path: str,
    revision: int | None,
    described: str,
    pins: tuple[int, ...],
    k: int,
    signature: tuple[int, ...],
    _bank: MemoryBank,
    _snapshot: Snapshot,
    _settings: CompressionSettings,
) -> Preview:
    queries = _bank.queries()
    plan = plan_compression(_snapshot, _settings, pin=pins)
    vectors = _bank.embed([query.task for query in queries])
    return Preview(plan, impact(plan.before, plan.after, queries, vectors, k=k))


@st.cache_data(show_spinner=False, max_entries=8)
def saved_queries(
    path: str, signature: tuple[int, ...], _bank: MemoryBank
) -> tuple[SavedQuery, ...]:
    return _bank.queries()


def say_if_gone_on(desk: Desk) -> None:
    """A plan gone stale has been made again by now; say what has changed under it."""
    seen = st.session_state.get(keys.PREVIEWED)
    now = (str(desk.bank.path), desk.snapshot.revision)
    st.session_state[keys.PREVIEWED] = now
    made = st.session_state.get(keys.MADE)
    ours = made is not None and made[0] == now[1]
    if seen is None or seen[0] != now[0] or seen[1] >= (now[1] or 0) or ours:
        return
    changed = desk.bank.diff(seen[1], now[1] or 0)
    st.info(
        f"The bank has gone on from revision {seen[1]} to {now[1]} "
        f"(+{len(changed.added)} −{len(changed.removed)} ~{len(changed.changed)}), so the plans "
        "were made again."
    )
