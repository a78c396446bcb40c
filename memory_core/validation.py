"""What makes a memory valid. Messages say what was wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memory_core.errors import InvalidBatchError, InvalidMemoryError
from memory_core.operations import Batch
from memory_core.records import (
    DETAIL_OF_KIND,
    KINDS,
    MAX_CONFIDENCE,
    MAX_WORDS,
    MIN_CONFIDENCE,
    SOURCES,
    Evidence,
    Memory,
    ProceduralDetail,
    Provenance,
    StrategicDetail,
)

_LARGEST = 2**63 - 1


def _refuse(message: str) -> NoReturn:
    raise InvalidMemoryError(message)


def shown(value: object) -> str:
    """A value for a message, whatever it is: at most 60 characters."""
    try:
        text = repr(value)
    except Exception:  # some values, such as whole numbers of 5,000 digits, cannot be shown
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def check_string(value: object, name: str) -> None:
    """Raise InvalidMemoryError unless a value is text that every store and file can hold."""
    if not isinstance(value, str):
        _refuse(f"The {name} must be text; it is {type(value).__name__}.")
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


def check_kind(kind: object) -> None:
    """Raise InvalidMemoryError for a kind that is not one of the three."""
    _check_name(kind, KINDS, "kind")


def check_memory(memory: Memory) -> None:
    """Raise InvalidMemoryError for the first rule that a memory breaks."""
    check_text(memory.text)
    check_kind(memory.kind)
    _check_label(memory.domain, "domain")
    _check_detail(memory)
    _check_confidence(memory.confidence)
    for name in ("usage_count", "success_count", "epoch"):
        _check_whole(getattr(memory, name), f"`{name}`")
    if memory.success_count > memory.usage_count:
        _refuse(
            f"`success_count` ({memory.success_count}) is above `usage_count` "
            f"({memory.usage_count}); a memory helps at most as often as it is applied."
        )
    for tag in memory.tags:
        _check_label(tag, "tag")
    _check_truth(memory.pinned, "`pinned`")
    _check_provenance(memory.provenance)


def check_evidence(evidence: object) -> None:
    """Raise InvalidMemoryError unless a value is a tuple of Evidence that can be stored."""
    if not isinstance(evidence, tuple):
        _refuse(f"Evidence must be a tuple of Evidence; it is {type(evidence).__name__}.")
    for item in evidence:
        if not isinstance(item, Evidence):
            _refuse(f"Evidence must be a tuple of Evidence; it holds {shown(item)}.")
        check_string(item.trajectory_id, "trajectory id")
        for step in item.steps:
            _check_whole(step, "A step number")


def check_batch(batch: object) -> None:
    """Raise InvalidBatchError unless a batch can be planned. Its operations are not looked at."""
    if not isinstance(batch, Batch):
        raise InvalidBatchError(f"A Batch is needed; this is {type(batch).__name__}.")
    for name in ("reason", "kind", "key"):
        try:
            check_string(getattr(batch, name), f"batch's {name}")
        except InvalidMemoryError as error:
            raise InvalidBatchError(str(error)) from error


def _check_name(value: object, names: Sequence[str], what: str) -> None:
    if not isinstance(value, str) or value not in names:
        _refuse(f"Unknown {what} {shown(value)}; known: {', '.join(names)}.")


def _check_label(value: object, name: str) -> None:
    check_string(value, name)
    if not str(value).strip():
        _refuse(f"A {name} is empty; give it a name, such as “general”.")


def _check_truth(value: object, name: str) -> None:
    if not isinstance(value, bool):
        _refuse(f"{name} must be true or false; it is {shown(value)}.")


def _check_whole(value: object, name: str) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= _LARGEST:  # type: ignore[operator]
        _refuse(f"{name} must be a whole number from 0 to 2^63 − 1; it is {shown(value)}.")


def _check_confidence(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(f"The confidence must be a number; it is {shown(value)}.")
    if not MIN_CONFIDENCE <= value <= MAX_CONFIDENCE:  # nor is a NaN
        _refuse(
            f"The confidence is {shown(value)}; it must lie between {MIN_CONFIDENCE} and "
            f"{MAX_CONFIDENCE}."
        )


def _check_detail(memory: Memory) -> None:
    detail = memory.detail
    if detail is None:
        return
    wanted = DETAIL_OF_KIND[memory.kind]
    if type(detail) is not wanted:
        _refuse(
            f"A {memory.kind} memory takes a {wanted.__name__}; it was given "
            f"{type(detail).__name__}."
        )
    if isinstance(detail, StrategicDetail):
        parts: tuple[object, ...] = (detail.problem,)
    elif isinstance(detail, ProceduralDetail):
        parts = (*detail.steps, *detail.preconditions)
    else:
        parts = (detail.tool, detail.usage)
    for part in parts:
        check_string(part, "detail")


def _check_provenance(origin: object) -> None:
    if not isinstance(origin, Provenance):
        _refuse(f"The provenance must be a Provenance; it is {type(origin).__name__}.")
    _check_name(origin.source, SOURCES, "source")
    check_string(origin.note, "provenance note")
    check_evidence(origin.evidence)
    for source in origin.merged_from:
        if isinstance(source, bool) or not isinstance(source, int) or abs(source) > _LARGEST:
            _refuse(f"`merged_from` holds ids of memories; {shown(source)} is none.")
