"""One game in full: its steps, the memories that were injected, and which of them were followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from memory_core import Episode, EpisodeStep, Injected, Observation
from pages.components.export import table_downloads
from pages.components.text import SYMBOLS, count, md, show

FEW = 8
"""Admissible actions that are listed."""
ENDINGS = {
    "success": "won",
    "failure": "lost",
    "done": "ended",
    "steps": "out of steps",
    "time": "out of time",
    "stopped": "stopped",
    "error": "failed",
}


def ending(episode: Episode) -> str:
    """How a game ended, in a word or two."""
    return ENDINGS.get(episode.ending, episode.ending)


def with_or_without(episode: Episode) -> str:
    return "with memory" if episode.memory else "without memory"


def headline(episode: Episode, *, running: bool = False) -> str:
    """Markdown of a line that says which game this is and how it went."""
    name = md(episode.task.name or episode.task.text, limit=80)
    steps = count(len(episode.steps), "step")
    went = f"{steps} so far" if running else f"**{ending(episode)}** after {steps}"
    return f"**{name}** · {with_or_without(episode)} · {went} · reward {episode.reward:g}"


def show_episode(episode: Episode, *, key: str, running: bool = False) -> None:
    """Its steps on the left, what it was given on the right."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if running:
            _now(episode)
        _steps(episode, key, running)
    with right:
        if running and episode.memory and not episode.injection:
            st.caption("The bank is being asked.")
        else:
            given(episode)


# -- what goes on ---------------------------------------------------------------------------------


def _now(episode: Episode) -> None:
    """Where the agent stands at the moment."""
    seen = episode.steps[-1].observation if episode.steps else episode.first
    with st.container(height=160, key="loop-now", border=True):
        if seen is None:
            st.caption("The game is being prepared.")
            return
        show(seen.text.strip() or "(no words)")
    if seen.actions and not seen.done:
        st.caption(_could(seen))


def _could(seen: Observation) -> str:
    few = ", ".join(md(action, limit=50) for action in seen.actions[:FEW])
    more = len(seen.actions) - FEW
    return f"It could: {few}" + (f" and {more} more" if more > 0 else "")


def _steps(episode: Episode, key: str, running: bool) -> None:
    if not episode.steps:
        if not running:
            st.caption("It ended before its first step.")
        return
    frame = steps_frame(episode)
    column = st.column_config
    event = st.dataframe(
        frame.iloc[::-1] if running else frame, hide_index=True,
        height=300 if running else min(38 + 35 * len(frame), 460),
        column_config={
            "step": column.NumberColumn(width=45),
            "action": column.TextColumn(width=190),
            "follows": column.TextColumn(
                width=85, help="The injected memories that spoke for this action"
            ),
            "gain": column.TextColumn(width=50, help="Reward that this step brought"),
            "answer": column.TextColumn(width=420),
        },
        key=f"steps-{key}", on_select="ignore" if running else "rerun",
        selection_mode="single-row", alt=f"{len(frame)} steps of the game, with their answers",
    )  # fmt: skip
    if running:
        return
    chosen = event.selection.rows
    if chosen and chosen[0] < len(episode.steps):
        _one(episode, chosen[0])
    else:
        st.caption("Choose a step to read it in full.")
    table_downloads(frame, "steps", key=key)


def steps_frame(episode: Episode) -> Any:
    """A row for each step."""
    import pandas as pd

    rank = {memory.id: memory.rank - 1 for memory in episode.injected}
    return pd.DataFrame(
        {
            "step": [step.number for step in episode.steps],
            "action": [step.action.text for step in episode.steps],
            "follows": [_labels(step, rank) for step in episode.steps],
            "gain": [f"{step.gain:+g}" if step.gain else "" for step in episode.steps],
            "answer": [" ".join(step.observation.text.split()) for step in episode.steps],
        }
    )


def _labels(step: EpisodeStep, rank: dict[int, int]) -> str:
    return " ".join(f"G{rank[i]}" if i in rank else f"#{i}" for i in step.action.followed)


def _one(episode: Episode, place: int) -> None:
    step = episode.steps[place]
    before = episode.steps[place - 1].observation if place else episode.first
    with st.container(border=True, key="loop-step", gap="small"):
        st.markdown(f"**Step {step.number}** · {md(step.action.text, limit=200)}")
        if step.action.thought:
            show(step.action.thought)
        by_id = {memory.id: memory for memory in episode.injected}
        for memory_id in step.action.followed:
            st.caption(f"followed {_named(by_id.get(memory_id), memory_id)}")
        if before is not None and before.actions:
            with st.expander(f"{count(len(before.actions), 'action')} to choose from"):
                st.text("\n".join(before.actions))
        st.caption("The answer")
        show(step.observation.text.strip() or "(no words)")


def _named(memory: Injected | None, memory_id: int) -> str:
    if memory is None:
        return f"memory {memory_id}"
    return f"\\[G{memory.rank - 1}\\] {md(memory.text, limit=120)}"


# -- what it was given ----------------------------------------------------------------------------


def given(episode: Episode) -> None:
    """The memories that were injected, and in which steps each was followed."""
    if not episode.memory:
        st.markdown("**Played without memory**")
        st.caption("Nothing was injected, so that there is something to compare with.")
        return
    st.markdown(f"**Injected** · {count(len(episode.injected), 'memory', 'memories')}")
    if not episode.injected:
        st.caption("The bank knew nothing for this task yet.")
    for memory in episode.injected:
        steps = [step.number for step in episode.steps if memory.id in step.action.followed]
        with st.container(border=True, gap="small", key=f"injected-{memory.rank}"):
            st.markdown(f"`G{memory.rank - 1}` {SYMBOLS[memory.kind]} {md(memory.text)}")
            st.caption(
                f"{_followed(steps)} · score {memory.score:.2f} · "
                f"confidence {memory.confidence:.2f} · memory {memory.id}"
            )


def _followed(steps: Sequence[int]) -> str:
    if not steps:
        return "not followed"
    some = ", ".join(map(str, steps[:12])) + (" …" if len(steps) > 12 else "")
    return f":green-background[**followed**] in {'step' if len(steps) == 1 else 'steps'} {some}"


def learned(episode: Episode) -> None:
    """The lessons of a game that no bank here keeps."""
    st.markdown(f"**Learned** · {count(len(episode.lessons), 'lesson')}")
    if not episode.lessons:
        st.caption("Nothing was drawn from this run.")
    for text in episode.lessons:
        st.markdown(f"- {md(text)}")
