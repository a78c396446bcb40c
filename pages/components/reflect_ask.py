"""By what runs are reflected on: the rules or a language model, for which domain, as a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from memory_core import Trajectory
from pages.components import model_choice
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.model_choice import Model
from pages.components.text import count

RULES, MODEL = "Rules", "Language model"
REFLECTORS = (RULES, MODEL)
ABOUT = (
    "**Rules** read calls, errors and outcomes; they need no model and take a moment.  \n"
    "**Language model**: any provider, or a server of your own; it also sees the memories that "
    "are near."
)


@dataclass(frozen=True)
class Asked:
    """What a person chose."""

    model: Model = field(default_factory=Model)
    """Without a name for the rules."""
    domain: str = ""
    as_group: bool = False
    ready: bool = True


def form(
    desk: Desk, key: str, chosen: Sequence[Trajectory], *, disabled: bool
) -> tuple[Asked, DeltaGenerator]:
    """The choices, and the row in which the button for them belongs."""
    say_if_unknown("reflector", REFLECTORS)
    row = st.container(horizontal=True, vertical_alignment="bottom", key="reflect-form")
    with row:
        reflector = st.segmented_control(
            "Reflect by", REFLECTORS, default=RULES, key="reflector", bind="query-params",
            required=True, help=ABOUT, disabled=disabled,
        )  # fmt: skip
        domain = st.selectbox(
            "Domain", list(desk.head.domain_counts()), index=None, key="reflect-domain", width=200,
            accept_new_options=True, placeholder="told by the run", disabled=disabled,
            help="What the lessons are filed under. Left empty, the run tells it.",
        )  # fmt: skip
        as_group = False
        if len(chosen) > 1:
            as_group = st.toggle(
                "Compare them", are_rollouts(chosen), key=f"as-group-{key}-{len(chosen)}",
                disabled=disabled,
                help="As attempts at one task: what did the better ones do that the worse did "
                "not? Otherwise each is reflected on by itself.",
            )  # fmt: skip
    model = Model()
    if reflector == MODEL:
        row = st.container(horizontal=True, vertical_alignment="bottom", key="reflect-model-form")
        with row:
            model = model_choice.fields("reflect", disabled=disabled)
    ready = bool(chosen) and (reflector != MODEL or bool(model.name))
    return Asked(model, (domain or "").strip(), as_group, ready), row


def are_rollouts(runs: Sequence[Trajectory]) -> bool:
    """Whether several runs are attempts at one task."""
    tasks = {" ".join(run.task.split()) for run in runs}
    return len(runs) > 1 and len(tasks) == 1 and tasks != {""}


def words(asked: Asked, some: int) -> str:
    """What the button does."""
    if asked.as_group:
        return f"Compare {count(some, 'run')}"
    return "Reflect on this run" if some == 1 else f"Reflect on {count(some, 'run')}"
