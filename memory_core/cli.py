"""The command `winnow`."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from memory_core import (
    AUDIT_RULES,
    BANK_VARIABLE,
    MemoryBank,
    MemoryCoreError,
    RetrievalSettings,
    build_demo,
    demo_bank,
    transfer_commands,
)
from memory_core.command_line import (
    Bank,
    Json,
    app,
    bank_path,
    open_bank,
    print_json,
    show_progress,
)
from memory_core.places import dashboard

__all__ = ["app", "main", "transfer_commands"]  # whose import adds its commands to the app

FINDINGS = 3
"""Exit code of an audit that found something."""


@app.command()
def run(bank: Bank = None) -> None:
    """Open the dashboard, and build the demo bank first if there is no bank."""
    path = bank_path(bank)
    if path == demo_bank() and not path.exists():
        print(f"Building the demo library in {path}, once; it takes about half a minute.")
        build_demo(progress=show_progress)
    environment = {**os.environ, BANK_VARIABLE: str(path)}
    script = dashboard() / "app.py"
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    raise typer.Exit(_wait(subprocess.Popen(command, env=environment, cwd=script.parent)))


def _wait(process: subprocess.Popen[bytes]) -> int:
    """The dashboard's exit code; Ctrl-C goes to it, and we wait for its end."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


@app.command()
def demo(
    reset: Annotated[bool, typer.Option(help="Build it anew where there is one.")] = False,
) -> None:
    """Build the demo bank; print its path."""
    if reset or not demo_bank().exists():
        build_demo(progress=show_progress)
    print(demo_bank())


@app.command()
def retrieve(
    task: str,
    bank: Bank = None,
    limit: int = 5,
    domain: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    confidence_weight: float = 0.2,
    lexical_weight: float = 0.0,
    record: Annotated[bool, typer.Option(help="Keep it in the ledger.")] = False,
    as_json: Json = False,
) -> None:
    """Print what an agent would get for a task."""
    settings = RetrievalSettings(
        limit=limit,
        confidence_weight=confidence_weight,
        lexical_weight=lexical_weight,
        domains=tuple(domain or ()),
    )
    found = open_bank(bank).retrieve(task, settings, record=record)
    if not as_json:
        print(found.injection)
        return
    hits = [
        {"id": h.memory.id, "rank": h.rank, "score": h.score, "text": h.memory.text,
         "parts": asdict(h.parts)}
        for h in found.hits
    ]  # fmt: skip
    print_json({"retrieval_id": found.id, "revision": found.revision, "hits": hits,
                 "injection": found.injection})  # fmt: skip


@app.command()
def history(bank: Bank = None, last: int = 20, as_json: Json = False) -> None:
    """List revisions, the newest first."""
    revisions = open_bank(bank).revisions()[::-1][:last]
    if as_json:
        print_json([{**asdict(r), "ids": {str(k): v for k, v in r.ids.items()}} for r in revisions])
        return
    for r in revisions:
        counts = f"+{r.added} ~{r.changed} −{r.removed}"
        print(f"{r.number:>5}  {r.made_at:%Y-%m-%d %H:%M}  {counts:<14} {r.actor}: {r.reason}")


@app.command()
def undo(revision: int, bank: Bank = None) -> None:
    """Take a revision back, as a new one."""
    opened = open_bank(bank)
    made = opened.commit(opened.plan_undo(revision))
    print(f"Revision {made.number} takes revision {revision} back.")


@app.command()
def audit(
    bank: Bank = None,
    rule: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    as_json: Json = False,
) -> None:
    """List what a curator should look at, the gravest first.

    The exit code is 0 when there is nothing, 3 when there are findings, 1 when the bank cannot be
    read.
    """
    unknown = set(rule or ()) - set(AUDIT_RULES)
    if unknown:
        raise typer.BadParameter(f"no rule {min(unknown)!r}; known: {', '.join(AUDIT_RULES)}")
    found = [f for f in open_bank(bank).audit() if not rule or f.rule in rule]
    if as_json:
        print_json([{**asdict(f), "severity": f.severity} for f in found])
    else:
        for finding in found:
            print(f"{finding.severity:<6}  {finding.rule:<15}  {finding.sentence}")
        print(f"{len(found):,} findings." if found else "Nothing to look at.")
    if found:
        raise typer.Exit(FINDINGS)


@app.command()
def reembed(bank: Bank = None) -> None:
    """Embed all texts of a bank anew, by the model that is set now."""

    def show(done: int, total: int) -> None:
        show_progress(f"{done:,} of {total:,} texts", done / max(total, 1))

    count = MemoryBank.reembed(bank_path(bank), progress=show)
    print(f"{count:,} texts were embedded." if count else "The bank speaks this model already.")


def main() -> None:
    """Run the command; errors of the library are one sentence and exit code 1."""
    try:
        app()
    except MemoryCoreError as error:
        print(f"winnow: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
