"""By what runs are reflected on: the rules or a language model, for which domain, as a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from memory_core import MemoryCoreError, Trajectory, check_connection, key_variable
from pages.components import keys
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.text import count, md

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

    model: str = ""
    """Empty for the rules."""
    base_url: str = ""
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
    model, base_url = "", ""
    if reflector == MODEL:
        row = st.container(horizontal=True, vertical_alignment="bottom", key="reflect-model-form")
        with row:
            model, base_url = _model(disabled)
    ready = bool(chosen) and (reflector != MODEL or bool(model))
    return Asked(model, base_url, (domain or "").strip(), as_group, ready), row


def are_rollouts(runs: Sequence[Trajectory]) -> bool:
    """Whether several runs are attempts at one task."""
    tasks = {" ".join(run.task.split()) for run in runs}
    return len(runs) > 1 and len(tasks) == 1 and tasks != {""}


def words(asked: Asked, some: int) -> str:
    """What the button does."""
    if asked.as_group:
        return f"Compare {count(some, 'run')}"
    return "Reflect on this run" if some == 1 else f"Reflect on {count(some, 'run')}"


def _model(disabled: bool) -> tuple[str, str]:
    """A model's name and where it is served; neither is in the address, and no key is asked."""
    model = st.text_input(
        "Model", key="reflect-model", persist_state="session", width=300, disabled=disabled,
        placeholder="openai:… · anthropic:… · ollama:… · local:model.gguf",
    )  # fmt: skip
    base_url = st.text_input(
        "Address of the server", key="reflect-base-url", persist_state="session", width=240,
        placeholder="only for one of your own", disabled=disabled,
    )  # fmt: skip
    model, base_url = (model or "").strip(), (base_url or "").strip()
    st.button(
        "Check the connection", key="check-model", disabled=disabled or not model,
        on_click=_ask_to_check, args=(model, base_url), help="Asks the model for one word.",
    )  # fmt: skip
    return model, base_url


def _ask_to_check(model: str, base_url: str) -> None:
    st.session_state[keys.CHECKED] = (model, base_url, None, "")


def about_model(asked: Asked) -> None:
    """Where keys come from, and whether the model answers."""
    if not asked.model:
        return
    checked = st.session_state.get(keys.CHECKED)
    if checked and checked[:2] == (asked.model, asked.base_url):
        if checked[2] is None:
            checked = _checked(asked.model, asked.base_url)
            st.session_state[keys.CHECKED] = checked
        (st.success if checked[2] else st.error)(md(checked[3]))
    st.caption(f"{_key_words(asked.model)} The run, without its secrets, is sent to that model.")


def _checked(model: str, base_url: str) -> tuple[str, str, bool, str]:
    with st.spinner("Asking for one word", show_time=True):
        try:
            return model, base_url, True, check_connection(model, base_url, api_key=secret(model))
        except MemoryCoreError as error:
            return model, base_url, False, str(error)


def _key_words(model: str) -> str:
    try:
        variable = key_variable(model)
    except MemoryCoreError as error:
        return md(str(error))
    if not variable:
        return "It needs no key."
    return (
        f"Its key is read from `{variable}` in the environment of this dashboard, or from "
        "Streamlit's secrets, and kept nowhere."
    )


def secret(model: str) -> str | None:
    """The model's key among Streamlit's secrets; None for the environment's."""
    try:
        variable = key_variable(model)
        found = st.secrets.get(variable) if variable and st.secrets.load_if_toml_exists() else None
    except (MemoryCoreError, OSError, ValueError):
        return None
    return str(found) if found else None
