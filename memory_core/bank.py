"""The bank: one short method a verb. It sequences; the modules it calls compute.

Its memories and revisions come from `versioned.py`, its saved queries from `judged.py`, its map
from `mapped.py`, duplicates and audit from `curated.py`, trajectories from `evidenced.py`,
proposals from `reviewed.py`, reflections from `reflective.py`; here are outcomes and settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from memory_core import confidence, curation
from memory_core.errors import InvalidBatchError, MemoryNotFoundError, StalePlanError
from memory_core.ledger_records import RecordedHit, RecordedRetrieval
from memory_core.records import BankSettings, ConfidencePoint, Revision
from memory_core.reflective import ReflectiveMemories
from memory_core.retrieval import Retrieval
from memory_core.settings import SettingsError
from memory_core.store import curves, ledger, schema
from memory_core.validation import check_string


class MemoryBank(ReflectiveMemories):
    """Memories under revisions, with all that a bank keeps beside them."""

    # -- retrievals and their outcomes --------------------------------------------------------

    def retrievals(self) -> tuple[RecordedRetrieval, ...]:
        """The ledger, oldest first."""
        with self._store.reading("retrievals") as connection:
            return ledger.read_retrievals(connection)

    def retrieval(self, retrieval_id: str | UUID) -> RecordedRetrieval:
        """One row of the ledger. Raises MemoryNotFoundError."""
        return self._recorded(str(retrieval_id))

    def confidence_curves(self, ids: Iterable[int]) -> dict[int, tuple[ConfidencePoint, ...]]:
        """How the confidence of memories has moved, oldest first; none for unknown ids."""
        with self._store.reading("confidence curves") as connection:
            return curves.read_curves(connection, list(dict.fromkeys(ids)))

    def record_outcome(
        self,
        found: Retrieval | str | UUID,
        *,
        improved: bool,
        applied: Iterable[int],
        reward: float | None = None,
    ) -> Revision:
        """Record how a session ended; confidence and counts of what it applied move by the rule.

        `found` is a retrieval, or the id of a recorded one; `applied` are ids among its hits, and
        those that have left the bank since are passed over. The same outcome again returns the
        revision that it made; another one is refused (InvalidBatchError), unless that revision has
        been undone.
        """
        row = self._recorded(found)
        hits = confidence.applied_hits(row, applied)
        ours = False

        def beside(connection: Any, made: Revision) -> None:
            nonlocal ours
            ours = True
            if isinstance(found, Retrieval):
                self._put_retrieval(connection, row, found)
            ledger.put_outcome(
                connection, row.id, improved=bool(improved), reward=reward, hits=hits,
                revision=made.number,
            )  # fmt: skip

        ids = [hit.memory_id for hit in hits if hit.applied]
        while not row.has_outcome:
            now = self.snapshot()
            batch = confidence.outcome_batch(row, ids, now, improved=bool(improved))
            try:
                made = self._commit(curation.plan(now, batch, {}), beside)
            except StalePlanError:
                continue  # another session moved the same memory: move it on from there
            if ours:
                return made
            row = self._recorded(found)  # another session was faster
        return self._outcome_again(row, hits, bool(improved))

    def _recorded(self, found: Retrieval | str | UUID) -> RecordedRetrieval:
        retrieval_id = found.id if isinstance(found, Retrieval) else str(found)
        with self._store.reading("retrieval") as connection:
            row = ledger.find_retrieval(connection, retrieval_id)
        if row is not None:
            return row
        if isinstance(found, Retrieval):
            return found.as_recorded(actor=self.actor, made_at_us=self._clock())
        raise MemoryNotFoundError(f"There is no recorded retrieval {retrieval_id!r}.")

    def _outcome_again(
        self, row: RecordedRetrieval, hits: tuple[RecordedHit, ...], improved: bool
    ) -> Revision:
        if row.improved != improved or row.hits != hits or row.outcome_revision is None:
            raise InvalidBatchError(
                f"Retrieval {row.id} has another outcome already; an outcome is recorded once. "
                f"Undo revision {row.outcome_revision} to take back what it moved."
            )
        return self.revision(row.outcome_revision)

    # -- settings -----------------------------------------------------------------------------

    @property
    def settings(self) -> BankSettings:
        """What the bank remembers about itself."""
        with self._store.reading("settings") as connection:
            stored = schema.read_settings(connection)
        return BankSettings(name=stored["name"], capacity=int(stored["capacity"]))

    def configure(self, *, name: str | None = None, capacity: int | None = None) -> BankSettings:
        """Change settings of the bank; None leaves one as it is."""
        if capacity is not None and capacity < 1:
            raise SettingsError(f"The capacity must be 1 or more; it was {capacity}.")
        if name is not None:
            check_string(name, "name")
        with self._store.writing("configure") as connection:
            for key, value in (("name", name), ("capacity", capacity)):
                if value is not None:
                    schema.write_setting(connection, key, str(value))
        return self.settings
