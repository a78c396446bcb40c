"""Planning: what a batch would do to a snapshot, operation by operation, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_core.applying import Overlay, Refused, apply
from memory_core.cleaning.likeness import near_copy_lints
from memory_core.cleaning.lints import LINT_RULES, brought_in, wording_lints
from memory_core.difference import diff
from memory_core.errors import InvalidMemoryError
from memory_core.operations import (
    COPIES_REFUSED,
    Add,
    Batch,
    Delete,
    Merge,
    Operation,
    Restore,
    touched_ids,
)
from memory_core.plans import Conflict, Lint, Plan, PlannedOperation, Refusal
from memory_core.records import Change, Memory
from memory_core.snapshot import Snapshot
from memory_core.validation import check_text


def texts_of(batch: Batch) -> tuple[str, ...]:
    """The valid texts in a batch, each once: what has to be embedded before it is planned."""
    texts: dict[str, None] = {}
    for operation in batch.operations:
        holder = operation.memory if isinstance(operation, Restore) else operation
        text = getattr(holder, "text", None)
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
    overlay = Overlay(snapshot)
    accepted: list[PlannedOperation] = []
    refused: list[Refusal] = []
    lints: list[Lint] = []
    epoch = snapshot.epoch + batch.starts_epoch
    # Those of another plan, on which this one is made, keep their ids.
    created = -int(snapshot.ids.min(initial=0))
    for index, operation in enumerate(batch.operations):
        # Refused or not, so that the ids of the others stay.
        created += isinstance(operation, Add | Merge)
        conflicts = _conflicts(operation, snapshot, seen[index] if seen else None)
        if conflicts:
            reason = _conflict_reason(conflicts[0], seen[index])
            refused.append(Refusal(index, operation, reason, conflicts))
            continue
        try:
            changes = apply(operation, overlay, new_id=-created, epoch=epoch)
            copies = _copies(changes, overlay)
            if copies and batch.kind in COPIES_REFUSED:
                raise Refused(_copy_reason(copies))
        except (Refused, InvalidMemoryError) as error:
            refused.append(Refusal(index, operation, str(error)))
            continue
        if copies:
            names = ", ".join(map(str, copies))
            lints.append(Lint(index, "exact copy", f"The same text as memory {names}.", copies))
        overlay.carry_out(changes)
        accepted.append(PlannedOperation(index, operation, changes))
    removed, put = overlay.net()
    after = snapshot.edit(removed=removed, put=put, vectors=vectors, epoch=epoch)
    lints += _doubts(accepted, after, put)
    lints.sort(key=lambda lint: (lint.index, LINT_RULES.index(lint.rule)))
    return Plan(batch, snapshot, after, tuple(accepted), tuple(refused), tuple(lints), removed, put)


def _doubts(
    accepted: Sequence[PlannedOperation], after: Snapshot, put: Sequence[Memory]
) -> Iterator[Lint]:
    """The lints about what is new in the end: its wording, and what is there almost the same."""
    brought = brought_in(accepted, put)
    yield from wording_lints(brought)
    yield from near_copy_lints(after, brought.texts)


def _conflicts(operation: Operation, now: Snapshot, seen: Snapshot | None) -> tuple[Conflict, ...]:
    """The memories an operation touches that have changed since its author looked."""
    if seen is None:
        return ()
    found: list[Conflict] = []
    for memory_id in touched_ids(operation):
        was = seen.by_id(memory_id) if memory_id in seen else None
        stands = now.by_id(memory_id) if memory_id in now else None
        conflict = Conflict(memory_id, was, stands)
        if was != stands and conflict not in found:
            found.append(conflict)
    return tuple(found)


def _conflict_reason(conflict: Conflict, seen: Snapshot | None) -> str:
    memory_id = conflict.memory_id
    against = f"revision {seen.revision if seen else None}, which this change was made against"
    if conflict.seen is None:
        return f"Memory {memory_id} was not in {against}, and is there now."
    if conflict.current is None:
        return f"Memory {memory_id} has left the bank since {against}."
    return (
        f"Memory {memory_id} has changed since {against}. Look at both versions and decide again."
    )


def _copies(changes: tuple[Change, ...], overlay: Overlay) -> tuple[int, ...]:
    """Other memories that already have the text which an operation brings in."""
    leaving = {change.memory_id for change in changes if change.after is None}
    for change in changes:
        new = change.after
        if new is None or change.action == "restored":
            continue
        if change.before is None or change.before.text != new.text:
            return tuple(i for i in overlay.with_text(new.text) if i != new.id and i not in leaving)
    return ()


def refusal(
    snapshot: Snapshot, operation: Operation, *, kind: str, seen: Snapshot | None = None
) -> str:
    """Why an operation that is planned alone would be refused; empty where it would not be.

    For lists of many: nothing is embedded, and no snapshot is made. `kind` is its batch's.
    """
    if conflicts := _conflicts(operation, snapshot, seen):
        return _conflict_reason(conflicts[0], seen)
    overlay = Overlay(snapshot)
    try:
        changes = apply(operation, overlay, new_id=-1, epoch=snapshot.epoch)
    except (Refused, InvalidMemoryError) as error:
        return str(error)
    copies = _copies(changes, overlay) if kind in COPIES_REFUSED else ()
    return _copy_reason(copies) if copies else ""


def _copy_reason(copies: tuple[int, ...]) -> str:
    return f"The same text is there already, as memory {copies[0]}."


def plan_undo(
    now: Snapshot,
    before: Snapshot,
    after: Snapshot,
    *,
    reason: str,
    undoes: Sequence[int] = (),
) -> Plan:
    """What brings `now` from `after` back to `before`; what has changed since then is refused.

    `undoes` are the numbers of the revisions that are taken back by it.
    """
    gone = diff(before, after)
    operations: list[Operation] = [Delete(m.id, rationale=reason) for m in gone.added]
    backward = [*gone.removed, *(c.before for c in gone.changed if c.before)]
    operations += [Restore(m, rationale=reason) for m in sorted(backward, key=lambda m: m.id)]
    texts = {m.text: before.vector_of(m.id) for m in backward}
    batch = Batch(tuple(operations), reason=reason, kind="undo", undoes=tuple(undoes))
    return plan(now, batch, texts, seen=[after] * len(operations))
