"""The commands `winnow import` and `winnow export`."""

from __future__ import annotations

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
    MemoryExport,
    Plan,
    read_memories,
    write_memories,
)
from memory_core.commands.command_line import (
    FINDINGS,
    SEVERAL,
    Bank,
    Json,
    app,
    note,
    open_bank,
    print_json,
    say,
    show_progress,
    write_out,
)
from memory_core.counting import count_of

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
    """Take in a file of memories, as one revision.

    What is refused is told, and the exit code is 3 when something was.
    """
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
    else:
        _print(reading, draft, plan)
        say(_ending(done, dry_run))
    mended = max(done.get("proposed", 0) - len(plan.accepted), 0)
    if len(_refusals(draft, plan)) > mended:
        raise typer.Exit(FINDINGS)


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
        return f"{count_of(done['proposed'], 'proposal')} in Review."
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
    say(f"Read as {reading.title}: {told}.")
    for warning in reading.warnings:
        say(f"  note: {warning}")
    accepted = {planned.index for planned in plan.accepted}
    if cut := len(accepted & set(draft.cut)):
        are = f"{count_of(cut, 'text')} {'is' if cut == 1 else 'are'}"
        say(f"  {are} cut at the end of a sentence; the whole stays in the note.")
    if reading.lost:
        say("  lost: " + ", ".join(f"{name} ({n:,})" for name, n in reading.lost.items()))
    refusals = _refusals(draft, plan)
    if refusals:
        say(f"  refused: {len(refusals):,}")
    for where, reason in refusals[:SHOWN]:
        say(f"    {where}: {reason}")
    if len(refusals) > SHOWN:
        say(f"    … and {len(refusals) - SHOWN:,} more; --json has them all")
    doubts = Counter(lint.rule for lint in plan.lints)
    if doubts:
        say("  doubts: " + ", ".join(f"{rule} ({n:,})" for rule, n in doubts.most_common()))


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
    kind: Annotated[list[str] | None, typer.Option(help=SEVERAL)] = None,
    domain: Annotated[list[str] | None, typer.Option(help=SEVERAL)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; else it goes to the output.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write memories as a file of some format.

    What the format cannot hold is told on the error output. With --json the file stands in the
    document as `content`, unless it is written by --output.
    """
    snapshot = open_bank(bank).snapshot(revision)
    chosen = [
        memory
        for memory in snapshot
        if (not kind or memory.kind in kind)
        and (not domain or memory.domain in {name.strip().lower() for name in domain})
    ]
    export = write_memories(chosen, format)
    if output is not None:
        _write(output, export.content)
    if as_json:
        print_json(_export_as_json(export, len(chosen), output))
        return
    if output is None:
        write_out(export.content)
    else:
        note(f"{count_of(len(chosen), 'memory')} in {output}.")
    for phrase in export.lost:
        note(f"winnow: the file does not hold {phrase}")


def _export_as_json(export: MemoryExport, count: int, output: Path | None) -> dict[str, Any]:
    try:
        content = export.content.decode() if output is None else None
    except UnicodeDecodeError as error:
        raise InterchangeError(
            f"{export.format} is not text, and does not fit into JSON: write it by --output."
        ) from error
    return {"format": export.format, "memories": count, "lost": export.lost,
            "output": output, "content": content}  # fmt: skip


def _write(output: Path, content: bytes) -> None:
    try:
        output.write_bytes(content)
    except OSError as error:
        raise InterchangeError(f"{output} cannot be written: {error.strerror}.") from error
