"""Reflect in a real browser: paste, reflect, accept, query, find it; and hostile runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from memory_core import (
    Add,
    Drafts,
    Evidence,
    HashEmbedder,
    MemoryBank,
    Outcome,
    ReflectionContext,
    RefusedDraft,
    Run,
    Step,
    Trajectory,
    read_trajectories,
)
from tests.browser.conftest import ROOT, Serve, settled
from tests.browser.test_hostile_text import RENDERED, outside_requests, seen
from tests.hostile import TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]

SAMPLE = ROOT / "data/trajectories/sql-duplicate-rows.json"


def test_paste_reflect_accept_query_find_it(page: Page, serve: Serve, tmp_path: Path) -> None:
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder(), actor="tester")
    (run,) = read_trajectories(SAMPLE.read_text()).trajectories
    failed = [step.number for step in run.steps if step.error]
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/reflect")
    settled(page)
    page.get_by_label("or a pasted run").fill(SAMPLE.read_text())
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text(f"{len(run.steps)} steps")).to_be_visible()
    page.get_by_role("button", name=f"✕ {len(failed)} failed").click()
    expect(page.locator(".st-key-run-step")).to_contain_text(f"Step {failed[0]} of")
    page.get_by_role("button", name="Reflect on this run").click()
    draft = page.locator(".st-key-draft-1")
    expect(draft.get_by_role("button", name="Accept")).to_be_visible()
    settled(page)

    cited = draft.get_by_role("button", name="step ")
    number = cited.last.inner_text().split()[-1]
    cited.last.click()
    expect(page.locator(".st-key-run-step")).to_contain_text(f"Step {number} of")
    settled(page)
    assert "reflection=" in page.url
    page.reload()  # nothing of it is lost
    expect(draft.get_by_role("button", name="Accept")).to_be_visible()
    settled(page)
    draft.get_by_role("button", name="Accept").click()
    expect(draft).to_contain_text("accepted")
    (memory,) = bank.snapshot().memories
    assert memory.provenance.source == "reflection"

    page.goto(f"{address}/query?{urlencode({'task': run.task})}")
    settled(page)
    assert memory.text in seen(page.get_by_test_id("stMain"))


class Told:
    """A reflector that drafts what it was given."""

    name = TEXTS[3]

    def __init__(self, drafts: Drafts) -> None:
        self.drafts = drafts

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        return self.drafts

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        return self.drafts


def test_nothing_in_a_run_or_a_draft_is_taken_for_more_than_text(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder(), actor=TEXTS[3])
    steps = tuple(
        Step(n, "assistant", text, TEXTS[n - 2], TEXTS[n - 3], TEXTS[n - 4], TEXTS[n - 5])
        for n, text in enumerate(TEXTS, start=1)
    )
    run = Trajectory(TEXTS[0], steps, Outcome(False, reason=TEXTS[7]), TEXTS[3], TEXTS[4])
    (run_id,) = bank.keep_trajectories([run])
    operations = tuple(
        Add(text, "tool", TEXTS[n - 2], rationale=TEXTS[n - 3], evidence=(Evidence(run_id, (n,)),))
        for n, text in enumerate(TEXTS, start=1)
    )
    refused = (RefusedDraft(TEXTS[5], TEXTS[6], operations[1]),)
    made = bank.draft_lessons([run], Told(Drafts(operations, refused, TEXTS[:3])))
    bank.keep_reflection(made)
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash")
    asked = outside_requests(page, address)
    main = page.get_by_test_id("stMain")
    page.goto(f"{address}/reflect?reflection={made.key}")
    settled(page)
    assert main.locator(RENDERED).count() == 0
    shown = seen(main)
    for text in TEXTS:
        assert " ".join(text.split()) in shown
    for _ in range(3):
        page.get_by_role("button", name="›", exact=True).click()
        settled(page)
        assert main.locator(RENDERED).count() == 0
    page.get_by_text("1 draft refused").click()
    page.get_by_text("Nearest memories").first.click()
    settled(page)
    assert main.locator(RENDERED).count() == 0
    page.get_by_role("button", name="Another run").click()
    settled(page)
    assert main.locator(RENDERED).count() == 0
    page.locator("input[type=file]").set_input_files(
        {"name": "<b>x</b>.json", "mimeType": "text/json", "buffer": SAMPLE.read_bytes()}
    )
    # With a joint that keeps ".json" from becoming the end of a link.
    expect(main.get_by_text(re.compile(r"<b>x</b>\u2060?\.json")).first).to_be_visible()
    assert main.locator(RENDERED).count() == 0
    assert asked == []
