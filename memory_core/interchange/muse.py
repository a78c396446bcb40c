"""MUSE's three files, one a kind of memory.

strategic   `{problem: text}`
procedural  `{application: {operation: {preconditions, steps, notes}}}`, or a text for the operation
tool        `{tool: {tool_description, tool_instruction}}`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import a_text, an_object, some_text, some_texts, unread
from memory_core.interchange.formats import Found, MemoryFormat, UniqueKeys, Written, each, of
from memory_core.interchange.source import Record, Source, Unfit, check_count
from memory_core.records import Kind, Memory, ProceduralDetail, StrategicDetail, ToolDetail
from memory_core.serialization import dumps


def _mapping(source: Source) -> dict[str, Any]:
    value = source.value
    return value if isinstance(value, dict) else {}


def _records(source: Source, what: str) -> list[Record]:
    mapping = _mapping(source)
    if not mapping:
        raise Unfit(f"it is no JSON object of {what}.")
    check_count(len(mapping))
    return [Record(f"“{name[:60]}”", (name, value)) for name, value in mapping.items()]


def _others(memories: Sequence[Memory], kind: Kind) -> tuple[str, ...]:
    return of(sum(m.kind != kind for m in memories), f"memories that are not {kind}")


# -- strategic ------------------------------------------------------------------------------------


def _matches_strategic(source: Source) -> bool:
    values = list(_mapping(source).values())
    return bool(values) and all(isinstance(value, str) for value in values)


def _read_strategic(source: Source) -> Found:
    return each(_records(source, "texts"), _strategy)


def _strategy(record: Record) -> Found:
    problem, text = record.value
    yield ImportEntry(record.where, source_id=" ".join(problem.split()), lesson=Lesson(
        a_text(text, "text"), kind="strategic", detail=StrategicDetail(problem)))  # fmt: skip


def _write_strategic(memories: Sequence[Memory], made_at: str) -> Written:
    keys, unnamed = UniqueKeys(), 0
    made: dict[str, str] = {}
    for memory in memories:
        if memory.kind == "strategic":
            problem = memory.detail.problem if isinstance(memory.detail, StrategicDetail) else ""
            unnamed += not problem
            made[keys.new(problem or f"memory {memory.id}")] = memory.text
    return Written(dumps(made) + "\n", (
        *_others(memories, "strategic"),
        *of(unnamed, "strategies without a problem are keyed by their number"),
        *of(keys.renamed, "problems that several strategies answer are numbered"),
    ))  # fmt: skip


# -- procedural -----------------------------------------------------------------------------------


def _matches_procedural(source: Source) -> bool:
    values = list(_mapping(source).values())
    inner = [v for value in values if isinstance(value, dict) for v in value.values()]
    told = any(isinstance(v, dict) and ("steps" in v or "preconditions" in v) for v in inner)
    plain = bool(inner) and all(isinstance(value, str) for value in inner)
    return all(isinstance(value, dict) for value in values) and (told or plain)


def _read_procedural(source: Source) -> Found:
    return each(_records(source, "applications"), _application)


def _application(record: Record) -> Iterator[ImportEntry | ImportProblem]:
    application, operations = record.value
    operations = an_object(operations, "an application")
    check_count(len(operations))
    inner = [Record(f"{record.where} / “{name[:60]}”", (application, name, value))
             for name, value in operations.items()]  # fmt: skip
    yield from each(inner, _procedure)


def _procedure(record: Record) -> Found:
    application, operation, value = record.value
    if isinstance(value, str):
        value = {"steps": value}
    fields = an_object(value, "an operation")
    detail = ProceduralDetail(
        some_texts(fields.get("steps")), some_texts(fields.get("preconditions"))
    )
    notes = "\n".join(some_texts(fields.get("notes")))
    lesson = Lesson(
        a_text(operation, "operation"), kind="procedural", domain=some_text(application) or None,
        detail=detail, note=notes,
    )  # fmt: skip
    yield ImportEntry(record.where, lesson=lesson, source_id=" ".join(operation.split()),
                lost=unread(fields, ("steps", "preconditions", "notes")))  # fmt: skip


def _write_procedural(memories: Sequence[Memory], made_at: str) -> Written:
    keys = UniqueKeys()
    made: dict[str, dict[str, Any]] = {}
    for memory in memories:
        if memory.kind != "procedural":
            continue
        detail = memory.detail if isinstance(memory.detail, ProceduralDetail) else None
        made.setdefault(memory.domain, {})[keys.new(memory.text, memory.domain)] = {
            "preconditions": list(detail.preconditions) if detail else [],
            "steps": list(detail.steps) if detail else [],
            "notes": "",
        }
    return Written(dumps(made) + "\n", (
        *_others(memories, "procedural"), *of(keys.renamed, "procedures of one name are numbered"),
    ))  # fmt: skip


# -- tool -----------------------------------------------------------------------------------------

_TOOL = ("tool_description", "tool_instruction")


def _matches_tool(source: Source) -> bool:
    values = list(_mapping(source).values())
    return any(isinstance(v, dict) and any(name in v for name in _TOOL) for v in values)


def _read_tool(source: Source) -> Found:
    return each(_records(source, "tools"), _tool)


def _tool(record: Record) -> Found:
    name, value = record.value
    fields = an_object(value, "a tool")
    lesson = Lesson(
        a_text(fields.get("tool_description"), "tool_description"), kind="tool",
        detail=ToolDetail(name, some_text(fields.get("tool_instruction"))),
    )  # fmt: skip
    yield ImportEntry(record.where, lesson=lesson, source_id=" ".join(name.split()),
                lost=unread(fields, _TOOL))  # fmt: skip


def _write_tool(memories: Sequence[Memory], made_at: str) -> Written:
    keys, unnamed = UniqueKeys(), 0
    made: dict[str, dict[str, str]] = {}
    for memory in memories:
        if memory.kind != "tool":
            continue
        detail = memory.detail if isinstance(memory.detail, ToolDetail) else ToolDetail()
        unnamed += not detail.tool
        key = keys.new(detail.tool or f"memory {memory.id}")
        made[key] = {"tool_description": memory.text, "tool_instruction": detail.usage}
    return Written(dumps(made) + "\n", (
        *_others(memories, "tool"),
        *of(unnamed, "lessons that name no tool are keyed by their number"),
        *of(keys.renamed, "tools with several lessons are numbered"),
    ))  # fmt: skip


# -- the three formats ----------------------------------------------------------------------------


_SHAPES: dict[Kind, str] = {
    "strategic": '{"problem": "text"}',
    "procedural": '{"application": {"operation": {"preconditions", "steps", "notes"}}}',
    "tool": '{"tool": {"tool_description", "tool_instruction"}}',
}


def _format(
    kind: Kind,
    matches: Callable[[Source], bool],
    read: Callable[[Source], Found],
    write: Callable[[Sequence[Memory], str], Written],
    *held: str,
) -> MemoryFormat:
    # Those of another kind are not in the file at all, so that its kind goes without saying.
    holds = frozenset({"kind", "detail", *held})
    return MemoryFormat(
        f"muse-{kind}", f"MUSE {kind} memory", _SHAPES[kind], ".json", matches, read, write, holds,
        only=kind,
    )  # fmt: skip


STRATEGIC = _format("strategic", _matches_strategic, _read_strategic, _write_strategic)
PROCEDURAL = _format(
    "procedural", _matches_procedural, _read_procedural, _write_procedural, "domain"
)
TOOL = _format("tool", _matches_tool, _read_tool, _write_tool)
