"""What a person waits for in the browser: from a key or a click until the page is done.

    python benchmarks/browser.py                      builds a bank of 10,000 first, some minutes
    python benchmarks/browser.py --bank memories.duckdb --parts query browse

    query   a new task, from Ctrl+Enter until the page's script has ended
    browse  from the click on a row until its detail is there
    map     from the click on Map until its canvas is there, and until all is drawn, first and again
            (needs a fitted map); and what Plotly alone takes for the same figure on an empty page

A copy of the bank is served, the tasks are drawn from its own words, and the model is loaded
before the clock starts; medians of 12 (the map's of 5). Needs Chromium and the extra `dev`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import plotly
from playwright.sync_api import Page, sync_playwright

from memory_core import KINDS, Add, Batch, MemoryBank
from memory_core.demo import Sources
from memory_core.places import BANK_VARIABLE, dashboard, data

RUNS = 12
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
PAINTED = "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
RUNNING = "[data-testid=stApp][data-test-script-state=running]"


def build(path: Path, size: int) -> None:
    """A bank of texts drawn from the demo library's words."""
    rng = random.Random(1)
    words = sorted(
        {w for row in Sources.read(data() / "demo").memories for w in row["text"].split()}
    )
    texts = {" ".join(rng.choices(words, k=rng.randint(12, 32))): None for _ in range(size)}
    bank = MemoryBank.open(path)
    adds = [Add(text, rng.choice(KINDS), f"domain {i % 12}") for i, text in enumerate(texts)]
    bank.commit(bank.plan(Batch(tuple(adds))))


@contextmanager
def served(bank: Path, home: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ, BANK_VARIABLE: str(bank), "WINNOW_HOME": str(home),
        "STREAMLIT_SERVER_PORT": str(port), "PYTHONPATH": str(dashboard()),
    }  # fmt: skip
    command = [sys.executable, "-m", "streamlit", "run", str(dashboard() / "app.py")]
    process = subprocess.Popen(command, cwd=dashboard(), env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        process.terminate()
        process.wait()


def timed(
    action: Callable[[int], None],
    *,
    runs: int = RUNS,
    warm: int = 0,
    before: Callable[[int], None] = lambda run: None,
) -> str:
    """The median and the worst of `runs` actions, after `warm` that do not count."""
    taken = []
    for run in range(warm + runs):
        before(run)
        time.sleep(0.7)  # what a page does at leisure is not the next run's
        start = time.perf_counter()
        action(run)
        taken.append((time.perf_counter() - start) * 1e3)
    taken = taken[warm:]
    return f"median {statistics.median(taken):.0f} ms, worst {max(taken):.0f} ms"


def query(page: Page, address: str, words: list[str]) -> None:
    rng = random.Random(3)
    page.goto(f"{address}/query?task=warm+up")
    task = page.get_by_role("textbox", name="Task")
    task.wait_for()
    page.wait_for_selector(IDLE)

    def write(run: int) -> None:
        task.fill(" ".join(rng.choices(words, k=8)))

    def ask(run: int) -> None:
        task.press("Control+Enter")
        page.wait_for_selector(RUNNING)
        page.wait_for_selector(IDLE)

    print(f"Query, a new task: {timed(ask, warm=3, before=write)}")


def browse(page: Page, address: str) -> None:
    page.goto(address)
    grid = page.get_by_test_id("stDataFrameResizable").first
    grid.wait_for()
    page.wait_for_selector(IDLE)
    time.sleep(2)
    box = grid.bounding_box()
    assert box is not None

    def open_row(run: int) -> None:
        before = page.url
        page.mouse.click(box["x"] + 260, box["y"] + 50 + 35 * (1 + run % 10))
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_selector(IDLE)

    print(f"Browse, from a row to its detail: {timed(open_row, warm=1)}")


WATCH = """() => {
  window.begun = window.canvas = 0
  addEventListener("click", () => { begun = performance.now() }, { once: true, capture: true })
  new MutationObserver((_, self) => {
    if (!document.querySelector(".js-plotly-plot canvas")) return
    self.disconnect()
    canvas = performance.now() - begun
  }).observe(document.body, { childList: true, subtree: true })
}"""
FIGURE = """() => {
  const { data, layout } = document.querySelector(".js-plotly-plot")
  return JSON.stringify({ data, layout }, (key, value) => key[0] === "_" ? undefined : value)
}"""
ALONE = """async (text) => {
  const { data, layout } = JSON.parse(text)
  const place = document.createElement("div")
  document.body.replaceChildren(place)
  const begun = performance.now()
  await Plotly.newPlot(place, data, layout)
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  return performance.now() - begun
}"""


def open_map(page: Page, address: str) -> None:
    def away() -> None:
        page.wait_for_selector(IDLE)  # the clusters come when the map is there
        time.sleep(1)
        page.get_by_role("link", name="Query", exact=True).click()
        page.get_by_role("textbox", name="Task").wait_for()
        page.wait_for_selector(IDLE)
        time.sleep(1)

    def there() -> tuple[float, float]:
        page.evaluate(WATCH)
        page.get_by_role("link", name="Map", exact=True).click()
        page.locator(".js-plotly-plot canvas").first.wait_for()
        page.evaluate(PAINTED)
        canvas, drawn = page.evaluate("[canvas, performance.now() - begun]")
        return canvas, drawn

    page.goto(f"{address}/query?task=warm+up")
    page.wait_for_selector(IDLE)
    time.sleep(1)
    canvas, drawn = there()
    print(f"Map, the first visit: canvas {canvas:.0f} ms, drawn {drawn:.0f} ms")
    again = []
    for _ in range(5):
        away()
        again.append(there())
    canvas, drawn = (statistics.median(times) for times in zip(*again, strict=True))
    print(f"Map, again: canvas {canvas:.0f} ms, drawn {drawn:.0f} ms, medians of 5")
    page.wait_for_selector(IDLE)
    figure = page.evaluate(FIGURE)
    page.goto("about:blank")
    alone(page, figure)


def alone(page: Page, figure: str) -> None:
    """What no page can be faster than: Plotly, and nothing else."""
    begun = time.perf_counter()
    page.add_script_tag(path=Path(plotly.__file__).parent / "package_data" / "plotly.min.js")
    loaded = (time.perf_counter() - begun) * 1e3
    first, *again = (page.evaluate(ALONE, figure) for _ in range(6))
    print(
        f"Plotly alone: loaded in {loaded:.0f} ms, first drawn in {first:.0f} ms, again in "
        f"{statistics.median(again):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--bank", type=Path)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--parts", nargs="+", default=["query", "browse"])
    chosen = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with tempfile.TemporaryDirectory() as folder:
        bank = Path(folder, "bank.duckdb")
        if chosen.bank:
            shutil.copy(chosen.bank, bank)
        else:
            build(bank, chosen.size)
        snapshot = MemoryBank.open(bank).snapshot()
        words = sorted({word for text in snapshot.texts()[:500] for word in text.split()})
        print(f"{len(snapshot):,} memories, headless Chromium")
        with served(bank, Path(folder)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(120_000)
            if "query" in chosen.parts:
                query(page, address, words)
            if "browse" in chosen.parts:
                browse(page, address)
            if "map" in chosen.parts:
                open_map(page, address)
            browser.close()


if __name__ == "__main__":
    main()
