"""The command `winnow mcp`."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from memory_core import MemoryBank, demo_bank
from memory_core.commands.command_line import Bank, app, bank_path, note, print_json

TOKEN_VARIABLE = "WINNOW_MCP_TOKEN"
PORT = 8808


@app.command("mcp")
def serve(
    bank: Bank = None,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP on this machine, instead of stdio.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="With --http; 0 for any that is free.")
    ] = PORT,
    auto_accept: Annotated[
        bool, typer.Option("--auto-accept", help="Take lessons in at once, without a person.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --http: print address and token as JSON.")
    ] = False,
) -> None:
    """Serve the bank to agents over MCP; what they propose waits in Review.

    On stdio for one client that starts it. With --http for any on this machine that show the
    token: that of WINNOW_MCP_TOKEN, or one that is made and told on the error output.
    """
    from memory_core.mcp_server.server import HOST, build_server
    from memory_core.mcp_server.serving import PATH, check_token, listening, serve_http, serve_stdio

    if as_json and not http:
        raise typer.BadParameter("--json goes with --http; on stdio the output is the protocol's")
    opened = _opened(bank)
    if not http:
        serve_stdio(build_server(opened, auto_accept=auto_accept))
        return
    given = os.environ.get(TOKEN_VARIABLE)
    token = given or secrets.token_urlsafe(32)
    check_token(token)
    with listening(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}{PATH}"
        shown = f"the one in {TOKEN_VARIABLE}" if given else token
        note(f"serving {opened.path} at {address}; the bearer token is {shown}")
        if as_json:
            print_json({"bank": opened.path, "address": address, "token": token})
        serve_http(build_server(opened, auto_accept=auto_accept, token=token), listener)


def _opened(bank: Path | None) -> MemoryBank:
    """The bank that was asked for: an agent may start with nothing, so one that is named is made.

    The demo bank is not: an empty one in its place would hide it.
    """
    path = bank_path(bank)
    missing = not path.exists()
    opened = MemoryBank.open(path, create=path != demo_bank())
    if missing:
        note(f"made a new bank, {opened.path}")
    return opened
