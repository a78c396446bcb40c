"""Texts, vectors and repeated values that the snapshots of one bank share.

A `Pool` only ever grows, so a snapshot stays what it was while newer ones append to the same
matrix: a change of numbers copies no vector, an added memory costs one row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from typing import Generic, TypeAlias, TypeVar
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import StoreCorruptError
from memory_core.records import DIMENSION, Detail, Provenance
from memory_core.serialization import (
    detail_from_dict,
    detail_to_dict,
    dumps,
    provenance_from_dict,
    provenance_to_dict,
)

T = TypeVar("T")
StoredTexts: TypeAlias = tuple[NDArray[np.int64], Sequence[str], NDArray[np.float32]]
"""Text ids (b,), texts, and their vectors (b, dimension)."""


class Vocabulary(Generic[T]):
    """Append-only list of distinct values, each known by its text and by a small code."""

    def __init__(self, decode: Callable[[str], T]) -> None:
        self._decode = decode
        self._codes: dict[str, int] = {}
        self._texts: list[str] = []
        self._values: dict[int, T] = {}
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._texts)

    def code(self, text: str) -> int:
        """The code of a text, which is added when new."""
        code = self._codes.get(text)
        if code is None:
            with self._lock:
                code = self._codes.get(text)
                if code is None:
                    code = len(self._texts)
                    self._texts.append(text)  # before others can find its code
                    self._codes[text] = code
        return code

    def find(self, text: str) -> int | None:
        """The code of a text, or None where it has none."""
        return self._codes.get(text)

    def value(self, code: int) -> T:
        if code not in self._values:
            self._values[code] = self._decode(self._texts[code])
        return self._values[code]


def _decode_detail(text: str) -> Detail | None:
    return detail_from_dict(json.loads(text)) if text else None


def _decode_provenance(text: str) -> Provenance:
    return provenance_from_dict(json.loads(text))


def _decode_tags(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def encode_detail(detail: Detail | None) -> str:
    return "" if detail is None else dumps(detail_to_dict(detail))


def encode_provenance(provenance: Provenance) -> str:
    return dumps(provenance_to_dict(provenance))


def encode_tags(tags: Sequence[str]) -> str:
    return dumps(list(tags))


class Pool:
    """Texts and their unit vectors, row by row, and the values that many memories repeat."""

    def __init__(self, dimension: int = DIMENSION, capacity: int = 1024) -> None:
        self.dimension = dimension
        self.texts: list[str] = []
        self.domains: Vocabulary[str] = Vocabulary(str)
        self.details: Vocabulary[Detail | None] = Vocabulary(_decode_detail)
        self.provenances: Vocabulary[Provenance] = Vocabulary(_decode_provenance)
        self.tags: Vocabulary[tuple[str, ...]] = Vocabulary(_decode_tags)
        self._matrix = np.empty((capacity, dimension), dtype=np.float32)
        self._used = 0
        self._rows = np.full(capacity, -1, dtype=np.int64)
        self._first: dict[str, int] = {}
        self._further: dict[str, list[int]] = {}
        self._searched = 0
        self._gathered: tuple[NDArray[np.int64], ReferenceType[NDArray[np.float32]]] | None = None
        self._lock = RLock()

    def __len__(self) -> int:
        return self._used

    @property
    def matrix(self) -> NDArray[np.float32]:
        """(rows, dimension) float32, unit rows, in order of arrival."""
        return self._matrix[: self._used]

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        """The rows (n,) of texts with their vectors (n, dimension); new ones are appended."""
        with self._lock:
            self.reserve(self._used + len(texts))
            return np.array(
                [self._put(*pair) for pair in zip(texts, vectors, strict=True)], dtype=np.int64
            )

    def _put(self, text: str, vector: NDArray[np.float32]) -> int:
        row = self._same(text, vector)
        if row is None:
            row = self._used
            self._matrix[row] = vector
            self.texts.append(text)
            self._used += 1
        return row

    def _same(self, text: str, vector: NDArray[np.float32]) -> int | None:
        """A row that holds this very text and vector."""
        rows = self.rows_with(text)
        return next((row for row in rows if np.array_equal(self._matrix[row], vector)), None)

    def gathered(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(n, dimension) copies of rows; the same array as last time for the same rows."""
        with self._lock:
            if self._gathered is not None:
                known, matrix = self._gathered[0], self._gathered[1]()
                if matrix is not None and np.array_equal(known, rows):
                    return matrix
            matrix = self._matrix[rows]
            self._gathered = (rows, ref(matrix))
            return matrix

    def load(self, text_ids: NDArray[np.int64], batches: Iterable[StoredTexts]) -> None:
        """Append the store's texts in the order of `text_ids`, from batches in any order.

        A batch is text ids (b,), texts and vectors (b, dimension). Nothing is appended unless all
        have come: raises StoreCorruptError otherwise.
        """
        with self._lock:
            first, last = self._used, self._used + len(text_ids)
            self.reserve(last)
            self._reserve_ids(int(text_ids.max(initial=0)) + 1)
            position = np.full(len(self._rows), -1, dtype=np.int64)
            position[text_ids] = np.arange(len(text_ids))
            texts: list[str | None] = [None] * len(text_ids)
            count = 0
            for ids, some, vectors in batches:
                places = position[ids]
                self._matrix[first + places] = vectors
                for place, text in zip(places.tolist(), some, strict=True):
                    texts[place] = text
                count += len(some)
            if count != len(text_ids) or None in texts:
                raise StoreCorruptError(
                    f"{len(text_ids)} texts were asked for and {count} have vectors. The bank is "
                    "damaged; restore a copy, or run `winnow reembed`."
                )
            self._adopt(text_ids, [text for text in texts if text is not None])

    def _adopt(self, text_ids: NDArray[np.int64], texts: Sequence[str]) -> None:
        """Take in texts whose vectors lie behind the last row.

        A text that was planned here before it was committed has its row already; using that one
        keeps the rows of a revision in one run, so that its vectors need no copying.
        """
        first = self._used
        fresh = self._matrix[first : first + len(texts)]
        rows = np.full(len(texts), -1, dtype=np.int64)
        if self._searched:
            same = (self._same(*pair) for pair in zip(texts, fresh, strict=True))
            rows[:] = [-1 if row is None else row for row in same]
        new = np.flatnonzero(rows < 0)
        if len(new) < len(texts):
            fresh[: len(new)] = fresh[new]
        rows[new] = np.arange(first, first + len(new))
        self.texts.extend(texts[i] for i in new.tolist())
        self._rows[text_ids] = rows
        self._used = first + len(new)

    def reserve(self, rows: int) -> None:
        """Make room; the unused part costs no memory until it is written."""
        with self._lock:
            if rows > len(self._matrix):
                grown = np.empty((rows + rows // 4 + 1024, self.dimension), dtype=np.float32)
                grown[: self._used] = self.matrix
                self._matrix = grown

    def _reserve_ids(self, count: int) -> None:
        if count > len(self._rows):
            grown = np.full(count + count // 4 + 1024, -1, dtype=np.int64)
            grown[: len(self._rows)] = self._rows
            self._rows = grown

    def rows_with(self, text: str) -> tuple[int, ...]:
        """The rows that hold exactly this text."""
        with self._lock:
            # Built at the first question, then kept up with what has come since. Next to no text
            # has more than one row (one for each vector it ever had), and lists would cost more
            # than the texts do.
            for row in range(self._searched, self._used):
                if self._first.setdefault(self.texts[row], row) != row:
                    self._further.setdefault(self.texts[row], []).append(row)
            self._searched = self._used
            row = self._first.get(text, -1)
            return () if row < 0 else (row, *self._further.get(text, ()))

    def rows_of(self, text_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each of the store's text ids, -1 where it is not here yet."""
        with self._lock:
            if len(text_ids):
                self._reserve_ids(int(text_ids.max()) + 1)
            return self._rows[text_ids]
