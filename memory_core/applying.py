"""What each operation does to the memories: one function an operation, and why one is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from memory_core.errors import MemoryNotFoundError
from memory_core.operations import Add, Adjust, Delete, Merge, Modify, Operation, Restore
from memory_core.records import Action, Change, Evidence, Memory, Provenance
from memory_core.snapshot import Snapshot
from memory_core.validation import check_evidence, check_kind, check_memory, check_string, shown


class Refused(Exception):
    """Why one operation cannot be carried out."""


class Overlay:
    """The snapshot as it stands after the operations so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._now: dict[int, Memory | None] = {}
        self._by_text: dict[str, dict[int, None]] = {}

    def get(self, memory_id: Any) -> Memory:
        """The memory with an id. Raises Refused."""
        if isinstance(memory_id, bool) or not isinstance(memory_id, int | np.integer):
            raise Refused(f"{shown(memory_id)} is not a memory's id; ids are whole numbers.")
        memory_id = int(memory_id)
        if memory_id in self._now:
            memory = self._now[memory_id]
            if memory is None:
                raise Refused(
                    f"Memory {memory_id} was already removed by an operation before this one in "
                    "the same batch; drop one of the two."
                )
            return memory
        try:
            return self._snapshot.by_id(memory_id)
        except MemoryNotFoundError as error:
            raise Refused(str(error)) from error

    def has(self, memory_id: int) -> bool:
        if memory_id in self._now:
            return self._now[memory_id] is not None
        return memory_id in self._snapshot

    def carry_out(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._set(change.memory_id, change.after)

    def _set(self, memory_id: int, memory: Memory | None) -> None:
        before = self._now.get(memory_id)
        if before is not None:
            del self._by_text[before.text][memory_id]
        if memory is not None:
            self._by_text.setdefault(memory.text, {})[memory_id] = None
        self._now[memory_id] = memory

    def net(self) -> tuple[tuple[int, ...], tuple[Memory, ...]]:
        """Ids that have left, and memories that are new or changed, new ones in order."""
        removed = sorted(
            i for i, memory in self._now.items() if memory is None and i in self._snapshot
        )
        put = [
            memory
            for i, memory in self._now.items()
            if memory is not None
            and not (i in self._snapshot and self._snapshot.by_id(i) == memory)
        ]
        put.sort(key=lambda memory: (memory.id < 0, abs(memory.id)))
        return tuple(removed), tuple(put)

    def with_text(self, text: str) -> tuple[int, ...]:
        """Ids of the memories that have exactly this text."""
        stored = [i for i in self._snapshot.ids_with_text(text) if i not in self._now]
        return (*stored, *self._by_text.get(text, ()))


def apply(operation: Operation, overlay: Overlay, *, new_id: int, epoch: int) -> tuple[Change, ...]:
    """The changes that an operation makes to what stands, which is left as it is.

    Raises Refused, InvalidMemoryError.
    """
    function = _FUNCTIONS.get(type(operation))
    if function is None:
        names = ", ".join(known.__name__ for known in _FUNCTIONS)
        raise Refused(f"{shown(operation)} is not an operation; known: {names}.")
    return function(operation, overlay, new_id, epoch)


def _change(
    operation: Operation, action: Action, before: Memory | None, after: Memory | None
) -> Change:
    subject = after or before
    assert subject is not None
    if after is not None:
        check_memory(after)
    check_string(operation.rationale, "rationale")
    evidence = _evidence(operation)
    check_evidence(evidence)
    return Change(
        subject.id, action, before, after, rationale=operation.rationale, evidence=evidence
    )


# -- what comes from outside, in the shape of a memory's fields -----------------------------------


def _label(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _tags(value: Any) -> tuple[str, ...]:
    """Each once, in order. A lone string is one tag, not a sequence of letters."""
    tags: Iterable[Any] = (value,) if isinstance(value, str) else value
    try:
        return tuple(dict.fromkeys(t.strip() if isinstance(t, str) else t for t in tags))
    except TypeError:
        raise Refused(f"Tags must be a list of labels; they are {shown(value)}.") from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and truth values are numbers and truth values, too."""
    return value.item() if isinstance(value, np.number | np.bool_) else value


def _evidence(operation: Operation) -> tuple[Evidence, ...]:
    evidence: Any = operation.evidence
    if isinstance(evidence, Evidence):
        return (evidence,)
    return tuple(evidence) if isinstance(evidence, list) else evidence


def _with_evidence(origin: Any, operation: Operation) -> Any:
    """An operation's evidence becomes the memory's, where it brings none of its own."""
    evidence = _evidence(operation)
    if isinstance(origin, Provenance) and isinstance(evidence, tuple) and not origin.evidence:
        return replace(origin, evidence=evidence)
    return origin


# -- one function an operation --------------------------------------------------------------------


def _add(operation: Add, overlay: Overlay, new_id: int, epoch: int) -> tuple[Change, ...]:
    memory = Memory(
        id=new_id,
        kind=operation.kind,
        text=operation.text,
        domain=_label(operation.domain),
        detail=operation.detail,
        confidence=_plain(operation.confidence),
        usage_count=_plain(operation.usage_count),
        success_count=_plain(operation.success_count),
        epoch=epoch if operation.epoch is None else _plain(operation.epoch),
        tags=_tags(operation.tags),
        pinned=_plain(operation.pinned),
        provenance=_with_evidence(operation.provenance, operation),
    )
    return (_change(operation, "added", None, memory),)


def _modify(operation: Modify, overlay: Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    before = overlay.get(operation.id)
    after = replace(
        before,
        text=before.text if operation.text is None else operation.text,
        detail=before.detail if operation.detail is None else operation.detail,
        domain=before.domain if operation.domain is None else _label(operation.domain),
        tags=before.tags if operation.tags is None else _tags(operation.tags),
        pinned=before.pinned if operation.pinned is None else _plain(operation.pinned),
    )
    return (_change(operation, "changed", before, after),)


def _delete(operation: Delete, overlay: Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    return (_change(operation, "removed", overlay.get(operation.id), None),)


def _merge(operation: Merge, overlay: Overlay, new_id: int, epoch: int) -> tuple[Change, ...]:
    sources = _sources(operation, overlay)
    # The most confident first: what the operation leaves open comes from it.
    ranked = sorted(sources, key=lambda m: (-m.confidence, -m.usage_count, m.id < 0, abs(m.id)))
    kind = ranked[0].kind if operation.kind is None else operation.kind
    check_kind(kind)
    details = [m.detail for m in ranked if m.kind == kind and m.detail is not None]
    evidence = (e for m in sources for e in m.provenance.evidence)
    own = _evidence(operation)
    check_evidence(own)
    memory = Memory(
        id=new_id,
        kind=kind,
        text=operation.text,
        domain=ranked[0].domain if operation.domain is None else _label(operation.domain),
        detail=next(iter(details), None) if operation.detail is None else operation.detail,
        confidence=ranked[0].confidence,
        usage_count=sum(m.usage_count for m in sources),
        success_count=sum(m.success_count for m in sources),
        epoch=epoch,
        tags=_tags(
            [tag for m in sources for tag in m.tags] if operation.tags is None else operation.tags
        ),
        pinned=any(m.pinned for m in sources),
        provenance=Provenance(
            "merge",
            evidence=tuple(dict.fromkeys((*evidence, *own))),
            merged_from=tuple(dict.fromkeys(i for m in sources for i in _stood_as(m))),
        ),
    )
    leaving = [_change(operation, "merged", source, None) for source in sources]
    return (*leaving, _change(operation, "added", None, memory))


def _sources(operation: Merge, overlay: Overlay) -> list[Memory]:
    try:
        ids = tuple(dict.fromkeys(operation.ids))
    except TypeError:
        raise Refused(
            f"A merge names memories by their ids; it was given {shown(operation.ids)}."
        ) from None
    if len(ids) < 2:
        raise Refused("A merge needs two or more different memories; name another, or modify.")
    return [overlay.get(memory_id) for memory_id in ids]


def _stood_as(memory: Memory) -> tuple[int, ...]:
    """The ids that a merged memory had in the bank: its own, unless it was only planned."""
    return (memory.id,) if memory.id > 0 else memory.provenance.merged_from


def _adjust(operation: Adjust, overlay: Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    before = overlay.get(operation.id)
    after = replace(
        before,
        confidence=_plain(operation.confidence),
        usage_count=_plain(operation.usage_count),
        success_count=_plain(operation.success_count),
    )
    return (_change(operation, "changed", before, after),)


def _restore(operation: Restore, overlay: Overlay, _: int, epoch: int) -> tuple[Change, ...]:
    memory: Any = operation.memory
    if not isinstance(memory, Memory):
        raise Refused(f"Only a memory can be restored; this is {shown(memory)}.")
    if isinstance(memory.id, bool) or not isinstance(memory.id, int) or memory.id <= 0:
        raise Refused(f"Memory {shown(memory.id)} was never in a bank; it cannot be restored.")
    memory = replace(memory, tags=_tags(memory.tags))
    before = overlay.get(memory.id) if overlay.has(memory.id) else None
    return (_change(operation, "restored", before, memory),)


_FUNCTIONS: Mapping[type[Operation], Callable[[Any, Overlay, int, int], tuple[Change, ...]]] = {
    Add: _add,
    Modify: _modify,
    Delete: _delete,
    Merge: _merge,
    Adjust: _adjust,
    Restore: _restore,
}
