"""Play: the form, the game that is going on, and how the games went one after another."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from memory_core import MemoryCoreError, TextWorldEnvironment
from pages.components import (
    keys,
    loop_bank,
    loop_episode,
    loop_experiment,
    loop_form,
    loop_games,
    loop_playing,
)
from pages.components.frame import Desk
from pages.components.jobs import Job
from pages.components.loop_playing import Game, Playing
from pages.components.text import count, md

INSTALL = 'pip install "winnow-memory[textworld]"'
PACES = {"As fast as it can": 0.0, "A step a second": 1.0, "A step in three seconds": 3.0}


def can_play() -> bool:
    """Whether the games are installed."""
    return find_spec("textworld") is not None


def section(desk: Desk, path: Path) -> None:
    """What is played in a bank, or can be."""
    if not can_play():
        how_to_install()
        return
    found = loop_playing.find(path)
    running = found is not None and not found[0].done.is_set()
    form = loop_form.show(desk, path, disabled=running)
    if running:
        _watch(path)
        return
    _begin(desk, form)
    if found is not None:
        _over(path, *found)
    if not loop_games.kept(desk, path):
        loop_experiment.expectation(form.family)
        return
    loop_games.curves(desk, path)
    if found is not None and (last := found[1].now) is not None and last.first is not None:
        st.markdown("**The last game** · " + loop_episode.headline(last))
        loop_episode.show_episode(last, key="last")


def how_to_install() -> None:
    """What stands here where the games are not installed."""
    st.subheader("The games are not installed here")
    st.markdown(
        "The loop plays text adventures of **TextWorld**, Microsoft's environment, without a "
        "network and without a language model. Install it beside Winnow and start again:"
    )
    st.code(INSTALL, language=None)
    st.caption("It runs on Linux and macOS. Until then, *Recorded experiment* shows what it does.")


# -- beginning ------------------------------------------------------------------------------------


def _begin(desk: Desk, form: loop_form.Form) -> None:
    past = desk.is_past and loop_bank.is_open(desk, form.path)
    unnamed = form.agent == loop_form.MODEL and not form.model.name
    with st.container(horizontal=True, vertical_alignment="center", key="loop-begin"):
        st.button(
            loop_form.label(form), type="primary", key="loop-play",
            disabled=past or unnamed, on_click=_start, args=(desk, form),
        )  # fmt: skip
        if past:
            st.caption("Games are kept in the latest revision; go back to it to play.")
        elif unnamed:
            st.caption("Name a model, such as openai:gpt-5-mini, to play with it.")
        else:
            st.caption(loop_form.sentence(desk, form))


def _start(desk: Desk, form: loop_form.Form) -> None:
    try:
        first = form.first
        if first is None:
            first = loop_games.next_number(desk, form.path, form.family)
        games = tuple(
            Game(form.family, number, memory)
            for number in range(first, first + form.games)
            for memory in loop_form.ARMS[form.arms]
        )
        bank = loop_bank.to_play_in(desk, form.path)
        form.make_agent()  # so that a name that cannot be read is said here
    except (MemoryCoreError, OSError) as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    work = Playing(bank, form.make_agent, TextWorldEnvironment, games, form.max_steps, form.accept)
    loop_playing.start(form.path, work)


# -- what goes on ---------------------------------------------------------------------------------


GAMES = "Games played"
"""The part of the page that lists what a bank keeps."""


@st.fragment(run_every=1.0)
def _watch(path: Path) -> None:
    found = loop_playing.find(path)
    if found is None or found[0].done.is_set():
        st.rerun()
    job, playing = found
    with st.container(border=True, key="loop-running"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(job.share, f"**Playing** · {md(job.doing)}")
            st.button("Stop", key="stop-loop", on_click=job.stop, disabled=job.is_stopped)
        pace = st.segmented_control(
            "Pace", list(PACES), default=_pace(playing), key="loop-pace", required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        playing.pace = PACES[pace or "As fast as it can"]
        _tally(playing)
        if playing.now is not None:
            st.markdown(loop_episode.headline(playing.now, running=_is_on(playing)))
            loop_episode.show_episode(playing.now, key="running", running=True)
    loop_games.curve_of(playing.episodes, key="running")


def _pace(playing: Playing) -> str:
    return next((name for name, pace in PACES.items() if pace == playing.pace), next(iter(PACES)))


def _is_on(playing: Playing) -> bool:
    return playing.now is not None and playing.now not in playing.episodes


def _tally(playing: Playing) -> None:
    if not playing.episodes:
        return
    words = []
    for memory, name in ((True, "with memory"), (False, "without")):
        some = [episode for episode in playing.episodes if episode.memory is memory]
        if some:
            won = sum(bool(episode.success) for episode in some)
            words.append(f"{name} {won} of {len(some)} won")
    st.caption(" · ".join(words))


# -- what came of it ------------------------------------------------------------------------------


def _over(path: Path, job: Job, playing: Playing) -> None:
    """What was played last here, in a line or two, until it is dismissed."""
    failed = [episode.error for episode in playing.episodes if episode.ending == "error"]
    with st.container(border=True, key="loop-over", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_summary(job, playing))
            st.button("See the games", key="loop-see", on_click=_see, icon="📋")
            st.button("Dismiss", key="loop-dismiss", type="tertiary",
                      on_click=loop_playing.forget, args=(path,))  # fmt: skip
        if job.failure:
            st.error(md(job.failure))
        for words in dict.fromkeys(failed):
            st.error(f"{count(failed.count(words), 'game')} failed: {md(words)}")


def _summary(job: Job, playing: Playing) -> str:
    over = [episode for episode in playing.episodes if episode.ending != "error"]
    won = sum(bool(episode.success) for episode in over)
    lessons = sum(len(episode.proposal_ids) for episode in over)
    words = [f"**{count(len(over), 'game')} played** of {len(playing.games)}", f"{won} won"]
    if lessons:
        words.append(f"{count(lessons, 'lesson')} " + (
            "accepted" if playing.accept else "to review"
        ))  # fmt: skip
    if job.is_stopped:
        words.insert(0, "**Stopped**")
        if playing.now is not None and playing.now.steps and playing.now not in playing.episodes:
            words.append("the game that was on is kept as far as it had come")
    return " · ".join(words)


def _see() -> None:
    st.session_state["loop"] = GAMES
