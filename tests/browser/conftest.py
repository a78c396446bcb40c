"""A real Chromium, and the dashboard as a real server on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

expect.set_options(timeout=60_000)  # a busy machine is slow, not wrong

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs a browser: install chromium")
        pytest.skip("no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page that fails on nothing by itself, 1440 wide."""
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(90_000)
    yield context.new_page()
    context.close()


Serve = Callable[..., str]


class Server:
    """A dashboard, or another app, in a process of its own."""

    def __init__(self, folder: Path, script: str, **environment: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._log = folder / f"server-{port}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(ROOT / script)],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    "STREAMLIT_SERVER_PORT": str(port),
                    # A file that changes meanwhile would be imported anew, its classes twice.
                    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
                    "WINNOW_HOME": str(folder / "home"),
                    "PYTHONPATH": str(ROOT),
                    **environment,
                },
            )

    def wait(self) -> str:
        """Its address, as soon as it answers."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=5):
                    return self.address
            except OSError:
                time.sleep(0.2)
        raise AssertionError(self._log.read_text())

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


class SharedServer:
    """One dashboard for the tests of a worker, since a start costs seconds.

    The bank it is told of is a link, which each test lays anew; a page that is opened then finds
    another file there, as it would if a person had put one in its place.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._link = folder / "current.duckdb"
        self._server: Server | None = None

    def serve(self, bank: str) -> str:
        shutil.rmtree(self._folder / "home", ignore_errors=True)
        self._link.unlink(missing_ok=True)
        self._link.symlink_to(bank)
        if self._server is None:
            environment = {"WINNOW_BANK": str(self._link), "WINNOW_MODEL": "hash"}
            self._server = Server(self._folder, "app.py", **environment)
        return self._server.wait()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    shared = SharedServer(tmp_path_factory.mktemp("shared"))
    yield shared
    shared.stop()


@pytest.fixture
def serve(tmp_path: Path, shared_server: SharedServer) -> Iterator[Serve]:
    """Serves an app and returns its address.

    The first bank that a test names is served by the dashboard that is up already, and embedded
    by HashEmbedder. Whatever else is asked for gets a server and a home of its own; so does a
    test that says `fresh=True`, because it is about the first minute of a server.
    """
    own: list[Server] = []
    calls = 0

    def start(script: str = "app.py", *, fresh: bool = False, **environment: str) -> str:
        nonlocal calls
        calls += 1
        usual = environment.keys() == {"WINNOW_BANK", "WINNOW_MODEL"}
        if calls == 1 and script == "app.py" and usual and not fresh:
            assert environment["WINNOW_MODEL"] == "hash"
            return shared_server.serve(environment["WINNOW_BANK"])
        own.append(Server(tmp_path, script, **environment))
        return own[-1].wait()

    yield start
    for server in own:
        server.stop()


def settled(page: Page) -> None:
    """Wait until the script has run through and the page stands still."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_timeout(300)
