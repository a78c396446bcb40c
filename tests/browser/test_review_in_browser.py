"""Review by keys alone, with a real keyboard: accept, skip, reject, edit, and take it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory_core import (
    Add,
    Batch,
    Evidence,
    HashEmbedder,
    MemoryBank,
    Merge,
    Modify,
    Outcome,
    Step,
    ToolDetail,
    Trajectory,
)
from tests.browser.conftest import Serve, settled
from tests.browser.test_hostile_text import RENDERED, outside_requests, seen
from tests.hostile import TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]

CALM_MS = 500
"""Longer than a second key is ignored for."""


@pytest.fixture
def library(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "queue.duckdb", embedder=HashEmbedder(), actor="tester")
    words = ("rebase", "merge", "clone", "fetch", "push", "tag")
    lessons = [Add(f"Use git {word} with care, case {i}.", "tool", "git")
               for i, word in enumerate(words)]  # fmt: skip
    bank.commit(bank.plan(Batch(lessons, "six lessons")))
    bank.propose(Batch([
        *(Add(f"Proposed lesson {n} on git {word}.", "tool", "git") for n, word in
          enumerate(words)),
        Modify(1, text="Use git rebase with great care, case 0."),
        Add("word " * 33, "tool", "git"),
    ], "A run of git"), source="reflection")  # fmt: skip
    return bank


def states(bank: MemoryBank) -> str:
    return "".join(p.state[0] for p in bank.proposals(None))


def key(page: Page, name: str, *, pause_ms: int = CALM_MS) -> None:
    """Press a key, as one who has read what is on show."""
    page.wait_for_timeout(pause_ms)
    page.keyboard.press(name)
    page.wait_for_timeout(300)
    settled(page)


def on_show(page: Page, number: int) -> None:
    expect(page.locator(".st-key-proposal")).to_contain_text(f"proposal {number}")


def test_a_queue_is_gone_through_by_keys_and_a_decision_taken_back(
    page: Page, serve: Serve, library: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash")
    page.goto(address)
    settled(page)
    page.get_by_text("8 proposals to review").click()  # the status line leads here
    on_show(page, 1)
    expect(page.get_by_text("1 of 8")).to_be_visible()

    key(page, "a")
    on_show(page, 2)
    expect(page.get_by_text("2 of 8")).to_be_visible()
    assert states(library) == "appppppp"
    assert "proposal=2" in page.url

    key(page, "s")
    on_show(page, 3)
    key(page, "x")
    key(page, "2")
    on_show(page, 4)
    assert states(library) == "aprppppp"
    assert library.proposals("rejected")[0].decision_reason == "Already known"

    # In a text box letters are letters.
    key(page, "e")
    box = page.get_by_label("Lesson")
    box.fill("A lesson that axes sax")
    box.press("End")
    page.keyboard.type(" sax")
    expect(page.get_by_text("6 of 32 words")).to_be_visible()
    settled(page)
    assert states(library) == "aprppppp"
    key(page, "Control+Enter")
    on_show(page, 5)
    assert states(library) == "apraPppp".lower()
    assert library.snapshot().memories[-1].text == "A lesson that axes sax sax"

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Took revision 3 back")).to_be_visible()
    assert states(library) == "aprppppp"
    assert [m.text for m in library.snapshot().memories][-1] == "Proposed lesson 0 on git rebase."


def test_a_key_that_is_held_decides_one(page: Page, serve: Serve, library: MemoryBank) -> None:
    address = serve(WINNOW_BANK=str(library.path), WINNOW_MODEL="hash")
    page.goto(f"{address}/review")
    settled(page)
    on_show(page, 1)
    page.wait_for_timeout(CALM_MS)
    for _ in range(12):  # as a keyboard repeats: again and again, without a pause
        page.keyboard.down("a")
        page.wait_for_timeout(40)
    page.keyboard.up("a")
    settled(page)
    page.wait_for_timeout(1_000)
    assert states(library) == "appppppp"
    on_show(page, 2)


@pytest.fixture
def hostile(tmp_path: Path) -> MemoryBank:
    """A queue, and duplicates, in which everything that can be a text is a hostile one."""
    bank = MemoryBank.open(tmp_path / "hostile.duckdb", embedder=HashEmbedder(), actor=TEXTS[3])
    twice = [Add(text, "tool", TEXTS[i - 1], ToolDetail(TEXTS[i - 2], TEXTS[i - 3]),
                 tags=(TEXTS[i - 4],)) for i, text in enumerate(TEXTS)] * 2  # fmt: skip
    bank.commit(bank.plan(Batch(twice, TEXTS[1])))
    run = Trajectory(
        TEXTS[0],
        (Step(1, "user", TEXTS[1]),
         Step(2, "assistant", TEXTS[11], TEXTS[3], TEXTS[4], TEXTS[5], TEXTS[6])),
        Outcome(success=False, reason=TEXTS[7]),
    )  # fmt: skip
    bank.keep_trajectories([run], ids=[TEXTS[8]])
    evidence = (Evidence(TEXTS[8], (1, 2)), Evidence(TEXTS[9], (3,)))
    operations = [
        Modify(1, text=TEXTS[5], domain=TEXTS[6], tags=(TEXTS[7],), rationale=TEXTS[8],
               evidence=evidence),
        Merge((2, 3), TEXTS[9], rationale=TEXTS[10], evidence=evidence),
        Merge((4,), TEXTS[0], rationale=TEXTS[1]),
        Add(f"{TEXTS[3]} " * 12, "tool", TEXTS[2], rationale=TEXTS[3]),
    ]  # fmt: skip
    bank.propose(Batch(operations, TEXTS[4]), source=TEXTS[5])
    second = bank.propose(Batch([Add(TEXTS[1], "tool", TEXTS[2])], TEXTS[6]), source=TEXTS[7])
    bank.decide(second, accept=False, reason=TEXTS[8])
    bank.mark_distinct([5, 5 + len(TEXTS)])
    return bank


def test_nothing_in_a_queue_or_among_duplicates_is_taken_for_more_than_text(
    page: Page, serve: Serve, hostile: MemoryBank
) -> None:
    address = serve(WINNOW_BANK=str(hostile.path), WINNOW_MODEL="hash")
    asked = outside_requests(page, address)
    main = page.locator("[data-testid=stMain]")

    def check(*texts: str) -> None:
        settled(page)
        assert main.locator(RENDERED).count() == 0, f"{page.url} rendered a text"
        shown = seen(main)
        for text in texts:
            assert " ".join(text.split()) in shown, f"{page.url} does not show {text!r}"

    page.goto(f"{address}/review")
    check(*TEXTS[:2], *TEXTS[3:10], TEXTS[11])
    key(page, "e", pause_ms=0)
    check(TEXTS[8])
    page.get_by_role("button", name="Leave the edit").click()
    expect(page.get_by_role("button", name="Group of 4")).to_be_visible()
    key(page, "g", pause_ms=0)
    expect(page.get_by_text("4 proposals of one group")).to_be_visible()
    check(TEXTS[4], TEXTS[9], TEXTS[10])
    for number, texts in ((3, TEXTS[:2]), (4, (TEXTS[3],))):
        page.goto(f"{address}/review?proposal={number}")
        check(*texts)
        key(page, "e", pause_ms=0)
        check()
    page.goto(f"{address}/review?review=Rejected")
    check(TEXTS[1], TEXTS[6], TEXTS[8])
    page.goto(f"{address}/review?review_view=Table")
    check()
    page.goto(f"{address}/clean?alike=1.0")
    check(*TEXTS[:4])
    page.get_by_role("button", name="Merge 2 into 1").first.click()
    check(*TEXTS[:2])
    page.get_by_text("Said to be no duplicates").click()
    check(TEXTS[4], TEXTS[3])
    page.goto(f"{address}/clean?clean=Audit")
    check(TEXTS[0])
    assert asked == []
