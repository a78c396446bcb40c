"""The memories of one revision, immutable, in memory. Every function that reads takes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_core.columns import KIND_CODES, Columns, columns_of
from memory_core.errors import MemoryNotFoundError
from memory_core.pool import Pool
from memory_core.records import DIMENSION, KINDS, Kind, Memory
from memory_core.validation import shown

_LARGEST = 2**63 - 1
ROWS_AT_ONCE = 4_096
"""Vectors widened to float64 together: 12 MB."""


class Snapshot:
    """The memories and unit vectors of one revision, past, present or planned.

    Rows go by ascending id; memories that are only planned have negative ids and come last, in
    the order in which a commit will number them.
    """

    def __init__(
        self,
        columns: Columns,
        pool: Pool,
        *,
        revision: int | None,
        epoch: int,
        batch_key: str = "",
    ) -> None:
        self.columns = columns
        self.pool = pool
        self.revision = revision
        """None for a plan that is not committed."""
        self.epoch = epoch
        """Session index at this revision."""
        self.batch_key = batch_key
        """Of the batch that made this revision, by which it is told from its namesake elsewhere."""

    @classmethod
    def empty(cls, dimension: int = DIMENSION) -> Snapshot:
        pool = Pool(dimension)
        return cls(columns_of((), (), pool), pool, revision=0, epoch=0)

    @classmethod
    def from_memories(
        cls,
        memories: Sequence[Memory],
        vectors: ArrayLike,
        *,
        revision: int | None = None,
        epoch: int | None = None,
    ) -> Snapshot:
        """A snapshot of memories that no bank holds; `vectors` (n, d) in the same order.

        Vectors of another length than 1 are scaled to it.
        """
        matrix = _unit_rows(np.asarray(vectors, dtype=np.float32), len(memories))
        pool = Pool(matrix.shape[1], capacity=max(len(memories), 1))
        rows = pool.put([m.text for m in memories], matrix)
        latest = max((m.epoch for m in memories), default=0)
        columns = columns_of(memories, rows, pool).in_order()
        return cls(columns, pool, revision=revision, epoch=latest if epoch is None else epoch)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        name = "planned" if self.revision is None else f"revision {self.revision}"
        return f"<Snapshot {name}: {len(self)} memories, session {self.epoch}>"

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __contains__(self, memory_id: object) -> bool:
        return self._find(memory_id) is not None

    # -- rows ---------------------------------------------------------------------------------

    @property
    def ids(self) -> NDArray[np.int64]:
        """(n,) ids in the order of the rows."""
        return self.columns.ids

    @cached_property
    def _committed(self) -> int:
        """How many rows have ids of the bank; the planned ones follow."""
        return int(np.count_nonzero(self.ids > 0))

    def _find(self, memory_id: object) -> int | None:
        if isinstance(memory_id, bool) or not isinstance(memory_id, int | np.integer):
            return None
        sought, start, ids = int(memory_id), 0, self.ids[: self._committed]
        # Two sorted runs: committed ids ascend, provisional ones (-1, -2, …) ascend in size.
        if sought < 0:
            sought, start, ids = -sought, self._committed, -self.ids[self._committed :]
        if sought > _LARGEST:
            return None
        row = int(np.searchsorted(ids, sought))
        return start + row if row < len(ids) and ids[row] == sought else None

    def row_of(self, memory_id: int) -> int:
        """The row of a memory. Raises MemoryNotFoundError."""
        row = self._find(memory_id)
        if row is None:
            where = "the plan" if self.revision is None else f"revision {self.revision}"
            raise MemoryNotFoundError(
                f"There is no memory {shown(memory_id)} in {where}. It may have been "
                "deleted or merged; its history tells."
            )
        return row

    def at(self, row: int) -> Memory:
        """The memory in a row, built when asked for."""
        c, pool = self.columns, self.pool
        return Memory(
            id=int(c.ids[row]),
            kind=KINDS[c.kind[row]],
            text=pool.texts[c.text[row]],
            domain=pool.domains.value(int(c.domain[row])),
            detail=pool.details.value(int(c.detail[row])),
            confidence=float(c.confidence[row]),
            usage_count=int(c.usage_count[row]),
            success_count=int(c.success_count[row]),
            epoch=int(c.epoch[row]),
            tags=pool.tags.value(int(c.tags[row])),
            pinned=bool(c.pinned[row]),
            provenance=pool.provenances.value(int(c.provenance[row])),
        )

    def by_id(self, memory_id: int) -> Memory:
        """The memory with an id. Raises MemoryNotFoundError."""
        return self.at(self.row_of(memory_id))

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """All memories by ascending id. For a few of many, `by_id` and `at` build only those."""
        return tuple(self.at(row) for row in range(len(self)))

    def texts(self) -> list[str]:
        """The text of each row."""
        texts = self.pool.texts
        return [texts[row] for row in self.columns.text.tolist()]

    def ids_with_text(self, text: str) -> tuple[int, ...]:
        """Ids of the memories that have exactly this text."""
        rows = self.pool.rows_with(text)
        return tuple(self.ids[np.isin(self.columns.text, rows)].tolist()) if rows else ()

    def domain_counts(self) -> dict[str, int]:
        """Memories in each domain, by name."""
        counts = np.bincount(self.columns.domain)
        codes = np.flatnonzero(counts).tolist()
        return dict(sorted((self.pool.domains.value(code), int(counts[code])) for code in codes))

    def kind_counts(self) -> dict[Kind, int]:
        counts = np.bincount(self.columns.kind, minlength=len(KINDS))
        return {kind: int(counts[code]) for kind, code in KIND_CODES.items()}

    # -- vectors ------------------------------------------------------------------------------

    @cached_property
    def _run(self) -> slice | None:
        """The pool's rows as one slice, where this snapshot's texts lie in one run."""
        rows = self.columns.text
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and np.all(np.diff(rows) == 1):
            return slice(int(rows[0]), int(rows[-1]) + 1)
        return None

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """(n, d) float32, unit rows, in the order of `memories`; read-only."""
        view = self.pool.matrix[self._run] if self._run else self.pool.gathered(self.columns.text)
        view.flags.writeable = False
        return view

    def vector_of(self, memory_id: int) -> NDArray[np.float32]:
        """(d,) the unit vector of one memory, read-only. Raises MemoryNotFoundError."""
        vector: NDArray[np.float32] = self.pool.matrix[self.columns.text[self.row_of(memory_id)]]
        vector.flags.writeable = False
        return vector

    def similarities(self, vector: NDArray[np.floating]) -> NDArray[np.float32]:
        """(n,) cosine of each memory to a unit vector (d,), in float32 (about 1e-7 off)."""
        query = np.asarray(vector, dtype=np.float32)
        scattered = self._run is None and "vectors" not in self.__dict__
        if scattered and len(self) * 2 > len(self.pool):
            # Multiplying the whole shared matrix and picking from the product reads less memory
            # than copying this snapshot's rows out of it first.
            product: NDArray[np.float32] = (self.pool.matrix @ query)[self.columns.text]
            return product
        return self.vectors @ query

    def exact_similarities(
        self, rows: NDArray[np.int64], vector: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Cosine `q·v / (|q||v|)` of some rows in float64: the same for the same text, anywhere."""
        q = np.asarray(vector, dtype=np.float64)
        length = np.sqrt((q * q).sum())
        cosines = np.empty(len(rows))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = self.columns.text[rows[start : start + ROWS_AT_ONCE]]
            v = self.pool.matrix[block].astype(np.float64)
            norms = np.sqrt((v * v).sum(axis=1)) * length
            products = (v * q).sum(axis=1)
            cosines[start : start + ROWS_AT_ONCE] = products / np.where(norms == 0, 1, norms)
        return cosines

    # -- other snapshots ----------------------------------------------------------------------

    def edit(
        self,
        *,
        removed: Iterable[int] = (),
        put: Sequence[Memory] = (),
        vectors: Mapping[str, NDArray[np.float32]] | None = None,
        epoch: int | None = None,
    ) -> Snapshot:
        """What this snapshot becomes when memories leave and others are put in (new or changed).

        `vectors` holds those of texts that this snapshot does not have under the same id.
        """
        columns = self.columns
        changed = [memory for memory in put if memory.id in self]
        fresh = [memory for memory in put if memory.id not in self]
        rows = iter(self._text_rows((*changed, *fresh), vectors or {}))
        if changed:
            places = np.array([self.row_of(memory.id) for memory in changed])
            given = columns_of(changed, [next(rows) for _ in changed], self.pool)
            columns = columns.replace(places, given)
        leaving = [self.row_of(memory_id) for memory_id in {*removed} - {m.id for m in put}]
        if leaving:
            columns = columns.take(np.delete(np.arange(len(self)), leaving))
        if fresh:
            columns = columns.concatenate(columns_of(fresh, list(rows), self.pool)).in_order()
        return Snapshot(
            columns, self.pool, revision=None, epoch=self.epoch if epoch is None else epoch
        )

    def _text_rows(
        self, memories: Sequence[Memory], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[int]:
        rows: list[int | None] = []
        fresh: dict[str, int] = {}
        for memory in memories:
            row = self._find(memory.id)
            if row is not None and self.pool.texts[self.columns.text[row]] == memory.text:
                rows.append(int(self.columns.text[row]))
            else:
                fresh.setdefault(memory.text, len(fresh))
                rows.append(None)
        if fresh:
            added = self.pool.put(list(fresh), np.stack([vectors[text] for text in fresh]))
        return [
            int(added[fresh[m.text]]) if row is None else row
            for m, row in zip(memories, rows, strict=True)
        ]


def _unit_rows(matrix: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """(count, d) with each row of length 1, but for rows of zeros; unit rows stay as they are."""
    if not count:
        return matrix.reshape(0, matrix.shape[-1] if matrix.ndim == 2 else DIMENSION)
    wide = matrix.reshape(count, -1).astype(np.float64)
    norms = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    norms[(norms == 0) | (np.abs(norms - 1) < 1e-6)] = 1.0
    unit: NDArray[np.float32] = (wide / norms).astype(np.float32)
    return unit
