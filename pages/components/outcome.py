"""What is injected, and how the session turned out that read it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Retrieval, Snapshot
from pages.components import banks, frame, keys
from pages.components.frame import Desk
from pages.components.text import count, md

IMPROVED, NOT_IMPROVED = "improved", "not improved"


def injected(desk: Desk, found: Retrieval) -> None:
    """What an agent would read, to copy or download."""
    lines = count(len(found.hits), "line")
    st.caption(
        f"Injected at the head of the system prompt · {lines}, {tokens(desk.bank, found.injection)}"
    )
    st.code(found.injection, language=None, wrap_lines=True)
    st.download_button(
        "Download", found.injection, "injected.txt", "text/plain", key="download-injection",
        type="tertiary", icon="⬇️",
    )  # fmt: skip


def tokens(bank: MemoryBank, block: str) -> str:
    """The tokens of a block; a guess, and called one, while no tokenizer is loaded."""
    counted = bank.token_count(block)
    if counted is not None:
        return f"{count(counted, 'token')} (by the embedding model)"
    return f"about {count(max(1, round(len(block) / 4)), 'token')} (estimated: 4 letters each)"


def section(desk: Desk, found: Retrieval) -> None:
    """Record the outcome of a session that read this block, or keep the retrieval without one."""
    if desk.is_past or found.revision is None:
        st.caption("An outcome is recorded from the latest revision, as it is.")
        return
    if not found.hits:
        return
    recorded = st.session_state.get(keys.RECORDED)
    if recorded and recorded["revision"] == desk.head.revision:
        _moved(desk.snapshot, recorded)
        return
    kept = found.id in st.session_state.get(keys.KEPT, ())
    with st.container(border=True, key="outcome"):
        st.caption("After the session: which hits were applied, and did they help?")
        ranks = {hit.memory.id: str(hit.rank) for hit in found.hits}
        form(desk.bank, found, ranks)
        st.button(
            "Kept in the ledger" if kept else "Keep in the ledger, without an outcome",
            key="keep", type="tertiary", disabled=kept, on_click=_keep, args=(desk.bank, found),
        )  # fmt: skip


def form(bank: MemoryBank, found: Retrieval | str, ranks: Mapping[int, str]) -> None:
    """The form of an outcome; `ranks` name the hits by memory id."""
    name = found if isinstance(found, str) else found.id
    with st.form(f"outcome-{name}", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.pills(
                "Applied hits", list(ranks), selection_mode="multi",
                format_func=ranks.__getitem__, key=f"applied-{name}",
            )  # fmt: skip
            st.segmented_control(
                "The session", (IMPROVED, NOT_IMPROVED), default=IMPROVED, required=True,
                key=f"improved-{name}",
            )  # fmt: skip
            st.number_input(
                "Reward", value=None, key=f"reward-{name}", placeholder="optional", width=110
            )
        st.form_submit_button("Record the outcome", on_click=_record, args=(bank, found))


def _record(bank: MemoryBank, found: Retrieval | str) -> None:
    name = found if isinstance(found, str) else found.id
    applied = list(st.session_state[f"applied-{name}"])
    improved = st.session_state[f"improved-{name}"] == IMPROVED
    before = bank.snapshot()
    try:
        made = banks.writable(bank).record_outcome(
            found, improved=improved, applied=applied, reward=st.session_state[f"reward-{name}"]
        )
        after = bank.snapshot(made.number)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    moves = [
        (i, before.by_id(i).confidence, after.by_id(i).confidence)
        for i in applied
        if i in before and i in after
    ]
    st.session_state[keys.RECORDED] = {"revision": made.number, "moves": moves}
    frame.note(made, _sentence(improved, moves))


def _sentence(improved: bool, moves: list[tuple[int, float, float]]) -> str:
    said = f"Outcome recorded: {IMPROVED if improved else NOT_IMPROVED}"
    if not moves:
        return f"{said}, nothing applied"
    first = ", ".join(f"{i}: {old:.2f} → {new:.2f}" for i, old, new in moves[:3])
    return f"{said}; confidence of {first}" + " …" * (len(moves) > 3)


def _moved(snapshot: Snapshot, recorded: dict[str, list[tuple[int, float, float]]]) -> None:
    with st.container(border=True, key="outcome-moved"):
        st.markdown(f"**Outcome recorded as revision {recorded['revision']}**")
        for memory_id, old, new in recorded["moves"]:
            text = snapshot.by_id(memory_id).text if memory_id in snapshot else ""
            st.markdown(
                f"confidence **{old:.3f} → {new:.3f}** · {memory_id} · {md(text, limit=70)}"
            )
        if not recorded["moves"]:
            st.caption("No hit was applied, so no confidence moved.")
        st.button("Record another outcome", key="another-outcome", on_click=_another)


def _another() -> None:
    st.session_state.pop(keys.RECORDED, None)


def _keep(bank: MemoryBank, found: Retrieval) -> None:
    try:
        banks.writable(bank).record(found)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    st.session_state[keys.KEPT] = {*st.session_state.get(keys.KEPT, ()), found.id}
