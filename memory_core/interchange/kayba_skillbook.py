"""The skillbook of kayba-ai's ACE: `{"skills": {id: {section, content, helpful, harmful, …}}}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_core.interchange.ace_playbook import kind_of_section
from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import (
    a_count,
    a_text,
    an_object,
    earned,
    some_text,
    unread,
)
from memory_core.interchange.formats import Found, MemoryFormat, Written, each, slug
from memory_core.interchange.source import Record, Source, Unfit, check_count
from memory_core.records import Memory, StrategicDetail
from memory_core.serialization import dumps

_TAKEN = frozenset({
    "id", "section", "content", "insight", "issue", "justification", "evidence", "helpful",
    "harmful", "helpful_count", "harmful_count", "used_count", "status", "active", "keywords",
    "created_at", "updated_at",
})  # fmt: skip


def _skills(source: Source) -> dict[str, Any] | None:
    value = source.value
    if not isinstance(value, dict):
        return None
    for name in ("skills", "bullets"):  # a book's lessons were called bullets once
        if isinstance(value.get(name), dict) and ("sections" in value or "next_id" in value):
            return dict(value[name])
    return None


def matches(source: Source) -> bool:
    return _skills(source) is not None


def read(source: Source) -> Found:
    skills = _skills(source)
    if skills is None:
        raise Unfit("it has no “skills” beside “sections”.")
    check_count(len(skills))
    return each([Record(f"skill {name}", {"id": name, **an_object(skill, "a skill")})
                 for name, skill in skills.items()], one_skill)  # fmt: skip


def one_skill(record: Record) -> Found:
    """What one skill asks for. Raises Unfit for one that is not in use."""
    fields = record.value
    status = fields.get("status", "active")
    if status not in ("active", None) or fields.get("active") is False:
        raise Unfit(f"it is not in use there: its status is “{some_text(status) or 'inactive'}”.")
    section = some_text(fields.get("section")) or None
    problem = some_text(fields.get("issue"))
    helpful = a_count(fields.get("helpful", fields.get("helpful_count")), "helpful")
    harmful = a_count(fields.get("harmful", fields.get("harmful_count")), "harmful")
    words = fields.get("keywords")
    kind = kind_of_section(section.replace("_", " ") if section else None)
    lesson = Lesson(
        a_text(fields.get("content", fields.get("insight")), "content"),
        kind="strategic" if problem else kind,
        domain=section,
        detail=StrategicDetail(problem) if problem else None,
        confidence=earned(helpful, harmful),
        usage_count=helpful + harmful,
        success_count=helpful,
        tags=tuple(w for w in words if some_text(w)) if isinstance(words, list) else (),
        note=_note(fields),
    )
    yield ImportEntry(record.where, lesson=lesson, source_id=some_text(fields.get("id")),
                lost=unread(fields, _TAKEN))  # fmt: skip


def _note(fields: dict[str, Any]) -> str:
    parts = [(name, some_text(fields.get(name))) for name in ("justification", "evidence")]
    return "\n\n".join(f"{name.capitalize()}: {text}" for name, text in parts if text)


def write(memories: Sequence[Memory], made_at: str) -> Written:
    skills: dict[str, dict[str, Any]] = {}
    sections: dict[str, list[str]] = {}
    for number, memory in enumerate(memories, start=1):
        name = f"{slug(memory.domain)}-{number:05d}"
        sections.setdefault(memory.domain, []).append(name)
        skills[name] = {
            "id": name, "section": memory.domain, "content": memory.text,
            "justification": None, "evidence": None,
            "helpful": memory.success_count,
            "harmful": memory.usage_count - memory.success_count, "neutral": 0,
            "created_at": made_at, "updated_at": made_at, "embedding": None, "status": "active",
            "sources": [],
        }  # fmt: skip
    book = {"skills": skills, "sections": sections, "next_id": len(skills),
            "similarity_decisions": {}}  # fmt: skip
    return Written(dumps(book) + "\n")


FORMAT = MemoryFormat(
    "kayba",
    "kayba skillbook",
    '{"skills": {id: {"section", "content", "helpful", "harmful"}}}',
    ".json",
    matches,
    read,
    write,
    frozenset({"domain", "counts"}),
)
