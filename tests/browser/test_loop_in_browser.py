"""Loop in a real browser: games are watched, slowed down, stopped, and found again."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank, read_episodes
from tests.browser.conftest import Serve, settled
from tests.browser.test_hostile_text import RENDERED, outside_requests
from tests.hostile import TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]
OPEN = quote("Kept in the open bank")


def test_games_are_watched_stopped_and_found_again(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    pytest.importorskip("textworld")
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder(), actor="tester")
    lessons = [Add(text, "tool", "games") for text in TEXTS]
    bank.commit(bank.plan(Batch(lessons, "texts that want to be more than texts")))
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash")
    outside = outside_requests(page, address)
    page.goto(f"{address}/loop?place={OPEN}&games=40")
    settled(page)
    page.get_by_role("button", name="Play 40 games with memory").click()
    expect(page.get_by_text("game 1 of 40", exact=False)).to_be_visible()
    page.get_by_text("A step in three seconds").click()
    expect(page.get_by_text("Injected · 3 memories", exact=False)).to_be_visible()
    expect(page.get_by_text(re.compile(r"· [1-9]\d* steps? so far"))).to_be_visible()
    main = page.get_by_test_id("stMain")
    assert main.locator(RENDERED).count() == 0
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
    kept = read_episodes(bank)
    assert kept[-1].ending in {"stopped", "success", "failure", "steps"}

    page.get_by_role("button", name="See the games").click()
    expect(page.get_by_text("choose one to see its steps", exact=False)).to_be_visible()
    # Another visit, with nothing but the address.
    page.goto(f"{address}/loop?place={OPEN}&loop={quote('Games played')}"
              f"&episode={kept[-1].trajectory_id}")  # fmt: skip
    settled(page)
    expect(page.get_by_text(f"after {kept[-1].step_count} step", exact=False)).to_be_visible()
    assert main.locator(RENDERED).count() == 0
    page.get_by_role("button", name="Open in Ledger").click()
    expect(page.get_by_text("Injected then")).to_be_visible()
    assert kept[-1].retrieval_id in page.url
    assert not outside
