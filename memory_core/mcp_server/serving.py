"""Serving a bank over MCP: on the standard streams, or over HTTP to this machine alone."""

from __future__ import annotations

import logging
import os
import socket

from mcp.server.transport_security import TransportSecuritySettings

from memory_core.mcp_server.server import HOST, BankServer
from memory_core.settings import SettingsError

PATH = "/mcp"
SHORTEST_TOKEN = 16
LARGEST_REQUEST = 64 * 1024 * 1024
"""Bytes of one HTTP request: the largest log that is read, and its JSON."""
SECONDS_TO_END = 2
"""After which a stopped server drops the connections that are still open."""


def serve_stdio(server: BankServer) -> None:
    """Serve one client on the standard streams until it closes them."""
    _log_plainly()
    server.run("stdio")


def listening(port: int) -> socket.socket:
    """A socket on this machine's loopback alone; 0 for a free port. Raises SettingsError."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let others take the port over
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # who is told the address may come at once
    except (OSError, OverflowError) as error:
        found.close()
        raise SettingsError(
            f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}. Choose "
            "another one, or 0 for any that is free."
        ) from error
    return found


def check_token(token: str) -> None:
    """Raise SettingsError for a token that is easily guessed or cannot stand in a header."""
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()):
        raise SettingsError(
            f"The token must have {SHORTEST_TOKEN} or more plain letters, digits or signs."
        )
    if " " in token:
        raise SettingsError("The token must not hold a space.")


def serve_http(server: BankServer, listener: socket.socket) -> None:
    """Serve any number of clients that show the token, until interrupted."""
    import uvicorn

    _log_plainly()
    port = listener.getsockname()[1]
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _log_plainly() -> None:
    """One line a warning, on the error output; the SDK would draw boxes there."""
    logging.basicConfig(level=logging.WARNING, format="winnow mcp: %(message)s", force=True)
