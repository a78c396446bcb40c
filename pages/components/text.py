"""The only way by which a memory's text, or any text of a person or an agent, reaches a widget.

Texts are hostile: some widgets render Markdown, in which an image link is fetched, HTML-like
codes become emoji and logos, and addresses become links.

Literal as they are: `st.text`, `st.code(language=None)`, cells of `st.dataframe`, options of
`st.selectbox` and `st.multiselect`. Everything else takes `md(text)`, but for `st.badge`, which
escapes brackets once more: it gets our own words only.
"""

from __future__ import annotations

import re

import streamlit as st

from memory_core import Memory, matching_words

SYMBOLS = {"strategic": "◆", "procedural": "●", "tool": "■"}
"""Kinds are told by their symbol; they have colours on the map only."""

_JOINER = "\u2060"  # word joiner: no width, breaks what a parser would take for one token
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# What Streamlit and its Markdown make of plain text even when each character is escaped.
_ARROWS = re.compile(r"(?<=[-<>=!.+~])(?=[-<>=!.+~])")
_ADDRESS = re.compile(r"(?<=[A-Za-z0-9])(?=(?::|\.|@)[\w/])|(?<=[wW])(?=[wW]{2}\.)", re.ASCII)
_CODE = re.compile(r"(?<=:)(?=\S)")


def md(text: str, *, limit: int | None = None) -> str:
    """A text for a widget that renders Markdown, to be seen there as it is, on one line."""
    line = " ".join(text.split())
    if limit is not None and len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return _literal(line)


def _literal(line: str) -> str:
    for pattern in (_ARROWS, _ADDRESS, _CODE):
        line = pattern.sub(_JOINER, line)
    return _PUNCTUATION.sub(r"\\\1", line)


def marked(text: str, query: str) -> str:
    """Markdown of a text, on one line, in which the words that a query matches are marked."""
    line = " ".join(text.split())
    (spans,) = matching_words(query, [line])
    pieces, place = [], 0
    for start, end in spans:
        pieces.append(_literal(line[place:start]))
        # A colon before the mark's own would make it no mark.
        pieces.append(_JOINER * (line[start - 1 : start] == ":"))
        pieces.append(f":gray-background[**{_literal(line[start:end])}**]")
        place = end
    return "".join([*pieces, _literal(line[place:])])


def show(text: str, *, height: int | None = None) -> None:
    """A text as it is, wrapped, in the page's own type."""
    if height is None:
        st.text(text)
    else:
        with st.container(height=height, border=False):
            st.text(text)


def show_list(items: tuple[str, ...], *, numbered: bool = False) -> None:
    """Texts under one another."""
    for position, item in enumerate(items, start=1):
        st.text(f"{position}. {item}" if numbered else f"• {item}")


def named(kind: str) -> str:
    """A kind with its symbol."""
    return f"{SYMBOLS[kind]} {kind}"


def ago(epoch: int, now: int) -> str:
    """A session, and how long ago it was."""
    if epoch >= now:
        return f"session {epoch} (now)"
    return f"session {epoch} ({now - epoch} ago)"


def used(memory: Memory) -> str:
    """How often a memory was applied, and how often it helped."""
    if memory.success_rate is None:
        return "never applied"
    times = count(memory.usage_count, "time")
    return f"applied {times}, helped {memory.success_count} ({memory.success_rate:.0%})"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 memory, 2 memories."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
