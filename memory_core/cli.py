"""The command `winnow`: its commands come with the modules that are imported here."""

from __future__ import annotations

import json
import os
import sys

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
    READER_GONE,
    ReaderGone,
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


def _place(command: CommandInfo) -> int:
    name = command.name or command.callback.__name__  # type: ignore[union-attr]
    return ORDER.index(name) if name in ORDER else len(ORDER)


app.registered_commands.sort(key=_place)


def main() -> None:
    """Run the command; errors of the library are one sentence and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if not stream.isatty():
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        app(prog_name="winnow")
    except MemoryCoreError as error:
        _tell(type(error).__name__, str(error))
        sys.exit(ERROR)
    except ReaderGone:
        # Python flushes the output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(READER_GONE)


def _tell(kind: str, message: str) -> None:
    """An error, for a person or, with `--json`, for a script."""
    if asked_for_json():
        print(json.dumps({"error": kind, "message": message}, ensure_ascii=False), file=sys.stderr)
    else:
        note(f"winnow: {message}")


if __name__ == "__main__":
    main()
