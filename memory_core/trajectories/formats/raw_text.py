"""What no format fits: one step of text."""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.run_records import Step, Trajectory
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.shapes import json_text
from memory_core.trajectories.source import ABSENT, Source


def matches(source: Source) -> bool:
    return True


def read(source: Source) -> Iterator[Trajectory]:
    text = source.text.strip() or json_text("" if source.value is ABSENT else source.value)
    first_line = text.split("\n", 1)[0].strip()
    yield Trajectory(first_line[:200], (Step(1, "user", source.pictures.out_of(text)),))


FORMAT = Format("raw text", matches, read)
