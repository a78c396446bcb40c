"""mem0: `{id, memory, hash, created_at, updated_at, metadata}` with user_id, agent_id, run_id."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import (
    a_text,
    an_object,
    any_object,
    some_id,
    some_text,
    unread,
)
from memory_core.interchange.formats import ALL_FIELDS, Found, MemoryFormat, Written, each
from memory_core.interchange.source import Record, Source, check_count
from memory_core.interchange.winnow_fields import beyond_text, lesson_of
from memory_core.records import Memory
from memory_core.serialization import dumps

OURS = "winnow"
"""The key under which free metadata carries all that the format itself has no place for."""


def _records(source: Source) -> Sequence[Record]:
    value = source.value
    if isinstance(value, dict):
        for name in ("results", "memories"):
            if isinstance(value.get(name), list):
                check_count(len(value[name]))
                return [Record(f"record {n}", one) for n, one in enumerate(value[name], start=1)]
    return source.records


def matches(source: Source) -> bool:
    first = [r.value for r in _records(source)[:20] if isinstance(r.value, dict)]
    return any(isinstance(one.get("memory"), str) and "id" in one for one in first)


def read(source: Source) -> Found:
    return each(_records(source), _one)


def _one(record: Record) -> Found:
    fields = an_object(record.value)
    metadata = any_object(fields.get("metadata"))
    text = a_text(fields.get("memory"), "memory")
    ours = metadata.get(OURS)
    if isinstance(ours, dict):
        lesson = lesson_of(ours, text)
    else:
        lesson = Lesson(text, domain=some_text(metadata.get("category")) or None)
    lost = (
        *unread(fields, ("id", "memory", "hash", "metadata", "created_at", "updated_at")),
        *(f"metadata.{name}" for name in unread(metadata, (OURS, "category"))),
    )
    yield ImportEntry(record.where, lesson=lesson, source_id=some_id(fields.get("id")), lost=lost)


def write(memories: Sequence[Memory], made_at: str) -> Written:
    results = [
        {
            "id": str(memory.id),
            "memory": memory.text,
            "hash": hashlib.md5(memory.text.encode(), usedforsecurity=False).hexdigest(),
            "metadata": {"category": memory.domain, OURS: beyond_text(memory)},
            "created_at": made_at,
            "updated_at": None,
            "user_id": OURS,
        }
        for memory in memories
    ]
    return Written(dumps({"results": results}) + "\n")


FORMAT = MemoryFormat(
    "mem0",
    "mem0",
    '[{"id", "memory", "metadata", …}], also within "results"',
    ".json",
    matches,
    read,
    write,
    ALL_FIELDS,
)
