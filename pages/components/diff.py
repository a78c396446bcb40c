"""Two texts, word by word: what went is struck on red, what came is bold on green."""

from __future__ import annotations

from difflib import SequenceMatcher

import streamlit as st

from pages.components.text import md


def words(before: str, after: str) -> str:
    """Markdown that shows the difference of two texts; their own marks are seen literally."""
    old, new = before.split(), after.split()
    pieces: list[str] = []
    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(md(" ".join(old[a:b])))
            continue
        if b > a:
            pieces.append(f":red-background[~~{md(' '.join(old[a:b]))}~~]")
        if d > c:
            pieces.append(f":green-background[**{md(' '.join(new[c:d]))}**]")
    return " ".join(pieces)


def show(before: str, after: str) -> None:
    st.markdown(words(before, after))
