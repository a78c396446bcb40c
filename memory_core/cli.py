"""The command `winnow`: its commands come with the modules that are imported here."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from typer.models import CommandInfo

from memory_core import MemoryCoreError
from memory_core.commands import (
    agent,
    compress,
    curate,
    dashboard,
    history,
    map,
    mcp,
    transfer,
)
from memory_core.commands.command_line import (
    ERROR,
    FAULT,
    READER_GONE,
    WRONG_USAGE,
    ReaderGone,
    UsageError,
    app,
    asked_for_json,
    note,
)

__all__ = ["app", "main"]
_MODULES = (agent, compress, curate, dashboard, history, map, mcp, transfer)
"""Whose import adds their commands to the app."""
ORDER = (
    "run", "demo", "retrieve", "outcome", "mcp", "reflect", "add", "review", "audit", "compress",
    "map", "import", "export", "history", "undo", "reembed",
)  # fmt: skip
"""In which the help lists them."""
TRACEBACK_VARIABLE = "WINNOW_TRACEBACK"
"""Set to anything, a fault of Winnow itself ends with Python's traceback."""


def _place(command: CommandInfo) -> int:
    name = command.name or command.callback.__name__  # type: ignore[union-attr]
    return ORDER.index(name) if name in ORDER else len(ORDER)


app.registered_commands.sort(key=_place)


def main() -> None:
    """Run the command. Whatever goes wrong is one sentence, and an exit code that means it."""
    _open_streams()
    try:
        # By itself Typer would print what is wrong with the usage, and not as JSON.
        sys.exit(app(prog_name="winnow", standalone_mode=not asked_for_json()))
    except Exception as error:
        code = _ended_by(error)
    _drop_what_nobody_takes()
    sys.exit(code)


def _ended_by(error: Exception) -> int:
    """The exit code for an error, which is told where somebody may hear it."""
    if isinstance(error, ReaderGone):
        return READER_GONE
    if isinstance(error, UsageError):
        _tell("UsageError", error.format_message())
        return WRONG_USAGE
    if isinstance(error, MemoryCoreError):
        _tell(type(error).__name__, str(error))
        return ERROR
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        _tell(type(error).__name__, f"{error.strerror or error}{where}.")
        return ERROR
    if os.environ.get(TRACEBACK_VARIABLE):
        raise error
    kind = type(error).__name__
    _tell(
        kind,
        f"Winnow itself is at fault ({kind}: {error}). With {TRACEBACK_VARIABLE}=1 it shows where; "
        "please report that.",
    )
    return FAULT


def _drop_what_nobody_takes() -> None:
    """Python writes what waits for the output once more at its end, and tells when it fails."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Standard streams that can be written to: UTF-8, and leading nowhere where they are closed.

    A file that is opened later would else take their place, and what is printed would end in it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if not stream.isatty():
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]


def _tell(kind: str, message: str) -> None:
    """An error, for a person or, with `--json`, for a script."""
    if asked_for_json():
        document = json.dumps({"error": kind, "message": message}, ensure_ascii=False)
        with contextlib.suppress(OSError):
            print(document, file=sys.stderr, flush=True)
    else:
        note(f"winnow: {message}")


if __name__ == "__main__":
    main()
