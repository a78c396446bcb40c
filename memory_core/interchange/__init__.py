"""Memories from other systems and to them: one small file a format.

reading = read_memories(content, "playbook.txt")     # what the file says
plan = bank.plan(reading.batch(ImportChoices(…)))    # what it would do; nothing is written
export = write_memories(bank.snapshot(), "ace")      # the file, and what it cannot hold
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memory_core.errors import InterchangeError
from memory_core.interchange import (
    ace_playbook,
    grpo_operations,
    grpo_state,
    kayba_prompt,
    kayba_skillbook,
    letta,
    mcp_memory,
    mem0,
    memento,
    muse,
    portable_memory,
    reasoning_bank,
    reme,
    winnow_jsonl,
    winnow_parquet,
)
from memory_core.interchange.drafting import ImportChoices, ImportDraft
from memory_core.interchange.entries import ImportEntry, ImportProblem
from memory_core.interchange.fields import printable
from memory_core.interchange.formats import MemoryFormat, not_held
from memory_core.interchange.reading import ImportReading
from memory_core.interchange.source import MAX_IMPORT_BYTES, Source, Unfit
from memory_core.records import Memory
from memory_core.validation import shown

MEMORY_FORMATS: Mapping[str, MemoryFormat] = {
    form.name: form
    for form in (
        # In the order in which a file is asked whether it is one of them: the telling ones first.
        winnow_parquet.FORMAT,
        winnow_jsonl.FORMAT,
        portable_memory.FORMAT,
        kayba_skillbook.FORMAT,
        letta.FORMAT,
        reme.FORMAT,
        mcp_memory.FORMAT,
        memento.FORMAT,
        reasoning_bank.FORMAT,
        grpo_operations.OPTIONS,
        grpo_operations.OPERATIONS,
        mem0.FORMAT,
        muse.TOOL,
        muse.PROCEDURAL,
        grpo_state.FORMAT,
        muse.STRATEGIC,
        ace_playbook.FORMAT,
        kayba_prompt.FORMAT,
    )
}


@dataclass(frozen=True, slots=True)
class MemoryExport:
    """Memories as a file of some format."""

    format: str
    content: bytes
    filename: str
    media_type: str
    lost: tuple[str, ...]
    """What the target cannot hold, a phrase for each; empty where reading it gives all back."""


def read_memories(
    content: str | bytes, filename: str | None = None, *, format: str | None = None
) -> ImportReading:
    """Read a file of memories; which format it is, the content tells unless `format` does.

    Raises InterchangeError when no format fits or the file is beyond all bounds; a record that
    does not fit is among the reading's problems, with its place.
    """
    source = Source(content, filename)
    chosen = _named(format) if format else _detected(source)
    try:
        found = list(chosen.read(source))
    except Unfit as error:
        raise InterchangeError(
            f"The file is no {chosen.title}: {error} Choose another format, or mend the file."
        ) from error
    if not found:
        raise InterchangeError(
            f"The file reads as {chosen.title}, and there is nothing in it to import."
        )
    return ImportReading(
        format=chosen.name,
        title=chosen.title,
        entries=tuple(_shown_entry(one) for one in found if isinstance(one, ImportEntry)),
        problems=tuple(_shown_problem(one) for one in found if isinstance(one, ImportProblem)),
        warnings=tuple(source.warnings),
        filename=source.filename,
        states=chosen.states,
    )


def _shown_entry(entry: ImportEntry) -> ImportEntry:
    lost = tuple(map(printable, entry.lost))
    return replace(entry, where=printable(entry.where), lost=lost)


def _shown_problem(problem: ImportProblem) -> ImportProblem:
    return ImportProblem(printable(problem.where), printable(problem.message))


def _named(name: object) -> MemoryFormat:
    if not isinstance(name, str) or name not in MEMORY_FORMATS:
        raise InterchangeError(
            f"Unknown format {shown(name)}; known: {', '.join(sorted(MEMORY_FORMATS))}."
        )
    return MEMORY_FORMATS[name]


def _detected(source: Source) -> MemoryFormat:
    for form in MEMORY_FORMATS.values():
        if form.matches(source):
            return form
    about = ""
    if source.text.lstrip()[:1] in ("{", "[") and source.json_problem:
        about = f" It begins like JSON, but {source.json_problem}"
    raise InterchangeError(
        f"The file is none of the known formats.{about} If it is one of them all the same, name "
        f"it: {', '.join(sorted(MEMORY_FORMATS))}."
    )


def write_memories(
    memories: Iterable[Memory], format: str, *, made_at_us: int | None = None
) -> MemoryExport:
    """Write memories, such as a Snapshot, in a format, with what it cannot hold of them.

    `made_at_us` is the time of the export in microseconds since 1970, by default now; formats that
    want a time of creation get it. Raises InterchangeError.
    """
    chosen, several = _named(format), tuple(memories)
    if chosen.write is None:
        raise InterchangeError(f"{chosen.title} can be imported only; choose another format.")
    moment = time.time() if made_at_us is None else made_at_us / 1e6
    made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    written = chosen.write(several, made_at)
    within = [m for m in several if chosen.only in (None, m.kind)]
    content = written.content
    return MemoryExport(
        format=chosen.name,
        content=content.encode() if isinstance(content, str) else content,
        filename=f"memories-{chosen.name}{chosen.suffix}",
        media_type=chosen.media_type,
        lost=(*written.lost, *not_held(within, chosen.holds)),
    )


__all__ = [
    "MAX_IMPORT_BYTES",
    "MEMORY_FORMATS",
    "ImportChoices",
    "ImportDraft",
    "ImportEntry",
    "ImportProblem",
    "ImportReading",
    "MemoryExport",
    "MemoryFormat",
    "read_memories",
    "write_memories",
]
