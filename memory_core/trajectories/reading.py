"""A text, or a file, to trajectories: its format is found out, its secrets are masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from memory_core.errors import UnreadableTrajectoryError
from memory_core.run_records import Trajectory
from memory_core.trajectories.decoding import MAX_BYTES, decoded, is_zip, zip_entries
from memory_core.trajectories.formats import FORMATS
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.joining import Reading, joined
from memory_core.trajectories.masked import mask_trajectories
from memory_core.trajectories.messages import messages_in
from memory_core.trajectories.normal_form import MAX_DEPTH, clean_trajectory
from memory_core.trajectories.source import ABSENT, Source, fenced

TRAJECTORY_FORMATS = tuple(one.name for one in FORMATS)
"""What `Reading.format` may be, in the order in which they are tried."""
_RAW = FORMATS[-1]
_BY_NAME = {one.name.lower(): one for one in FORMATS}
_DEEPEST = 3
"""How deep in a document that is of no format itself one is looked for."""
_MOST_LOOKED_INTO = 200
_SURPRISES = (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError,
              OverflowError)  # fmt: skip


def read_trajectories(
    text: str | bytes, filename: str | None = None, *, format: str | None = None
) -> Reading:
    """The runs in a text or a file, whatever tool wrote it.

    `filename` only helps with packed files. `format` (one of TRAJECTORY_FORMATS) is found out
    unless it is given. What no format fits is one step of raw text, with a warning.
    Raises UnreadableTrajectoryError for what is empty, binary or above 50 MB, and for an unknown
    `format`.
    """
    wanted = _wanted(format)
    if len(text) > MAX_BYTES:
        raise UnreadableTrajectoryError(
            f"This file has {len(text) / 1e6:,.0f} MB; up to {MAX_BYTES / 1e6:,.0f} MB are read. "
            "Split it by sessions."
        )
    if isinstance(text, bytes) and is_zip(text):
        return _read_zip(text, filename or "", format)
    warnings: list[str] = []
    plain = decoded(text, warnings) if isinstance(text, bytes) else text
    plain = plain.removeprefix("\ufeff")
    if not plain.strip("\ufeff \t\r\n\x00"):
        raise UnreadableTrajectoryError("There is no text in it. Paste a run, or choose its file.")
    source = Source(plain, filename or "", warnings=warnings)
    found, trajectories = _read(source, wanted)
    return _finished(trajectories, found, source)


def _wanted(name: str | None) -> Format | None:
    if name is None:
        return None
    if name.lower() not in _BY_NAME:
        raise UnreadableTrajectoryError(
            f"Unknown format {name!r}; known: {', '.join(TRAJECTORY_FORMATS)}."
        )
    return _BY_NAME[name.lower()]


def _read(source: Source, wanted: Format | None) -> tuple[Format, list[Trajectory]]:
    if wanted is not None:
        found = _told(replace(wanted, matches=_RAW.matches), source)
        if found:
            return wanted, found
        source.warn(f"Nothing in it could be read as {wanted.name}.")
    for candidate in _candidates(source):
        _ = candidate.head  # parsed now, so that what is said of the text itself stays said
        for one in FORMATS[:-1]:
            if found := _told(one, candidate):
                return one, found
    source.warn("No known format fits; the whole text is one step.")
    return _RAW, list(_RAW.read(source))


def _told(one: Format, source: Source) -> list[Trajectory]:
    """The runs that hold anything; a format that gives none does not fit."""
    before = len(source.warnings)
    try:
        found = [_not_too_deep(run) for run in one.read(source)] if one.matches(source) else []
    except _SURPRISES as error:  # a shape that nobody thought of must not end the session
        source.warn(f"It looks like {one.name} and could not be read as such: {error!r}")
        return []
    if any(run.steps or run.children for run in found):
        return found
    del source.warnings[before:]
    return []


def _not_too_deep(run: Trajectory, depth: int = 0) -> Trajectory:
    if not run.children:
        return run
    kept = () if depth >= MAX_DEPTH else run.children
    return Trajectory(
        run.task, run.steps, run.outcome, run.agent, run.model,
        tuple(_not_too_deep(child, depth + 1) for child in kept), run.name,
    )  # fmt: skip


def _candidates(source: Source) -> Iterator[Source]:
    """The text itself; what stands in its fences; what lies in the document."""
    blocks = fenced(source.text)
    whole = bool(blocks) and len(blocks[0]) * 10 > len(source.text.strip()) * 9
    if whole:  # the fence is only what the text was pasted in
        yield Source(blocks[0], source.filename, ABSENT, source.warnings, source.pictures)
    yield source
    for block in () if whole else blocks[:_MOST_LOOKED_INTO]:
        inner = Source(block, source.filename, ABSENT, source.warnings, source.pictures)
        if inner.head:
            yield inner
    if talks := _talks(source.value):
        yield source.part(talks)
    for value in _inside(source.value, _DEEPEST):
        if isinstance(value, str):
            yield Source(value, source.filename, ABSENT, source.warnings, source.pictures)
        else:
            yield source.part(value)
    if isinstance(source.value, str):
        yield Source(source.value, source.filename, ABSENT, source.warnings, source.pictures)
    elif source.value is not ABSENT:
        yield source.in_rows()


def _talks(value: Any) -> list[Any]:
    """A list of lists of messages, each a run, as a list of documents."""
    talks = value if isinstance(value, list) else []
    if len(talks) > 1 and all(isinstance(talk, list) and messages_in(talk) for talk in talks):
        return [{"messages": talk} for talk in talks]
    return []


def _inside(value: Any, depth: int) -> Iterator[Any]:
    """Objects, lists and longer texts in a document, the outer before the inner."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        inner = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one)
            if isinstance(part, dict | list | str)
            and len(part) > (40 if isinstance(part, str) else 0)
        ][:_MOST_LOOKED_INTO]
        yield from inner
        level = [part for part in inner if not isinstance(part, str)]


def _finished(trajectories: Iterable[Trajectory], found: Format, source: Source) -> Reading:
    kept, masked = mask_trajectories([clean_trajectory(one) for one in trajectories])
    if source.pictures.count:
        source.warn(f"{source.pictures.count} pictures or files in it were left out.")
    return Reading(kept, found.name, tuple(source.warnings), masked)


def read_files(files: Iterable[tuple[str, bytes]], *, format: str | None = None) -> Reading:
    """The runs in several files, by name and content; one that was split over them is one again.

    `format` is for all of them. Raises UnreadableTrajectoryError for the first that cannot be
    read, with its name.
    """
    readings = []
    for name, raw in files:
        try:
            readings.append(read_trajectories(raw, name, format=format))
        except UnreadableTrajectoryError as error:
            raise UnreadableTrajectoryError(f"{name}: {error}") from error
    if not readings:
        raise UnreadableTrajectoryError("No file was given.")
    return joined(readings)


def _read_zip(raw: bytes, filename: str, format: str | None) -> Reading:
    """The runs in the files of a zip, such as Inspect's `.eval`."""
    readings: list[Reading] = []
    evaluation = False
    for name, content in zip_entries(raw):
        path = PurePath(name)
        evaluation = evaluation or path.name == "header.json" or path.parts[:1] == ("samples",)
        wanted = path.suffix in (".json", ".jsonl", ".txt", ".traj", ".af", ".log", ".md")
        if not wanted or (evaluation and path.parts[:1] != ("samples",)) or not content.strip():
            continue
        try:
            told = format or ("Inspect" if evaluation else None)
            readings.append(read_trajectories(content, name, format=told))
        except UnreadableTrajectoryError:
            continue
    if not readings:
        raise UnreadableTrajectoryError(
            f"There is no run in the files of {filename or 'this zip'}."
        )
    return joined(readings)
