"""ReasoningBank: {task_id, query, memory_items[], status}. Import only.

An item is an object {title, description, content}, Markdown with these as headings, or a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import a_text, an_object, some_id, some_text, unread
from memory_core.interchange.formats import Found, MemoryFormat, each, has_keys
from memory_core.interchange.source import Record, Source, Unfit
from memory_core.records import StrategicDetail

_PART = re.compile(
    r"^\s*#{1,6}\s*(?P<name>title|description|content)\b[:\s]*(?P<text>.*?)(?=^\s*#{1,6}\s|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def matches(source: Source) -> bool:
    return has_keys(source, "memory_items")


def read(source: Source) -> Found:
    return each(source.records, _one)


def _one(record: Record) -> Iterator[ImportEntry | ImportProblem]:
    fields = an_object(record.value)
    items = fields.get("memory_items")
    items = [items] if isinstance(items, str) else items
    if not isinstance(items, list):
        raise Unfit("its “memory_items” must be a list.")
    if not items:
        yield ImportProblem(record.where, "it has no memory items.")
    lost = unread(fields, ("task_id", "query", "memory_items", "status"))
    inner = [Record(f"{record.where}, item {n}", (fields, item, lost if n == 1 else ()))
             for n, item in enumerate(items, start=1)]  # fmt: skip
    yield from each(inner, _item)


def _item(record: Record) -> Found:
    fields, item, lost = record.value
    parts = _parts(item)
    query, status = some_text(fields.get("query")), some_text(fields.get("status"))
    said = [
        f"{name.capitalize()}: {parts[name]}" for name in ("title", "description") if parts[name]
    ]
    said += [f"The run: {status}"] if status else []
    lesson = Lesson(
        a_text(parts["content"] or parts["description"] or parts["title"], "content"),
        kind="strategic",
        detail=StrategicDetail(query) if query else None,
        note="\n".join(said),
    )
    yield ImportEntry(
        record.where, lesson=lesson, source_id=some_id(fields.get("task_id")), lost=lost
    )


def _parts(item: Any) -> dict[str, str]:
    names = ("title", "description", "content")
    if isinstance(item, dict):
        return {name: some_text(item.get(name)) for name in names}
    text = a_text(item, "item")
    found = {match["name"].lower(): match["text"].strip() for match in _PART.finditer(text)}
    return (
        {name: found.get(name, "") for name in names}
        if found
        else dict.fromkeys(names, "") | {"content": text}
    )


FORMAT = MemoryFormat(
    "reasoning-bank",
    "ReasoningBank",
    '{"task_id", "query", "memory_items", "status"} a line',
    ".jsonl",
    matches,
    read,
    media_type="application/jsonl",
)
