"""BM25 over the eligible memories, scaled by the query's maximum: the lexical part of a score."""

from __future__ import annotations

import logging
from threading import RLock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memory_core.pool import Pool
from memory_core.scoring import eligible_rows
from memory_core.settings import RetrievalSettings
from memory_core.snapshot import Snapshot

K1, B = 0.9, 0.4

_lock = RLock()
_words: WeakKeyDictionary[Pool, _Words] = WeakKeyDictionary()
_indexes: WeakKeyDictionary[Snapshot, dict[object, _Index | None]] = WeakKeyDictionary()


class _Words:
    """The stemmed words of a pool's texts, each text tokenized once."""

    def __init__(self) -> None:
        import Stemmer
        from bm25s.tokenization import Tokenizer

        self._tokenizer = Tokenizer(stemmer=Stemmer.Stemmer("english"), stopwords="english")
        self._of_row: list[list[int]] = []

    def of_rows(self, pool: Pool, rows: NDArray[np.int64]) -> list[list[int]]:
        fresh = pool.texts[len(self._of_row) :]
        if fresh:
            self._of_row += self._tokenized(fresh, learn=True)
        return [self._of_row[row] for row in rows.tolist()]

    def of_query(self, query: str) -> list[int]:
        return self._tokenized([query], learn=False)[0]

    def _tokenized(self, texts: list[str], *, learn: bool) -> list[list[int]]:
        # Without `allow_empty=False`, texts that have no word to count would all share one.
        tokens: list[list[int]] = self._tokenizer.tokenize(
            texts, update_vocab=learn, allow_empty=False, return_as="ids", show_progress=False
        )
        return tokens

    def vocabulary(self) -> dict[str, int]:
        return dict(self._tokenizer.get_vocab_dict())


def lexical_scores(
    snapshot: Snapshot, query: str, settings: RetrievalSettings
) -> NDArray[np.float64]:
    """(n,) BM25 (k1 0.9, b 0.4, English stems and stop words) over the query's maximum.

    In [0, 1]; 0 for ineligible memories, and everywhere when no word matches. Statistics are
    those of the eligible memories. Their index is built at a snapshot's first question.
    """
    scores = np.zeros(len(snapshot))
    with _lock:
        words = _words.get(snapshot.pool)
        if words is None:
            words = _words[snapshot.pool] = _Words()
        rows = eligible_rows(snapshot, settings.domains, settings.kinds)
        rows = np.arange(len(snapshot)) if rows is None else rows
        index = _index(snapshot, words, rows, (settings.domains, settings.kinds))
        if index is not None:
            # After the index, which teaches the vocabulary the words of texts that are new.
            scores[rows] = index.scores(words.of_query(query))
    highest = scores.max(initial=0)
    return scores / highest if highest > 0 else scores


class _Index:
    """BM25 over some rows, given as their stemmed words."""

    def __init__(self, rows: list[list[int]], vocabulary: dict[str, int]) -> None:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for every detail
        self._known = {token for row in rows for token in row}
        self._model = bm25s.BM25(k1=K1, b=B)
        self._model.index((rows, vocabulary), create_empty_token=False, show_progress=False)

    def scores(self, tokens: list[int]) -> NDArray[np.floating] | float:
        """BM25 of each text for a query's tokens; one that occurs twice counts twice."""
        known = [token for token in tokens if token in self._known]
        if not known:
            return 0.0
        scores: NDArray[np.floating] = self._model.get_scores_from_ids(known)
        return scores


def _index(
    snapshot: Snapshot, words: _Words, rows: NDArray[np.int64], filters: object
) -> _Index | None:
    kept = _indexes.setdefault(snapshot, {})
    if filters not in kept:
        tokens = words.of_rows(snapshot.pool, snapshot.columns.text[rows])
        kept[filters] = _Index(tokens, words.vocabulary()) if any(tokens) else None
    return kept[filters]
