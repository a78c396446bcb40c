"""Numbers with their nouns."""

from __future__ import annotations


def count_of(number: int, singular: str, plural: str = "") -> str:
    """`1 memory`, `2 memories`."""
    several = plural or (f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s")
    return f"{number:,} {singular if number == 1 else several}"
