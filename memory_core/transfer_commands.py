"""The commands `winnow import` and `winnow export`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import (
    MAX_IMPORT_BYTES,
    MEMORY_FORMATS,
    ImportChoices,
    ImportDraft,
    ImportReading,
    InterchangeError,
    MemoryBank,
    Plan,
    read_memories,
    write_memories,
)
from memory_core.command_line import Bank, Json, app, open_bank, print_json, show_progress

SHOWN = 20
"""Refusals that are printed; `--json` has them all."""
_FORMATS = ", ".join(MEMORY_FORMATS)
FormatName = Annotated[
    str | None, typer.Option("--format", help=f"Else the content tells. One of: {_FORMATS}.")
]


def _read(file: Path, format: str | None) -> ImportReading:
    try:
        size = file.stat().st_size
        if size > MAX_IMPORT_BYTES:
            raise InterchangeError(
                f"{file} has {size / 1e6:,.0f} MB; at most {MAX_IMPORT_BYTES // 1_000_000} MB are "
                "taken. Import it in parts."
            )
        content = file.read_bytes()
    except OSError as error:
        raise InterchangeError(f"{file} cannot be read: {error.strerror}.") from error
    return read_memories(content, file.name, format=format)


@app.command("import")
def import_memories(
    file: Annotated[Path, typer.Argument(help="A file of memories, from here or elsewhere.")],
    bank: Bank = None,
    format: FormatName = None,
    long_texts: Annotated[
        str, typer.Option(help="Texts over 32 words: refuse, or cut at the end of a sentence.")
    ] = "refuse",
    kind: Annotated[str, typer.Option(help="Of lessons whose kind is not told.")] = "strategic",
    domain: Annotated[str, typer.Option(help="Of lessons whose domain is not told.")] = "general",
    state: Annotated[
        Path | None, typer.Option(help="Of operations: the file in which their ids stand.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan only.")] = False,
    propose: Annotated[
        bool, typer.Option("--propose", help="Send the lessons to Review instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take in a file of memories as one revision, with what is refused and why."""
    choices = ImportChoices(long_texts=long_texts, kind=kind, domain=domain)  # type: ignore[arg-type]
    opened, reading = open_bank(bank), _read(file, format)
    given = None if state is None else _read(state, None)
    draft = reading.draft(choices, snapshot=opened.snapshot(), state=given)
    batch = draft.batch

    def progress(done: int, total: int) -> None:
        show_progress(f"{done:,} of {total:,} texts embedded", done / max(total, 1))

    plan = opened.plan(batch, progress=progress)
    done = {} if dry_run else _carry_out(opened, draft, plan, propose=propose)
    if as_json:
        print_json(_as_json(reading, draft, plan) | done)
        return
    _print(reading, draft, plan)
    print(_ending(done, dry_run))


def _carry_out(
    bank: MemoryBank, draft: ImportDraft, plan: Plan, *, propose: bool
) -> dict[str, Any]:
    if propose:
        return {"proposed": len(bank.propose(draft.for_review(plan)))}
    if not plan.accepted:
        return {}
    return {"revision": bank.commit(plan.accepted_only()).number}


def _ending(done: dict[str, Any], dry_run: bool) -> str:
    if "revision" in done:
        number = done["revision"]
        return f"Revision {number}. `winnow undo {number}` takes it back."
    if "proposed" in done:
        return f"{done['proposed']:,} proposals wait in Review."
    return "Nothing was written." + ("" if dry_run else " Nothing in the file can be taken in.")


def _where(draft: ImportDraft, index: int) -> str:
    return draft.entries[index].where


def _refusals(draft: ImportDraft, plan: Plan) -> list[tuple[str, str]]:
    """Where, and why; also of what became no operation."""
    return [
        *((_where(draft, refusal.index), refusal.reason) for refusal in plan.refused),
        *((problem.where, problem.message) for problem in draft.problems),
    ]


def _print(reading: ImportReading, draft: ImportDraft, plan: Plan) -> None:
    kinds = Counter(type(planned.operation).__name__.lower() for planned in plan.accepted)
    told = ", ".join(f"{count:,} to {name}" for name, count in kinds.items()) or "nothing to take"
    print(f"Read as {reading.title}: {told}.")
    for warning in reading.warnings:
        print(f"  note: {warning}")
    accepted = {planned.index for planned in plan.accepted}
    if cut := len(accepted & set(draft.cut)):
        print(f"  {cut:,} texts are cut at the end of a sentence; the whole stays in the note.")
    if reading.lost:
        print("  lost: " + ", ".join(f"{name} ({n:,})" for name, n in reading.lost.items()))
    refusals = _refusals(draft, plan)
    if refusals:
        print(f"  refused: {len(refusals):,}")
    for where, reason in refusals[:SHOWN]:
        print(f"    {where}: {reason}")
    if len(refusals) > SHOWN:
        print(f"    … and {len(refusals) - SHOWN:,} more; --json has them all")
    doubts = Counter(lint.rule for lint in plan.lints)
    if doubts:
        print("  doubts: " + ", ".join(f"{rule} ({n:,})" for rule, n in doubts.most_common()))


def _as_json(reading: ImportReading, draft: ImportDraft, plan: Plan) -> dict[str, Any]:
    return {
        "format": reading.format,
        "accepted": [
            {"where": _where(draft, planned.index), "changes": [
                {"action": change.action, "text": (change.after or change.before).text}  # type: ignore[union-attr]
                for change in planned.changes
            ], "cut": planned.index in draft.cut}
            for planned in plan.accepted
        ],
        "refused": [
            {"where": where, "reason": reason} for where, reason in _refusals(draft, plan)
        ],
        "lost": reading.lost,
        "warnings": list(reading.warnings),
        "doubts": [
            {"where": _where(draft, lint.index), "rule": lint.rule, "message": lint.message}
            for lint in plan.lints
        ],
    }  # fmt: skip


@app.command("export")
def export_memories(
    bank: Bank = None,
    format: Annotated[
        str, typer.Option("--format", help=f"One of: {_FORMATS}; some can be imported only.")
    ] = "winnow",
    revision: Annotated[int | None, typer.Option(help="Else the latest.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; else it goes to the output.")
    ] = None,
) -> None:
    """Write memories as a file of some format; what it cannot hold goes to the error output."""
    snapshot = open_bank(bank).snapshot(revision)
    chosen = [
        memory
        for memory in snapshot
        if (not kind or memory.kind in kind)
        and (not domain or memory.domain in {name.strip().lower() for name in domain})
    ]
    export = write_memories(chosen, format)
    if output is None:
        sys.stdout.buffer.write(export.content)
        sys.stdout.buffer.flush()
    else:
        _write(output, export.content)
        print(f"{len(chosen):,} memories are in {output}.", file=sys.stderr)
    for phrase in export.lost:
        print(f"winnow: the file does not hold {phrase}", file=sys.stderr)


def _write(output: Path, content: bytes) -> None:
    try:
        output.write_bytes(content)
    except OSError as error:
        raise InterchangeError(f"{output} cannot be written: {error.strerror}.") from error
