"""What is to be played: which games, by which agent, with or without memory, into which bank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from memory_core import GAME_FAMILIES, Agent, Explorer, LLMAgent
from pages.components import loop_bank, model_choice
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.model_choice import Model
from pages.components.text import count, md

EXPLORER, MODEL = "Explorer", "Language model"
AGENTS = (EXPLORER, MODEL)
WITH, WITHOUT, BOTH = "With", "Without", "Both"
ARMS = {WITH: (True,), WITHOUT: (False,), BOTH: (False, True)}
"""By choice: what each game is played with."""
ACCEPT, REVIEW = "Accept at once", "To Review"
LESSONS = (ACCEPT, REVIEW)
MOST = 200
LIMITS = {"cooking": 60, "custom": 80, "treasure": 80}
"""Steps that the explorer has by default; it tries out much that a language model knows."""
LIMIT_OF_MODELS = 20


def usual_limit(family: str, agent: str) -> int:
    """The limit of steps where a person names none."""
    return LIMITS.get(family, 60) if agent == EXPLORER else LIMIT_OF_MODELS


@dataclass(frozen=True)
class Form:
    """What a person chose."""

    family: str
    first: int | None
    """Number of the first game; None for the first that was not played yet."""
    games: int
    max_steps: int
    agent: str
    model: Model
    arms: str
    accept: bool
    path: Path

    @property
    def plays(self) -> int:
        """Games that are played in all."""
        return self.games * len(ARMS[self.arms])

    def make_agent(self) -> Agent:
        """Raises MemoryCoreError, where a model's name cannot be read or its library is missing."""
        if self.agent == MODEL:
            return LLMAgent(self.model.name, base_url=self.model.base_url, api_key=self.model.key)
        return Explorer()


def show(desk: Desk, path: Path, *, disabled: bool) -> Form:
    """The form; its state is in the address, but for what names a person's own server."""
    for name, options in (
        ("family", GAME_FAMILIES), ("agent", AGENTS), ("arms", ARMS), ("lessons", LESSONS),
    ):  # fmt: skip
        say_if_unknown(name, options)
    with st.container(horizontal=True, vertical_alignment="bottom", key="loop-games"):
        family = _family(disabled)
        games = st.number_input(
            "How many", 1, MOST, 8, key="games", bind="query-params", width=120, disabled=disabled
        )
        agent = _choice("Agent", AGENTS, "agent", disabled, AGENT_HELP)
        arms = _choice("Memory", tuple(ARMS), "arms", disabled, ARMS_HELP)
        lessons = _choice("Lessons", LESSONS, "lessons", disabled, LESSONS_HELP)
        usual = usual_limit(family, agent)
        with st.popover("Parameters", disabled=disabled):
            first, steps = _parameters(usual)
    model = _model(disabled) if agent == MODEL else Model()
    st.caption(f"{md(GAME_FAMILIES[family].title)}.")
    return Form(family, first, int(games or 1), steps, agent, model, arms, lessons == ACCEPT, path)


AGENT_HELP = (
    "**Explorer** needs no language model: among the actions that are possible it prefers those "
    "that its injected memories speak for, and tries out new ones otherwise. It knows no game.  \n"
    "**Language model**: any provider; the memories stand at the head of its prompt."
)
ARMS_HELP = (
    "**Both** plays each game twice, once without memory, so that there is something to compare."
)
LESSONS_HELP = (
    "**Accept at once** puts each lesson into the bank, where the next game can use it.  \n"
    "**To Review** leaves the bank's memories as they are until you decide."
)


def _parameters(usual: int) -> tuple[int | None, int]:
    """The number of the first game, None for the next new one, and the limit of steps."""
    first = st.number_input(
        "From game number", 0, 100_000, None, key="first_game", bind="query-params",
        placeholder="the next new one",
        help="The same number is always the same game. Empty: the first that the bank has not "
        "seen.",
    )  # fmt: skip
    steps = st.number_input(
        "Limit of steps", 1, 500, None, key="steps", bind="query-params", placeholder=str(usual),
        help="After so many steps a game counts as not won.",
    )  # fmt: skip
    return None if first is None else int(first), int(steps or usual)


def _family(disabled: bool) -> str:
    chosen = st.selectbox(
        "Games", list(GAME_FAMILIES), key="family", bind="query-params", width=180,
        disabled=disabled,
    )  # fmt: skip
    return chosen or next(iter(GAME_FAMILIES))


def _choice(label: str, options: tuple[str, ...], key: str, disabled: bool, about: str) -> str:
    chosen = st.segmented_control(
        label, options, default=options[0], key=key, bind="query-params", required=True,
        disabled=disabled, help=about,
    )  # fmt: skip
    return chosen or options[0]


def _model(disabled: bool) -> Model:
    with st.container(horizontal=True, vertical_alignment="bottom", key="loop-model-row"):
        model = model_choice.fields("loop", disabled=disabled)
    model_choice.about(model, "What the game says and the injected memories are sent to it.")
    return model


def sentence(desk: Desk, form: Form) -> str:
    """Markdown of what the button will do, and to which bank."""
    where = f"**{md(form.path.name)}**"
    if not loop_bank.is_open(desk, form.path):
        where += ", a bank apart from the one that is open," if form.path.exists() else (
            ", a new bank,"
        )  # fmt: skip
    else:
        where += ", the open bank,"
    kept = f"Runs, outcomes and lessons are kept in {where}"
    if form.arms == WITHOUT:
        return f"Runs are kept in {where} and nothing is learned from them."
    after = "lessons are accepted at once" if form.accept else "lessons wait in Review"
    twice = f"Each of {count(form.games, 'game')} is played twice. " * (form.arms == BOTH)
    return f"{twice}{kept} and {after}."


def label(form: Form) -> str:
    """Of the button that begins."""
    how = {WITH: " with memory", WITHOUT: " without memory", BOTH: ", each twice"}[form.arms]
    return f"Play {count(form.games, 'game')}{how}"
