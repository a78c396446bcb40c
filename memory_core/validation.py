"""What makes a memory valid. Messages say what was wrong and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable

from memory_core.errors import InvalidMemoryError
from memory_core.records import (
    DETAIL_OF_KIND,
    KINDS,
    MAX_CONFIDENCE,
    MAX_WORDS,
    MIN_CONFIDENCE,
    SOURCES,
    Memory,
    ProceduralDetail,
    StrategicDetail,
)

_LARGEST = 2**63 - 1


def _refuse(message: str) -> None:
    raise InvalidMemoryError(message)


def check_string(value: object, name: str) -> None:
    """Raise InvalidMemoryError unless a value is text that every store and file can hold."""
    if not isinstance(value, str):
        return _refuse(f"The {name} must be text; it is {type(value).__name__}.")
    if "\x00" in value:
        _refuse(f"The {name} contains the character U+0000; remove it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(f"The {name} contains half of a surrogate pair, which is no character; remove it.")


def check_text(text: object) -> None:
    """Raise InvalidMemoryError unless a text has 1 to 32 words."""
    check_string(text, "text")
    words = len(str(text).split())
    if not words:
        _refuse("The text is empty; a memory needs 1 to 32 words.")
    if words > MAX_WORDS:
        _refuse(
            f"The text has {words} words; at most {MAX_WORDS} are allowed. Shorten it, or keep "
            "the rest in the memory's detail."
        )


def check_memory(memory: Memory) -> None:
    """Raise InvalidMemoryError for the first rule that a memory breaks."""
    check_text(memory.text)
    if memory.kind not in KINDS:
        _refuse(f"Unknown kind {memory.kind!r}; known: {', '.join(KINDS)}.")
    _check_label(memory.domain, "domain")
    _check_detail(memory)
    _check_numbers(memory)
    for tag in memory.tags:
        _check_label(tag, "tag")
    if not isinstance(memory.pinned, bool):
        _refuse(f"`pinned` must be true or false; it is {memory.pinned!r}.")
    _check_provenance(memory)


def _check_label(value: object, name: str) -> None:
    check_string(value, name)
    if not str(value).strip():
        _refuse(f"A {name} is empty; give it a name, such as “general”.")


def _check_detail(memory: Memory) -> None:
    detail = memory.detail
    if detail is None:
        return None
    wanted = DETAIL_OF_KIND[memory.kind]
    if type(detail) is not wanted:
        return _refuse(
            f"A {memory.kind} memory takes a {wanted.__name__}; it was given "
            f"{type(detail).__name__}."
        )
    if isinstance(detail, StrategicDetail):
        parts: Iterable[object] = (detail.problem,)
    elif isinstance(detail, ProceduralDetail):
        parts = (*detail.steps, *detail.preconditions)
    else:
        parts = (detail.tool, detail.usage)
    for part in parts:
        check_string(part, "detail")


def _check_numbers(memory: Memory) -> None:
    confidence = memory.confidence
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        _refuse(f"The confidence must be a number; it is {confidence!r}.")
    if not math.isfinite(confidence) or not MIN_CONFIDENCE <= confidence <= MAX_CONFIDENCE:
        _refuse(
            f"The confidence is {confidence}; it must lie between {MIN_CONFIDENCE} and "
            f"{MAX_CONFIDENCE}."
        )
    for name in ("usage_count", "success_count", "epoch"):
        value = getattr(memory, name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
            _refuse(f"`{name}` must be a whole number, 0 or more; it is {value!r}.")
    if memory.success_count > memory.usage_count:
        _refuse(
            f"`success_count` ({memory.success_count}) is above `usage_count` "
            f"({memory.usage_count}); a memory helps at most as often as it is applied."
        )


def _check_provenance(memory: Memory) -> None:
    origin = memory.provenance
    if origin.source not in SOURCES:
        _refuse(f"Unknown source {origin.source!r}; known: {', '.join(SOURCES)}.")
    check_string(origin.note, "provenance note")
    for item in origin.evidence:
        check_string(item.trajectory_id, "trajectory id")
