"""A memory as a JSON object with all its fields, and back: our own files, and others' metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.interchange.entries import Lesson
from memory_core.interchange.fields import an_object
from memory_core.interchange.source import Unfit
from memory_core.records import (
    DETAIL_OF_KIND,
    SOURCES,
    Detail,
    Evidence,
    Memory,
    Provenance,
)
from memory_core.serialization import memory_to_dict
from memory_core.validation import shown

FIELDS = frozenset(
    {"id", "kind", "text", "domain", "detail", "confidence", "usage_count", "success_count",
     "epoch", "tags", "pinned", "provenance"}
)  # fmt: skip


def to_fields(memory: Memory) -> dict[str, Any]:
    """All fields of a memory as plain JSON values."""
    return memory_to_dict(memory)


def beyond_text(memory: Memory) -> dict[str, Any]:
    """All fields but id and text: what another system's free metadata carries for us."""
    fields = memory_to_dict(memory)
    del fields["id"], fields["text"]
    return fields


def lesson_of(fields: Mapping[str, Any], text: Any) -> Lesson:
    """The inverse of both. Raises Unfit where a value cannot be one of a memory's.

    Whether the values keep the rules of memories is for the plan to say.
    """
    return Lesson(
        text=text,
        kind=fields.get("kind"),
        domain=fields.get("domain"),
        detail=_detail(fields.get("detail")),
        confidence=fields.get("confidence"),
        usage_count=_or(fields.get("usage_count"), 0),
        success_count=_or(fields.get("success_count"), 0),
        epoch=fields.get("epoch"),
        tags=_texts(fields.get("tags"), "tags"),
        pinned=_or(fields.get("pinned"), False),
        provenance=_provenance(fields.get("provenance")),
    )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise Unfit(f"its “{name}” must be a list of texts; it is {shown(value)}.")
    return tuple(items)


def _detail(value: Any) -> Detail | None:
    if value is None:
        return None
    fields = dict(an_object(value, "its “detail”"))
    kind = fields.pop("kind", None)
    if kind not in DETAIL_OF_KIND:
        raise Unfit(f"its “detail” is of the unknown kind {shown(kind)}.")
    for name in ("steps", "preconditions"):
        if name in fields:
            fields[name] = _texts(fields[name], name)
    try:
        return DETAIL_OF_KIND[kind](**fields)
    except TypeError as error:
        raise Unfit(f"its “detail” has fields that a {kind} memory's has not.") from error


def _provenance(value: Any) -> Provenance | None:
    if value is None:
        return None
    fields = an_object(value, "its “provenance”")
    source = fields.get("source", "manual")
    if source not in SOURCES:
        raise Unfit(f"its source {shown(source)} is unknown; known: {', '.join(SOURCES)}.")
    merged = fields.get("merged_from", [])
    evidence = fields.get("evidence", [])
    if not isinstance(merged, list) or not isinstance(evidence, list):
        raise Unfit("its “merged_from” and “evidence” must be lists.")
    return Provenance(
        source, tuple(map(_evidence, evidence)), tuple(merged), _or(fields.get("note"), "")
    )


def _evidence(value: Any) -> Evidence:
    fields = an_object(value, "evidence")
    steps = fields.get("steps", [])
    if not isinstance(steps, list):
        raise Unfit(f"the steps of its evidence must be a list; they are {shown(steps)}.")
    return Evidence(fields.get("trajectory_id", ""), tuple(steps))
