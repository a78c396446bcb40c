"""Splitting a memory that says two things into memories that say one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_core.errors import InvalidBatchError
from memory_core.operations import Add, Batch, Delete
from memory_core.records import Memory


def split(
    memory: Memory, texts: Sequence[str], *, base_revision: int | None = None, reason: str = ""
) -> Batch:
    """The batch that puts memories with `texts` in the place of one.

    Each has its kind, domain, detail, tags, pin, session, confidence and evidence, and says that
    it came from it (`merged_from`). The counts of what it was applied for stay with the first, so
    that they are counted once: a merge of the parts has them again. `base_revision` is the one its
    author saw. Raises InvalidBatchError for fewer than two texts.
    """
    if isinstance(texts, str) or len(texts) < 2:
        raise InvalidBatchError("A split needs two texts or more; to change one, modify it.")
    rationale = f"Split from memory {memory.id}."
    origin = replace(memory.provenance, merged_from=(memory.id,))
    parts = [
        Add(
            text,
            memory.kind,
            memory.domain,
            memory.detail,
            memory.confidence,
            memory.usage_count if first else 0,
            memory.success_count if first else 0,
            memory.tags,
            memory.pinned,
            memory.epoch,
            origin,
            rationale,
        )
        for first, text in ((number == 0, text) for number, text in enumerate(texts))
    ]
    gone = Delete(memory.id, rationale=f"Split into {len(parts)}.")
    return Batch(
        (gone, *parts),
        reason or f"Split memory {memory.id} into {len(parts)}",
        base_revision,
        kind="split",
    )
