"""Memento: JSON lines {question, plan, reward} or {case, plan, case_label}. Import only."""

from __future__ import annotations

from typing import Any

from memory_core.interchange.entries import ImportEntry, Lesson
from memory_core.interchange.fields import a_text, an_object, earned, some_id, some_texts, unread
from memory_core.interchange.formats import Found, MemoryFormat, each, has_keys
from memory_core.interchange.source import Record, Source, Unfit, parse
from memory_core.records import ProceduralDetail

_TAKEN = ("question", "case", "plan", "reward", "case_label", "id")
_HELPED = {"positive": True, "success": True, "negative": False, "failure": False}


def matches(source: Source) -> bool:
    return has_keys(source, "question", "plan") or has_keys(source, "case", "plan")


def read(source: Source) -> Found:
    return each(source.records, _one)


def _one(record: Record) -> Found:
    fields = an_object(record.value)
    name = "question" if "question" in fields else "case"
    helped = _helped(fields)
    # As a procedure that was reflected on: applied once, and helped or not as its run ended.
    helpful, harmful = int(helped is True), int(helped is False)
    lesson = Lesson(
        a_text(fields.get(name), name),
        kind="procedural",
        detail=ProceduralDetail(_steps(fields.get("plan"))),
        confidence=earned(helpful, harmful),
        usage_count=helpful + harmful,
        success_count=helpful,
    )
    yield ImportEntry(record.where, lesson=lesson, source_id=some_id(fields.get("id")),
                lost=unread(fields, _TAKEN))  # fmt: skip


def _helped(fields: dict[str, Any]) -> bool | None:
    value = fields.get("reward", fields.get("case_label"))
    if isinstance(value, int | float):
        return value > 0
    return _HELPED.get(value.strip().lower()) if isinstance(value, str) else None


def _steps(plan: Any) -> tuple[str, ...]:
    """The descriptions of a plan, which is JSON, JSON in text, or lines."""
    if isinstance(plan, str) and plan.lstrip()[:1] in ("{", "["):
        try:
            plan = parse(plan)
        except Unfit:
            return some_texts(plan)
    if isinstance(plan, dict):
        plan = plan.get("plan", plan.get("steps"))
    if isinstance(plan, list):
        plan = [one.get("description") if isinstance(one, dict) else one for one in plan]
    return some_texts(plan)


FORMAT = MemoryFormat(
    "memento",
    "Memento cases",
    '{"question", "plan", "reward"} a line',
    ".jsonl",
    matches,
    read,
    media_type="application/jsonl",
)
