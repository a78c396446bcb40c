"""Shorter texts and fewer repetitions, without losing what matters in them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

_TELLING = re.compile(
    r"\b(?:\w*error|\w*exception|traceback|fail(?:s|ed|ure)?|denied|not found|invalid|refused"
    r"|fatal|timed? ?out|cannot|unable|warning|assert\w*|exit(?:ed)? (?:code|status))\b",
    re.IGNORECASE,
)
_SIGNS = (
    "error", "exception", "traceback", "fail", "denied", "not found", "invalid", "refused", "fatal",
    "time", "cannot", "unable", "warning", "assert", "exit",
)  # fmt: skip
"""Each telling line holds one; looking for them first is ten times as fast."""
_LONGEST_LINE = 240
_LOOKED_AT = 200_000
"""Characters of a text's middle in which lines of errors are looked for."""
_LONGEST_CYCLE = 4
_OFTEN = 4
"""Times that something must come in a row before it is folded."""


def shortened(text: str, limit: int) -> str:
    """A text of at most `limit` characters: its beginning, its end and its lines of errors."""
    text = text.strip()
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text):,} characters in all …]\n"
    room = limit - 2 * len(mark)
    if room < 40:
        return text[: max(0, limit - 1)] + "…"
    head, tail = room * 2 // 5, room * 3 // 10
    middle = text[head : len(text) - tail]
    lines = _telling_lines(middle, room - head - tail)
    if lines:
        between = f"{mark}{lines}\n[…]\n"
    else:
        tail = limit - head - len(mark)
        between = mark
    return text[:head] + between + text[len(text) - tail :]


def _telling_lines(middle: str, room: int) -> str:
    """Lines that tell of an error, each once, as many as fit; the last ones, if not all do."""
    found: dict[str, None] = {}
    lower = middle[-_LOOKED_AT:].lower()
    if not any(sign in lower for sign in _SIGNS):
        return ""
    for line in middle[-_LOOKED_AT:].splitlines():
        lower = line.lower()
        match = any(sign in lower for sign in _SIGNS) and _TELLING.search(line)
        if match:
            start = max(0, match.start() - 80)
            found[line[start : start + _LONGEST_LINE].strip()] = None
    kept: list[str] = []
    for line in reversed(found):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def folded_spans(signatures: Sequence[Hashable]) -> list[range]:
    """Where a sequence repeats itself so often that only its beginning need be told.

    A span holds the repetitions of a cycle of 1 to 4 items after the second; each cycle comes
    four times or more in a row.
    """
    spans: list[range] = []
    at = 0
    while at < len(signatures):
        cycle, length = _repetition(signatures, at)
        if cycle:
            spans.append(range(at + 2 * cycle, at + length))
            at += length
        else:
            at += 1
    return spans


def _repetition(signatures: Sequence[Hashable], at: int) -> tuple[int, int]:
    """The shortest cycle that repeats itself from a place on, and how far it goes; (0, 0)."""
    for cycle in range(1, _LONGEST_CYCLE + 1):
        end = at + cycle
        while end < len(signatures) and signatures[end] == signatures[end - cycle]:
            end += 1
        length = (end - at) // cycle * cycle
        if length >= _OFTEN * cycle:
            return cycle, length
    return 0, 0
