"""Editing in a real browser: one memory, many at once, the way back; hostile texts stay texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, Delete, HashEmbedder, MemoryBank, Modify, ToolDetail
from tests.browser.conftest import Serve, settled
from tests.browser.test_hostile_text import RENDERED, outside_requests, seen
from tests.hostile import TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]

LESSONS = (
    ("Move a branch with `git rebase --onto main old topic`.", "git"),
    ("Find a lost commit with `git reflog` before anything else.", "git"),
    ("Give `pandas.merge` the argument validate='one_to_one'.", "data"),
    ("Count rows before and after a SQL join.", "data"),
)


@pytest.fixture
def bank(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "lessons.duckdb", embedder=HashEmbedder(), actor="tester")
    operations = [Add(text, "tool", domain, ToolDetail("tool")) for text, domain in LESSONS]
    bank.commit(bank.plan(Batch(operations, "first lessons")))
    return bank


def tick(page: Page, *rows: int) -> None:
    """Click the tick boxes of rows of the table, counted from 0."""
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    for row in rows:
        page.mouse.click(box["x"] + 18, box["y"] + 50 + 33 * row)
        settled(page)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def test_edit_with_live_count_plan_commit_and_undo(
    page: Page, serve: Serve, bank: MemoryBank
) -> None:
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash") + "/?memory=2")
    settled(page)
    press(page, "Edit")
    dialog = page.get_by_role("dialog")
    line = dialog.get_by_label("Lesson")
    line.press("End")
    line.press_sequentially(" It keeps 90 days.", delay=15)
    expect(dialog.get_by_text("14 of 32 words")).to_be_visible()  # without leaving the field
    expect(dialog.get_by_text("Nearest in the bank")).to_be_visible()
    press(page, "Review the change")
    expect(dialog).to_contain_text("It keeps 90 days.")
    expect(dialog.locator("strong", has_text="It keeps 90 days.")).to_be_visible()
    assert len(bank.revisions()) == 1
    dialog.get_by_role("button", name="Save memory 2").dblclick()  # a hurried hand
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Revision 2 · Edited memory 2")).to_be_visible()
    assert bank.snapshot().by_id(2).text.endswith("It keeps 90 days.")
    assert len(bank.revisions()) == 2
    page.get_by_role("button", name="Undo", exact=True).dblclick()
    expect(page.get_by_text("Took revision 2 back")).to_be_visible()
    settled(page)
    assert bank.snapshot().memories == bank.snapshot(1).memories
    assert len(bank.revisions()) == 3


def test_many_are_tagged_moved_and_merged(page: Page, serve: Serve, bank: MemoryBank) -> None:
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash"))
    settled(page)
    tick(page, 0, 1)
    page.get_by_placeholder("Search in texts").fill("join")
    expect(page.get_by_text("1 of 4 memories")).to_be_visible()
    settled(page)
    tick(page, 0)  # memory 4, under another filter
    expect(page.get_by_text("3 memories selected")).to_be_visible()

    press(page, "Tag 3")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Put on").fill("checked")
    dialog.get_by_label("Put on").press("Enter")
    dialog.get_by_label("Put on").press("Tab")  # closes the list of options
    expect(dialog.get_by_text("3 changed")).to_be_visible()
    press(page, "Tag 3 memories")
    expect(page.get_by_text("Tagged 3 memories: +checked")).to_be_visible()
    assert [m.id for m in bank.snapshot() if m.tags == ("checked",)] == [1, 2, 4]

    press(page, "Merge 3 into 1")
    dialog.get_by_label("Lesson").fill("One lesson of 3.")
    dialog.get_by_label("Lesson").press("Tab")
    settled(page)
    press(page, "Review the change")
    expect(dialog).to_contain_text("1 merged")
    dialog.get_by_role("button", name="Merge 3 into 1").click()
    expect(page.get_by_text("Merged 3 memories into one")).to_be_visible()
    assert bank.snapshot().ids.tolist() == [3, 5]
    assert bank.snapshot().by_id(5).text == "One lesson of 3."


def test_two_tabs_on_one_memory(page: Page, serve: Serve, bank: MemoryBank) -> None:
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash") + "/?memory=1"
    other = page.context.new_page()
    for tab, text in ((page, "Mine with 1 word."), (other, "Theirs with 2 words.")):
        tab.goto(address)
        settled(tab)
        press(tab, "Edit")
        tab.get_by_role("dialog").get_by_label("Lesson").fill(text)
        tab.get_by_role("dialog").get_by_label("Lesson").press("Tab")
        settled(tab)
    press(other, "Review the change")
    press(other, "Save memory 1")
    expect(other.get_by_text("Revision 2 · Edited memory 1")).to_be_visible()
    press(page, "Review the change")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("has changed since you opened it")
    expect(dialog.locator(".st-key-theirs")).to_contain_text("Theirs with 2 words.")
    expect(dialog.locator(".st-key-mine")).to_contain_text("Mine with 1 word.")
    press(page, "Back to the form")
    expect(dialog.get_by_label("Lesson")).to_have_value("Mine with 1 word.")
    press(page, "Cancel")
    assert bank.snapshot().by_id(1).text == "Theirs with 2 words."
    assert len(bank.revisions()) == 2


def test_history_undo_and_a_past_revision(page: Page, serve: Serve, bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([Delete(4), Modify(3, pinned=True)], "a mistake")))
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash") + "/history")
    settled(page)
    tick(page, 0)
    expect(page.get_by_text("a mistake").first).to_be_visible()
    assert "opened=2" in page.url
    press(page, "Undo revision 2")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 added")
    dialog.get_by_role("button", name="Undo revision 2").click()
    expect(page.get_by_text("Took revision 2 back")).to_be_visible()
    assert bank.snapshot().memories == bank.snapshot(1).memories
    press(page, "Look at this revision")
    expect(page.get_by_text("🔒 Read-only")).to_be_visible()
    page.get_by_role("link", name="Browse").click()
    expect(page.get_by_text("3 of 3 memories")).to_be_visible()
    expect(page.get_by_role("button", name="Add a memory")).to_be_disabled()


def test_tables_are_given_as_json(page: Page, serve: Serve, bank: MemoryBank) -> None:
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash"))
    settled(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON").click()
    rows = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert [row["text"] for row in rows] == [text for text, _ in LESSONS]


def test_hostile_texts_stay_texts_in_forms_plans_and_history(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    bank = MemoryBank.open(tmp_path / "hostile.duckdb", embedder=HashEmbedder(), actor=TEXTS[1])
    bank.commit(bank.plan(Batch([
        Add(text, "tool", TEXTS[i - 1], ToolDetail(TEXTS[i - 2], TEXTS[i - 3]), tags=(text,))
        for i, text in enumerate(TEXTS)
    ], TEXTS[0])))  # fmt: skip
    bank.commit(bank.plan(Batch([
        Modify(i + 1, text=TEXTS[i - 1], domain=TEXTS[i - 2], tags=(TEXTS[i - 3],),
               detail=ToolDetail(TEXTS[i - 4], TEXTS[i - 5]), rationale=TEXTS[i - 6])
        for i in range(len(TEXTS))
    ], TEXTS[2], kind=TEXTS[3])))  # fmt: skip
    address = serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash")
    asked = outside_requests(page, address)

    def check(path: str, *texts: str, buttons: tuple[str, ...] = ()) -> None:
        page.goto(f"{address}/{path}")
        settled(page)
        for name in buttons:
            press(page, name)
        for place in page.locator("[data-testid=stMain], [role=dialog]").all():
            assert place.locator(RENDERED).count() == 0, f"{path} rendered a text"
        shown = seen(page.locator("body"))
        for text in texts:
            assert " ".join(text.split()) in shown, f"{path} does not show {text!r}"

    check("history?opened=2", *TEXTS[1:3])
    check("history?history=Compare%20two&from=0&to=1", *TEXTS)
    check("history?history=One%20memory%27s%20life&life=3", TEXTS[2], TEXTS[1])
    check("history?opened=2", buttons=("Undo revision 2",))
    for number in (1, 5):
        check(f"?memory={number}", buttons=("Edit",))
    check("?memory=3", buttons=("Delete",))
    assert asked == []


def test_a_row_opens_its_detail_among_ten_thousand(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    bank = MemoryBank.open(tmp_path / "big.duckdb", embedder=HashEmbedder(), actor="tester")
    bank.commit(bank.plan(Batch([
        Add(f"Lesson {i} tells of object {i * 7919 % 10007}.", "tool", f"domain {i % 40}")
        for i in range(10_000)
    ], "many")))  # fmt: skip
    page.goto(serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL="hash"))
    settled(page)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 330, box["y"] + 50 + 33 * 2)
    expect(page.locator(".st-key-detail-text")).to_contain_text("Lesson 2 tells")
