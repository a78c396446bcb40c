"""What a file of memories says, before anything is decided about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from memory_core.interchange.drafting import (
    ImportChoices,
    ImportDraft,
    draft,
    ids_by_note,
    ids_by_text,
)
from memory_core.interchange.entries import ImportEntry, ImportProblem
from memory_core.operations import Batch
from memory_core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ImportReading:
    """What a file says: its entries in order, and what in it cannot be taken."""

    format: str
    """Its key among `FORMATS`."""
    title: str
    """The format's name for people."""
    entries: tuple[ImportEntry, ...]
    problems: tuple[ImportProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    filename: str = ""
    states: tuple[str, ...] = ()
    """Titles of the formats whose ids its operations speak of."""

    @property
    def lost(self) -> dict[str, int]:
        """Fields that memories have no place for, with the number of records that have them."""
        return dict(Counter(name for entry in self.entries for name in entry.lost).most_common())

    @property
    def needs_state(self) -> bool:
        """Whether it names lessons by ids of another system, which have to be found here."""
        return any(entry.targets for entry in self.entries)

    def draft(
        self,
        choices: ImportChoices | None = None,
        *,
        snapshot: Snapshot | None = None,
        state: ImportReading | None = None,
    ) -> ImportDraft:
        """The operations that the file becomes, with the record behind each.

        Operations of another system name lessons by its ids. `state` is the file in which those
        ids stand: a memory of `snapshot` with the same text is meant. Without it, the memory that
        was imported under that id; an id that is none, or several, is refused.
        """
        known: dict[str, tuple[int, ...]] = {}
        if snapshot is not None and self.needs_state:
            known = ids_by_note(snapshot, self.states)
            if state is not None:
                known = ids_by_text(snapshot, state.entries)
        base = snapshot.revision if snapshot is not None and self.needs_state else None
        origin = f" ({self.filename})" if self.filename else ""
        return draft(
            self.entries,
            self.title,
            choices or ImportChoices(),
            known=known,
            problems=self.problems,
            reason=f"Import from {self.title}{origin}",
            base_revision=base,
        )

    def batch(
        self,
        choices: ImportChoices | None = None,
        *,
        snapshot: Snapshot | None = None,
        state: ImportReading | None = None,
    ) -> Batch:
        """The batch of `draft`, to be planned: exact copies and broken rules are refused there."""
        return self.draft(choices, snapshot=snapshot, state=state).batch
