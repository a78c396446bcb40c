"""Browse: find a lesson, read it, see all about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    Add,
    Batch,
    MemoryBank,
    Modify,
    ProceduralDetail,
    StrategicDetail,
    ToolDetail,
    nearest,
)
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Move a branch with git rebase --onto.", "tool", "git",
            ToolDetail("git rebase", "git rebase --onto NEW OLD"), tags=("history",), pinned=True),
        Add("Find a lost commit with git reflog.", "tool", "git", ToolDetail("git reflog", "")),
        Add("Split the question at its unnamed entity.", "strategic", "research",
            StrategicDetail("The answer hangs on an entity that is not named.")),
        Add("Count the rows before and after a join.", "procedural", "data",
            ProceduralDetail(("count", "join", "count again"), ("a key is known",)),
            confidence=0.9, usage_count=8, success_count=6),
    ], "a small library")))  # fmt: skip
    bank.commit(bank.plan(Batch([Modify(2, text="Find a lost commit with git reflog first.")])))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({}, 4),
        ({"kind": "tool"}, 2),
        ({"kind": "strategic"}, 1),
        ({"domain": "git"}, 2),
        ({"tag": "history"}, 1),
        ({"pinned": "true"}, 1),
        ({"search": "COMMIT lost"}, 1),
        ({"kind": "tool", "search": "git"}, 2),
    ],
)
def test_filters_come_from_the_address(
    open_app: Open, library: MemoryBank, address: dict[str, str], expected: int
) -> None:
    app = open_app(library, **address)
    assert not app.exception
    assert f"{expected} of 4 memories" in everything(app)
    assert len(app.dataframe[0].value) == expected


def test_what_the_address_asks_for_and_is_not_here_is_said(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, domain="gardening")
    assert "gardening" in everything(app)
    assert "4 of 4 memories" in everything(app)


def test_nothing_found_says_so_and_the_filters_can_be_cleared(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, search="zebra")
    assert "Nothing matches" in everything(app)
    app.button("clear-filters-empty").click().run()
    assert "4 of 4 memories" in everything(app)


def test_reading_shows_whole_texts_in_the_chosen_order(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, view="Read", order="most confident first")
    texts = [text.value for text in app.text]
    assert texts[0] == "● Count the rows before and after a join."
    assert len(texts) == 4


def test_the_detail_shows_every_field_history_and_neighbours(
    open_app: Open, library: MemoryBank
) -> None:
    said = everything(open_app(library, memory="4"))
    for part in ("memory 4", "data", "0.90", "applied 8 times, helped 6 (75%)", "1. count",
                 "2. join", "a key is known", "From manual", "added in revision 1"):  # fmt: skip
        assert part in said
    for neighbour in nearest(library.snapshot(), 4):
        assert neighbour.memory.text in said
        assert f"{neighbour.similarity:.2f}" in said
    said = everything(open_app(library, memory="2"))
    assert "changed in revision 2" in said
    assert ":green-background[reflog first" in said


def test_an_empty_bank_says_what_to_do_next(open_app: Open, bank: MemoryBank) -> None:
    said = everything(open_app(bank))
    assert "No memories yet" in said
    assert "demo library" in said


def test_selected_memories_are_pinned_by_id_whatever_the_filter_shows(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, kind="tool")
    app.session_state["_selected"] = (1, 4)  # 4 is not among the tools: it stays selected
    app.session_state["_selection_version"] = 1
    app.run()
    assert "2 memories selected" in everything(app)
    next(b for b in app.button if b.label == "Pin 2").click().run()
    assert not library.snapshot().by_id(4).pinned  # the plan is shown first
    app.button("commit-change").click().run()
    assert library.snapshot().by_id(4).pinned
    assert library.revisions()[-1].reason == "Pinned 2 memories"
    assert app.session_state["_made"] == (3, "Pinned 2 memories")  # for the bar with Undo
