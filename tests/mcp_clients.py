"""Clients of `winnow mcp` in tests: the official SDK's, over stdio and HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult, Implementation

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "memory_core.cli", "mcp")


def environment(**more: str) -> dict[str, str]:
    """The environment of a server that needs no model."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "WINNOW_MODEL": "hash", "PYTHONPATH": paths, **more}


def over_stdio(bank: Path, *options: str, name: str = "tester", **how: Any) -> Client:
    """A client that starts a server of its own."""
    command, *arguments = COMMAND
    server = StdioServerParameters(
        command=command, args=[*arguments, "--bank", str(bank), *options], env=environment()
    )
    return Client(server, client_info=Implementation(name=name, version="1"), **how)


def in_a_loop(conversation: Callable[[], Awaitable[None]]) -> None:
    """Run a conversation to its end, in a thread of its own: Playwright's loop has this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, conversation).result()


@asynccontextmanager
async def over_http(
    address: str, token: str, *, name: str = "tester", **how: Any
) -> AsyncIterator[Client]:
    """A client of a server that runs."""
    async with create_mcp_http_client({"Authorization": f"Bearer {token}"}) as http:
        transport = streamable_http_client(address, http_client=http)
        who = Implementation(name=name, version="1")
        async with Client(transport, client_info=who, **how) as client:
            yield client


@contextmanager
def http_server(bank: Path, *options: str, **more: str) -> Iterator[tuple[str, str]]:
    """A server over HTTP on a free port; its address, and what it said when it began."""
    process = subprocess.Popen(
        [*COMMAND, "--bank", str(bank), "--http", "--port", "0", *options],
        env=environment(**more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = ""
        while " at http://" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        yield said.partition(" at ")[2].partition(";")[0], said
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def answer(result: CallToolResult) -> dict[str, Any]:
    """What a tool answered."""
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    return result.structured_content


def said(result: CallToolResult) -> str:
    """The text of an answer, or of an error."""
    return "".join(part.text for part in result.content if part.type == "text")
