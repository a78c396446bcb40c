"""Our own JSON lines: a memory a line, with all its fields. Nothing is lost but the ids."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.interchange.entries import ImportEntry
from memory_core.interchange.fields import a_text, an_object, some_id, unread
from memory_core.interchange.formats import ALL_FIELDS, Found, MemoryFormat, Written, each, has_keys
from memory_core.interchange.source import Record, Source
from memory_core.interchange.winnow_fields import FIELDS, lesson_of, to_fields
from memory_core.records import Memory
from memory_core.serialization import dumps


def matches(source: Source) -> bool:
    return has_keys(source, "text", "kind", "domain", "provenance")


def read(source: Source) -> Found:
    return each(source.records, _one)


def _one(record: Record) -> Found:
    fields = an_object(record.value)
    lesson = lesson_of(fields, a_text(fields.get("text"), "text"))
    yield ImportEntry(
        record.where, lesson=lesson, source_id=some_id(fields.get("id")),
        lost=unread(fields, FIELDS),
    )  # fmt: skip


def write(memories: Sequence[Memory], made_at: str) -> Written:
    return Written("".join(dumps(to_fields(memory)) + "\n" for memory in memories))


FORMAT = MemoryFormat(
    "winnow",
    "Winnow JSON lines",
    '{"id", "kind", "text", "domain", "detail", "confidence", …} a line',
    ".jsonl",
    matches,
    read,
    write,
    ALL_FIELDS,
    media_type="application/jsonl",
)
