"""What is handed in to reflect on: pasted, dropped, a sample, or runs that the bank keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from memory_core import (
    MemoryCoreError,
    read_trajectories,
    sample_runs,
)
from pages.components import keys
from pages.components.text import count, md

PASTED = 5
"""Megabytes that may be pasted."""
LARGEST = 50
"""Megabytes of one file."""
TOGETHER = 100
"""Megabytes of several files together."""
FORMAT = "run-format"
_NAMES = {"api": "API", "sql": "SQL"}


@dataclass(frozen=True)
class Given:
    """What was handed in; it stays until another is chosen, also when the page is left."""

    title: str
    files: tuple[tuple[str, bytes], ...] = ()
    """Name and content of each."""
    kept: tuple[str, ...] = ()
    """Ids of runs that the bank keeps, where nothing was handed in but them."""
    digest: str = ""
    at_once: bool = False
    """Whether the rules are to be run on it unasked."""

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(content) for _, content in self.files)


def given() -> Given | None:
    """What lies on the desk."""
    found: Given | None = st.session_state.get(keys.RUN_GIVEN)
    return found


def take(
    title: str,
    files: Iterable[tuple[str, bytes]] = (),
    kept: tuple[str, ...] = (),
    *,
    at_once: bool = False,
) -> None:
    """Put something on the desk, in the place of what was there."""
    let_go()
    files = tuple(files)
    known = hashlib.sha256()
    for name, content in files:
        known.update(f"{name}\0{len(content)}\0".encode("utf-8", "replace") + content)
    for name in kept:
        known.update(f"{name}\0".encode("utf-8", "replace"))
    st.session_state[keys.RUN_GIVEN] = Given(title, files, kept, known.hexdigest(), at_once)


def began() -> None:
    """What was to be done at once is under way."""
    found = given()
    if found is not None:
        st.session_state[keys.RUN_GIVEN] = replace(found, at_once=False)


def let_go() -> None:
    """Clear the desk."""
    for key in (
        keys.RUN_GIVEN, keys.NOT_GIVEN, keys.REFLECTION, keys.RUN_SHOWN, keys.STEP, FORMAT,
    ):  # fmt: skip
        st.session_state.pop(key, None)
    st.query_params.pop(keys.REFLECTION, None)


# -- handing in -----------------------------------------------------------------------------------


def hand_in() -> None:
    """A place to drop files, one to paste, and the samples."""
    left, right = st.columns(2, gap="large")
    with left:
        st.file_uploader(
            "Files of a run, from whatever agent made it", key="run-files", on_change=_take_files,
            accept_multiple_files=True, max_upload_size=LARGEST,
            help="JSON, JSONL, text, a zip or an Inspect .eval: the format is recognized by its "
            "content. A run that was split over files is put together.",
        )  # fmt: skip
    with right:
        st.text_area(
            "or a pasted run", key="run-text", height=112,
            placeholder='{"messages": […]}   or   JSON lines   or   Thought: … Action: …',
        )  # fmt: skip
        st.button("Read it", key="read-run", on_click=_take_text)
    if message := st.session_state.pop(keys.NOT_GIVEN, None):
        st.warning(md(message))
    _samples()


def _samples() -> None:
    st.markdown("**Or try it on a sample** · one click gives drafts, by rules, without a key")
    with st.container(horizontal=True, key="sample-runs"):
        for path in sample_runs():
            st.button(
                f"{md(_title(path))} · {md(_format_of(str(path)))}", key=f"sample-{path.stem}",
                on_click=_take_sample, args=(path,),
            )  # fmt: skip


def _title(path: Path) -> str:
    words = [_NAMES.get(word, word) for word in path.stem.split("-")]
    title = " ".join(words)
    return title[:1].upper() + title[1:]


@st.cache_data(show_spinner=False, max_entries=64)
def _format_of(path: str) -> str:
    file = Path(path)
    try:
        return read_trajectories(file.read_bytes(), file.name).format
    except (MemoryCoreError, OSError):
        return "not readable"


def _take_sample(path: Path) -> None:
    try:
        take(_title(path), [(path.name, path.read_bytes())], at_once=True)
    except OSError as error:
        st.session_state[keys.NOT_GIVEN] = f"The sample cannot be read: {error}"


def _take_files() -> None:
    files = st.session_state.get("run-files") or []
    if not files:
        return
    size = sum(file.size for file in files)
    if size > TOGETHER * 1024**2:
        st.session_state[keys.NOT_GIVEN] = (
            f"These files have {size / 1e6:,.0f} MB; up to {TOGETHER} MB are read together. Drop "
            "fewer at a time."
        )
        return
    first, more = files[0].name, len(files) - 1
    title = f"{first} and {count(more, 'file')} more" if more else first
    take(title, [(file.name, file.getvalue()) for file in files])


def _take_text() -> None:
    text = st.session_state.get("run-text") or ""
    if not text.strip():
        st.session_state[keys.NOT_GIVEN] = "There is no text to read yet; paste a run."
        return
    content = text.encode("utf-8", "backslashreplace")
    if len(content) > PASTED * 1024**2:
        st.session_state[keys.NOT_GIVEN] = (
            f"This text has {len(content) / 1e6:,.1f} MB; up to {PASTED} MB are taken here. Drop "
            "it as a file instead."
        )
        return
    take("Pasted text", [("", content)])
