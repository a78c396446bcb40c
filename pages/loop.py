"""Loop: an agent plays, is given what the bank knows, and what it learns goes into the bank."""

import streamlit as st

from memory_core import MemoryCoreError
from pages.components import frame, loop_bank, loop_experiment, loop_games, loop_play
from pages.components.filters import say_if_unknown
from pages.components.text import md

PLAY, GAMES, RECORDED = "Play", loop_play.GAMES, "Recorded experiment"
PARTS = (PLAY, GAMES, RECORDED)

loop_bank.gone()
desk = frame.open_desk()
st.caption(
    "An agent plays games it has never seen: before each it is given what the bank knows, after "
    "each the bank keeps what it learned. Does it get better on the job?"
)
say_if_unknown("loop", PARTS)
with st.container(horizontal=True, vertical_alignment="center", key="loop-parts"):
    part = st.segmented_control(
        "Part", PARTS, default=PLAY if loop_play.can_play() else RECORDED, key="loop",
        bind="query-params", required=True, label_visibility="collapsed",
    )  # fmt: skip
    if part == RECORDED:
        family = loop_experiment.choose()
    else:
        path = loop_bank.choose(desk)
try:
    if part == RECORDED:
        loop_experiment.section(family)
    elif part == GAMES:
        loop_games.section(desk, path)
    else:
        loop_play.section(desk, path)
except MemoryCoreError as error:
    st.error(md(str(error)))
