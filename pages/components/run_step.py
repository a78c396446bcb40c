"""One step of a run: what it said, what it called, what came back and what went wrong."""

from __future__ import annotations

import json

import streamlit as st

from memory_core import MemoryBank, Step, Trajectory
from pages.components.frame import Desk
from pages.components.text import count, md

TALL = 340
"""Pixels from which a long field has a scroll bar of its own."""
LONG_LINES = 14
PRETTY = 200_000
"""Characters of arguments up to which they are set out line by line."""
UNMATCHED = {
    "call": "The source holds no result of this call.",
    "result": "The source holds no call of this result.",
}


def fields(step: Step, *, long: int, key: str = "") -> None:
    """All that a step holds; of a long field the first `long` characters, and how to get the rest.

    With a `key`, a long field can be downloaded whole.
    """
    if step.text:
        st.text(_start(step.text, long))
        _rest(step.text, long, key and f"{key}-text")
    if step.arguments:
        _arguments(step.arguments, long, key and f"{key}-arguments")
    if step.unmatched:
        st.caption(f"⚠️ {UNMATCHED[step.unmatched]}")
    if step.error:
        st.markdown(":red-background[**✕ failed with**]")
        _code(step.error, long, key and f"{key}-error")
    if step.observation and step.observation != step.error:
        st.caption("saw")
        _code(step.observation, long, key and f"{key}-observation")


def _arguments(arguments: str, long: int, key: str) -> None:
    st.caption("called with")
    for place, (name, value) in enumerate(pretty(arguments).items()):
        if name:
            st.caption(md(name, limit=80))
        _code(value, long, key and f"{key}-{place}")


def pretty(arguments: str) -> dict[str, str]:
    """Arguments as one reads them: texts of several lines each by name, the others together."""
    if len(arguments) > PRETTY:
        return {"": arguments}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"": arguments}
    if isinstance(value, str):
        return {"": value}
    tall = {}
    if isinstance(value, dict):
        tall = {name: one for name, one in value.items() if isinstance(one, str) and "\n" in one}
        value = {name: one for name, one in value.items() if name not in tall}
    together = {} if tall and not value else {"": _set_out(value)}
    return together | {name or " ": one for name, one in tall.items()}


def _set_out(value: object) -> str:
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= 48 else json.dumps(value, ensure_ascii=False, indent=2)


def _code(value: str, long: int, key: str) -> None:
    shown = _start(value, long)
    is_tall = shown.count("\n") > LONG_LINES or len(shown) > 60 * LONG_LINES
    st.code(shown, language=None, wrap_lines=True, height=TALL if key and is_tall else "content")
    _rest(value, long, key)


def _start(value: str, long: int) -> str:
    return value if len(value) <= long else value[:long].rstrip() + "…"


def _rest(value: str, long: int, key: str) -> None:
    """That there is more, and the whole as a file."""
    if len(value) <= long:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{count(len(value), 'character')} in all")
        if key:
            st.download_button(
                "Download it whole", lambda: value.encode("utf-8", "replace"), "field.txt",
                "text/plain", key=f"whole-{key}", type="tertiary", on_click="ignore",
            )  # fmt: skip


# -- runs -----------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=16)
def _kept(path: str, identity: int, trajectory_id: str, _bank: MemoryBank) -> Trajectory:
    found = _bank.trajectory(trajectory_id)
    if found is None:  # not to be remembered: it may come
        raise LookupError(trajectory_id)
    return found


def kept_run(desk: Desk, trajectory_id: str) -> Trajectory | None:
    """A run that the bank keeps, which never changes; None where it keeps none of this id."""
    try:
        return _kept(str(desk.bank.path), id(desk.bank), trajectory_id, desk.bank)
    except LookupError:
        return None


def outcome(run: Trajectory) -> list[str]:
    """Markdown of how a run ended, as far as it is told."""
    ended = run.outcome
    words = []
    if ended.success is not None:
        words.append("it succeeded" if ended.success else "it failed")
    if ended.reward is not None:
        words.append(f"reward {ended.reward:g}")
    if ended.reason:
        words.append(md(ended.reason, limit=160))
    return words
