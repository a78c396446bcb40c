"""What a bank keeps beside its memories: saved queries with their grades, and retrievals."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A test query with its graded judgements."""

    id: int
    task: str
    domains: tuple[str, ...] = ()
    """What it is about, by a person's label; it narrows the search only where one asks for that."""
    judgements: Mapping[int, int] = field(default_factory=dict)
    """Memory id -> grade, 0 (not relevant) to 3 (exactly what is needed)."""
    merged_into: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Judged memory that was merged away -> what has stood for it since, oldest first."""

    @property
    def relevant(self) -> tuple[int, ...]:
        """Ids graded 1 or more."""
        return tuple(sorted(m for m, grade in self.judgements.items() if grade > 0))

    def grades_in(self, present: Container[int]) -> dict[int, int]:
        """The grades that hold where these memories are.

        What was merged away gives its grade to what stands for it, unless that was judged itself;
        what came of a merge has no grade where a judged source of it still stands. Other judged
        memories keep their grade though they are not there: they are missed.
        """
        grades: dict[int, int] = {}
        passed: dict[int, int] = {}
        early: set[int] = set()
        for memory_id, grade in self.judgements.items():
            later = self.merged_into.get(memory_id, ())
            stands = next((m for m in reversed(later) if m in present), None)
            if memory_id in present:
                early.update(m for m in later if m not in present)
            elif stands is not None:
                passed[stands] = max(grade, passed.get(stands, 0))
                continue
            grades[memory_id] = grade
        kept = {memory_id: grade for memory_id, grade in grades.items() if memory_id not in early}
        return passed | kept


@dataclass(frozen=True, slots=True)
class RecordedHit:
    """A hit as it was when the retrieval was recorded."""

    memory_id: int
    rank: int
    score: float
    applied: bool = False


@dataclass(frozen=True, slots=True)
class RecordedRetrieval:
    """A row of the ledger: what was injected, from which revision, and how it turned out."""

    id: str
    task: str
    revision: int
    epoch: int
    settings: Mapping[str, object]
    hits: tuple[RecordedHit, ...]
    injection: str
    """The exact block that was injected."""
    actor: str
    made_at_us: int
    improved: bool | None = None
    """None until its outcome is recorded."""
    reward: float | None = None
    outcome_revision: int | None = None
    taken_back: int | None = None
    """The revision that undid that of its outcome, which is then as if it had never been."""

    @property
    def has_outcome(self) -> bool:
        """Whether an outcome is recorded and stands."""
        return self.improved is not None and self.taken_back is None
