"""Letta agent file (.af): the lines of its memory blocks, each a lesson. Import only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import a_text, an_object, some_id, some_text
from memory_core.interchange.formats import Found, MemoryFormat, each
from memory_core.interchange.source import Record, Source, Unfit

_BULLETS = "-*•–"


def _blocks(source: Source) -> list[Any] | None:
    value = source.value
    if not isinstance(value, dict):
        return None
    agents = value.get("agents")
    if isinstance(agents, list) and isinstance(value.get("blocks"), list):
        return list(value["blocks"])
    core = value.get("core_memory")  # files of before 2025-07 hold one agent, at the root
    return (
        list(core) if isinstance(core, list) and ("messages" in value or "tools" in value) else None
    )


def matches(source: Source) -> bool:
    return _blocks(source) is not None


def read(source: Source) -> Found:
    blocks = _blocks(source)
    if blocks is None:
        raise Unfit("it has no “blocks” beside “agents”.")
    records = [Record(f"block {n}", block) for n, block in enumerate(blocks, start=1)]
    return each(records, _block)


def _block(record: Record) -> Iterator[ImportEntry | ImportProblem]:
    fields = an_object(record.value, "a block")
    label = some_text(fields.get("label")) or some_id(fields.get("id"))
    value = a_text(fields.get("value"), "value")
    for number, line in enumerate(value.splitlines(), start=1):
        where = (
            f"{record.where} ({label}), line {number}"
            if label
            else f"{record.where}, line {number}"
        )
        text = line.strip().lstrip(_BULLETS).strip()
        if not any(map(str.isalnum, text)):
            continue
        if text.startswith("#") or text.endswith(":"):
            yield ImportProblem(where, f"“{text[:60]}” is a heading, no lesson.")
        elif text.endswith("?") and ":" in text and text.rsplit(":", 1)[1].strip() == "?":
            yield ImportProblem(where, f"“{text[:60]}” was never filled in.")
        else:
            yield ImportEntry(where, lesson=Lesson(text, domain=label or None), source_id=label)


FORMAT = MemoryFormat(
    "letta",
    "Letta agent file",
    '{"agents", "blocks": [{"label", "value"}], "tools"}',
    ".af",
    matches,
    read,
)
