"""What the ledger says about memories and queries: who helps, who rides along, what never fires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.ledger_records import RecordedRetrieval, SavedQuery
from memory_core.snapshot import Snapshot

OFTEN = 3
"""Sessions with a known outcome before a memory that never helped is called a passenger."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What one memory did in the retrievals of the ledger. Counts; each includes the next ones."""

    memory_id: int
    retrieved: int = 0
    """Retrievals that it was a hit of."""
    with_outcome: int = 0
    """Of those, the ones whose outcome is known."""
    in_improved: int = 0
    """Of those, the sessions that improved, whether or not it was applied."""
    applied: int = 0
    """Of those with an outcome, the ones that applied it."""
    helped: int = 0
    """Of those, the ones that improved."""
    best_rank: int = 0
    last_made_at_us: int = 0
    """When it was a hit last; microseconds since 1970-01-01 UTC."""

    @property
    def rides_along(self) -> bool:
        """Among the hits three times or more, as far as outcomes are known, and never of help."""
        return self.with_outcome >= OFTEN and not self.helped


def memory_uses(retrievals: Iterable[RecordedRetrieval]) -> tuple[MemoryUse, ...]:
    """The use of each memory that was ever a hit, by ascending id."""
    uses: dict[int, MemoryUse] = {}
    for row in retrievals:
        for hit in row.hits:
            known = row.has_outcome
            improved = known and bool(row.improved)
            was = uses.get(hit.memory_id, MemoryUse(hit.memory_id, best_rank=hit.rank))
            uses[hit.memory_id] = MemoryUse(
                memory_id=hit.memory_id,
                retrieved=was.retrieved + 1,
                with_outcome=was.with_outcome + known,
                in_improved=was.in_improved + improved,
                applied=was.applied + (known and hit.applied),
                helped=was.helped + (improved and hit.applied),
                best_rank=min(was.best_rank, hit.rank),
                last_made_at_us=max(was.last_made_at_us, row.made_at_us),
            )
    return tuple(uses[memory_id] for memory_id in sorted(uses))


def never_retrieved(snapshot: Snapshot, retrievals: Iterable[RecordedRetrieval]) -> tuple[int, ...]:
    """Ids of a snapshot's memories that no retrieval of the ledger found, ascending."""
    seen = {hit.memory_id for row in retrievals for hit in row.hits}
    return tuple(memory_id for memory_id in snapshot.ids.tolist() if memory_id not in seen)


def never_asked(
    queries: Iterable[SavedQuery], retrievals: Iterable[RecordedRetrieval]
) -> tuple[SavedQuery, ...]:
    """The saved queries whose task no retrieval of the ledger had."""
    tasks = {row.task for row in retrievals}
    return tuple(query for query in queries if query.task not in tasks)
