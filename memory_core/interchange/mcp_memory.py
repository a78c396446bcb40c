"""The MCP memory server's knowledge graph: JSON lines of entities with observations, and relations.

An observation is a lesson. On the way out a memory is an entity whose one observation is its text,
its type the memory's kind, with a relation to its domain; on the way in that is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import a_text, an_object, some_text
from memory_core.interchange.formats import Found, MemoryFormat, Written, each
from memory_core.interchange.source import Record, Source, Unfit, check_count
from memory_core.records import KINDS, Memory
from memory_core.serialization import dumps

_OURS = re.compile(r"memory-\d+")
_IN_DOMAIN = "in domain"
_DOMAIN = "domain"


def _records(source: Source) -> Sequence[Record]:
    value = source.value
    if isinstance(value, dict) and isinstance(value.get("entities"), list):
        items = [(n, "entity", one) for n, one in enumerate(value["entities"], start=1)]
        if isinstance(value.get("relations"), list):
            items += [(n, "relation", one) for n, one in enumerate(value["relations"], start=1)]
        check_count(len(items))
        return [
            Record(f"{kind} {n}", {"type": kind, **one} if isinstance(one, dict) else one)
            for n, kind, one in items
        ]
    return source.records


def matches(source: Source) -> bool:
    first = [r.value for r in _records(source)[:50] if isinstance(r.value, dict)]
    return any(
        (one.get("type") == "entity" and "entityType" in one)
        or (one.get("type") == "relation" and "relationType" in one)
        for one in first
    )


def read(source: Source) -> Found:
    records = _records(source)
    domains = {
        one["from"]: one["to"]
        for record in records
        if isinstance(one := record.value, dict)
        and one.get("relationType") == _IN_DOMAIN
        and isinstance(one.get("from"), str)
        and isinstance(one.get("to"), str)
    }
    return each(records, lambda record: _one(record, domains))


def _one(record: Record, domains: dict[str, str]) -> Iterator[ImportEntry | ImportProblem]:
    fields = an_object(record.value)
    if fields.get("type") == "relation":
        if fields.get("relationType") != _IN_DOMAIN:
            yield ImportProblem(
                record.where, f"the relation {_in_words(fields)} is no lesson; it is left out."
            )
        return
    if fields.get("type") != "entity":
        raise Unfit("its “type” must be entity or relation.")
    name, sort = a_text(fields.get("name"), "name"), some_text(fields.get("entityType"))
    observations = fields.get("observations")
    if not isinstance(observations, list):
        raise Unfit("its “observations” must be a list.")
    if not observations and sort != _DOMAIN:
        yield ImportProblem(record.where, "it has no observation, so there is no lesson in it.")
    inner = [Record(f"{record.where}, observation {n}", (name, sort, text, domains.get(name)))
             for n, text in enumerate(observations, start=1)]  # fmt: skip
    yield from each(inner, _observation)


def _observation(record: Record) -> Found:
    name, sort, observation, domain = record.value
    text = a_text(observation, "observation")
    kind = sort if sort in KINDS else None
    if not (_OURS.fullmatch(name) and kind) and name.casefold() not in text.casefold():
        text = f"{name}: {text}"  # alone it would not say what it is about
    lesson = Lesson(text, kind=kind, domain=domain or (None if kind else sort) or None)
    yield ImportEntry(record.where, lesson=lesson, source_id=" ".join(name.split())[:200])


def _in_words(fields: dict[str, Any]) -> str:
    ends = (some_text(fields.get(key))[:40] or "?" for key in ("from", "relationType", "to"))
    return f"“{' '.join(ends)}”"


def write(memories: Sequence[Memory], made_at: str) -> Written:
    entities = [
        {"type": "entity", "name": f"memory-{memory.id}", "entityType": memory.kind,
         "observations": [memory.text]}
        for memory in memories
    ]  # fmt: skip
    names = dict.fromkeys(memory.domain for memory in memories)
    named = [{"type": "entity", "name": name, "entityType": _DOMAIN, "observations": []}
             for name in names]  # fmt: skip
    relations = [
        {"type": "relation", "from": f"memory-{memory.id}", "to": memory.domain,
         "relationType": _IN_DOMAIN}
        for memory in memories
    ]  # fmt: skip
    return Written("".join(dumps(line) + "\n" for line in (*entities, *named, *relations)))


FORMAT = MemoryFormat(
    "mcp",
    "MCP memory server",
    '{"type": "entity", "name", "entityType", "observations"} a line',
    ".jsonl",
    matches,
    read,
    write,
    frozenset({"kind", "domain"}),
    media_type="application/jsonl",
)
