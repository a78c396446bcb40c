"""ReMe: JSON lines {workspace_id, memory_id, memory_type, when_to_use, content, score, …}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import (
    a_text,
    an_object,
    any_object,
    some_id,
    some_text,
    unread,
)
from memory_core.interchange.formats import ALL_FIELDS, Found, MemoryFormat, Written, each, has_keys
from memory_core.interchange.mem0 import OURS
from memory_core.interchange.source import Record, Source
from memory_core.interchange.winnow_fields import beyond_text, lesson_of
from memory_core.records import Kind, Memory, StrategicDetail
from memory_core.serialization import dumps

_TAKEN = (
    "workspace_id", "memory_id", "memory_type", "when_to_use", "content", "metadata",
    "time_created", "time_modified", "author",
)  # fmt: skip
_KINDS: dict[str, Kind] = {"task": "strategic", "tool": "tool", "procedural": "procedural"}
_TYPES: dict[Kind, str] = {kind: name for name, kind in _KINDS.items()}


def matches(source: Source) -> bool:
    return has_keys(source, "memory_type", "content") or has_keys(source, "when_to_use", "content")


def read(source: Source) -> Found:
    return each(source.records, _one)


def _one(record: Record) -> Found:
    fields = an_object(record.value)
    metadata = any_object(fields.get("metadata"))
    text = a_text(fields.get("content"), "content")
    lost = (
        *unread(fields, _TAKEN),
        *(f"metadata.{name}" for name in unread(metadata, (OURS,))),
    )
    ours = metadata.get(OURS)
    lesson = lesson_of(ours, text) if isinstance(ours, dict) else _lesson(fields, text)
    yield ImportEntry(
        record.where, lesson=lesson, source_id=some_id(fields.get("memory_id")), lost=lost
    )


def _lesson(fields: dict[str, Any], text: str) -> Lesson:
    kind = _KINDS.get(some_text(fields.get("memory_type")).lower())
    when = some_text(fields.get("when_to_use"))
    workspace = some_text(fields.get("workspace_id"))
    as_detail = bool(when) and kind in (None, "strategic")
    return Lesson(
        text,
        kind="strategic" if as_detail else kind,
        domain=workspace if workspace not in ("", "default") else None,
        detail=StrategicDetail(when) if as_detail else None,
        note="" if as_detail or not when else f"When to use: {when}",
    )


def write(memories: Sequence[Memory], made_at: str) -> Written:
    return Written("".join(dumps(_fields(memory, made_at)) + "\n" for memory in memories))


def _fields(memory: Memory, made_at: str) -> dict[str, Any]:
    when = memory.detail.problem if isinstance(memory.detail, StrategicDetail) else ""
    return {
        "workspace_id": memory.domain,
        "memory_id": str(memory.id),
        "memory_type": _TYPES[memory.kind],
        "when_to_use": when or memory.text,  # ReMe searches by it
        "content": memory.text,
        "score": memory.confidence,
        "time_created": made_at,
        "time_modified": made_at,
        "author": OURS,
        "metadata": {OURS: beyond_text(memory)},
    }


FORMAT = MemoryFormat(
    "reme",
    "ReMe",
    '{"memory_type", "when_to_use", "content", "score", …} a line',
    ".jsonl",
    matches,
    read,
    write,
    ALL_FIELDS,
    media_type="application/jsonl",
)
