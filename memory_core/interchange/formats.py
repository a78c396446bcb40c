"""What a format is to this package: how it is told, read and written, and what it can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.interchange.entries import ImportEntry, ImportProblem
from memory_core.interchange.source import Record, Source, Unfit
from memory_core.records import INITIAL_CONFIDENCE, Kind, Memory

Found = Iterable[ImportEntry | ImportProblem]


@dataclass(frozen=True, slots=True)
class Written:
    """A format's file, and what of the memories it does not hold beyond whole fields."""

    content: str | bytes
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryFormat:
    """One format of memories."""

    name: str
    """Its key."""
    title: str
    """Its name for people."""
    shape: str
    """How its files look, in short."""
    suffix: str
    """Of its files, with the dot."""
    matches: Callable[[Source], bool]
    """Whether a file looks like it; formats are asked in the order of the registry."""
    read: Callable[[Source], Found]
    """Entries and problems in order. Raises Unfit when the file as a whole does not fit."""
    write: Callable[[Sequence[Memory], str], Written] | None = None
    """None: import only. The second argument is the time of the export, as ISO 8601."""
    holds: frozenset[str] = frozenset()
    """Fields of a memory, beside its text, that come back when its file is read."""
    states: tuple[str, ...] = ()
    """Of operations: titles of the formats whose ids they speak of."""
    media_type: str = "application/json"
    only: Kind | None = None
    """The one kind that its files hold; None for all."""


def each(
    records: Iterable[Record], one: Callable[[Record], Found]
) -> Iterator[ImportEntry | ImportProblem]:
    """What a function makes of each record; one that does not fit is a problem, with its place."""
    for record in records:
        if record.problem:
            yield ImportProblem(record.where, record.problem)
            continue
        try:
            yield from list(one(record))
        except Unfit as error:
            yield ImportProblem(record.where, str(error))


def has_keys(source: Source, *keys: str) -> bool:
    """Whether one of the first records has all these keys."""
    return any(all(key in sample for key in keys) for sample in source.samples())


# -- what a target cannot hold --------------------------------------------------------------------

_SET: dict[str, tuple[str, Callable[[Memory], bool]]] = {
    "kind": ("kind (other than strategic)", lambda m: m.kind != "strategic"),
    "domain": ("domain", lambda m: m.domain != "general"),
    "detail": ("detail", lambda m: m.detail is not None),
    "confidence": ("confidence", lambda m: m.confidence != INITIAL_CONFIDENCE),
    "counts": ("counts of use and success", lambda m: m.usage_count > 0),
    "epoch": ("session of creation", lambda m: m.epoch > 0),
    "tags": ("tags", lambda m: bool(m.tags)),
    "pinned": ("pin", lambda m: m.pinned),
    "provenance": (
        "provenance",
        lambda m: bool(m.provenance.evidence or m.provenance.merged_from or m.provenance.note),
    ),
}
ALL_FIELDS = frozenset(_SET)


def not_held(memories: Sequence[Memory], holds: frozenset[str]) -> tuple[str, ...]:
    """What a file with these fields leaves out, a sentence for each field that is in use."""
    said = []
    for field, (name, in_use) in _SET.items():
        count = 0 if field in holds else sum(map(in_use, memories))
        if count:
            said.append(f"the {name} of {count:,} {'memory' if count == 1 else 'memories'}")
    return tuple(said)


def of(count: int, what: str) -> tuple[str, ...]:
    """A sentence about some memories; none where there are none."""
    return (f"{what} ({count:,})",) if count else ()


def slug(text: str, otherwise: str = "general") -> str:
    """A label for ids: lower-case letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or otherwise


class UniqueKeys:
    """Keys of a JSON object, each once: the second of a name gets “ (2)” behind it."""

    def __init__(self) -> None:
        self._taken: set[Any] = set()
        self.renamed = 0

    def new(self, key: str, within: str = "") -> str:
        chosen, number = key, 1
        while (within, chosen) in self._taken:
            number += 1
            chosen = f"{key} ({number})"
        self._taken.add((within, chosen))
        self.renamed += chosen != key
        return chosen
