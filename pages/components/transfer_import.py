"""Import: a file or a pasted text, how it is read, what becomes what, and the one revision."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import streamlit as st

from memory_core import (
    KINDS,
    MAX_WORDS,
    MEMORY_FORMATS,
    ImportChoices,
    ImportReading,
    MemoryCoreError,
    read_memories,
)
from pages.components import keys, transfer_commit, transfer_plan
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md

LARGEST = 50
"""Megabytes."""
DETECT = "as it was recognized"
LONG_TEXTS = {"refuse": "Refuse them", "cut": "Cut at a sentence's end"}


@dataclass(frozen=True)
class Given:
    """What was handed in; it stays until another is chosen, also when the page is left."""

    content: bytes | str
    filename: str

    @property
    def digest(self) -> str:
        content = self.content.encode("utf-8", "replace") if isinstance(self.content, str) else (
            self.content
        )  # fmt: skip
        return hashlib.sha256(content + self.filename.encode("utf-8", "replace")).hexdigest()


def section(desk: Desk) -> None:
    """Step by step: hand in, choose, look at the plan, commit."""
    if desk.is_past:
        st.info("An import goes into the latest revision; go back to it to import.")
        return
    _told()
    given = st.session_state.get(keys.GIVEN)
    if given is None:
        _hand_in()
        return
    with st.container(border=True, key="import-card"):
        _bar(given)
        read = _settled(given)
    if read is None:
        _known()
    else:
        transfer_plan.section(desk, *read)


def _settled(given: Given) -> tuple[Any, ...] | None:
    """The reading, the choices, the state of its ids, and what tells all of it from others."""
    try:
        with st.container(horizontal=True, vertical_alignment="bottom", key="import-choices"):
            form = _format(given)
            reading = _read(given.digest, form, given)
            choices = ImportChoices(**_choices(reading))
        if not reading.needs_state:
            return reading, choices, None, (given.digest, form)
        state = _state(reading)
        told = st.session_state.get(keys.STATE_GIVEN)
        return reading, choices, state, (given.digest, form, told and told.digest)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return None


def _told() -> None:
    """What came of the last one that was sent to Review."""
    sent = st.session_state.get(keys.SENT)
    if sent and st.session_state.get(keys.GIVEN) is None:
        with st.container(horizontal=True, vertical_alignment="center", key="sent"):
            st.markdown(f"**{count(sent, 'proposal')}** from the import now wait for you.")
            st.page_link("pages/review.py", label="Open Review", icon="➡️", width="content")


# -- handing in -----------------------------------------------------------------------------------


def _hand_in() -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.file_uploader(
            "A file", key="import-file", on_change=_take_file, max_upload_size=LARGEST,
            help="Its format is recognized by its content.",
        )  # fmt: skip
    with right:
        st.text_area(
            "or a pasted text", key="import-text", height=112,
            placeholder='[G0]. Title: lesson …   or   {"skills": …}   or JSON lines',
        )  # fmt: skip
        st.button("Read the text", key="read-text", on_click=_take_text)
    if message := st.session_state.pop(keys.NOT_GIVEN, None):
        st.warning(message)
    _known()


def _known() -> None:
    """All formats, and how to tell them."""
    import pandas as pd

    forms = sorted(MEMORY_FORMATS.values(), key=lambda form: form.title.lower())
    table = pd.DataFrame({
        "format": [form.title for form in forms],
        "looks like": [form.shape for form in forms],
        "direction": ["in and out" if form.write else "in" for form in forms],
    })  # fmt: skip
    st.caption(f"{len(forms)} formats are recognized by their content:")
    column = st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, height="content", key="known-formats",
        column_config={"format": column(width=360), "looks like": column(width=560),
                       "direction": column(width=90)},
        alt="The formats that can be read, how they look, and which can be written",
    )  # fmt: skip


def _take_file() -> None:
    file = st.session_state.get("import-file")
    if file is not None:
        _take(Given(file.getvalue(), file.name))


def _take_text() -> None:
    text = st.session_state.get("import-text") or ""
    if text.strip():
        _take(Given(text, ""))
    else:
        st.session_state[keys.NOT_GIVEN] = "There is no text to read yet; paste one."


def _take(given: Given) -> None:
    st.session_state[keys.GIVEN] = given
    for key in (keys.SENT, keys.STATE_GIVEN, keys.IMPORT, "import-format"):
        st.session_state.pop(key, None)


# -- how it is read -------------------------------------------------------------------------------


def _bar(given: Given) -> None:
    """What was handed in."""
    with st.container(horizontal=True, vertical_alignment="center", key="import-bar"):
        st.markdown(_told_of(given))
        st.button(
            "Another file", key="another-file", on_click=transfer_commit.let_go, type="tertiary",
            icon="↩️",
        )  # fmt: skip


def _format(given: Given) -> str | None:
    """The format, which can be said otherwise; None as it was recognized."""
    chosen = st.selectbox(
        "Format", [DETECT, *MEMORY_FORMATS], key="import-format", width=400,
        format_func=lambda name: (
            _recognized(given) if name == DETECT else MEMORY_FORMATS[name].title
        ),
    )  # fmt: skip
    return None if chosen == DETECT else chosen


def _told_of(given: Given) -> str:
    size = len(given.content)
    told = f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
    return f"**{md(given.filename or 'Pasted text', limit=60)}** · {told}"


def _recognized(given: Given) -> str:
    try:
        return f"{_read(given.digest, None, given).title} (recognized)"
    except MemoryCoreError:
        return "not recognized"


@st.cache_resource(show_spinner="Reading the file", max_entries=6)
def _read(digest: str, form: str | None, _given: Given) -> ImportReading:
    return read_memories(_given.content, _given.filename or None, format=form)


# -- choices --------------------------------------------------------------------------------------


def _choices(reading: ImportReading) -> dict[str, Any]:
    """What is to be decided about this file; only what makes a difference is asked."""
    lessons = [entry.lesson for entry in reading.entries if entry.lesson is not None]
    added = [entry.lesson for entry in reading.entries if entry.action == "add" and entry.lesson]
    long = sum(isinstance(x.text, str) and len(x.text.split()) > MAX_WORDS for x in lessons)
    without_kind = sum(lesson.kind is None for lesson in added)
    without_domain = sum(lesson.domain is None for lesson in added)
    chosen: dict[str, Any] = {}
    if without_kind:
        chosen["kind"] = st.selectbox(
            f"Kind of {_those(without_kind, len(added))}", KINDS, key="import-kind", width=220,
            format_func=lambda kind: f"{SYMBOLS[kind]} {kind}",
            help="The file does not tell whether they are strategies, procedures or about a tool.",
        )  # fmt: skip
    if without_domain:
        label = f"Domain of {_those(without_domain, len(added))}"
        typed = st.text_input(label, "general", key="import-domain", width=220)
        chosen["domain"] = typed or "general"
    if long:
        chosen["long_texts"] = st.segmented_control(
            f"{count(long, 'text')} over {MAX_WORDS} words", list(LONG_TEXTS),
            default="refuse", required=True, key="long-texts",
            format_func=LONG_TEXTS.__getitem__,
            help="Cut texts keep their whole wording in the memory's note. Where no sentence "
            "fits, a text is refused; sent to Review, it can be shortened there.",
        ) or "refuse"  # fmt: skip
    return chosen


def _those(some: int, added: int) -> str:
    return "the lessons" if some == added else f"{count(some, 'lesson')} without one"


def _state(reading: ImportReading) -> ImportReading | None:
    """The file in which the ids of operations stand, where the person has it."""
    st.file_uploader(
        f"The state that these ids are from ({md(', '.join(reading.states))})", key="state-file",
        help="Its ids are numbered anew at every step. With the state, a memory that has the same "
        "text is meant; without it, the one that was imported under the id.",
        on_change=_take_state, max_upload_size=LARGEST,
    )  # fmt: skip
    given = st.session_state.get(keys.STATE_GIVEN)
    if given is None:
        return None
    try:
        return _read(given.digest, None, given)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return None


def _take_state() -> None:
    file = st.session_state.get("state-file")
    given = None if file is None else Given(file.getvalue(), file.name)
    st.session_state[keys.STATE_GIVEN] = given
