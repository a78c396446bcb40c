"""Planning: what a batch would do to a snapshot, operation by operation, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InvalidBatchError, InvalidMemoryError, MemoryNotFoundError
from memory_core.operations import (
    Add,
    Adjust,
    Batch,
    Commit,
    Delete,
    Merge,
    Modify,
    Operation,
    Restore,
    touched_ids,
)
from memory_core.records import Change, Diff, Memory, Provenance
from memory_core.snapshot import Snapshot
from memory_core.validation import check_memory, check_string, check_text

COPIES_REFUSED = frozenset({"import", "reflection"})
"""Kinds of batches in which an exact copy is refused; elsewhere it is a lint."""


@dataclass(frozen=True, slots=True)
class PlannedOperation:
    """An operation that would be carried out, and what it would change."""

    index: int
    """Position in the batch, from 0."""
    operation: Operation
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that would not be carried out, and why."""

    index: int
    operation: Operation
    reason: str


@dataclass(frozen=True, slots=True)
class Lint:
    """A doubt about an accepted operation; it does not stop the commit."""

    index: int
    rule: str
    message: str
    memory_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch would do, and which operations are refused and why."""

    batch: Batch
    before: Snapshot
    after: Snapshot
    """New memories have the ids -1, -2, … in it, by the order of operations."""
    accepted: tuple[PlannedOperation, ...]
    refused: tuple[Refusal, ...]
    lints: tuple[Lint, ...]
    removed: tuple[int, ...]
    """Ids that leave."""
    put: tuple[Memory, ...]
    """Memories that are new or changed, as they would be."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes in order."""
        return tuple(change for planned in self.accepted for change in planned.changes)

    @property
    def diff(self) -> Diff:
        """Before against after."""
        return diff(self.before, self.after)

    def accepted_only(self) -> Plan:
        """The same plan without the refused operations: what `commit` then does."""
        kept = tuple(planned.operation for planned in self.accepted)
        return replace(self, batch=replace(self.batch, operations=kept), refused=())

    def as_commit(self, *, actor: str, made_at_us: int) -> Commit:
        """The plan as the store writes it."""
        if self.before.revision is None:
            raise InvalidBatchError("This plan was made on another plan; commit that one first.")
        rows = [self.after.row_of(memory.id) for memory in self.put]
        vectors = self.after.pool.matrix[self.after.columns.text[rows]] if rows else []
        return Commit(
            batch_key=self.batch.key,
            kind=self.batch.kind,
            reason=self.batch.reason,
            actor=actor,
            made_at_us=made_at_us,
            base_revision=self.before.revision,
            touched=tuple(sorted({c.memory_id for c in self.changes if c.memory_id > 0})),
            removed=self.removed,
            put=self.put,
            vectors={m.text: v for m, v in zip(self.put, vectors, strict=True)},
            changes=self.changes,
            starts_epoch=self.batch.starts_epoch,
        )

    def raise_if_refused(self) -> None:
        """Raises InvalidBatchError, naming each refused operation."""
        if self.refused:
            lines = [
                f"  operation {r.index + 1} ({type(r.operation).__name__}): {r.reason}"
                for r in self.refused[:20]
            ]
            if len(self.refused) > 20:
                lines.append(f"  … and {len(self.refused) - 20} more")
            raise InvalidBatchError(
                f"{len(self.refused)} of {len(self.batch.operations)} operations are refused, so "
                "nothing was written:\n" + "\n".join(lines) + "\nMend them, or commit "
                "`plan.accepted_only()`."
            )


class _Refused(Exception):
    """Why one operation cannot be carried out."""


class _Overlay:
    """The snapshot as it stands after the operations so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._now: dict[int, Memory | None] = {}
        self.created = 0

    def get(self, memory_id: Any) -> Memory:
        if isinstance(memory_id, bool) or not isinstance(memory_id, int | np.integer):
            raise _Refused(f"{memory_id!r} is not a memory's id; ids are whole numbers.")
        memory_id = int(memory_id)
        if memory_id in self._now:
            memory = self._now[memory_id]
            if memory is None:
                raise _Refused(
                    f"Memory {memory_id} was already removed by an operation before this one in "
                    "the same batch; drop one of the two."
                )
            return memory
        try:
            return self._snapshot.by_id(memory_id)
        except MemoryNotFoundError as error:
            raise _Refused(str(error)) from error

    def has(self, memory_id: int) -> bool:
        if memory_id in self._now:
            return self._now[memory_id] is not None
        return memory_id in self._snapshot

    def put(self, memory: Memory) -> None:
        self._now[memory.id] = memory

    def remove(self, memory_id: int) -> None:
        self._now[memory_id] = None

    def net(self) -> tuple[tuple[int, ...], tuple[Memory, ...]]:
        """Ids that have left, and memories that are new or changed, new ones in order."""
        removed = tuple(
            i for i, memory in self._now.items() if memory is None and i in self._snapshot
        )
        put = [
            memory
            for i, memory in self._now.items()
            if memory is not None
            and not (i in self._snapshot and self._snapshot.by_id(i) == memory)
        ]
        put.sort(key=lambda memory: (memory.id < 0, abs(memory.id)))
        return removed, tuple(put)

    def with_text(self, text: str) -> tuple[int, ...]:
        """Ids of the memories that have exactly this text."""
        stored = [i for i in self._snapshot.ids_with_text(text) if i not in self._now]
        fresh = [i for i, memory in self._now.items() if memory and memory.text == text]
        return tuple(stored + fresh)


def texts_of(batch: Batch) -> tuple[str, ...]:
    """The valid texts in a batch, each once: what has to be embedded before it is planned."""
    texts: dict[str, None] = {}
    for operation in batch.operations:
        text = operation.memory.text if isinstance(operation, Restore) else getattr(
            operation, "text", None
        )  # fmt: skip
        try:
            check_text(text)
        except InvalidMemoryError:
            continue
        texts[str(text)] = None
    return tuple(texts)


def plan(
    snapshot: Snapshot,
    batch: Batch,
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    seen: Sequence[Snapshot | None] = (),
) -> Plan:
    """Carry out a batch on a snapshot, in order, in memory.

    `vectors` has the unit vector of each text in `texts_of(batch)`. `seen` holds, for
    each operation, the snapshot that its author saw, if another: what has changed since is refused.
    """
    overlay = _Overlay(snapshot)
    accepted: list[PlannedOperation] = []
    refused: list[Refusal] = []
    lints: list[Lint] = []
    epoch = snapshot.epoch + batch.starts_epoch
    for index, operation in enumerate(batch.operations):
        provisional = -overlay.created - 1
        if isinstance(operation, Add | Merge):
            overlay.created += 1  # refused or not, so that the ids of the others stay
        try:
            _refuse_if_changed(operation, snapshot, seen[index] if seen else None)
            changes = _APPLY[type(operation)](operation, overlay, provisional, epoch)
            copies = _copies(changes, overlay)
            if copies and batch.kind in COPIES_REFUSED:
                raise _Refused(f"The same text is there already, as memory {copies[0]}.")
        except (_Refused, InvalidMemoryError) as error:
            refused.append(Refusal(index, operation, str(error)))
            continue
        if copies:
            names = ", ".join(map(str, copies))
            lints.append(Lint(index, "exact copy", f"The same text as memory {names}.", copies))
        for change in changes:
            if change.after is None:
                overlay.remove(change.memory_id)
            else:
                overlay.put(change.after)
        accepted.append(PlannedOperation(index, operation, changes))
    removed, put = overlay.net()
    after = snapshot.edit(removed=removed, put=put, vectors=vectors, epoch=epoch)
    return Plan(batch, snapshot, after, tuple(accepted), tuple(refused), tuple(lints), removed, put)


def _refuse_if_changed(operation: Operation, now: Snapshot, seen: Snapshot | None) -> None:
    if seen is None:
        return
    for memory_id in touched_ids(operation):
        was, stands = memory_id in seen, memory_id in now
        if not was and not stands:
            continue
        if not was:
            raise _Refused(
                f"Memory {memory_id} has come back since revision {seen.revision}; undo that first."
            )
        if not stands:
            raise _Refused(
                f"Memory {memory_id} has left the bank since revision {seen.revision}, which this "
                "change was made against."
            )
        if now.by_id(memory_id) != seen.by_id(memory_id):
            raise _Refused(
                f"Memory {memory_id} has changed since revision {seen.revision}, which this "
                "change was made against. Look at both versions and decide again."
            )


def _copies(changes: tuple[Change, ...], overlay: _Overlay) -> tuple[int, ...]:
    """Other memories that already have the text which an operation brings in."""
    leaving = {change.memory_id for change in changes if change.after is None}
    for change in changes:
        new = change.after
        if (new and change.action == "added") or (new and change.before and (
            change.before.text != new.text
        )):  # fmt: skip
            return tuple(i for i in overlay.with_text(new.text) if i != new.id and i not in leaving)
    return ()


# -- one function an operation --------------------------------------------------------------------


def _label(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _tags(value: Any) -> tuple[str, ...]:
    tags: Iterable[Any] = (value,) if isinstance(value, str) else value
    try:
        return tuple(dict.fromkeys(t.strip() if isinstance(t, str) else t for t in tags))
    except TypeError:
        raise _Refused(f"Tags must be a list of labels; they are {value!r}.") from None


def _changed(operation: Any, before: Memory, after: Memory) -> tuple[Change, ...]:
    check_memory(after)
    return (_change(operation, "changed", before, after),)


def _change(operation: Any, action: Any, before: Memory | None, after: Memory | None) -> Change:
    subject = after or before
    assert subject is not None
    check_string(operation.rationale, "rationale")
    return Change(
        subject.id,
        action,
        before,
        after,
        rationale=operation.rationale,
        evidence=tuple(operation.evidence),
    )


def _add(operation: Add, overlay: _Overlay, new_id: int, epoch: int) -> tuple[Change, ...]:
    memory = Memory(
        id=new_id,
        kind=operation.kind,
        text=operation.text,
        domain=_label(operation.domain),
        detail=operation.detail,
        confidence=_number(operation.confidence),
        usage_count=_whole(operation.usage_count),
        success_count=_whole(operation.success_count),
        epoch=epoch if operation.epoch is None else _whole(operation.epoch),
        tags=_tags(operation.tags),
        pinned=operation.pinned,
        provenance=_with_evidence(operation.provenance, operation),
    )
    check_memory(memory)
    return (_change(operation, "added", None, memory),)


def _number(value: Any) -> Any:
    """NumPy's numbers are numbers, too."""
    return float(value) if isinstance(value, np.floating | np.integer | int) and not isinstance(
        value, bool
    ) else value  # fmt: skip


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value


def _with_evidence(origin: Provenance, operation: Operation) -> Provenance:
    """An operation's evidence becomes the memory's, where it brings none of its own."""
    if operation.evidence and not origin.evidence:
        return replace(origin, evidence=tuple(operation.evidence))
    return origin


def _modify(operation: Modify, overlay: _Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    before = overlay.get(operation.id)
    after = replace(
        before,
        text=before.text if operation.text is None else operation.text,
        detail=before.detail if operation.detail is None else operation.detail,
        domain=before.domain if operation.domain is None else _label(operation.domain),
        tags=before.tags if operation.tags is None else _tags(operation.tags),
        pinned=before.pinned if operation.pinned is None else operation.pinned,
    )
    return _changed(operation, before, after)


def _delete(operation: Delete, overlay: _Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    return (_change(operation, "removed", overlay.get(operation.id), None),)


def _merge(operation: Merge, overlay: _Overlay, new_id: int, epoch: int) -> tuple[Change, ...]:
    try:
        ids = tuple(dict.fromkeys(operation.ids))
    except TypeError:
        raise _Refused(
            f"A merge names memories by their ids; it was given {operation.ids!r}."
        ) from (None)
    if len(ids) < 2:
        raise _Refused("A merge needs two or more different memories; name another, or modify.")
    sources = [overlay.get(memory_id) for memory_id in ids]
    best = max(sources, key=lambda m: (m.confidence, m.usage_count, -m.id))
    kind = best.kind if operation.kind is None else operation.kind
    same_kind = max(
        (m for m in sources if m.kind == kind), key=lambda m: m.confidence, default=None
    )
    evidence = dict.fromkeys(item for m in sources for item in m.provenance.evidence)
    memory = Memory(
        id=new_id,
        kind=kind,
        text=operation.text,
        domain=best.domain if operation.domain is None else _label(operation.domain),
        detail=operation.detail or (same_kind.detail if same_kind else None),
        confidence=max(m.confidence for m in sources),
        usage_count=sum(m.usage_count for m in sources),
        success_count=sum(m.success_count for m in sources),
        epoch=epoch,
        tags=_tags(
            [tag for m in sources for tag in m.tags] if operation.tags is None else operation.tags
        ),
        pinned=any(m.pinned for m in sources),
        provenance=Provenance(
            "merge",
            evidence=(*evidence, *(e for e in operation.evidence if e not in evidence)),
            merged_from=tuple(m.id for m in sources),
        ),
    )
    check_memory(memory)
    leaving = [_change(operation, "merged", source, None) for source in sources]
    return (*leaving, _change(operation, "added", None, memory))


def _adjust(operation: Adjust, overlay: _Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    before = overlay.get(operation.id)
    after = replace(
        before,
        confidence=_number(operation.confidence),
        usage_count=_whole(operation.usage_count),
        success_count=_whole(operation.success_count),
    )
    return _changed(operation, before, after)


def _restore(operation: Restore, overlay: _Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    memory = operation.memory
    check_memory(memory)
    if memory.id <= 0:
        raise _Refused(f"Memory {memory.id} was only planned; there is nothing to restore.")
    before = overlay.get(memory.id) if overlay.has(memory.id) else None
    return (_change(operation, "restored", before, memory),)


_APPLY: Mapping[type[Operation], Callable[[Any, _Overlay, int, int], tuple[Change, ...]]] = {
    Add: _add,
    Modify: _modify,
    Delete: _delete,
    Merge: _merge,
    Adjust: _adjust,
    Restore: _restore,
}


# -- two snapshots --------------------------------------------------------------------------------


def diff(old: Snapshot, new: Snapshot) -> Diff:
    """What distinguishes two snapshots of one bank."""
    added_ids = np.setdiff1d(new.ids, old.ids)
    removed_ids = np.setdiff1d(old.ids, new.ids)
    shared = np.intersect1d(old.ids, new.ids)
    pairs = ((old.by_id(int(i)), new.by_id(int(i))) for i in _differing(old, new, shared))
    return Diff(
        old=-1 if old.revision is None else old.revision,
        new=-1 if new.revision is None else new.revision,
        added=tuple(new.by_id(int(i)) for i in added_ids),
        removed=tuple(old.by_id(int(i)) for i in removed_ids),
        changed=tuple(Change(b.id, "changed", b, a) for b, a in pairs if b != a),
    )


def _differing(old: Snapshot, new: Snapshot, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of ids that both have, those whose columns differ; codes compare within one pool only."""
    if old.pool is not new.pool or not len(ids):
        return ids
    rows_old = np.isin(old.ids, ids)
    rows_new = np.isin(new.ids, ids)
    before, after = old.columns.take(rows_old), new.columns.take(rows_new)
    differs = np.zeros(len(before), dtype=bool)
    for one, other in zip(before, after, strict=True):
        differs |= one != other
    return before.ids[differs]


def plan_undo(now: Snapshot, before: Snapshot, after: Snapshot, *, reason: str) -> Plan:
    """What brings `now` from `after` back to `before`; what has changed since `after` is refused."""
    gone = diff(before, after)
    operations: list[Operation] = [Delete(m.id, rationale=reason) for m in gone.added]
    backward = [*gone.removed, *(c.before for c in gone.changed if c.before)]
    operations += [Restore(m, rationale=reason) for m in sorted(backward, key=lambda m: m.id)]
    texts = {m.text: before.vector_of(m.id) for m in backward}
    batch = Batch(tuple(operations), reason=reason, kind="undo")
    return plan(now, batch, texts, seen=[after] * len(operations))
