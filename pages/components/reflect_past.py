"""The reflections of a bank, with what became of their lessons; and which of them is open."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from memory_core import MemoryBank, Proposal, ReflectionSummary, TokenUsage
from pages.components import keys, review_queue
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.text import count, md

ROWS = 8


@st.cache_data(show_spinner=False, max_entries=4)
def _all(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[ReflectionSummary, ...]:
    return _bank.reflections()


def everything(desk: Desk) -> tuple[ReflectionSummary, ...]:
    """All reflections, oldest first."""
    return _all(str(desk.bank.path), desk.signature, desk.bank)


def drafts_of(desk: Desk, made: ReflectionSummary) -> list[Proposal]:
    """The proposals that a reflection became, in its order."""
    known = review_queue.all_proposals(str(desk.bank.path), desk.signature, desk.bank)
    by_id = {proposal.id: proposal for proposal in known}
    return [by_id[i] for i in made.proposal_ids if i in by_id]


# -- which one is open ----------------------------------------------------------------------------


def opened(desk: Desk) -> ReflectionSummary | None:
    """The reflection that is looked at, by this session or by the address."""
    wanted = st.session_state.get(keys.REFLECTION)
    named = st.query_params.get(keys.REFLECTION)
    if named and named != wanted:
        wanted = named
    if wanted is None:
        return None
    found = next((one for one in everything(desk) if one.key == wanted), None)
    if found is None:
        close()
        st.warning(
            f"The address names reflection “{md(str(wanted), limit=20)}”, which this bank does "
            "not have."
        )
        return None
    open_one(wanted)
    return found


def open_one(key: str) -> None:
    """Show a reflection, and say so in the address."""
    st.session_state[keys.REFLECTION] = key
    if st.query_params.get(keys.REFLECTION) != key:
        st.query_params[keys.REFLECTION] = key


def close() -> None:
    st.session_state.pop(keys.REFLECTION, None)
    st.query_params.pop(keys.REFLECTION, None)


# -- the list -------------------------------------------------------------------------------------


def section(desk: Desk) -> None:
    """All of them as a table, the latest first; a click opens one."""
    listed = everything(desk)[::-1]
    if not listed:
        return
    st.markdown(f"**{count(len(listed), 'reflection')} so far** · click one to see its drafts")
    frame = _frame(desk, listed)
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    name = f"reflections-{len(listed)}-{desk.signature}"
    st.dataframe(
        frame, hide_index=True, key=name,
        height="content" if len(frame) <= ROWS else 38 + 35 * ROWS,
        column_config={
            "when": text(width=130),
            "by": text(width=130),
            "about": text(width=520),
            "runs": number(width=50),
            "drafts": number(width=60),
            "accepted": number(width=75),
            "waiting": number(width=65),
            "rejected": number(width=70),
            "refused": number(width=65, help="What the reflector said that is no lesson"),
            "tokens": number(width=70),
        },
        on_select=lambda: _clicked(name, [one.key for one in listed]),
        selection_mode="single-cell",
        alt="Reflections with the number of their drafts, accepted, waiting and rejected",
    )  # fmt: skip
    table_downloads(frame, "reflections")


def _clicked(name: str, known: list[str]) -> None:
    cells = st.session_state[name]["selection"]["cells"]
    if cells:
        open_one(known[cells[0][0]])


def _frame(desk: Desk, listed: tuple[ReflectionSummary, ...]) -> Any:
    import pandas as pd

    rows = []
    for made in listed:
        states = Counter(proposal.state for proposal in drafts_of(desk, made))
        rows.append({
            "when": when(made.made_at_us),
            "by": made.reflector,
            "drafts": len(made.proposal_ids),
            "accepted": states["accepted"],
            "waiting": states["pending"],
            "rejected": states["rejected"],
            "about": made.reason.removeprefix("Reflection on").lstrip(": "),
            "runs": len(made.trajectory_ids),
            "refused": len(made.refused),
            "tokens": made.usage.input_tokens + made.usage.output_tokens,
        })  # fmt: skip
    return pd.DataFrame(rows)


def when(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1e6, tz=UTC):%Y-%m-%d %H:%M}"


def spent(usage: TokenUsage) -> str:
    """What a language model was asked; empty where none was."""
    if not usage.requests:
        return ""
    told = (
        f"{count(usage.requests, 'request')}, {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out"
    )
    return told + (f", {usage.cost:.4f} US dollars" if usage.cost is not None else "")
