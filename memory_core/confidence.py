"""The online rule by which outcomes move confidence (DESIGN: eq. confidence-update)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_core.errors import InvalidBatchError
from memory_core.ledger_records import RecordedHit, RecordedRetrieval
from memory_core.operations import Adjust, Batch
from memory_core.records import MAX_CONFIDENCE, MIN_CONFIDENCE, Memory
from memory_core.snapshot import Snapshot

LEARNING_RATE = 0.1
"""γ."""


def updated(confidence: float, *, improved: bool) -> float:
    """Confidence after a session in which the memory was applied.

    Improved: `min(c + γ(1−c), 0.95)`; not improved: `max(c − γc, 0.05)`.
    """
    if improved:
        return min(confidence + LEARNING_RATE * (1 - confidence), MAX_CONFIDENCE)
    return max(confidence - LEARNING_RATE * confidence, MIN_CONFIDENCE)


def after_outcome(memory: Memory, *, improved: bool) -> Memory:
    """A memory after one session in which it was applied: confidence and counts moved."""
    return replace(
        memory,
        confidence=updated(memory.confidence, improved=improved),
        usage_count=memory.usage_count + 1,
        success_count=memory.success_count + improved,
    )


def adjustment(memory: Memory, *, improved: bool) -> Adjust:
    """The operation that records one outcome on a memory."""
    after = after_outcome(memory, improved=improved)
    verb = "improved" if improved else "did not improve"
    return Adjust(
        memory.id,
        after.confidence,
        after.usage_count,
        after.success_count,
        rationale=f"Applied in a session that it {verb}.",
    )


def outcome_batch(
    row: RecordedRetrieval, applied: Sequence[int], now: Snapshot, *, improved: bool
) -> Batch:
    """The batch that moves what a session applied. What has left since is passed over, and said.

    Its key follows from the retrieval, so that an outcome is counted once whoever records it; one
    that was taken back may be recorded anew.
    """
    present = [memory_id for memory_id in applied if memory_id in now]
    result = "improved" if improved else "not improved"
    reason = f"Outcome of “{_short(row.task)}”: {result}, {len(applied)} applied"
    if len(present) < len(applied):
        reason += f", {len(applied) - len(present)} of them no longer in the bank"
    return Batch(
        tuple(adjustment(now.by_id(memory_id), improved=improved) for memory_id in present),
        reason=reason,
        kind="outcome",
        key=f"outcome:{row.id}" + ("" if row.taken_back is None else f":{row.taken_back}"),
    )


def applied_hits(row: RecordedRetrieval, applied: Iterable[int]) -> tuple[RecordedHit, ...]:
    """The hits of a retrieval, those applied marked. Raises InvalidBatchError for others."""
    ids = set(applied)
    strangers = ids - {hit.memory_id for hit in row.hits}
    if strangers:
        raise InvalidBatchError(
            f"Memory {min(strangers)} was not among the hits of this retrieval, so it cannot have "
            "been applied; nothing was recorded."
        )
    return tuple(replace(hit, applied=hit.memory_id in ids) for hit in row.hits)


def _short(task: str) -> str:
    line = " ".join(task.split())
    return line if len(line) <= 60 else line[:59] + "…"
