"""What a person does first: open, filter, read, query, pin, undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank, ToolDetail
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]

LESSONS = (
    ("Run `git rebase --onto main old topic` to move a branch cut from another one.", "git"),
    ("Find a lost commit with `git reflog` and branch from it before anything else.", "git"),
    ("Give `pandas.merge` the argument validate='one_to_one' so that duplicates raise.", "data"),
    ("Count rows before and after a SQL join; more rows mean a duplicate key.", "data"),
    ("Heat the potato by holding it and using the microwave, not by putting it inside.", "kitchen"),
)
TASK = "my commit has disappeared after a hard reset"


def filled(bank: MemoryBank) -> MemoryBank:
    operations = [Add(text, "tool", domain, ToolDetail("tool")) for text, domain in LESSONS]
    bank.commit(bank.plan(Batch(operations, "first lessons")))
    bank.save_query(TASK)
    return bank


@pytest.fixture
def real_bank(tmp_path: Path) -> MemoryBank:
    """Embedded by the model that a person has."""
    return filled(MemoryBank.open(tmp_path / "lessons.duckdb", actor="tester"))


@pytest.fixture
def library(tmp_path: Path) -> MemoryBank:
    path = tmp_path / "lessons.duckdb"
    return filled(MemoryBank.open(path, embedder=HashEmbedder(), actor="tester"))


def test_open_filter_and_query_give_what_the_library_gives(
    page: Page, serve: Serve, real_bank: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(real_bank.path))
    page.goto(address)
    settled(page)
    expect(page.get_by_text("5 of 5 memories")).to_be_visible()

    page.get_by_placeholder("Search in texts").fill("duplicate")
    expect(page.get_by_text("2 of 5 memories")).to_be_visible()
    assert "search=duplicate" in page.url

    page.goto(f"{address}/?view=Read&domain=git")
    settled(page)
    expect(page.get_by_text("2 of 5 memories")).to_be_visible()
    expect(page.get_by_text(LESSONS[1][0])).to_be_visible()
    expect(page.get_by_text(LESSONS[2][0])).to_have_count(0)

    first = real_bank.retrieve(TASK).hits[0]
    page.get_by_role("link", name="Query").click()
    hit = page.locator(".st-key-hit-1")
    expect(hit).to_contain_text(first.memory.text)
    expect(hit).to_contain_text(f"{first.score:.2f}")
    expect(page.get_by_text(f"[G0] {first.memory.text}")).to_be_visible()

    other = "a join returns more rows than the left table has"
    first = real_bank.retrieve(other).hits[0]
    page.get_by_role("textbox", name="Task").fill(other)
    page.get_by_role("textbox", name="Task").press("Control+Enter")
    expect(page.locator(".st-key-hit-1")).to_contain_text(first.memory.text, timeout=60_000)


def test_pin_then_undo_from_the_bar(page: Page, serve: Serve, library: MemoryBank) -> None:
    page.goto(serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash"))
    settled(page)
    table = page.locator("[data-testid=stDataFrame]").first
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 50)  # the tick box of the first row
    page.get_by_role("button", name="Pin 1", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("1 changed")  # the plan comes first
    assert not library.snapshot().by_id(1).pinned
    page.get_by_role("dialog").get_by_role("button", name="Pin 1 memory").click()
    expect(page.get_by_text("Pinned 1 memory")).to_be_visible()
    assert library.snapshot().by_id(1).pinned
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Took revision 2 back")).to_be_visible()
    assert not library.snapshot().by_id(1).pinned
    assert library.snapshot().memories == library.snapshot(1).memories


def test_a_past_revision_is_read_only_and_the_way_back_is_there(
    page: Page, serve: Serve, library: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/?revision=0")
    settled(page)
    expect(page.get_by_text("Read-only")).to_be_visible()
    expect(page.get_by_text("No memories yet")).to_be_visible()
    page.get_by_role("button", name="Back to latest").click()
    expect(page.get_by_text("5 of 5 memories")).to_be_visible()
    expect(page.get_by_text("Read-only")).to_have_count(0)
