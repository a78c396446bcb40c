"""Someone else commits while a person types: it is said, and nothing that was typed is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_revision_of_another_process_is_told_beside_a_half_typed_lesson(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    bank = MemoryBank.open(tmp_path / "shared.duckdb", embedder=HashEmbedder(), actor="agent 7")
    bank.commit(bank.plan(Batch([Add("Look at 2 logs.", "tool", "ops")], "the first")))
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash"))
    settled(page)
    news = page.locator(".st-key-news")
    expect(
        page.get_by_text("1 of 1 memories").or_(page.get_by_text("1 of 1 memory"))
    ).to_be_visible()
    expect(news).to_have_text("up to date")
    page.get_by_role("button", name="Add a memory").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_visible()
    settled(page)  # an open dialog takes the focus until all of it is there
    lesson = dialog.get_by_label("Lesson")
    lesson.click()
    for part in ("Ha", "lf", " a", " l", "es", "s"):  # each pause has the dialog run anew
        page.keyboard.type(part, delay=15)
        page.wait_for_timeout(350)
        settled(page)
        expect(lesson).to_be_focused()
    expect(lesson).to_have_value("Half a less")

    bank.commit(bank.plan(Batch([Add("Look at 3 logs.", "tool", "ops")], "from **a** run")))
    expect(news).to_contain_text("Revision 2 by agent 7: from **a** run")
    page.keyboard.type("on, typed on", delay=15)  # the field still has the focus and the caret
    expect(lesson).to_have_value("Half a lesson, typed on")
    expect(page.get_by_text("Revision 1", exact=True)).to_be_visible()  # the page stays as it was

    # What runs the page anew shows what is there, and there is no more to tell.
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("2 of 2 memories")).to_be_visible()
    expect(news).to_have_text("up to date")

    bank.commit(bank.plan(Batch([Add("Look at 4 logs.", "tool", "ops")])))
    expect(news).to_contain_text("Revision 3 by agent 7")
    expect(page.get_by_text("2 of 2 memories")).to_be_visible()
    news.get_by_role("button").click()
    expect(page.get_by_text("3 of 3 memories")).to_be_visible()
    expect(news).to_have_text("up to date")

    bank.propose(Batch([Add("Look at 5 logs.", "tool", "ops")]))
    expect(news).to_contain_text("1 more proposal to review")
