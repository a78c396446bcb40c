"""How long a script's commits take while the dashboard and two agents use the same file.

    python benchmarks/desk_and_agents.py
    python benchmarks/desk_and_agents.py --commits 200 --size 10000 --pause 0.5

Three rounds: the script alone; beside an open dashboard and two MCP servers whose agents pause
between their calls; beside the same without a pause. An agent retrieves (recorded), reports an
outcome and proposes a lesson, one of the two with --auto-accept. A browser goes from page to page
meanwhile (needs Chromium and the extra `dev`; without it nobody looks at the dashboard). Texts are
embedded by HashEmbedder, so that the file and not the model takes the time. What is timed is
`bank.commit` of a plan with one new memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from memory_core.places import BANK_VARIABLE, dashboard

PAGES = ("", "query?task=check+the+exit+code", "review", "ledger", "history")
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
READING = 1.0
"""Seconds that a person looks at a page."""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "WINNOW_MODEL": "hash", "PYTHONPATH": str(dashboard()), **more}


def build(path: Path, size: int) -> None:
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor="benchmark")
    bank.update(
        Batch([Add(f"Check the exit code of tool {n}.", "tool", f"domain {n % 12}")
               for n in range(size)])
    )  # fmt: skip


def commits(path: Path, count: int, name: str) -> list[float]:
    """Milliseconds of each commit of a script."""
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor="script")
    taken = []
    for k in range(count):
        plan = bank.plan(Batch([Add(f"Lesson {k} of {name}: look at step {k}.", "tool", "script")]))
        start = time.perf_counter()
        bank.commit(plan)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


@contextmanager
def served(bank: Path, home: Path) -> Iterator[str]:
    """The dashboard's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        BANK_VARIABLE: str(bank), "WINNOW_HOME": str(home), "STREAMLIT_SERVER_PORT": str(port),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(dashboard() / "app.py")],
        cwd=dashboard(), env=environment(**settings),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(240):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def work(bank: Path, name: str, options: list[str], pause: float, over: threading.Event) -> int:
    """An agent at work over MCP until all is over; how many calls it made."""
    from mcp import Client, StdioServerParameters

    made = 0

    async def main() -> None:
        nonlocal made
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "memory_core.cli", "mcp", "--bank", str(bank), *options],
            env=environment(),
        )
        async with Client(server) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                nonlocal made
                result = await client.call_tool(tool, arguments)
                if result.is_error or result.structured_content is None:
                    raise RuntimeError(f"{tool}: {result.content}")
                made += 1
                await anyio.sleep(pause)
                return result.structured_content

            while not over.is_set():
                found = await call("retrieve_memories", task=f"{name} checks tool {made}")
                ids = [hit["id"] for hit in found["hits"][:2]]
                await call(
                    "record_outcome",
                    retrieval_id=found["retrieval_id"], improved=True, applied=ids,
                )  # fmt: skip
                text = f"Run `{name} --step {made} --at {time.time_ns()}` first."
                await call("propose_memory", text=text, kind="procedural", domain=name)

    anyio.run(main)
    return made


def look(address: str, over: threading.Event) -> int | None:
    """A person who goes from page to page; how many were seen, None without a browser."""
    from playwright.sync_api import sync_playwright

    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    path = next(filter(None, found), None)
    if path is None:
        return None
    seen = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(90_000)
        while not over.is_set():
            page.goto(f"{address}/{PAGES[seen % len(PAGES)]}")
            page.wait_for_selector(IDLE)
            seen += 1
            over.wait(READING)
        browser.close()
    return seen


def together(bank: Path, folder: Path, count: int, pause: float, name: str) -> str:
    """The figures of a script beside a dashboard and two agents, as a line."""
    from concurrent.futures import ThreadPoolExecutor

    over = threading.Event()
    with served(bank, folder / "home") as address, ThreadPoolExecutor(3) as others:
        agents = [
            others.submit(work, bank, "waiter", [], pause, over),
            others.submit(work, bank, "taker", ["--auto-accept"], pause, over),
        ]
        person = others.submit(look, address, over)
        before = len(MemoryBank.open(bank, embedder=HashEmbedder()).revisions())
        time.sleep(8)  # all are at work when the clock starts
        try:
            start = time.perf_counter()
            taken = commits(bank, count, name)
            seconds = time.perf_counter() - start
        finally:
            over.set()
        calls = sum(agent.result() for agent in agents)
        pages = person.result()
    made = len(MemoryBank.open(bank, embedder=HashEmbedder()).revisions()) - before
    looked = "nobody looked" if pages is None else f"{pages} pages were opened"
    return f"{line(taken)}; in {seconds:.0f} s; {calls} agents' calls, {looked}, {made} revisions"


def line(taken: list[float]) -> str:
    p95 = statistics.quantiles(taken, n=20)[-1]
    return (
        f"p50 {statistics.median(taken):,.0f} ms, p95 {p95:,.0f} ms, worst {max(taken):,.0f} ms "
        f"({len(taken)} commits)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--size", type=int, default=500, help="memories in the bank")
    parser.add_argument("--pause", type=float, default=0.5, help="an agent's, in seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bank = Path(folder, "bank.duckdb")
        build(bank, options.size)
        print(f"{options.size:,} memories; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"alone:                  {line(commits(bank, options.commits, 'alone'))}")
        for title, pause in (("agents that pause", options.pause), ("agents that do not", 0.0)):
            figures = together(bank, Path(folder), options.commits, pause, title)
            print(f"{title + ':':<23} {figures}", flush=True)


if __name__ == "__main__":
    main()
