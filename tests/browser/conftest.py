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

expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

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
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


Serve = Callable[..., str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts an app, with a home of its own; returns its address."""
    running: list[subprocess.Popen[bytes]] = []

    def start(script: str = "app.py", **environment: str) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = (tmp_path / f"server-{port}.log").open("wb")
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(ROOT / script)],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    "STREAMLIT_SERVER_PORT": str(port),
                    # A file that changes meanwhile would be imported anew, its classes twice.
                    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
                    "WINNOW_HOME": str(tmp_path / "home"),
                    "PYTHONPATH": str(ROOT),
                    **environment,
                },
            )
        )
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                    return address
            except OSError:
                time.sleep(0.2)
        raise AssertionError(Path(log.name).read_text())

    yield start
    for process in running:
        process.terminate()
    for process in running:
        process.wait(20)


def settled(page: Page) -> None:
    """Wait until the script has run through and the page stands still."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_timeout(300)
