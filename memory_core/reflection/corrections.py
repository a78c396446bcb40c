"""What a draft that several runs bear out says against memories that advise otherwise."""

from __future__ import annotations

from memory_core.cleaning.likeness import NEAR, near_copies
from memory_core.cleaning.polarity import opposed
from memory_core.operations import Add, Delete, Modify, Operation
from memory_core.records import Memory, StrategicDetail, ToolDetail
from memory_core.reflection.context import ReflectionContext

_SAME_SUBJECT = 0.6
"""Cosine from which a memory that names the same tool is about the same."""


def corrections(draft: Add, context: ReflectionContext) -> list[Operation]:
    """The draft, or what takes its place.

    A memory that advises the opposite about the same tool is changed to what the draft says; where
    another memory says that already, it is deleted. Pinned memories are left alone.
    """
    if not len(context.snapshot):
        return [draft]
    vector = context.embed([draft.text])[0]
    near = near_copies(context.snapshot, vector, threshold=_SAME_SUBJECT)
    against: list[tuple[Memory, str]] = []
    for one in near:
        sign = opposed(draft.text, one.memory.text, similarity=one.similarity)
        if sign and not one.memory.pinned and _same_tool(draft, one.memory):
            against.append((one.memory, sign))
    if not against:
        return [draft]
    refuted = {memory.id for memory, _ in against}
    said = next(
        (o.memory.id for o in near if o.similarity >= NEAR and o.memory.id not in refuted), None
    )
    operations: list[Operation] = []
    for memory, sign in against:
        why = f"{draft.rationale} Memory {memory.id} advises otherwise ({sign})."
        if said is not None:
            why += f" Memory {said} says it as the runs show it."
            operations.append(Delete(memory.id, rationale=why, evidence=draft.evidence))
        elif not operations:
            detail = draft.detail if memory.kind == draft.kind else None
            operations.append(
                Modify(memory.id, draft.text, detail, rationale=why, evidence=draft.evidence)
            )
        else:
            operations.append(Delete(memory.id, rationale=why, evidence=draft.evidence))
    return [*operations, draft] if said is not None else operations


def _same_tool(draft: Add, memory: Memory) -> bool:
    """Whether a memory speaks of a tool that the draft names."""
    tools = {word for word in draft.text.split("`")[1::2] if word}
    if isinstance(draft.detail, ToolDetail) and draft.detail.tool:
        tools.add(draft.detail.tool)
    of_memory = memory.detail.tool if isinstance(memory.detail, ToolDetail) else ""
    problem = memory.detail.problem if isinstance(memory.detail, StrategicDetail) else ""
    return any(tool == of_memory or tool in memory.text or tool in problem for tool in tools)
