"""Which words of a text a query matches: those that the lexical score counts."""

from __future__ import annotations

import re

STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with""".split()  # noqa: SIM905
)
"""English words that no score counts: Lucene's list, which bm25s uses, too."""
_WORD = re.compile(r"(?u)\b\w\w+\b")


def matching_words(query: str, texts: list[str]) -> list[tuple[tuple[int, int], ...]]:
    """For each text, the (start, end) of each word whose English stem is one of the query's.

    Words have two letters or more; stop words match nothing.
    """
    import Stemmer

    stem = Stemmer.Stemmer("english").stemWord

    def stems(text: str) -> list[tuple[str, int, int]]:
        lowered, places = _lowered(text)
        return [
            (stem(found.group()), places[found.start()], places[found.end() - 1] + 1)
            for found in _WORD.finditer(lowered)
            if found.group() not in STOP_WORDS
        ]

    asked = {word for word, _, _ in stems(query)}
    return [
        tuple((start, end) for word, start, end in stems(text) if word in asked) for text in texts
    ]


def _lowered(text: str) -> tuple[str, range | list[int]]:
    """A text in lower case, and where each of its characters stood: some become two."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered, range(len(text))
    each = [character.lower() for character in text]
    return "".join(each), [place for place, some in enumerate(each) for _ in some]
