"""The commands `winnow run` and `winnow demo`."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated

import typer

from memory_core import BANK_VARIABLE, build_demo, demo_bank
from memory_core.commands.command_line import (
    Bank,
    Json,
    app,
    bank_path,
    note,
    print_json,
    say,
    show_progress,
)
from memory_core.places import dashboard


@app.command()
def run(
    bank: Bank = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help="Else Streamlit's own choice, 8501 on.")
    ] = None,
) -> None:
    """Open the dashboard.

    The demo bank is built first if no bank is named and it is not there.
    """
    path = bank_path(bank)
    if path == demo_bank() and not path.exists():
        note(f"Building the demo library in {path}, once; it takes up to half a minute.")
        build_demo(progress=show_progress)
    environment = {**os.environ, BANK_VARIABLE: str(path)}
    if port is not None:
        environment["STREAMLIT_SERVER_PORT"] = str(port)
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
    reset: Annotated[
        bool, typer.Option("--reset", help="Build it anew where there is one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Build the demo bank; print its path."""
    built = reset or not demo_bank().exists()
    if built:
        build_demo(progress=show_progress)
    if as_json:
        print_json({"bank": demo_bank(), "built": built})
    else:
        say(str(demo_bank()))
