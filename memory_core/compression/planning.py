"""A compression as a plan: who stays, who goes, by which number, and what stays in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_core import curation
from memory_core.compression.diversity import ClusterReasons, diversity
from memory_core.compression.hybrid import hybrid
from memory_core.compression.importance import importance
from memory_core.compression.random import random
from memory_core.compression.selection import Reasons, Selection, Strategy
from memory_core.compression.temporal import temporal
from memory_core.neighbours import nearest_among
from memory_core.operations import Batch, Delete, Merge, Modify, Operation
from memory_core.plans import Plan
from memory_core.settings import CompressionSettings
from memory_core.snapshot import Snapshot

STRATEGIES: dict[str, Strategy] = {
    "diversity": diversity,
    "importance": importance,
    "temporal": temporal,
    "hybrid": hybrid,
    "random": random,
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one memory, and why."""

    memory_id: int
    kept: bool
    sentence: str
    """The number that decided, in words."""
    nearest: int | None
    """Of a dropped one: the nearest memory that is kept; None where none is."""
    similarity: float | None
    """Its cosine to that."""


@dataclass(frozen=True, slots=True)
class CompressionPlan:
    """What a compression would do. Columns go by the rows of `before`."""

    settings: CompressionSettings
    plan: Plan
    """What to commit."""
    kept: NDArray[np.bool_]
    reasons: Reasons
    """The numbers that decided: ClusterReasons, UtilityReasons, … by strategy."""
    nearest: NDArray[np.int64]
    """Of each dropped one, the id of the most similar that is kept; 0 where there is none, and for
    what is kept."""
    similarity: NDArray[np.float64]
    """Its cosine to that; NaN where there is none."""
    notes: tuple[str, ...]
    """What is to be said of it: nothing to do, ends above the capacity, …"""

    @property
    def before(self) -> Snapshot:
        return self.plan.before

    @property
    def after(self) -> Snapshot:
        """The memories that would be left. What others are merged into is new, with a negative
        id."""
        return self.plan.after

    @property
    def dropped(self) -> NDArray[np.int64]:
        """Ids of the memories that go."""
        return self.before.ids[~self.kept]

    def decision(self, memory_id: int) -> Decision:
        """What becomes of a memory. Raises MemoryNotFoundError."""
        row = self.before.row_of(memory_id)
        there = self.nearest[row] != 0
        return Decision(
            memory_id,
            bool(self.kept[row]),
            _sentence(self.before, self.reasons, row),
            int(self.nearest[row]) if there else None,
            float(self.similarity[row]) if there else None,
        )


def select(snapshot: Snapshot, settings: CompressionSettings) -> Selection:
    """What the strategy in `settings` keeps. Raises SettingsError when capacity < pinned."""
    return STRATEGIES[settings.strategy](snapshot, settings)


def plan_compression(
    snapshot: Snapshot, settings: CompressionSettings, *, pin: Iterable[int] = ()
) -> CompressionPlan:
    """What compressing a snapshot would do. Nothing is written.

    `pin` names memories to pin first, as part of the same batch. Raises SettingsError when more
    are pinned than the capacity holds, MemoryNotFoundError for an unknown id.
    """
    pinned = [snapshot.by_id(memory_id) for memory_id in dict.fromkeys(pin)]
    fresh = [replace(memory, pinned=True) for memory in pinned if not memory.pinned]
    seen = snapshot.edit(put=fresh) if fresh else snapshot
    choice = _choose(seen, settings)
    operations: list[Operation] = [
        Modify(memory.id, pinned=True, rationale="Pinned, so that the compression keeps it.")
        for memory in fresh
    ]
    batch = Batch(
        (*operations, *choice.operations(seen, settings)),
        reason=_reason(settings, choice, seen),
        base_revision=snapshot.revision,
        kind="compression",
    )
    plan = curation.plan(snapshot, batch, choice.vectors(seen, batch))
    return CompressionPlan(
        settings, plan, choice.selection.kept, choice.selection.reasons, choice.nearest,
        choice.similarity, choice.selection.notes,
    )  # fmt: skip


def with_compression(
    plan: Plan, settings: CompressionSettings, vectors: Mapping[str, NDArray[np.float32]]
) -> Plan:
    """Algorithm *Update*: a planned batch, and the compression of what it leaves, as one plan.

    The plan as it is when it leaves no more than the capacity. `vectors` has the unit vector of
    each text in the plan's batch.
    """
    if len(plan.after) <= settings.capacity:
        return plan
    choice = _choose(plan.after, settings)
    operations = choice.operations(plan.after, settings)
    if not operations:
        return plan
    reason = _reason(settings, choice, plan.after)
    batch = replace(
        plan.batch,
        operations=(*plan.batch.operations, *operations),
        reason=f"{plan.batch.reason}; {reason}" if plan.batch.reason else reason,
    )
    return curation.plan(plan.before, batch, {**vectors, **choice.vectors(plan.after, batch)})


# -- how a choice becomes operations --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Choice:
    """A selection, with the nearest kept memory of each dropped one."""

    selection: Selection
    nearest: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def operations(
        self, snapshot: Snapshot, settings: CompressionSettings
    ) -> tuple[Operation, ...]:
        reasons = self.selection.reasons
        if settings.merge and isinstance(reasons, ClusterReasons):
            return _merges(snapshot, self, reasons)
        rows = np.flatnonzero(~self.selection.kept).tolist()
        return tuple(self._delete(snapshot, row) for row in rows)

    def _delete(self, snapshot: Snapshot, row: int) -> Delete:
        sentence = _sentence(snapshot, self.selection.reasons, row)
        if self.nearest[row]:
            sentence += (
                f" Nearest kept: memory {self.nearest[row]}, similarity {self.similarity[row]:.3f}."
            )
        return Delete(int(snapshot.ids[row]), rationale=sentence)

    def vectors(self, snapshot: Snapshot, batch: Batch) -> dict[str, NDArray[np.float32]]:
        """Of the texts of merges: they have the text of the memory that stays."""
        merges = [operation for operation in batch.operations if isinstance(operation, Merge)]
        return {m.text: snapshot.vector_of(m.ids[0]) for m in merges if m.ids[0] in snapshot}


def _choose(snapshot: Snapshot, settings: CompressionSettings) -> _Choice:
    selection = select(snapshot, settings)
    stay, go = np.flatnonzero(selection.kept), np.flatnonzero(~selection.kept)
    nearest = np.zeros(len(snapshot), dtype=np.int64)
    similarity = np.full(len(snapshot), np.nan)
    if len(stay) and len(go):
        found = nearest_among(snapshot.vectors[go], snapshot.vectors[stay])
        nearest[go], similarity[go] = snapshot.ids[stay[found.rows]], found.similarity
    return _Choice(selection, nearest, similarity)


def _sentence(snapshot: Snapshot, reasons: Reasons, row: int) -> str:
    return "Pinned: it stays." if snapshot.columns.pinned[row] else reasons.sentence(row)


def _merges(snapshot: Snapshot, choice: _Choice, reasons: ClusterReasons) -> tuple[Operation, ...]:
    """One merge for each cluster of two or more, into the words of the memory that stays.

    Where a pinned memory has those very words already, the others are dropped instead: a copy of
    it would be of no use, and an import may not make one.
    """
    kept, ids = choice.selection.kept, snapshot.ids
    pinned = set(snapshot.columns.text[snapshot.columns.pinned].tolist())
    absorbed: dict[int, list[int]] = {}
    for row in np.flatnonzero(~kept).tolist():
        absorbed.setdefault(int(reasons.winner[row]), []).append(row)
    operations: list[Operation] = []
    for winner, rows in absorbed.items():
        if not winner or int(snapshot.columns.text[snapshot.row_of(winner)]) in pinned:
            operations += [choice._delete(snapshot, row) for row in rows]
            continue
        best = snapshot.by_id(winner)
        others = [int(ids[row]) for row in rows]
        why = f"Memory {winner} is the best of cluster {reasons.cluster[rows[0]]}; it absorbs "
        merged = Merge(
            (winner, *others), best.text, best.kind, best.domain, best.detail,
            rationale=f"{why}{', '.join(map(str, others))}.",
        )  # fmt: skip
        operations.append(merged)
    return tuple(operations)


def _reason(settings: CompressionSettings, choice: _Choice, snapshot: Snapshot) -> str:
    gone = np.count_nonzero(~choice.selection.kept)
    verb = "merges" if settings.merge else "drops"
    return f"Compression by {described(settings)}: {verb} {gone} of {len(snapshot)}"


def described(settings: CompressionSettings) -> str:
    """The strategy and the parameters that it heeds, in words."""
    s = settings
    if s.strategy == "importance":
        return f"importance (p = {s.fraction:g})"
    if s.strategy == "temporal":
        return f"temporal decay (λ = {s.decay:g}, minimum weight {s.minimum_weight:g})"
    if s.strategy == "hybrid":
        return (
            f"hybrid to {s.capacity} (α = {s.alpha:g}, β = {s.beta:g}, γ = {s.gamma:g}, "
            f"δ = {s.delta:g}, λ = {s.decay:g}, " + ("re-scored)" if s.rescore else "scored once)")
        )
    extra = ", merged" if s.merge else f", seed {s.seed}" if s.strategy == "random" else ""
    return f"{s.strategy} to {s.capacity}{extra}"
