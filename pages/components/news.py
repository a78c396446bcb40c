"""What others did to the bank since the page was drawn: a quiet line, and a button to see it.

Nothing on the page moves by itself, so that nobody loses what is half typed.
"""

from __future__ import annotations

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError
from pages.components import banks
from pages.components.text import count, md

EVERY = 1.5
"""Seconds between looks. A look is two `stat` calls, as long as the file stays what it was."""


@st.fragment(run_every=EVERY)
def watch(bank: MemoryBank, signature: tuple[int, ...], shown: int, waiting: int) -> None:
    """Tell what is newer than the page.

    `signature` is the file's when the page was drawn, `shown` the latest revision then, and
    `waiting` how many proposals waited.
    """
    told = _news(bank, signature, shown, waiting)
    # One button that is always there: an element that appears would take the focus out of a
    # dialog's field, and the next key with it.
    label = f"{told} · show it" if told else "up to date"
    if st.button(label, key="news", type="tertiary", disabled=not told):
        st.rerun()


def _news(bank: MemoryBank, signature: tuple[int, ...], shown: int, waiting: int) -> str:
    now = bank.signature()
    if now == signature:
        return ""
    try:
        return _told(str(bank.path), now, shown, waiting, bank)
    except MemoryCoreError:
        return ""  # busy, or gone: the page says so at its next run, and the next look may tell


@st.cache_data(show_spinner=False, max_entries=16)
def _told(
    path: str, signature: tuple[int, ...], shown: int, waiting: int, _bank: MemoryBank
) -> str:
    """What has come in, in words; empty for what no page shows."""
    latest = int(_bank.snapshot().revision or 0)
    if latest > shown:
        made = _bank.revision(latest)
        reason = f": {md(made.reason, limit=80)}" if made.reason else ""
        return f"**Revision {latest}** by {md(made.actor, limit=30)}{reason}"
    more = banks.pending(path, signature, _bank) - waiting
    return f"{count(more, 'more proposal')} to review" if more > 0 else ""
