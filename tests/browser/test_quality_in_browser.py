"""Quality as a person would use it: open a query, judge a hit, see what that changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]
TASK = "alpha lesson about alpha"


@pytest.fixture
def library(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "judged.duckdb", embedder=HashEmbedder(), actor="tester")
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    operations = [
        Add(f"{word} lesson {i} about {word}", "tool", word) for i, word in enumerate(words)
    ]
    bank.commit(bank.plan(Batch(operations, "eight lessons")))
    bank.save_query(TASK, judgements={8: 2})
    return bank


def test_judging_a_hit_moves_the_measures(page: Page, serve: Serve, library: MemoryBank) -> None:
    ranking = [hit.memory.id for hit in library.retrieve(TASK).hits]
    assert 8 not in ranking  # what is relevant is not found, as far as anyone has judged
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/quality")
    settled(page)
    metric = page.locator("[data-testid=stMetric]").filter(has_text="recall@5")
    expect(metric).to_contain_text("0.00")

    table = page.locator("[data-testid=stDataFrame]").first
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 50)  # the tick box of the only query
    hit = page.locator(".st-key-judged-1")
    expect(hit.get_by_text("unjudged")).to_be_visible()
    hit.get_by_role("radio", name="3").or_(hit.get_by_role("button", name="3", exact=True)).click()
    expect(metric).to_contain_text("0.50")
    expect(hit.get_by_text("unjudged")).to_have_count(0)
    assert library.queries()[0].judgements == {8: 2, ranking[0]: 3}

    # The same hit in Query: its grade is there, and a second click takes it back.
    page.goto(f"{address}/query?task={TASK}")
    settled(page)
    hit = page.locator(".st-key-hit-1")
    hit.get_by_role("radio", name="3").or_(hit.get_by_role("button", name="3", exact=True)).click()
    expect(hit.get_by_text("unjudged")).to_be_visible()
    assert library.queries()[0].judgements == {8: 2}


def test_a_sweep_leads_to_query_with_its_best(
    page: Page, serve: Serve, library: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/quality?part=Weights")
    settled(page)
    page.get_by_role("button", name="Try 121 pairs of weights").click()
    expect(page.locator("[data-testid=stPlotlyChart]")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Use these settings in Query").click()
    page.wait_for_url("**/query?**preset=own**")
    settled(page)
    weight = page.get_by_role("spinbutton", name="Weight of matching words (μ)")
    expect(weight).to_have_value("0.00", timeout=60_000)
