"""What came of a game: the outcome of what was injected, the lessons, and where each is decided."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memory_core import EpisodeSummary, MemoryBank, MemoryCoreError, Proposal
from pages.components import keys, loop_bank, review_queue
from pages.components.frame import Desk
from pages.components.text import count, md

STATES = {"pending": "waits in Review", "accepted": "accepted", "rejected": "rejected"}


def section(desk: Desk, path: Path, bank: MemoryBank, game: EpisodeSummary) -> None:
    """The outcome and the lessons, each with a link to the page on which it is at home."""
    if not game.memory:
        return
    outcome, lessons = st.columns([2, 3], gap="medium")
    with outcome:
        _outcome(desk, path, bank, game)
    with lessons:
        _lessons(desk, path, bank, game)


def _outcome(desk: Desk, path: Path, bank: MemoryBank, game: EpisodeSummary) -> None:
    st.markdown("**Outcome**")
    if game.improved is None:
        st.caption("None was recorded, so no confidence moved.")
    else:
        said = "improved" if game.improved else "not improved"
        st.caption(f"{said} · revision {game.outcome_revision} · session {game.epoch}")
        if not game.applied:
            st.caption("Nothing was followed, so no confidence moved.")
        for words in _moves(str(bank.path), game.outcome_revision or 0, bank):
            st.markdown(words)
    if game.retrieval_id:
        _link(
            desk, path, "Ledger", "pages/ledger.py",
            {"ledger": "Retrievals", keys.RETRIEVAL: game.retrieval_id},
        )  # fmt: skip


@st.cache_data(show_spinner=False, max_entries=64)
def _moves(path: str, revision: int, _bank: MemoryBank) -> list[str]:
    """Markdown of each confidence that a revision moved."""
    try:
        changed = _bank.diff(revision - 1, revision).changed
    except MemoryCoreError:
        return []
    return [
        f"{md(change.after.text, limit=80)} · {change.before.confidence:.2f} → "
        f"**{change.after.confidence:.2f}**"
        for change in changed
        if change.before and change.after and change.before.confidence != change.after.confidence
    ]


def _lessons(desk: Desk, path: Path, bank: MemoryBank, game: EpisodeSummary) -> None:
    found = review_queue.all_proposals(str(bank.path), bank.signature(), bank)
    own = [proposal for proposal in found if proposal.id in game.proposal_ids]
    st.markdown(f"**Learned** · {count(len(own), 'lesson')}")
    if not own:
        st.caption("Nothing was drawn from this run.")
    for proposal in own:
        _lesson(bank, proposal)
    waiting = [proposal for proposal in own if proposal.state == "pending"]
    with st.container(horizontal=True):
        if own:
            first = (waiting or own)[0]
            state = next(n for n, s in review_queue.STATES.items() if s == first.state)
            _link(
                desk, path, "Review", "pages/review.py",
                {"review": state, keys.PROPOSAL: str(first.id)},
            )  # fmt: skip
        if game.revision is not None:
            _link(
                desk, path, "History", "pages/history.py",
                {keys.OPENED_REVISION: str(game.revision)},
            )  # fmt: skip


def _lesson(bank: MemoryBank, proposal: Proposal) -> None:
    text = review_queue.text_of(proposal.operation, bank.snapshot())
    steps = [step for item in proposal.operation.evidence for step in item.steps]
    words = [review_queue.change_of(proposal.operation), STATES[proposal.state]]
    if proposal.revision is not None and proposal.state == "accepted":
        words[-1] += f" in revision {proposal.revision}"
    if steps:
        some = sorted(set(steps))[:10]
        words.append(f"from {'step' if len(some) == 1 else 'steps'} {', '.join(map(str, some))}")
    st.markdown(md(text))
    st.caption(" · ".join(words))


def _link(desk: Desk, path: Path, name: str, page: str, address: dict[str, str]) -> None:
    there = loop_bank.is_open(desk, path)
    label = f"Open in {name}" if there else f"Open {md(path.name)} in {name}"
    st.button(
        label, key=f"loop-to-{name}", type="tertiary", icon="➡️",
        on_click=loop_bank.go, args=(desk, path, page, address),
        help=None if there else "Opens the bank of these games; the one that is open now stays in "
        "the bank's menu.",
    )  # fmt: skip
