"""From a question to its outcome: ask, judge, look why, compare, record, see confidence move."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]

TASK = "join two tables without more rows"
WORDS = ("rows", "tables", "join", "key", "more", "two")


@pytest.fixture
def crowd(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "crowd.duckdb", embedder=HashEmbedder(), actor="tester")
    operations = [
        Add(f"{WORDS[n % 6].capitalize()} before {WORDS[(n + 2) % 6]}, case {n}.", "tool",
            "data" if n % 4 else "git", confidence=0.05 + 0.08 * n)
        for n in range(12)
    ]  # fmt: skip
    bank.commit(bank.plan(Batch(operations, "first lessons")))
    bank.save_query(TASK)
    return bank


def test_from_a_question_to_its_outcome_and_back(
    page: Page, serve: Serve, crowd: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(crowd.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/query")
    settled(page)
    found = crowd.retrieve(TASK)
    first = found.hits[0].memory
    expect(page.locator(".st-key-hit-1")).to_contain_text(first.text)
    expect(page.get_by_text("[G0]")).to_contain_text(first.text)

    # Judged where it is found.
    hit = page.locator(".st-key-hit-1")
    hit.get_by_role("radio", name="3").or_(hit.get_by_role("button", name="3", exact=True)).click()
    expect(hit.get_by_text("unjudged")).to_have_count(0)
    assert crowd.queries()[0].judgements == {first.id: 3}

    # Why not: the memory just below the cut, and its advice put to the test.
    page.locator(".st-key-near-1").get_by_role("button", name="Why not?").click()
    settled(page)
    expect(page.locator(".st-key-why-not")).to_contain_text("It is at rank 6")
    page.get_by_role("button", name="Suppose a confidence").click()
    settled(page)
    expect(page.locator(".st-key-why-not")).to_contain_text("It is in, at rank")
    page.get_by_role("button", name="Stop supposing").click()
    settled(page)
    expect(page.locator(".st-key-why-not")).to_contain_text("It is at rank 6")
    page.get_by_role("button", name="Raise the limit to 6").click()
    settled(page)
    expect(page.locator(".st-key-why-not")).to_contain_text("It is in, at rank 6")
    assert "limit=6" in page.url

    # Two settings beside each other; the sweep draws its chart.
    page.get_by_role("radio", name="Compare").click()
    expect(page.get_by_text("overlap@6")).to_be_visible()
    page.get_by_role("radio", name="Over λ").click()
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=60_000)

    # The outcome moves confidence, and the bar takes it back.
    page.get_by_role("radio", name="Hits", exact=True).click()
    page.locator(".st-key-outcome").get_by_role("button", name="1", exact=True).click()
    page.get_by_role("button", name="Record the outcome").click()
    settled(page)
    moved = page.locator(".st-key-outcome-moved")
    expect(moved).to_contain_text("Outcome recorded as revision 2")
    after = crowd.snapshot().by_id(first.id)
    assert after.confidence > first.confidence
    expect(moved).to_contain_text(f"{first.confidence:.3f} → {after.confidence:.3f}")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Took revision 2 back")).to_be_visible()
    assert crowd.snapshot().memories == crowd.snapshot(1).memories

    # What was taken back can be recorded anew, and Quality measures what was judged.
    page.locator(".st-key-outcome").get_by_role("button", name="1", exact=True).click()
    page.get_by_role("button", name="Record the outcome").click()
    settled(page)
    expect(moved).to_contain_text("Outcome recorded as revision 4")
    assert crowd.snapshot().by_id(first.id).confidence == after.confidence
    page.goto(f"{address}/quality")
    metric = page.locator("[data-testid=stMetric]").filter(has_text="recall@5")
    expect(metric).to_contain_text("1.00")


def test_a_row_of_the_ledger_opens_in_query_as_it_was_asked(
    page: Page, serve: Serve, crowd: MemoryBank
) -> None:
    found = crowd.retrieve(TASK, record=True)
    crowd.start_epoch()
    page.goto(f"{serve(WINNOW_BANK=str(crowd.path), WINNOW_MODEL='hash')}/ledger")
    settled(page)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 50)
    page.get_by_role("button", name="Open in Query").click()
    expect(page.get_by_text("Read-only")).to_be_visible()
    expect(page.locator(".st-key-hit-1")).to_contain_text(found.hits[0].memory.text)
    settled(page)
    assert "revision=1" in page.url
