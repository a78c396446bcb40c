"""The recorded experiment: whether memory helps, how that grew, and what was learned."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import (
    ArmResult,
    ConfidencePoint,
    Estimate,
    Experiment,
    ExperimentFamily,
    MemoryCoreError,
    read_experiment,
)
from pages.components import loop_curve, loop_episode
from pages.components.export import table_downloads
from pages.components.filters import say_if_unknown
from pages.components.sparkline import sparkline
from pages.components.text import SYMBOLS, count, md, show, show_list, used

CURVES = {"Steps to the end": "steps", "Share won": "success"}


@st.cache_resource(show_spinner=False)
def _recorded() -> Experiment | None:
    return read_experiment()


def choose() -> ExperimentFamily | None:
    """The family of games that is looked at; None where nothing is recorded, which is then said."""
    try:
        found = _recorded()
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return None
    names = {family.name: family for family in found.families} if found else {}
    if not names:
        st.caption("No experiment is recorded here.")
        return None
    say_if_unknown("experiment", names)
    chosen = st.segmented_control(
        "Games", list(names), default=next(iter(names)), key="experiment", required=True,
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    return names.get(chosen or "", next(iter(names.values())))


def section(family: ExperimentFamily | None) -> None:
    """All that the record holds of a family."""
    found = _recorded() if family is not None else None
    if found is None or family is None:
        st.markdown("This copy of Winnow came without a record. In a checkout it is made by")
        st.code("python benchmarks/learning.py --record data/experiment", language=None)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _curve(family)
    with right:
        _verdict(family)
        _facts(family)
    _arms(family)
    episodes, lessons, how = st.tabs(["Episodes", "What was learned", "How it was made"])
    with episodes:
        _episodes(family)
    with lessons:
        _lessons(family)
    with how:
        _how(found)


def expectation(name: str) -> None:
    """What was found in the experiment on a family of games, where nothing was played yet."""
    try:
        found = _recorded()
    except MemoryCoreError:
        return  # the page's own part says it
    family = next((one for one in found.families if one.name == name), None) if found else None
    if family is None:
        return
    with st.container(border=True, key="loop-expectation"):
        st.markdown("**What to expect** · from the recorded experiment, where you find the whole")
        _verdict(family)
        _curve(family)


def _arm(family: ExperimentFamily, name: str) -> ArmResult | None:
    return next((arm for arm in family.arms if arm.name == name), None)


def _verdict(family: ExperimentFamily) -> None:
    """What came out, in two lines."""
    on, off = _arm(family, "on"), _arm(family, "off")
    st.markdown(md(family.about))
    if on is None or off is None:
        return
    ratio = ""
    if on.ratio is not None:
        ratio = (
            f", **{on.ratio.mean:.2f} times** fewer (95 % interval {on.ratio.low:.2f} to "
            f"{on.ratio.high:.2f})"
        )
    st.markdown(
        f"With memory **{on.success.mean:.0%}** of the games were won, without "
        f"**{off.success.mean:.0%}**; it took **{on.steps.mean:.1f} steps** instead of "
        f"**{off.steps.mean:.1f}**{ratio}."
    )


def _facts(family: ExperimentFamily) -> None:
    st.caption(
        f"{count(family.training, 'training game')}, then {family.held_out} held-out ones that it "
        f"has never seen, in each of {count(family.seeds, 'run')}; at most {family.limit} steps a "
        "game. The agent is the explorer, which needs no language model; it is the same in all "
        "arms, and so are its chances."
    )


def _curve(family: ExperimentFamily) -> None:
    measure = st.segmented_control(
        "Measure", list(CURVES), default="Steps to the end", key="experiment-measure",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    field = CURVES[measure or "Steps to the end"]
    lines = []
    for arm in family.arms:
        points = sorted((p for p in family.curve if p.arm == arm.name), key=lambda p: p.games)
        if not points:
            continue
        values = [getattr(point, field) for point in points]
        lines.append(
            loop_curve.Line(
                arm.name, arm.title, tuple(point.games for point in points),
                tuple(v.mean for v in values), tuple(v.low for v in values),
                tuple(v.high for v in values),
            )
        )  # fmt: skip
    games = family.curve[0].steps.count if family.curve else family.held_out
    on = "held-out games" if games == family.held_out else f"{games} of the held-out games"
    loop_curve.chart(
        lines, across="training games before it", share=field == "success", key="experiment-curve",
        up=f"{on} won" if field == "success" else f"mean steps on {on}",
        alt=f"{measure} on {on}, by the number of training games", height=330,
    )  # fmt: skip


def _arms(family: ExperimentFamily) -> None:
    frame = arms_frame(family)
    column = st.column_config
    st.caption(
        "On the held-out games; one that was not won counts as the limit of steps. In brackets "
        "the 95 % interval."
    )
    st.dataframe(
        frame, hide_index=True, column_config={
            "arm": column.TextColumn(width=260),
            "won": column.TextColumn(width=95),
            "steps": column.TextColumn(width=125),
            "off / this": column.TextColumn(
                width=125, help="Steps without memory over the steps of this arm"
            ),
            "won − off": column.TextColumn(
                width=110, help="Share won, less that without memory, in points of a hundred"
            ),
            "in 20 steps": column.TextColumn(width=95, help="Won within 20 steps"),
            "lost": column.TextColumn(width=95, help="Lost, rather than out of steps"),
            "games": column.NumberColumn(width=60),
        },
        alt="Each arm of the experiment with what it reached",
    )  # fmt: skip
    table_downloads(frame, "experiment-arms")


def arms_frame(family: ExperimentFamily) -> Any:
    """A row for each arm."""
    import pandas as pd

    return pd.DataFrame(
        {
            "arm": [arm.title for arm in family.arms],
            "won": [_share(arm.success) for arm in family.arms],
            "steps": [_number(arm.steps, ".1f") for arm in family.arms],
            "off / this": [_number(arm.ratio, ".2f") for arm in family.arms],
            "won − off": [_points(arm.gain) for arm in family.arms],
            "in 20 steps": [_share(arm.within_20) for arm in family.arms],
            "lost": [_share(arm.lost) for arm in family.arms],
            "games": [arm.games for arm in family.arms],
        }
    )


def _share(interval: Estimate | None) -> str:
    if interval is None:
        return ""
    return f"{interval.mean:.0%} ({interval.low * 100:.0f}–{interval.high * 100:.0f})"


def _number(interval: Estimate | None, form: str) -> str:
    if interval is None:
        return ""
    return f"{interval.mean:{form}} ({interval.low:{form}}–{interval.high:{form}})"


def _points(interval: Estimate | None) -> str:
    if interval is None:
        return ""
    ends = (f"{100 * value:+.0f}".replace("-", "−") for value in (interval.low, interval.high))
    return f"{100 * interval.mean:+.0f}".replace("-", "−") + f" ({' to '.join(ends)})"


# -- episodes and lessons -------------------------------------------------------------------------


def _episodes(family: ExperimentFamily) -> None:
    import pandas as pd

    if not family.episodes:
        st.caption("None is in the record.")
        return
    st.caption(
        f"{count(len(family.episodes), 'game')} of one run · choose one to see its steps and what "
        "it was given"
    )
    captions = [*family.captions, *[""] * len(family.episodes)]
    frame = pd.DataFrame(
        {
            "worth a look": captions[: len(family.episodes)],
            "game": [one.task.name or one.task.text for one in family.episodes],
            "memory": ["with" if one.memory else "without" for one in family.episodes],
            "ended": [loop_episode.ending(one) for one in family.episodes],
            "steps": [len(one.steps) for one in family.episodes],
            "reward": [one.reward for one in family.episodes],
            "injected": [len(one.injected) for one in family.episodes],
            "lessons": [len(one.lessons) for one in family.episodes],
        }
    )
    event = st.dataframe(
        frame, hide_index=True, height=min(38 + 35 * len(frame), 280), on_select="rerun",
        selection_mode="single-row", key=f"experiment-episodes-{family.name}",
        selection_default={"selection": {"rows": [_telling(family)]}},
        column_config={
            "worth a look": st.column_config.TextColumn(width=340),
            "game": st.column_config.TextColumn(width=160),
        },
        alt=f"{len(frame)} recorded games",
    )  # fmt: skip
    table_downloads(frame, "experiment-games")
    rows = event.selection.rows
    if rows and rows[0] < len(family.episodes):
        episode = family.episodes[rows[0]]
        with st.container(border=True, key="loop-episode"):
            st.markdown(loop_episode.headline(episode))
            show(episode.task.text)
            loop_episode.show_episode(episode, key=f"recorded-{family.name}-{rows[0]}")
            loop_episode.learned(episode)


def _telling(family: ExperimentFamily) -> int:
    """The place of the first game that was won with memories."""
    places = [i for i, one in enumerate(family.episodes) if one.success and one.injected]
    return places[0] if places else 0


def _lessons(family: ExperimentFamily) -> None:
    if not family.lessons:
        st.caption("None is in the record.")
        return
    st.caption(f"{count(len(family.lessons), 'memory', 'memories')} after the last training game.")
    courses = {course.memory_id: course.points for course in family.courses}
    for memory in sorted(family.lessons, key=lambda memory: (-memory.usage_count, memory.id)):
        with st.container(border=True, gap="small"):
            st.markdown(f"{SYMBOLS[memory.kind]} {md(memory.text)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(
                    f"{md(memory.domain)} · confidence {memory.confidence:.2f} · {used(memory)}"
                )
                points = [
                    ConfidencePoint(0, point.game, point.confidence)
                    for point in courses.get(memory.id, ())
                ]
                sparkline(points, family.training)
            steps = getattr(memory.detail, "steps", ())
            if steps:
                with st.expander(count(len(steps), "step")):
                    show_list(steps, numbered=True)


def _how(found: Experiment) -> None:
    st.markdown("Make it anew:")
    st.code(found.command, language=None, wrap_lines=True)
    st.caption(md(" · ".join(part for part in (found.made_at, found.machine) if part)))
    for note in found.notes:
        st.markdown(f"- {md(note)}")
