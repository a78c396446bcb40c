"""Portable AI Memory (PAM) 1.0: `{schema, schema_version, owner, memories: […]}`."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import (
    a_text,
    an_object,
    any_list,
    any_object,
    some_id,
    some_text,
    unread,
    within,
)
from memory_core.interchange.formats import ALL_FIELDS, Found, MemoryFormat, Written, each
from memory_core.interchange.mem0 import OURS
from memory_core.interchange.source import Record, Source, Unfit, check_count
from memory_core.interchange.winnow_fields import beyond_text, lesson_of
from memory_core.records import KINDS, Kind, Memory
from memory_core.serialization import dumps

SCHEMA = "portable-ai-memory"
_TAG = re.compile(r"[a-z0-9][a-z0-9_-]*")
_TAKEN = (
    "id", "type", "custom_type", "status", "content", "content_hash", "tags", "confidence",
    "summary", "temporal", "metadata", "provenance", "embedding_ref",
)  # fmt: skip
_KINDS: dict[str, Kind] = {"instruction": "procedural"}


def matches(source: Source) -> bool:
    value = source.value
    return isinstance(value, dict) and value.get("schema") == SCHEMA


def read(source: Source) -> Found:
    value = source.value
    memories = value.get("memories") if isinstance(value, dict) else None
    if not isinstance(memories, list):
        raise Unfit("it has no list of “memories”; a file of conversations has none to import.")
    check_count(len(memories))
    return each([Record(f"record {n}", one) for n, one in enumerate(memories, start=1)], _one)


def _one(record: Record) -> Found:
    fields = an_object(record.value)
    status = fields.get("status", "active")
    if status not in ("active", None):
        raise Unfit(f"it is not in use there: its status is “{some_text(status) or 'unknown'}”.")
    metadata = any_object(fields.get("metadata"))
    text = a_text(fields.get("content"), "content")
    ours = metadata.get(OURS)
    lesson = lesson_of(ours, text) if isinstance(ours, dict) else _lesson(fields, metadata, text)
    told = None if isinstance(ours, dict) else _confidence(fields)
    beyond = told is not None and lesson.confidence != told
    lost = (
        *(("confidence beyond 0.05 to 0.95",) if beyond else ()),
        *unread(fields, _TAKEN),
        *(f"metadata.{name}" for name in unread(metadata, (OURS, "domain", "language"))),
    )
    yield ImportEntry(record.where, lesson=lesson, source_id=some_id(fields.get("id")), lost=lost)


def _lesson(fields: dict[str, Any], metadata: dict[str, Any], text: str) -> Lesson:
    sort = some_text(fields.get("custom_type")) or some_text(fields.get("type"))
    tags = any_list(fields.get("tags"))
    origin = any_object(fields.get("provenance"))
    summary, platform = some_text(fields.get("summary")), some_text(origin.get("platform"))
    parts = (platform and f"Platform: {platform}", summary and f"Summary: {summary}")
    kind = sort if sort in KINDS else _KINDS.get(sort)
    named = [sort] if sort and sort not in KINDS and sort not in tags else []
    return Lesson(
        text,
        kind=kind,
        domain=some_text(metadata.get("domain")) or None,
        confidence=within(_confidence(fields)),
        tags=(*tags, *named),
        note="\n".join(filter(None, parts)),
    )


def _confidence(fields: dict[str, Any]) -> Any:
    told = fields.get("confidence")
    return told.get("current", told.get("initial")) if isinstance(told, dict) else None


def content_hash(text: str) -> str:
    """SHA-256 of a text, trimmed, in lower case, NFC and with single spaces, as PAM wants it."""
    normal = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text.strip().lower()))
    return "sha256:" + hashlib.sha256(normal.encode()).hexdigest()


def write(memories: Sequence[Memory], made_at: str) -> Written:
    store = {
        "schema": SCHEMA,
        "schema_version": "1.0",
        "exported_by": "winnow/0.1.0",
        "export_date": made_at,
        "owner": {"id": OURS},
        "memories": [_fields(memory, made_at) for memory in memories],
        "export_type": "full",
    }
    return Written(dumps(store) + "\n")


def _fields(memory: Memory, made_at: str) -> dict[str, Any]:
    return {
        "id": f"winnow-{memory.id}",
        "type": "custom",
        "custom_type": memory.kind,
        "status": "active",
        "content": memory.text,
        "content_hash": content_hash(memory.text),
        "tags": [tag for tag in memory.tags if _TAG.fullmatch(tag)],
        "confidence": {"current": memory.confidence, "decay_model": "none"},
        "temporal": {"created_at": made_at},  # a bank counts sessions, which metadata carries
        "provenance": {"platform": OURS, "extraction_method": "api_export"},
        "metadata": {"domain": memory.domain, OURS: beyond_text(memory)},
    }


FORMAT = MemoryFormat(
    "pam",
    "Portable AI Memory",
    '{"schema": "portable-ai-memory", "memories": […]}',
    ".json",
    matches,
    read,
    write,
    ALL_FIELDS,
)
