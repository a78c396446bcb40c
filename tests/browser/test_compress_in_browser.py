"""Compress as a person would: look, argue, commit, take it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def library(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "full.duckdb", embedder=HashEmbedder(), actor="tester")
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")  # too few for UMAP
    operations = [
        Add(f"{word} lesson {i} about {word} and {i}", "tool", word, confidence=0.3 + 0.03 * i)
        for i, word in enumerate(words * 2)
    ]
    bank.commit(bank.plan(Batch(operations, "fourteen lessons")))
    bank.configure(capacity=6)
    bank.save_query("eta lesson 13 about eta", judgements={14: 3, 7: 1})
    return bank


def test_preview_pin_commit_and_undo(page: Page, serve: Serve, library: MemoryBank) -> None:
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash", fresh=True)
    page.goto(f"{address}/compress")  # the very first visit of this server, and not to its start
    settled(page)
    expect(page.get_by_text("Revision 1", exact=True)).to_be_visible()
    expect(page.get_by_text("Drops 8 of 14")).to_be_visible()

    page.get_by_role("tab", name="On the map").click()
    expect(page.get_by_text("This bank has no map yet.")).to_be_visible()
    library.fit_map()
    page.reload()
    settled(page)
    page.get_by_role("tab", name="On the map").click()
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("8 dropped · 6 kept")).to_be_visible()

    page.get_by_role("tab", name="What goes").click()
    table = page.locator("[data-testid=stDataFrame]").nth(1)
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 50)  # the tick box of the first that goes
    expect(page.get_by_role("button", name="Pin 1 and plan again")).to_be_visible()
    page.get_by_role("button", name="Pin 1 and plan again").click()
    expect(page.get_by_text("1 memory will be pinned with the commit")).to_be_visible()
    assert len(library.revisions()) == 1  # nothing is written by arguing

    page.get_by_role("button", name="Commit hybrid: drops 8 memories").click()
    expect(page.get_by_text("Compressed by hybrid")).to_be_visible()
    assert len(library.snapshot()) == 6
    assert sum(memory.pinned for memory in library.snapshot().memories) == 1

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Took revision 2 back")).to_be_visible()
    assert library.snapshot().memories == library.snapshot(1).memories
