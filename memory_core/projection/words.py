"""What a cluster is about, in the words that set it apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORDS = 5
_WORD = re.compile(r"[^\W\d_](?:[\w'’.+#-]*\w)?[+#]{0,2}")
"""A run that begins with a letter of any script: `don't`, `node.js`, `c++`, `pre-commit`."""
_TOO_COMMON = frozenset({"use", "using", "used", "does", "don't", "doesn't", "isn't"})


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without English stop words and lone Latin letters."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [
        word
        for word in _WORD.findall(text.lower())
        if word not in ENGLISH_STOP_WORDS
        and word not in _TOO_COMMON
        and (len(word) > 1 or not word.isascii())
    ]


def labels_of(
    texts: Sequence[str], clusters: NDArray[np.int64], count: int = WORDS
) -> list[tuple[str, ...]]:
    """For each cluster from 0, the words with the greatest class-based TF-IDF.

        W(t, c) = tf(t, c) · log(1 + A / f(t))

    tf: t's share of the words of cluster c; f: how often t occurs in all clusters; A: words in a
    cluster on average (Grootendorst 2022, BERTopic). Texts of cluster −1 do not count; of equals,
    the word that comes first by the alphabet.
    """
    size = int(clusters.max(initial=-1)) + 1
    counts: list[Counter[str]] = [Counter() for _ in range(size)]
    for text, cluster in zip(texts, clusters.tolist(), strict=True):
        if cluster >= 0:
            counts[cluster].update(words_of(text))
    everywhere: Counter[str] = Counter()
    for counted in counts:
        everywhere.update(counted)
    average = everywhere.total() / max(size, 1)
    return [_heaviest(counted, everywhere, average, count) for counted in counts]


def _heaviest(
    counted: Counter[str], everywhere: Counter[str], average: float, count: int
) -> tuple[str, ...]:
    total = counted.total()
    weights = {
        word: occurs / total * np.log1p(average / everywhere[word])
        for word, occurs in counted.items()
    }
    return tuple(sorted(weights, key=lambda word: (-weights[word], word))[:count])
