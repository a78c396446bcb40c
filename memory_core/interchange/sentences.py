"""Cutting a long text where a sentence ends."""

from __future__ import annotations

import re

from memory_core.records import MAX_WORDS

_END = re.compile(r"[.!?…][\"'”’»)\]]*(?=\s)|[。！？](?=.)|(?<![:,;\s])(?=[ \t]*\n)", re.DOTALL)
_NO_END = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|no|approx|[A-Za-z]|\d+)\.$", re.IGNORECASE)


def first_sentences(text: str) -> str | None:
    """The longest beginning of a text that has at most 32 words and ends as a sentence does.

    A line's end ends a sentence, too, unless the line leads on with a colon, comma or semicolon.
    None where no sentence fits.
    """
    fitting = None
    for match in _END.finditer(text):
        beginning = text[: match.end()]
        if len(beginning.split()) > MAX_WORDS:
            break
        if beginning.strip() and not _NO_END.search(beginning):
            fitting = beginning.strip()
    return fitting
