"""Transfer in a real browser: a file is dropped, committed, taken back; an export is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import HashEmbedder, Memory, MemoryBank, read_memories, write_memories
from tests.browser.conftest import Serve, settled
from tests.browser.test_hostile_text import RENDERED, outside_requests
from tests.hostile import TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_in_undone_and_out_again(page: Page, serve: Serve, tmp_path: Path) -> None:
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder(), actor="tester")
    file = tmp_path / "<b>lessons.jsonl"
    several = [Memory(n, "tool", text, text) for n, text in enumerate(TEXTS, start=1)]
    file.write_bytes(write_memories(several, "winnow").content + b'{"text": 7}\n')
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash")
    outside = outside_requests(page, address)
    page.goto(f"{address}/transfer")
    settled(page)
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("12 new · 1 refused", exact=False)).to_be_visible()
    settled(page)
    assert page.get_by_test_id("stMain").locator(RENDERED).count() == 0
    page.get_by_role("button", name="Commit 12 memories").click()
    expect(page.get_by_text("Imported 12 memories from Winnow JSON lines")).to_be_visible()
    assert [memory.text for memory in bank.snapshot()] == list(TEXTS)

    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download 12 memories").click()
    told = read_memories(Path(waiting.value.path()).read_bytes())
    assert [entry.lesson.text for entry in told.entries if entry.lesson] == list(TEXTS)
    settled(page)
    assert not outside
    assert page.get_by_test_id("stMain").locator(RENDERED).count() == 0

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Took revision 1 back")).to_be_visible()
    assert len(bank.snapshot()) == 0
