"""What snapshots are made of: one NumPy column a field, over a pool that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.pool import Pool, encode_detail, encode_provenance, encode_tags
from memory_core.records import KINDS, Memory

KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_LAST = 2**62
"""Above every id of a bank, so that provisional ids can be sorted behind them."""


@dataclass(frozen=True, slots=True)
class Columns:
    """One array of length n for each field, in the order of ids."""

    ids: NDArray[np.int64]
    text: NDArray[np.int64]
    """Row in the pool."""
    kind: NDArray[np.int8]
    """Position in KINDS."""
    domain: NDArray[np.int32]
    """Code in the pool's vocabulary; so are detail, tags and provenance."""
    confidence: NDArray[np.float64]
    usage_count: NDArray[np.int64]
    success_count: NDArray[np.int64]
    epoch: NDArray[np.int64]
    pinned: NDArray[np.bool_]
    detail: NDArray[np.int32]
    tags: NDArray[np.int32]
    provenance: NDArray[np.int32]

    def __post_init__(self) -> None:
        for column in self:
            column.flags.writeable = False

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, f.name) for f in fields(self))

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: NDArray[Any]) -> Columns:
        """The given rows, or those where a mask is true."""
        return Columns(*(column[rows] for column in self))

    def concatenate(self, other: Columns) -> Columns:
        pairs = zip(self, other, strict=True)
        return Columns(*(np.concatenate(pair) for pair in pairs))

    def replace(self, rows: NDArray[np.int64], other: Columns) -> Columns:
        """The same with some rows taken from `other`, in its order; their ids stay."""
        replaced = []
        for column, fresh in zip(self, other, strict=True):
            if not np.array_equal(column[rows], fresh):
                column = column.copy()
                column[rows] = fresh
            replaced.append(column)
        return Columns(*replaced)

    def in_order(self) -> Columns:
        """By ascending id; provisional (negative) ids last, as the commit will number them."""
        keys = np.where(self.ids > 0, self.ids, _LAST - self.ids)
        if np.all(keys[:-1] < keys[1:]):
            return self
        return self.take(np.argsort(keys, kind="stable"))


def columns_of(
    memories: Iterable[Memory], text_rows: Sequence[int] | NDArray[np.int64], pool: Pool
) -> Columns:
    """Columns for memories whose texts are in the pool's rows `text_rows`."""
    m = list(memories)
    return Columns(
        ids=np.array([x.id for x in m], dtype=np.int64),
        text=np.array(text_rows, dtype=np.int64),
        kind=np.array([KIND_CODES[x.kind] for x in m], dtype=np.int8),
        domain=np.array([pool.domains.code(x.domain) for x in m], dtype=np.int32),
        confidence=np.array([x.confidence for x in m], dtype=np.float64),
        usage_count=np.array([x.usage_count for x in m], dtype=np.int64),
        success_count=np.array([x.success_count for x in m], dtype=np.int64),
        epoch=np.array([x.epoch for x in m], dtype=np.int64),
        pinned=np.array([x.pinned for x in m], dtype=np.bool_),
        detail=np.array([pool.details.code(encode_detail(x.detail)) for x in m], dtype=np.int32),
        tags=np.array([pool.tags.code(encode_tags(x.tags)) for x in m], dtype=np.int32),
        provenance=np.array(
            [pool.provenances.code(encode_provenance(x.provenance)) for x in m], dtype=np.int32
        ),
    )
