"""What the commands of `winnow` share: the app, the options that all take, and how they print."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import BANK_VARIABLE, MemoryBank, demo_bank

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


def bank_path(bank: Path | None) -> Path:
    """The bank's file that was asked for."""
    named = os.environ.get(BANK_VARIABLE)
    return bank or (Path(named) if named else demo_bank())


def open_bank(bank: Path | None) -> MemoryBank:
    """The bank that was asked for; one that is not there is not made."""
    return MemoryBank.open(bank_path(bank), create=False)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def show_progress(doing: str, fraction: float) -> None:
    """One line that is written over, on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        end = "\n" if fraction >= 1 else ""
        print(f"\r\033[K{fraction:4.0%} {doing}", end=end, file=sys.stderr, flush=True)
