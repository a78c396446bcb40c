"""Training-free GRPO, operations: both dialects. They name lessons by the ids of a state.

`[{"option": "add|modify|merge", "experience", "modified_from", "merged_from": [ids]}]`
`[{"operation": "ADD|UPDATE|DELETE|NONE", "id", "content"}]`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memory_core.interchange import grpo_state
from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import a_text, an_object, some_id, some_text, unread
from memory_core.interchange.formats import Found, MemoryFormat, Written, each, has_keys
from memory_core.interchange.source import Record, Source, Unfit
from memory_core.records import Memory
from memory_core.serialization import dumps
from memory_core.validation import shown

_WHY = ("reasoning", "reason", "rationale")


def _rationale(fields: dict[str, Any]) -> str:
    return next((text for name in _WHY if (text := some_text(fields.get(name)))), "")


def _target(fields: dict[str, Any], *names: str) -> tuple[str, ...]:
    for name in names:
        if their := some_id(fields.get(name)):
            return (their,)
    raise Unfit(f"it does not say in “{names[0]}” which lesson it changes.")


def _verb(fields: dict[str, Any], name: str, known: str) -> str:
    verb = str(fields.get(name)).strip().lower() if isinstance(fields.get(name), str) else ""
    if verb not in known.split("|"):
        raise Unfit(f"its “{name}” is {shown(fields.get(name))}; known: {known}.")
    return verb


# -- add, modify, merge ---------------------------------------------------------------------------

_OPTION_FIELDS = ("option", "experience", "modified_from", "merged_from", *_WHY)


def _option(record: Record) -> Found:
    fields = an_object(record.value)
    verb = _verb(fields, "option", "add|modify|merge")
    lesson = Lesson(a_text(fields.get("experience"), "experience"))
    targets: tuple[str, ...] = ()
    if verb == "modify":
        targets = _target(fields, "modified_from")
    elif verb == "merge":
        listed = fields.get("merged_from")
        targets = tuple(filter(None, map(some_id, listed))) if isinstance(listed, list) else ()
        if len(set(targets)) < 2:
            raise Unfit(f"its “merged_from” must list two or more ids; it is {shown(listed)}.")
    yield ImportEntry(
        record.where, verb, lesson, targets=targets, rationale=_rationale(fields),  # type: ignore[arg-type]
        lost=unread(fields, _OPTION_FIELDS),
    )  # fmt: skip


# -- ADD, UPDATE, DELETE, NONE --------------------------------------------------------------------

_OPERATION_FIELDS = ("operation", "id", "content", *_WHY)


def _operation(record: Record) -> Found:
    fields = an_object(record.value)
    verb = _verb(fields, "operation", "add|update|delete|none")
    rationale, lost = _rationale(fields), unread(fields, _OPERATION_FIELDS)
    if verb == "none":
        return
    if verb == "delete":
        yield ImportEntry(
            record.where, "delete", targets=_target(fields, "id"), rationale=rationale, lost=lost
        )
        return
    lesson = Lesson(a_text(fields.get("content"), "content"))
    if verb == "update":
        yield ImportEntry(record.where, "modify", lesson, targets=_target(fields, "id"),
                    rationale=rationale, lost=lost)  # fmt: skip
        return
    yield ImportEntry(record.where, "add", lesson, some_id(fields.get("id")), rationale=rationale,
                lost=lost)  # fmt: skip


# -- the two formats ------------------------------------------------------------------------------


def _matches(*keys: str) -> Callable[[Source], bool]:
    return lambda source: has_keys(source, *keys)


def _matches_operation(source: Source) -> bool:
    verbs = {"ADD", "UPDATE", "DELETE", "NONE"}
    return any(
        isinstance(verb := sample.get("operation"), str) and verb.upper() in verbs
        for sample in source.samples()
    )


def _read(one: Callable[[Record], Found]) -> Callable[[Source], Found]:
    return lambda source: each(source.records, one)


def _write_options(memories: Sequence[Memory], made_at: str) -> Written:
    return Written(dumps([{"option": "add", "experience": m.text} for m in memories]) + "\n")


def _write_operations(memories: Sequence[Memory], made_at: str) -> Written:
    added = [{"operation": "ADD", "id": None, "content": memory.text} for memory in memories]
    return Written(dumps(added) + "\n")


OPTIONS = MemoryFormat(
    "grpo-options",
    "training-free GRPO operations (add, modify, merge)",
    '[{"option": "modify", "experience", "modified_from"}]',
    ".json",
    _matches("option", "experience"),
    _read(_option),
    _write_options,
    states=(grpo_state.TITLE,),
)
OPERATIONS = MemoryFormat(
    "grpo-operations",
    "training-free GRPO operations (ADD, UPDATE, DELETE)",
    '[{"operation": "UPDATE", "id", "content"}]',
    ".json",
    _matches_operation,
    _read(_operation),
    _write_operations,
    states=(grpo_state.TITLE,),
)
