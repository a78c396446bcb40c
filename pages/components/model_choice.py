"""Which language model: its name, where it is served, whether it answers; never a key."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from memory_core import MemoryCoreError, check_connection, key_variable
from pages.components import keys
from pages.components.text import md


@dataclass(frozen=True)
class Model:
    """What a person chose; the name is empty where nothing was."""

    name: str = ""
    base_url: str = ""

    def key(self) -> str | None:
        """Its key among Streamlit's secrets; None for the environment's."""
        try:
            variable = key_variable(self.name)
            there = variable and st.secrets.load_if_toml_exists()
            found = st.secrets.get(variable) if there else None
        except (MemoryCoreError, OSError, ValueError):
            return None
        return str(found) if found else None


def fields(page: str, *, disabled: bool) -> Model:
    """The fields, in the row that is open; what they hold is not in the address."""
    name = st.text_input(
        "Model", key=f"{page}-model", persist_state="session", width=300, disabled=disabled,
        placeholder="openai:… · anthropic:… · ollama:… · local:model.gguf",
    )  # fmt: skip
    base_url = st.text_input(
        "Address of the server", key=f"{page}-base-url", persist_state="session", width=240,
        placeholder="only for one of your own", disabled=disabled,
    )  # fmt: skip
    model = Model((name or "").strip(), (base_url or "").strip())
    st.button(
        "Check the connection", key=f"{page}-check-model", disabled=disabled or not model.name,
        on_click=_ask_to_check, args=(model,), help="Asks the model for one word.",
    )  # fmt: skip
    return model


def _ask_to_check(model: Model) -> None:
    st.session_state[keys.CHECKED] = (model, None, "")


def about(model: Model, sent: str) -> None:
    """Whether the model answers, where its key comes from, and what is sent to it."""
    if not model.name:
        return
    asked, answers, said = st.session_state.get(keys.CHECKED) or (None, None, "")
    if asked == model:
        if answers is None:
            answers, said = _checked(model)
            st.session_state[keys.CHECKED] = (model, answers, said)
        (st.success if answers else st.error)(md(said))
    st.caption(f"{_key_words(model.name)} {sent}")


def _checked(model: Model) -> tuple[bool, str]:
    with st.spinner("Asking for one word", show_time=True):
        try:
            return True, check_connection(model.name, model.base_url, api_key=model.key())
        except MemoryCoreError as error:
            return False, str(error)


def _key_words(name: str) -> str:
    try:
        variable = key_variable(name)
    except MemoryCoreError as error:
        return md(str(error))
    if not variable:
        return "It needs no key."
    return (
        f"Its key is read from `{variable}` in the environment of this dashboard, or from "
        "Streamlit's secrets, and kept nowhere."
    )
