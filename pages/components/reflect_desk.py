"""What lies on the desk of Reflect: runs before they are reflected on, and a reflection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from memory_core import Reading, ReflectionSummary
from pages.components import (
    model_choice,
    reflect_ask,
    reflect_drafts,
    reflect_given,
    reflect_past,
    reflect_reading,
    reflect_runs,
    reflect_steps,
    reflect_work,
)
from pages.components.frame import Desk
from pages.components.reflect_given import Given
from pages.components.reflect_steps import HEIGHT, NARROW, Shown
from pages.components.text import count, md

# -- before ---------------------------------------------------------------------------------------


def runs(desk: Desk, found: Given) -> None:
    """What was read, which runs, by what; and the runs themselves."""
    with st.container(border=True, key="run-card"):
        read = reflect_reading.bar(desk, found)
        if read is None:
            return
        reading, key = read
        chosen = list(range(len(reading.trajectories)))
        if len(chosen) > 1:
            chosen = reflect_runs.table(key, reading.trajectories, choosable=True)
        _ask(desk, found, reading, key, chosen)
    place = reflect_runs.on_show(key, reading.trajectories)
    shown = Shown(f"{key}-{place}", reading.trajectories[place], {})
    reflect_runs.facts(shown.run)
    goes_on = reflect_work.goes_on(desk)
    _panes(shown, (lambda: reflect_work.section(desk)) if goes_on else None)


def _ask(desk: Desk, found: Given, reading: Reading, key: str, chosen: Sequence[int]) -> None:
    some = [reading.trajectories[place] for place in chosen]
    is_busy = reflect_work.is_busy(desk)
    asked, place = reflect_ask.form(desk, key, some, disabled=is_busy)
    place.button(
        reflect_ask.words(asked, len(some)), key="reflect", type="primary",
        disabled=is_busy or not asked.ready, on_click=reflect_work.begin,
        args=(desk, found.digest, some, reading.format, asked),
        help="What it finds becomes proposals; nothing is in the bank until you accept it.",
    )  # fmt: skip
    if not some:
        st.caption("Tick the runs that are to be reflected on.")
    model_choice.about(asked.model, "The run, without its secrets, is sent to that model.")
    if found.at_once and not is_busy:
        reflect_given.began()
        group = reflect_ask.are_rollouts(some)
        reflect_work.begin(
            desk, found.digest, some, reading.format, reflect_ask.Asked(as_group=group)
        )
        reflect_work.open_if_done(desk)


def _panes(shown: Shown, beside: Callable[[], None] | None) -> None:
    """The table of steps, one of them, and what comes in beside them."""
    with st.container(horizontal=True, key="run-panes"):
        with st.container(width=NARROW if beside else "stretch", key="run-steps"):
            st.caption(reflect_runs.counts(shown.run))
            reflect_steps.table(shown, narrow=beside is not None)
        with st.container(
            border=True, width=NARROW if beside else "stretch", height=HEIGHT, key="run-step"
        ):
            reflect_steps.detail(shown)
        if beside:
            with st.container(height=HEIGHT, border=False, key="drafts"):
                beside()


# -- after ----------------------------------------------------------------------------------------


def reflection(desk: Desk, made: ReflectionSummary) -> None:
    """A reflection that is kept: its runs, with its drafts beside the steps that they cite."""
    drafts = reflect_past.drafts_of(desk, made)
    _about(desk, made, len(drafts))
    there = reflect_reading.kept_runs(desk, made.trajectory_ids)
    if not there:
        st.caption("The runs themselves are not kept in this bank.")
        reflect_drafts.pane(desk, made, drafts, ())
        return
    evidence = {n: draft.operation.evidence for n, draft in enumerate(drafts, start=1)}
    shown = [Shown(name, run, reflect_steps.cited_steps(evidence, name)) for name, run in there]
    key = f"kept-{made.key}"
    place = reflect_runs.on_show(key, [one.run for one in shown])
    if len(shown) > 1:
        reflect_runs.table(key, [one.run for one in shown], choosable=False)
    reflect_runs.facts(shown[place].run)
    _panes(shown[place], lambda: reflect_drafts.pane(desk, made, drafts, shown))


def _about(desk: Desk, made: ReflectionSummary, some: int) -> None:
    found = reflect_given.given()
    words = [
        f"**{count(some, 'draft')}** by {md(made.reflector, limit=60)}",
        f"from {count(len(made.trajectory_ids), 'run')}",
        f"{reflect_past.when(made.made_at_us)} UTC",
        f"by {md(made.actor, limit=40)}",
    ]
    words += [spent] if (spent := reflect_past.spent(made.usage)) else []
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="made-card"):
        st.markdown(" · ".join(words))
        st.button(
            "Reflect again", key="reflect-once-more", disabled=desk.is_past,
            on_click=_once_more, args=(made, found),
            help="On the same runs, by the rules or by a language model.",
        )  # fmt: skip
        st.button("Another run", key="another-run", on_click=reflect_given.let_go, icon="↩️")


def _once_more(made: ReflectionSummary, found: Given | None) -> None:
    reflect_past.close()
    if found is None:
        title = made.reason.removeprefix("Reflection on: ")
        reflect_given.take(title, kept=made.trajectory_ids)
