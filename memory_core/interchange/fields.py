"""Taking fields out of records that may hold anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from memory_core.confidence import updated
from memory_core.interchange.source import Unfit
from memory_core.records import INITIAL_CONFIDENCE, MAX_CONFIDENCE, MIN_CONFIDENCE
from memory_core.validation import shown


def printable(text: str) -> str:
    """A text that can be shown and written: halves of surrogate pairs stand as their codes."""
    return text.encode("utf-8", "backslashreplace").decode()


def an_object(value: Any, what: str = "a record") -> dict[str, Any]:
    """An object. Raises Unfit for anything else."""
    if not isinstance(value, dict):
        raise Unfit(f"{what} must be a JSON object; it is {shown(value)}.")
    return value


def any_object(value: Any) -> dict[str, Any]:
    """An object, empty for what is none."""
    return value if isinstance(value, dict) else {}


def any_list(value: Any) -> list[Any]:
    """A list, empty for what is none."""
    return value if isinstance(value, list) else []


def a_text(value: Any, name: str) -> str:
    """A text that is not blank. Raises Unfit."""
    if value is None:
        raise Unfit(f"it has no “{name}”.")
    if not isinstance(value, str):
        raise Unfit(f"its “{name}” must be text; it is {shown(value)}.")
    if not value.strip():
        raise Unfit(f"its “{name}” is empty.")
    return value


def some_text(value: Any) -> str:
    """A text, or nothing where there is none."""
    return value.strip() if isinstance(value, str) else ""


def some_id(value: Any) -> str:
    """An id as text, on one line; nothing where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    try:
        return " ".join(str(value).split())[:200]
    except ValueError:  # thousands of digits
        return ""


def some_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or the lines of one text, those that are not blank."""
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return ()
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def a_count(value: Any, name: str) -> int:
    """A count, from 0 up; none is 0. Raises Unfit."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        raise Unfit(f"its “{name}” must be a whole number, 0 or more; it is {shown(value)}.")
    return value


def within(confidence: Any) -> float | None:
    """A number as a confidence, brought within its bounds; None for what is none."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    return min(max(float(confidence), MIN_CONFIDENCE), MAX_CONFIDENCE)


def earned(helpful: int, harmful: int) -> float:
    """The confidence of a new memory after so many sessions by the update rule.

    The order in which they were is not told, so the helpful ones are taken first.
    """
    confidence = INITIAL_CONFIDENCE
    for times, improved in ((helpful, True), (harmful, False)):
        for _ in range(times):
            after = updated(confidence, improved=improved)
            if after == confidence:  # at its bound, where any number more changes nothing
                break
            confidence = after
    return confidence


def unread(record: Mapping[str, Any], taken: Collection[str]) -> tuple[str, ...]:
    """Names of the fields that hold something and are not taken."""
    return tuple(
        str(name)[:60]
        for name, value in record.items()
        if name not in taken and value not in (None, "", 0, False, [], {})
    )
