"""What a bank went through: `winnow history`, `winnow undo` and `winnow reembed`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from memory_core import Change, MemoryBank, Revision
from memory_core.commands.command_line import (
    Bank,
    Json,
    app,
    bank_path,
    open_bank,
    plan_as_json,
    print_json,
    say,
    show_progress,
)
from memory_core.counting import count_of


@app.command()
def history(
    bank: Bank = None,
    last: Annotated[int, typer.Option(min=1, help="How many revisions, or changes.")] = 20,
    memory: Annotated[int | None, typer.Option(help="Only what happened to this memory.")] = None,
    as_json: Json = False,
) -> None:
    """List revisions, the newest first.

    Or, with --memory, all that happened to one memory.
    """
    opened = open_bank(bank)
    if memory is not None:
        _life(opened.history(memory)[::-1][:last], as_json)
        return
    revisions = opened.revisions()[::-1][:last]
    if as_json:
        print_json([_revision_as_json(r) for r in revisions])
        return
    for r in revisions:
        counts = f"+{r.added} ~{r.changed} −{r.removed}"
        say(f"{r.number:>5}  {r.made_at:%Y-%m-%d %H:%M}  {counts:<14} {r.actor}: {r.reason}")


def _revision_as_json(revision: Revision) -> dict[str, Any]:
    return {**asdict(revision), "ids": dict(revision.ids)}


def _life(changes: tuple[Change, ...], as_json: bool) -> None:
    if as_json:
        print_json([
            {**asdict(c), "revision": _revision_as_json(c.revision) if c.revision else None}
            for c in changes
        ])  # fmt: skip
        return
    for c in changes:
        if c.revision is None:
            continue
        now = c.after or c.before
        say(f"{c.revision.number:>5}  {c.revision.made_at:%Y-%m-%d %H:%M}  {c.action:<9} "
            f"{c.revision.actor}: {c.rationale or c.revision.reason}")  # fmt: skip
        if now is not None:
            say(f"       {now.confidence:.2f}  {now.text}")


@app.command()
def undo(
    revision: int,
    bank: Bank = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan only.")] = False,
    as_json: Json = False,
) -> None:
    """Take a revision back, as a new one.

    What has changed again since is refused.
    """
    opened = open_bank(bank)
    plan = opened.plan_undo(revision)
    number = None if dry_run else opened.commit(plan).number
    if as_json:
        print_json({"undone": revision, "revision": number, **plan_as_json(plan)})
        return
    if number is not None:
        say(f"Revision {number} takes revision {revision} back.")
        return
    for change in plan.changes:
        now = change.after or change.before
        say(f"{change.action:<9} {change.memory_id}: {now.text if now else ''}")
    for refusal in plan.refused:
        say(f"refused: {refusal.reason}")
    say("Nothing was written.")


@app.command()
def reembed(bank: Bank = None, as_json: Json = False) -> None:
    """Embed all texts by the model that is set now."""

    def show(done: int, total: int) -> None:
        show_progress(f"{done:,} of {total:,} texts", done / max(total, 1))

    count = MemoryBank.reembed(bank_path(bank), progress=show)
    if as_json:
        print_json({"embedded": count})
        return
    said = f"{count_of(count, 'text')} {'was' if count == 1 else 'were'} embedded."
    say(said if count else "The bank speaks this model already.")
