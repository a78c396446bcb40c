"""Two texts, word by word: what went is struck on red, what came is bold on green."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import streamlit as st

from pages.components.text import md

Step = tuple[str, int, int, int, int]
"""How a run of words goes over: as difflib names it, and where it begins and ends in each."""

LARGEST = 1_000_000
"""Product of the numbers of words above which only what is the same at both ends is told apart."""
RELATED = 1 / 3
"""Share of common words below which two texts are shown one under the other."""
ELLIPSIS = "\u2026"


def words(before: str, after: str, *, around: int | None = None) -> str:
    """Markdown that shows the difference of two texts; their own marks are seen literally.

    Words are what white space separates. `around` cuts long runs that both have down to so many
    words beside each difference.
    """
    old, new = before.split(), after.split()
    steps = _steps(old, new)
    if old and new and _common(steps, old, new) < RELATED:
        return f"{_went(old)} {_came(new)}"
    pieces: list[str] = []
    for place, (tag, a, b, c, d) in enumerate(steps):
        if tag == "equal":
            ends = (place == 0, place == len(steps) - 1)
            pieces.append(md(" ".join(_shortened(old[a:b], around, *ends))))
            continue
        pieces += [_went(old[a:b])] * (b > a) + [_came(new[c:d])] * (d > c)
    if old == new and before != after:
        pieces.append(":gray-background[only white space differs]")
    return " ".join(pieces)


def are_related(before: str, after: str) -> bool:
    """Whether two texts share so many words, in order, that their difference can be read."""
    old, new = before.split(), after.split()
    return _common(_steps(old, new), old, new) >= RELATED


def show(before: str, after: str, *, around: int | None = None) -> None:
    """The difference of two texts, as part of the page."""
    st.markdown(words(before, after, around=around))


def _went(some: Sequence[str]) -> str:
    return f":red-background[~~{md(' '.join(some))}~~]"


def _came(some: Sequence[str]) -> str:
    return f":green-background[**{md(' '.join(some))}**]"


def _steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    if len(old) * len(new) <= LARGEST:
        return SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = len(old) - tail, len(new) - tail
    found: list[Step] = [
        ("equal", 0, head, 0, head),
        ("replace", head, a, head, b),
        ("equal", a, len(old), b, len(new)),
    ]
    return [step for step in found if step[1] < step[2] or step[3] < step[4]]


def _common(steps: Sequence[Step], old: Sequence[str], new: Sequence[str]) -> float:
    """Share of the words that both texts have, in [0, 1]."""
    shared = sum(b - a for tag, a, b, _, _ in steps if tag == "equal")
    return 2 * shared / max(len(old) + len(new), 1)


def _shortened(
    some: Sequence[str], around: int | None, is_first: bool, is_last: bool
) -> Sequence[str]:
    if around is None or len(some) <= 2 * around:
        return some
    head = () if is_first else some[:around]
    tail = () if is_last else some[-around:]
    return [*head, ELLIPSIS, *tail]
