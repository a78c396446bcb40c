"""Drafts against what the bank holds: a near copy changes a memory instead of joining it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.cleaning.likeness import NEAR, near_copies
from memory_core.cleaning.polarity import opposed
from memory_core.cleaning.wording import content_stems
from memory_core.errors import InvalidMemoryError
from memory_core.operations import Add, Merge, Modify, Operation, touched_ids
from memory_core.records import Evidence, Memory
from memory_core.reflection.context import Drafts, ReflectionContext
from memory_core.reflection.phrases import clipped, quoted
from memory_core.retrieval import Neighbour
from memory_core.validation import check_text

_PARTICULAR = re.compile(r"`[^`]+`|“[^”]+”|\"[^\"]+\"|\S*\d\S*|\S*[_/@]\S*")


def settle(drafts: Drafts, context: ReflectionContext) -> Drafts:
    """The drafts, with those settled that the bank, or another draft, has already.

    An exact copy of a memory is dropped with a note. A near copy (cosine of `NEAR` or more) that
    says more becomes a Modify of that memory; one that does not, a Merge where two or more memories
    are near, and otherwise a note. Drafts near each other are joined. Evidence is kept; operations
    other than Add stay as they are.
    """
    adds = [place for place, one in enumerate(drafts.operations) if _is_sound(one)]
    if not adds:
        return drafts
    texts = [getattr(drafts.operations[place], "text", "") for place in adds]
    vectors = dict(zip(adds, context.embed(texts), strict=True))
    desk = _Desk(context, {i for one in drafts.operations for i in touched_ids(one)})
    settled: list[Operation] = []
    joined = _joined(drafts.operations, vectors)
    for place, operation in joined:
        if isinstance(operation, Add) and place in vectors:
            settled += desk.settled(operation, vectors[place])
        else:
            settled.append(operation)
    return replace(drafts, operations=tuple(settled), notes=(*drafts.notes, *desk.notes))


def _is_sound(operation: Operation) -> bool:
    """Whether it is an Add with a text that can be embedded; the plan refuses the others."""
    if not isinstance(operation, Add):
        return False
    try:
        check_text(operation.text)
    except InvalidMemoryError:
        return False
    return True


# -- drafts among themselves -----------------------------------------------------------------------


def _joined(
    operations: Sequence[Operation], vectors: dict[int, NDArray[np.float32]]
) -> list[tuple[int, Operation]]:
    """The operations with their places, near drafts of one kind as one, at the first's place."""
    kept: list[tuple[int, Operation]] = []
    for place, operation in enumerate(operations):
        near = _near_draft(operation, place, kept, vectors)
        if near is None or not isinstance(operation, Add):
            kept.append((place, operation))
            continue
        at, first = near
        text_of, joined = (
            (place, _one_of(operation, first)) if says_more(operation.text, first.text)
            else (kept[at][0], _one_of(first, operation))
        )  # fmt: skip
        kept[at] = (text_of, joined)
    return kept


def _near_draft(
    operation: Operation,
    place: int,
    kept: Sequence[tuple[int, Operation]],
    vectors: dict[int, NDArray[np.float32]],
) -> tuple[int, Add] | None:
    """Where among the kept a draft is that says almost the same, and that draft."""
    if not isinstance(operation, Add) or place not in vectors:
        return None
    for at, (other_place, other) in enumerate(kept):
        if not isinstance(other, Add) or other_place not in vectors or other.kind != operation.kind:
            continue
        cosine = float(vectors[place].astype(np.float64) @ vectors[other_place].astype(np.float64))
        alike = cosine >= NEAR and not opposed(operation.text, other.text, similarity=cosine)
        if other.text == operation.text or alike:
            return at, other
    return None


def _one_of(first: Add, second: Add) -> Add:
    """The first draft with the evidence and the counts of both."""
    told = "A second draft says the same."
    if second.text != first.text:
        told = f"Another draft says almost the same: {quoted(clipped(second.text, 32, 240))}"
    return replace(
        first,
        rationale=_and(first.rationale, told),
        evidence=all_evidence(first.evidence, second.evidence),
        usage_count=first.usage_count + second.usage_count,
        success_count=first.success_count + second.success_count,
        tags=tuple(dict.fromkeys((*first.tags, *second.tags))),
    )


def all_evidence(*groups: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """All evidence, each run once with all its steps."""
    steps: dict[str, dict[int, None]] = {}
    for item in (item for group in groups for item in group):
        steps.setdefault(item.trajectory_id, {}).update(dict.fromkeys(item.steps))
    return tuple(Evidence(run, tuple(sorted(numbers))) for run, numbers in steps.items())


# -- drafts and memories ---------------------------------------------------------------------------


@dataclass
class _Desk:
    """Where drafts are settled one after the other."""

    context: ReflectionContext
    taken: set[int]
    """Memories that an operation changes already."""
    notes: list[str] = field(default_factory=list)

    def settled(self, draft: Add, vector: NDArray[np.float32]) -> Iterator[Operation]:
        near = near_copies(self.context.snapshot, vector, limit=5)
        same = next((one for one in near if one.memory.text == draft.text), None)
        if same is not None:
            self._note(draft, f"is known already, word for word, as memory {same.memory.id}")
            return
        against = {one.memory.id: sign for one in near if (sign := _opposed(draft, one))}
        agreeing = [one for one in near if one.memory.id not in against]
        if not agreeing:
            yield _telling_of(draft, against) if against else draft
            return
        nearest = next((o for o in agreeing if o.memory.kind == draft.kind), agreeing[0])
        free = [one for one in agreeing if one.memory.id not in self.taken]
        if nearest not in free:
            self._note(
                draft, f"is close to memory {nearest.memory.id}, which another draft changes"
            )
        elif says_more(draft.text, nearest.memory.text):
            self.taken.add(nearest.memory.id)
            yield _modify(draft, nearest)
        elif len(merged := [one for one in free if _can_merge(one.memory, nearest.memory)]) >= 2:
            self.taken.update(one.memory.id for one in merged)
            yield _merge(draft, merged)
        else:
            self._note(
                draft,
                f"is known: memory {nearest.memory.id} says as much "
                f"(similarity {nearest.similarity:.2f})",
            )

    def _note(self, draft: Add, told: str) -> None:
        self.notes.append(f"{quoted(clipped(draft.text, 32, 240))} {told}.")


def says_more(text: str, other: str) -> bool:
    """Whether a text says something that another does not, and is the more concrete or longer."""
    new = set(content_stems(text)) - set(content_stems(other)) or _particulars(text) - _particulars(
        other
    )
    return bool(new) and _weight(text) > _weight(other)


def _weight(text: str) -> int:
    return len(content_stems(text)) + 2 * len(_particulars(text))


def _particulars(text: str) -> set[str]:
    return set(_PARTICULAR.findall(text))


def _opposed(draft: Add, near: Neighbour) -> str | None:
    return opposed(draft.text, near.memory.text, similarity=near.similarity)


def _telling_of(draft: Add, against: dict[int, str]) -> Add:
    told = "; ".join(f"memory {memory_id} ({sign})" for memory_id, sign in against.items())
    return replace(draft, rationale=_and(draft.rationale, f"It seems to contradict {told}."))


def _can_merge(memory: Memory, nearest: Memory) -> bool:
    return not memory.pinned and memory.kind == nearest.kind


def _modify(draft: Add, near: Neighbour) -> Modify:
    memory = near.memory
    told = (
        f"It says more than memory {memory.id}, which is almost the same (similarity "
        f"{near.similarity:.2f}), so it takes the place of that text."
    )
    return Modify(
        memory.id,
        text=draft.text,
        detail=draft.detail if draft.kind == memory.kind else None,
        rationale=_and(draft.rationale, told),
        evidence=draft.evidence,
    )


def _merge(draft: Add, merged: Sequence[Neighbour]) -> Merge:
    fullest = max(merged, key=lambda one: (_weight(one.memory.text), one.memory.confidence))
    ids = tuple(sorted(one.memory.id for one in merged))
    told = (
        f"Memories {', '.join(map(str, ids))} say almost the same as it and as each other; the "
        f"text is that of memory {fullest.memory.id}, which says the most."
    )
    return Merge(
        ids,
        fullest.memory.text,
        rationale=_and(draft.rationale, told),
        evidence=draft.evidence,
    )


def _and(said: str, more: str) -> str:
    return f"{said.rstrip()} {more}".strip()
