"""The command `winnow`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import (
    BANK_VARIABLE,
    MemoryBank,
    MemoryCoreError,
    RetrievalSettings,
    build_demo,
    demo_bank,
)
from memory_core.places import dashboard

app = typer.Typer(
    help="See, test and prune what your AI agents learned.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Bank = Annotated[
    Path | None,
    typer.Option("--bank", help=f"The bank's file; else {BANK_VARIABLE}, else the demo bank."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _path(bank: Path | None) -> Path:
    named = os.environ.get(BANK_VARIABLE)
    return bank or (Path(named) if named else demo_bank())


def _open(bank: Path | None) -> MemoryBank:
    return MemoryBank.open(_path(bank), create=False)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _show(doing: str, fraction: float) -> None:
    if sys.stderr.isatty():
        end = "\n" if fraction >= 1 else ""
        print(f"\r\033[K{fraction:4.0%} {doing}", end=end, file=sys.stderr, flush=True)


@app.command()
def run(bank: Bank = None) -> None:
    """Open the dashboard, and build the demo bank first if there is no bank."""
    path = _path(bank)
    if path == demo_bank() and not path.exists():
        print(f"Building the demo library in {path}, once; it takes about half a minute.")
        build_demo(progress=_show)
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
        build_demo(progress=_show)
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
    found = _open(bank).retrieve(task, settings, record=record)
    if not as_json:
        print(found.injection)
        return
    hits = [
        {"id": h.memory.id, "rank": h.rank, "score": h.score, "text": h.memory.text,
         "parts": asdict(h.parts)}
        for h in found.hits
    ]  # fmt: skip
    _print_json({"retrieval_id": found.id, "revision": found.revision, "hits": hits,
                 "injection": found.injection})  # fmt: skip


@app.command()
def history(bank: Bank = None, last: int = 20, as_json: Json = False) -> None:
    """List revisions, the newest first."""
    revisions = _open(bank).revisions()[::-1][:last]
    if as_json:
        _print_json(
            [{**asdict(r), "ids": {str(k): v for k, v in r.ids.items()}} for r in revisions]
        )
        return
    for r in revisions:
        counts = f"+{r.added} ~{r.changed} −{r.removed}"
        print(f"{r.number:>5}  {r.made_at:%Y-%m-%d %H:%M}  {counts:<14} {r.actor}: {r.reason}")


@app.command()
def undo(revision: int, bank: Bank = None) -> None:
    """Take a revision back, as a new one."""
    opened = _open(bank)
    made = opened.commit(opened.plan_undo(revision))
    print(f"Revision {made.number} takes revision {revision} back.")


@app.command()
def reembed(bank: Bank = None) -> None:
    """Embed all texts of a bank anew, by the model that is set now."""

    def show(done: int, total: int) -> None:
        _show(f"{done:,} of {total:,} texts", done / max(total, 1))

    count = MemoryBank.reembed(_path(bank), progress=show)
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
