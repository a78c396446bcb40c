"""What a plan holds: the operations it would carry out, those it refuses, and the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory_core.difference import diff
from memory_core.errors import InvalidBatchError
from memory_core.operations import COPIES_REFUSED, Batch, Commit, Operation
from memory_core.records import Change, Diff, Memory
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlannedOperation:
    """An operation that would be carried out, and what it would change."""

    index: int
    """Position in the batch, from 0."""
    operation: Operation
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A memory that is no longer as the author of an operation saw it."""

    memory_id: int
    seen: Memory | None
    """As its author saw it; None where it was not there then."""
    current: Memory | None
    """As it is now; None where it has left."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that would not be carried out, and why."""

    index: int
    operation: Operation
    reason: str
    conflicts: tuple[Conflict, ...] = ()
    """Both versions of each memory for whose sake it is refused, where that is the reason."""


@dataclass(frozen=True, slots=True)
class Lint:
    """A doubt about an accepted operation; it does not stop the commit."""

    index: int
    """Position of the operation in the batch, from 0; 0 for a text that is in no batch."""
    rule: str
    """One of `LINT_RULES`."""
    message: str
    memory_ids: tuple[int, ...] = ()
    """Other memories that it speaks of, the nearest first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch would do, and which operations are refused and why."""

    batch: Batch
    before: Snapshot
    after: Snapshot
    """New memories have negative ids in it: −k for the batch's k-th Add or Merge."""
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
        """The same plan without the refused operations: what `commit` then does.

        Its batch stays whole, so that the ids of new memories mean the same when it is planned
        again.
        """
        return replace(self, refused=())

    def as_commit(self, *, actor: str, made_at_us: int) -> Commit:
        """The plan as the store writes it."""
        if self.before.revision is None:
            raise InvalidBatchError("This plan was made on another plan; commit that one first.")
        return Commit(
            batch_key=self.batch.key,
            kind=self.batch.kind,
            reason=self.batch.reason,
            actor=actor,
            made_at_us=made_at_us,
            base_revision=self.before.revision,
            base_key=self.before.batch_key,
            touched=tuple(sorted({c.memory_id for c in self.changes if c.memory_id > 0})),
            removed=self.removed,
            put=self.put,
            vectors={m.text: self.after.vector_of(m.id) for m in self.put},
            changes=_net(self.changes),
            starts_epoch=self.batch.starts_epoch,
            fresh=tuple(m.text for m in self.put if m.id < 0)
            if self.batch.kind in COPIES_REFUSED
            else (),
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


def _net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """One change for each memory, from what stood before the batch to what stands after it.

    The history is told by revisions, and between two of them a memory changes once.
    """
    net: dict[int, Change] = {}
    for change in changes:
        known = net.get(change.memory_id)
        net[change.memory_id] = change if known is None else _joined(known, change)
    return tuple(change for change in net.values() if change.before != change.after)


def _joined(first: Change, second: Change) -> Change:
    rationales = dict.fromkeys(text for text in (first.rationale, second.rationale) if text)
    return replace(
        second,
        action=first.action if first.before is None and second.after else second.action,
        before=first.before,
        rationale=" ".join(rationales),
        evidence=tuple(dict.fromkeys((*first.evidence, *second.evidence))),
    )
