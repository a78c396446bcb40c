"""The games that a bank keeps: their learning curve, their list, and the one that is opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from memory_core import (
    GAME_FAMILIES,
    Episode,
    EpisodeSummary,
    MemoryBank,
    read_episode,
    read_episodes,
)
from pages.components import keys, loop_bank, loop_curve, loop_episode, loop_form, loop_links
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.ledger_table import made_at
from pages.components.text import count, md

ARM_TITLES = {True: "with memory", False: "without memory"}
LEAST = 2
"""Games that make a curve."""


@st.cache_resource(show_spinner=False, max_entries=8)
def _read(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[EpisodeSummary, ...]:
    return read_episodes(_bank)


@st.cache_resource(show_spinner=False, max_entries=16)
def _whole(
    path: str, signature: tuple[int, ...], trajectory_id: str, _bank: MemoryBank
) -> Episode | None:
    return read_episode(_bank, trajectory_id)


def kept(desk: Desk, path: Path) -> tuple[EpisodeSummary, ...]:
    """The games in a bank, oldest first; of the open one, those up to the revision on show."""
    bank = loop_bank.existing(desk, path)
    if bank is None:
        return ()
    found = _read(str(bank.path), bank.signature(), bank)
    if not (desk.is_past and loop_bank.is_open(desk, path)):
        return found
    revision = desk.snapshot.revision or 0
    until = desk.bank.revision(revision).made_at_us if revision else 0
    return tuple(game for game in found if game.made_at_us <= until)


def family_of(game: Episode | EpisodeSummary) -> str:
    """The family that a game's name begins with; empty where it is none that is known."""
    family = game.task.name.partition("/")[0]
    return family if family in GAME_FAMILIES else ""


# -- the page -------------------------------------------------------------------------------------


def section(desk: Desk, path: Path) -> None:
    """The list, the newest first, and the game that is chosen in it."""
    games = kept(desk, path)
    if not games:
        st.subheader("No games yet")
        st.markdown(
            f"What is played is kept in {md(path.name)}: each run with its steps, what was "
            "injected, how it ended, and what was learned. Begin under **Play**."
        )
        return
    opened = _opened(games)
    won = sum(bool(game.success) for game in games)
    st.caption(
        f"{count(len(games), 'game')} in {md(path.name)} · {won} won · choose one to see its "
        "steps, its lessons and its outcome"
    )
    left, right = st.columns(2, gap="medium")
    with left:
        _table(tuple(reversed(games)), opened)
    with right:
        curves(desk, path, games)
    _one(desk, path, opened)


def _table(shown: Sequence[EpisodeSummary], opened: EpisodeSummary) -> None:
    frame = _frame(shown)
    column = st.column_config
    ids = [game.trajectory_id for game in shown]
    key = f"loop-list-{len(shown)}-{ids[0]}"
    st.dataframe(
        frame, hide_index=True, height=min(38 + 35 * len(frame), 390), key=key,
        on_select=lambda: _open(ids, key), selection_mode="single-row",
        selection_default={"selection": {"rows": [shown.index(opened)]}},
        column_config={
            "game": column.TextColumn(width=140),
            "memory": column.TextColumn(width=70),
            "ended": column.TextColumn(width=90),
            "steps": column.NumberColumn(width=50),
            "reward": column.NumberColumn(format="%g", width=60),
            "lessons": column.NumberColumn(width=60),
            "agent": column.TextColumn(width=80),
            "session": column.TextColumn(width=65),
            "played at": column.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=130),
        },
        alt=f"{len(shown)} games, the newest first",
    )  # fmt: skip
    table_downloads(frame, "games")


def _frame(games: Sequence[EpisodeSummary]) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "game": [game.task.name or game.task.text for game in games],
            "memory": ["with" if game.memory else "without" for game in games],
            "ended": [loop_episode.ENDINGS.get(game.ending, game.ending) for game in games],
            "steps": [game.step_count for game in games],
            "reward": [game.reward for game in games],
            "lessons": [len(game.proposal_ids) for game in games],
            "agent": [game.agent for game in games],
            "session": ["" if game.epoch is None else str(game.epoch) for game in games],
            "played at": [made_at(game.made_at_us) for game in games],
        }
    )


# -- the one that is opened -----------------------------------------------------------------------


def _open(ids: list[str], key: str) -> None:
    rows = st.session_state[key].selection.rows
    go_to(ids[rows[0]] if rows and rows[0] < len(ids) else None)


def go_to(trajectory_id: str | None) -> None:
    """Open a game, and say so in the address."""
    if trajectory_id is None:
        st.query_params.pop(keys.EPISODE, None)
    else:
        st.query_params[keys.EPISODE] = trajectory_id


def _opened(games: Sequence[EpisodeSummary]) -> EpisodeSummary:
    """The game that the address names; else the last one."""
    named = st.query_params.get(keys.EPISODE)
    found = next((game for game in games if game.trajectory_id == named), None)
    if named and found is None:
        st.warning(f"The address names game “{md(named, limit=40)}”, which is not among these.")
    return found or games[-1]


def _one(desk: Desk, path: Path, game: EpisodeSummary) -> None:
    bank = loop_bank.existing(desk, path)
    if bank is None:
        return
    episode = _whole(str(bank.path), bank.signature(), game.trajectory_id, bank)
    if episode is None:
        st.warning("The run of this game is not kept any more.")
        return
    with st.container(border=True, key="loop-episode"):
        st.markdown(loop_episode.headline(episode))
        st.text(episode.task.text)
        if episode.error:
            st.error(md(episode.error))
        loop_links.section(desk, path, bank, game)
        loop_episode.show_episode(episode, key=game.trajectory_id)


# -- curves ---------------------------------------------------------------------------------------

STEPS, WON = "Steps to the end", "Share won"


def curves(desk: Desk, path: Path, games: Sequence[EpisodeSummary] | None = None) -> None:
    """The curve of the games that a bank keeps; of one family and agent, where there are more."""
    games = kept(desk, path) if games is None else games
    groups: dict[str, list[EpisodeSummary]] = {}
    for game in games:
        groups.setdefault(f"{family_of(game) or 'others'} · {game.agent}", []).append(game)
    groups = {name: some for name, some in groups.items() if len(some) >= LEAST}
    if not groups:
        return
    latest = max(groups, key=lambda name: groups[name][-1].made_at_us)
    names = sorted(groups)
    with st.container(horizontal=True, vertical_alignment="center", key="loop-curve-head"):
        st.markdown("**How the games went**")
        chosen = latest
        if len(names) > 1:
            chosen = st.selectbox(
                "Games and agent", names, index=names.index(latest), key="loop-curve-of",
                label_visibility="collapsed", width=300,
            )  # fmt: skip
    curve_of(groups[chosen], key="kept")


def curve_of(games: Sequence[Episode | EpisodeSummary], *, key: str) -> None:
    """Steps, or the share won, of one game after another, with and without memory."""
    if len(games) < LEAST:
        return
    measure = st.segmented_control(
        "Measure", (STEPS, WON), default=STEPS, key=f"loop-measure-{key}", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    share = measure == WON
    lines = [line for memory in (False, True) if (line := _line(games, memory, share))]
    loop_curve.chart(
        lines, across="games played, with and without memory each", share=share,
        up=f"share won, of the last {loop_curve.WINDOW}" if share
        else f"steps, mean of the last {loop_curve.WINDOW}",
        key=f"loop-curve-{key}", alt=f"{measure}, game after game", height=280,
    )  # fmt: skip
    if not share:
        st.caption(
            "A dot is a game, filled where it was won; one that was not won counts as the limit "
            "of steps. Games that were stopped or failed are left out."
        )


def steps_taken(game: Episode | EpisodeSummary) -> int:
    return len(game.steps) if isinstance(game, Episode) else game.step_count


def costs(games: Sequence[Episode | EpisodeSummary]) -> tuple[int, ...]:
    """Steps to the end of each; the limit of steps, as far as it is known, where it was not won."""
    reached = [steps_taken(game) for game in games if game.ending == "steps"]
    limits = [loop_form.LIMITS[name] for name in map(family_of, games) if name in loop_form.LIMITS]
    limit = max(reached, default=max(limits, default=0))
    return tuple(
        steps_taken(game) if game.success else max(limit, steps_taken(game)) for game in games
    )


def _line(
    games: Sequence[Episode | EpisodeSummary], memory: bool, share: bool
) -> loop_curve.Line | None:
    some = [g for g in games if g.memory is memory and g.ending not in ("stopped", "error")]
    if not some:
        return None
    won = tuple(bool(game.success) for game in some)
    values = tuple(map(float, won if share else costs(some)))
    return loop_curve.Line(
        "on" if memory else "off", ARM_TITLES[memory], tuple(range(1, len(some) + 1)),
        loop_curve.running_mean(values),
        dots=() if share else values, filled=() if share else won,
    )  # fmt: skip


def next_number(desk: Desk, path: Path, family: str) -> int:
    """The first number of a family above all that a bank has seen."""
    return number_after(kept(desk, path), family)


def number_after(games: Sequence[EpisodeSummary], family: str) -> int:
    """The first number of a family above those of some games."""
    names = (game.task.name.split("/") for game in games if family_of(game) == family)
    numbers = [int(name[-1]) for name in names if name[-1].isdecimal()]
    return max(numbers, default=-1) + 1
