"""What bears a proposal out: the steps of runs that it cites, and the memories nearest to it."""

from __future__ import annotations

import streamlit as st

from memory_core import (
    MAX_WORDS,
    Evidence,
    Memory,
    MemoryBank,
    MemoryCoreError,
    Plan,
    Proposal,
    RetrievalSettings,
    Snapshot,
    Step,
)
from pages.components import asking, run_step, selection
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md, used

NEAREST = 5
LONG = 600
"""Characters of a step's field that are shown at once."""


def runs(desk: Desk, proposal: Proposal) -> None:
    """Each run that is cited, with the steps that bear the proposal out."""
    st.markdown("**Evidence**")
    cited = proposal.operation.evidence
    if not cited:
        st.caption("None is cited.")
    for number, item in enumerate(cited):
        with st.container(border=True, key=f"evidence-{number}", gap="small"):
            _run(desk, item)


def _run(desk: Desk, item: Evidence) -> None:
    trajectory = run_step.kept_run(desk, item.trajectory_id)
    steps = f" · {_numbers(item)}" if item.steps else ""
    st.markdown(f"run {md(item.trajectory_id, limit=120)}{steps}")
    if trajectory is None:
        st.caption("The run itself is not kept in this bank.")
        return
    st.text(trajectory.task)
    words = [count(len(trajectory.steps), "step"), *run_step.outcome(trajectory)]
    st.caption(" · ".join(words))
    by_number = {step.number: step for step in trajectory.steps}
    for number in item.steps:
        if number in by_number:
            _step(by_number[number])
        else:
            st.caption(f"The run has no step {number}.")


def _numbers(item: Evidence) -> str:
    return ("step " if len(item.steps) == 1 else "steps ") + ", ".join(map(str, item.steps))


def _step(step: Step) -> None:
    tool = f" · {md(step.tool, limit=80)}" if step.tool else ""
    with st.expander(f"Step {step.number} · {step.role}{tool}", expanded=True):
        run_step.fields(step, long=LONG)


# -- what is near ---------------------------------------------------------------------------------


def neighbours(desk: Desk, proposal: Proposal, plan: Plan) -> None:
    """The five memories nearest to what is proposed, without those that it is about."""
    st.markdown("**Nearest memories**")
    nearest_to(desk, proposal, plan)


def nearest_to(desk: Desk, proposal: Proposal, plan: Plan, *, key: str = "") -> None:
    """The same without a heading; `key` tells the lists of several proposals apart."""
    text, own = _subject(proposal, plan)
    if not text.strip():
        st.caption("There is no text to compare.")
        return
    # What is too long to be a memory has no vector yet, and the page does not wait for the model.
    if len(text.split()) > MAX_WORDS and not asking.warm_up(desk):
        st.caption("The model is being loaded; they show with the next key.")
        return
    try:
        found = _nearest(
            str(desk.bank.path), desk.head.revision, desk.head.batch_key, text, own,
            desk.bank, desk.head,
        )  # fmt: skip
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return
    if not found:
        st.caption("There is no other memory yet.")
    for similarity, memory in found:
        _neighbour(similarity, memory, key)


def _subject(proposal: Proposal, plan: Plan) -> tuple[str, tuple[int, ...]]:
    """The text to compare, and the memories that are no neighbours of it: its own."""
    operation = proposal.operation
    ids = getattr(operation, "ids", None) or (getattr(operation, "id", None),)
    own = tuple(i for i in ids if isinstance(i, int) and i in plan.before)
    text = getattr(operation, "text", None)
    if not isinstance(text, str):
        text = plan.before.by_id(own[0]).text if own else ""
    return text, own


@st.cache_data(show_spinner=False, max_entries=64)
def _nearest(
    path: str,
    revision: int | None,
    batch_key: str,
    text: str,
    own: tuple[int, ...],
    _bank: MemoryBank,
    _snapshot: Snapshot,
) -> list[tuple[float, Memory]]:
    plain = RetrievalSettings(limit=NEAREST + len(own), confidence_weight=0.0)
    hits = _bank.retrieve(text, plain, revision=_snapshot).hits
    near = [(h.parts.similarity.value, h.memory) for h in hits if h.memory.id not in own]
    return near[:NEAREST]


def _neighbour(similarity: float, memory: Memory, key: str) -> None:
    with st.container(key=f"near-{key}{memory.id}"):
        said, button = st.columns([6, 1], gap="small")
        with said.container(gap=None):
            st.markdown(f"`{similarity:.2f}` {SYMBOLS[memory.kind]} {md(memory.text)}")
            st.caption(
                f"{md(memory.domain, limit=60)} · confidence {memory.confidence:.2f} · "
                f"{used(memory)} · memory {memory.id}"
            )
        if button.button(
            "Open", key=f"browse-{key}{memory.id}", type="tertiary", help="Opens it in Browse"
        ):
            selection.open_memory(memory.id)
            st.switch_page("pages/browse.py", query_params={"memory": str(memory.id)})
