"""Memories under care: near duplicates, what people said of them, and the audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memory_core.cleaning.audit import Finding, audit
from memory_core.cleaning.duplicates import FLOOR, DuplicateGroup, NearPairs, near_pairs
from memory_core.cleaning.likeness import NEAR
from memory_core.counting import count_of
from memory_core.errors import InvalidBatchError
from memory_core.ledger_report import memory_uses
from memory_core.mapped import MappedMemories
from memory_core.plans import Plan
from memory_core.records import DistinctPair
from memory_core.snapshot import Snapshot
from memory_core.store import ledger, verdicts
from memory_core.versioned import AnyRevision

MOST_DISTINCT = 200
"""Memories that can be called distinct from each other at once: 19,900 pairs."""


class CuratedMemories(MappedMemories):
    """Memories under revisions, with what a curator found out about them beside them."""

    # -- duplicates ---------------------------------------------------------------------------

    def duplicates(
        self, threshold: float = NEAR, *, revision: AnyRevision | None = None
    ) -> tuple[DuplicateGroup, ...]:
        """The groups of near duplicates at a threshold, the largest first.

        Those that people called distinct are not joined with each other.
        """
        return self.near_pairs(threshold, revision=revision).groups(threshold)

    def near_pairs(self, floor: float = FLOOR, *, revision: AnyRevision | None = None) -> NearPairs:
        """What groups are made of, for every threshold from `floor` on; a second at 10,000."""
        snapshot = self.snapshot(revision)
        told = [pair.ids for pair in self.distinct_pairs(revision=snapshot)]
        return near_pairs(snapshot, floor, distinct=told)

    def distinct_pairs(self, *, revision: AnyRevision | None = None) -> tuple[DistinctPair, ...]:
        """The pairs that people called distinct, by ascending ids.

        That binds for the texts they had then: where one of the two reads otherwise now, it is
        left out, and it counts again when the text comes back.
        """
        number = self.snapshot(revision).revision if revision is not None else None
        with self._store.reading("distinct pairs") as connection:
            return verdicts.read_distinct(connection, number)

    def mark_distinct(self, ids: Iterable[int]) -> None:
        """Say that none of these memories is a duplicate of another of them.

        Raises InvalidBatchError for fewer than two or more than 200, MemoryNotFoundError.
        """
        chosen = self._several_there(ids)
        with self._store.writing("mark distinct") as connection:
            verdicts.put_distinct(connection, chosen, actor=self.actor, made_at_us=self._clock())

    def unmark_distinct(self, ids: Iterable[int]) -> None:
        """Take back what was said of any two of these memories."""
        with self._store.writing("unmark distinct") as connection:
            verdicts.remove_distinct(connection, [int(memory_id) for memory_id in ids])

    def _several_there(self, ids: Iterable[int]) -> list[int]:
        chosen = list(dict.fromkeys(ids))
        if not 2 <= len(chosen) <= MOST_DISTINCT:
            raise InvalidBatchError(
                f"{count_of(len(chosen), 'memory')} {'was' if len(chosen) == 1 else 'were'} named; "
                f"2 to {MOST_DISTINCT} can be called distinct from each other at once."
            )
        snapshot = self.snapshot()
        return [int(snapshot.ids[snapshot.row_of(memory_id)]) for memory_id in chosen]

    # -- conflicts ----------------------------------------------------------------------------

    def plan_again(self, plan: Plan) -> Plan:
        """The same batch on the latest revision, after a StalePlanError.

        Operations on what has changed since the plan are refused, with both versions beside them.
        """
        batch = plan.batch
        if batch.base_revision is None:
            batch = replace(batch, base_revision=plan.before.revision)
        return self.plan(batch)

    # -- audit --------------------------------------------------------------------------------

    def audit(
        self,
        *,
        revision: AnyRevision | None = None,
        pairs: NearPairs | None = None,
        with_set_aside: bool = False,
    ) -> tuple[Finding, ...]:
        """What a curator should look at, the gravest first.

        `pairs` saves a second where those of this revision are known already. Findings that
        people set aside are left out, unless `with_set_aside` asks for them as well.
        """
        snapshot = self.snapshot(revision)
        number = self._number_of(snapshot)
        with self._store.reading("audit") as connection:
            known = ledger.read_retrievals(connection)
            applied = verdicts.read_last_applied(connection, number)
            told = verdicts.read_distinct(connection, number)
            aside = verdicts.read_set_aside(connection, number)
        findings = audit(
            snapshot,
            uses=memory_uses(row for row in known if row.revision <= number),
            last_applied=applied,
            pairs=pairs,
            distinct=[pair.ids for pair in told],
        )
        named = (replace(f, set_aside_by=aside.get(_name_of(f), "")) for f in findings)
        return tuple(f for f in named if with_set_aside or not f.set_aside_by)

    def set_aside(self, findings: Iterable[Finding]) -> None:
        """Say that findings of the audit are none, for as long as their memories read as now.

        Raises MemoryNotFoundError where one of their memories has left.
        """
        names = list(dict.fromkeys(map(_name_of, findings)))
        with self._store.writing("set findings aside") as connection:
            verdicts.put_set_aside(connection, names, actor=self.actor, made_at_us=self._clock())

    def take_up(self, findings: Iterable[Finding]) -> None:
        """Have findings that were set aside count again."""
        with self._store.writing("take findings up") as connection:
            verdicts.remove_set_aside(connection, list(map(_name_of, findings)))

    def _number_of(self, snapshot: Snapshot) -> int:
        """Of the revision that a snapshot is, or that a plan was made on: the latest."""
        number = self.snapshot().revision if snapshot.revision is None else snapshot.revision
        return int(number or 0)


def _name_of(finding: Finding) -> tuple[str, tuple[int, ...]]:
    """What tells a finding from others, whatever its sentence counts."""
    return finding.rule, tuple(sorted(finding.ids))
