"""What the commands of `winnow` share: the app, common options, how they print and how they end.

A result goes to the standard output, and everything else to the error output: progress, notes,
doubts, errors. With `--json` the result is one JSON document, and an error is one, too.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import BANK_VARIABLE, MemoryBank, MemoryCoreError, Operation, Plan, demo_bank

ERROR = 1
"""Exit code: it could not be done; nothing was written."""
WRONG_USAGE = 2
"""Exit code: there is no such command or option, or its value is none."""
FINDINGS = 3
"""Exit code: done, and something is to be looked at: findings, or parts that were refused."""
FAULT = 70
"""Exit code: Winnow itself is at fault."""
READER_GONE = 141
"""Exit code when who read the output has ended, as of a program that SIGPIPE ends."""

app = typer.Typer(
    name="winnow",
    help="See, test and prune what your AI agents learned.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Bank = Annotated[
    Path | None,
    typer.Option("--bank", help=f"The bank's file; else {BANK_VARIABLE}, else the demo bank."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Reason = Annotated[str, typer.Option(help="Why, for the history.")]
SEVERAL = "May be given several times."


_HARMLESS = "\n\t\u200c\u200d"  # the last two join letters and emoji


class ReaderGone(Exception):
    """Nobody reads the output any more."""


class OutputError(MemoryCoreError):
    """The output takes nothing more."""


UsageError: type[Any] = typer.BadParameter.__bases__[0]
"""Of all that is wrong with how a command was called; Typer exports its kinds alone."""


def bank_path(bank: Path | None) -> Path:
    """The bank's file that was asked for."""
    named = os.environ.get(BANK_VARIABLE)
    return bank or (Path(named) if named else demo_bank())


def open_bank(bank: Path | None) -> MemoryBank:
    """The bank that was asked for; one that is not there is not made."""
    return MemoryBank.open(bank_path(bank), create=False)


# -- printing -------------------------------------------------------------------------------------


def say(line: str = "") -> None:
    """A line of the result. On a terminal, no text can play with the terminal."""
    write_out(f"{plain(line) if sys.stdout.isatty() else line}\n")


def note(line: str) -> None:
    """A line for who watches: on the error output. Work does not end because nobody does."""
    with contextlib.suppress(OSError):
        print(plain(line), file=sys.stderr, flush=True)


def write_out(content: str | bytes) -> None:
    """Write to the standard output at once, and all of it. Raises ReaderGone and OutputError."""
    if isinstance(content, str):
        content = content.encode(sys.stdout.encoding, errors="replace")
    rest = memoryview(content)
    try:
        sys.stdout.flush()
        while rest:  # an unbuffered output takes what a pipe holds, and says how much that was
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputError(f"The output cannot be written: {error.strerror}.") from error


def plain(text: str) -> str:
    """A text whose control characters are shown instead of obeyed, line ends and tabs aside."""
    return "".join(
        c if c.isprintable() or c in _HARMLESS else c.encode("unicode_escape").decode()
        for c in text
    )


def print_json(value: Any) -> None:
    """One JSON document: records as objects, NaN and infinity as null."""
    document = json.dumps(_jsonable(value), ensure_ascii=False, indent=2, allow_nan=False)
    write_out(document.replace("\x7f", "\\u007f").replace("\x9b", "\\u009b") + "\n")


def _jsonable(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _jsonable(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _jsonable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_jsonable(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def show_progress(doing: str, fraction: float) -> None:
    """A bar that is written over, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return
    share = min(max(fraction, 0.0), 1.0)
    filled = round(24 * share)
    line = f"{'━' * filled}{'╌' * (24 - filled)} {share:4.0%} {plain(doing)}"
    end = "\n" if share >= 1 else ""
    width = shutil.get_terminal_size().columns - 1
    print(f"\r\033[K{line[:width]}", end=end, file=sys.stderr, flush=True)


def asked_for_json() -> bool:
    """Whether this call of the command is to answer in JSON."""
    words = sys.argv[1:]
    return "--json" in (words[: words.index("--")] if "--" in words else words)


# -- what is shown of records ---------------------------------------------------------------------


def operation_as_json(operation: Operation) -> dict[str, Any]:
    """An operation under its name, without what it leaves alone."""
    fields = {key: one for key, one in asdict(operation).items() if one is not None}
    return {"name": type(operation).__name__.lower(), **fields}


def operation_in_words(operation: Operation) -> str:
    """What an operation would do, in a line."""
    name, text = type(operation).__name__, getattr(operation, "text", None)
    ids = getattr(operation, "ids", None) or getattr(operation, "id", None)
    of = "" if ids is None else f" {', '.join(map(str, ids)) if isinstance(ids, tuple) else ids}"
    return f"{name}{of}: {text}" if text else f"{name}{of}"


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """Changes, refusals and doubts of a plan."""
    return {
        "changes": [
            {
                "action": change.action,
                "id": change.memory_id if change.memory_id > 0 else None,
                "before": change.before.text if change.before else None,
                "after": change.after.text if change.after else None,
            }
            for change in plan.changes
        ],
        "refused": [{"operation": r.index + 1, "reason": r.reason} for r in plan.refused],
        "doubts": [{"operation": d.index + 1, "rule": d.rule, "message": d.message}
                   for d in plan.lints],
    }  # fmt: skip
