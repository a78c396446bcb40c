"""A guided demonstration of compression on the demo bank: five steps, then everything as it was."""

from __future__ import annotations

import streamlit as st

from pages.components import banks, frame, keys, previews
from pages.components.bank_menu import demo_button
from pages.components.frame import Desk
from pages.components.previews import Preview
from pages.components.text import count, md, show

STEPS = (
    "Four strategies, side by side",
    "Argue with one drop",
    "Commit",
    "See a query that changed",
    "Take it back",
)


def step_of(desk: Desk) -> int:
    """The step that the address names, from 1; 0 when nobody is on the tour."""
    named = st.query_params.get("tour", "")
    if not named.isdecimal() or not banks.is_demo(desk.bank):
        return 0
    return min(int(named), len(STEPS))


def guide(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    """The paragraph of the present step, and the way on."""
    step = step_of(desk)
    if not step:
        return
    with st.container(border=True, key="tour"):
        st.markdown(f"**Step {step} of {len(STEPS)} · {STEPS[step - 1]}**")
        _PARAGRAPHS[step - 1](desk, name, preview, made)
        with st.container(horizontal=True):
            if step > 1:
                st.button("Back", key="tour-back", on_click=_go, args=(step - 1,))
            if step < len(STEPS):
                st.button("Next", key="tour-next", type="primary", on_click=_go, args=(step + 1,))
            st.button("End the tour", key="tour-end", type="tertiary", on_click=_go, args=(0,))


def _go(step: int) -> None:
    if step:
        st.query_params["tour"] = str(step)
    else:
        st.query_params.pop("tour", None)


def _compare(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    size, capacity = len(desk.snapshot), desk.capacity
    worst = max(made, key=lambda n: len(made[n].impact.comparison.losing), default="")
    st.markdown(
        f"This bank holds {count(size, 'lesson')} and was meant to hold {capacity}. The table "
        "below shows what each published strategy would keep, and what that does to the bank's "
        "saved test queries, *before* anything is done. "
        + (
            f"Here **{worst}** hurts the most queries. Under the table every query that loses a "
            "lesson is named, with what takes its place."
            if worst
            else "Choose at least one strategy to see it."
        )
    )


def _argue(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    lost = _a_loss(preview)
    if lost is None:
        st.markdown("With these settings no saved query loses a lesson: there is nothing to argue.")
        return
    st.markdown(
        f"**{name}** would drop the lesson below, which a saved query needs. Pin it: a pinned "
        "lesson survives every compression, and the plan is made again at once; another one goes "
        "in its stead."
    )
    show(desk.snapshot.by_id(lost).text)
    st.button(
        "Pin it and plan again", key="tour-pin", on_click=previews.spare, args=([lost],),
        disabled=desk.is_past,
    )  # fmt: skip


def _a_loss(preview: Preview | None) -> int | None:
    for query in preview.impact.comparison.losing if preview else ():
        for lost in query.lost:
            if lost.rank_after is None:
                return lost.memory_id
    return None


def _commit(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    gone = len(preview.plan.dropped) if preview else 0
    if not gone:
        st.markdown("The bank is within its capacity: it has been compressed. Go on.")
        return
    st.markdown(
        f"The button at the end of the page, *Commit {name}*, writes one new revision without "
        f"{count(gone, 'lesson')}. Nothing is overwritten: the revision before it stays as it is. "
        "Where a query would be left with nothing, you are asked to type the number first."
    )


def _see(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    number, tasks = st.session_state.get(keys.COMPRESSED, (None, []))
    if number is None:
        st.markdown("Nothing has been committed yet; go back one step to do that.")
        return
    if not tasks:
        st.markdown("This compression cost no saved query anything. Go on.")
        return
    st.markdown(
        f"This query lost a lesson: “{md(tasks[0])}”. Ask it after and before, and compare."
    )
    with st.container(horizontal=True):
        st.page_link(
            "pages/query.py", label=f"At revision {number}", query_params={"task": tasks[0]}
        )
        st.page_link(
            "pages/query.py", label=f"At revision {number - 1}",
            query_params={"task": tasks[0], "revision": str(number - 1)},
        )  # fmt: skip


def _undo(desk: Desk, name: str, preview: Preview | None, made: dict[str, Preview]) -> None:
    number, _ = st.session_state.get(keys.COMPRESSED, (None, []))
    st.markdown(
        "Undo is a change like any other: it makes a new revision in which every lesson is back, "
        "to the byte, with its confidence and its history. Then reset the demo bank, or leave it."
    )
    with st.container(horizontal=True):
        if number is not None:
            st.button(
                f"Undo revision {number}", key="tour-undo", type="primary",
                on_click=frame.undo, args=(desk.bank, number),
            )  # fmt: skip
        demo_button("Reset the demo bank", key="tour-reset")


_PARAGRAPHS = (_compare, _argue, _commit, _see, _undo)
