"""The ledger's page: what was injected, how it turned out, who helps and who never does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, MemoryBank, RetrievalSettings
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
TASK = "join two tables without more rows"
SETTINGS = RetrievalSettings(limit=2, confidence_weight=0.35, lexical_weight=0.1, kinds=("tool",))


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    """Four lessons; three sessions in which lesson 2 rode along, and one retrieval that waits."""
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Count rows before and after a join of two tables.", "tool", "data"),
        Add("Two tables join on a key; look for duplicates in it.", "tool", "data"),
        Add("Move a branch with git rebase.", "tool", "git", confidence=0.06),
        Add("Greet the customer by name.", "strategic", "service"),
    ])))  # fmt: skip
    for _ in range(3):
        found = bank.retrieve(TASK, RetrievalSettings(limit=2))
        assert {hit.memory.id for hit in found.hits} == {1, 2}
        bank.record_outcome(found, improved=True, applied=[1], reward=0.5)
    bank.retrieve("branches", SETTINGS, record=True)


def test_an_empty_ledger_says_where_rows_come_from(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "ledger")
    assert "Nothing is recorded yet" in everything(app)
    assert not app.exception


def test_every_retrieval_is_a_row_with_its_outcome(open_app: Open, library: MemoryBank) -> None:
    table = open_app(library, "ledger").dataframe[0].value
    assert table["task"].tolist() == ["branches", TASK, TASK, TASK]
    assert table["outcome"].tolist() == ["no outcome yet"] + ["improved"] * 3
    assert table["applied"].tolist() == [0, 1, 1, 1]
    assert table["revision"].tolist() == [4, 3, 2, 1]


def choose(app: AppTest, row: int) -> AppTest:
    key = next(f.key for f in app.dataframe if "ledger-" in str(f.key) or "uses-" in str(f.key))
    app.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return app.run()


def test_a_row_opens_in_query_with_its_revision_and_settings(
    open_app: Open, library: MemoryBank
) -> None:
    library.start_epoch()
    app = choose(open_app(library, "ledger"), 0)
    row = library.retrievals()[-1]
    assert row.injection in [code.value for code in app.code]
    app.button("open-in-query").click().run()
    assert not app.exception
    assert app.session_state["revision"] == 4
    app.switch_page("pages/query.py").run()
    assert app.text_area("task").value == "branches"
    assert app.slider("weight").value == 0.35
    assert app.segmented_control("preset").value == "own"
    assert app.number_input("words").value == 0.1
    assert app.code[-1].value == row.injection
    assert app.session_state["_found"][1].settings == SETTINGS
    assert app.session_state["_found"][1].revision == 4


def test_an_outcome_can_be_recorded_later(open_app: Open, library: MemoryBank) -> None:
    app = choose(open_app(library, "ledger"), 0)
    row = library.retrievals()[-1]
    before = library.snapshot().by_id(row.hits[0].memory_id)
    app.pills(f"applied-{row.id}").set_value([before.id])
    app.segmented_control(f"improved-{row.id}").set_value("not improved")
    app.button(key=f"FormSubmitter:outcome-{row.id}-Record the outcome").click().run()
    after = library.snapshot().by_id(before.id)
    assert after.confidence == pytest.approx(max(before.confidence * 0.9, 0.05))
    assert library.retrievals()[-1].improved is False
    assert app.dataframe[0].value["outcome"].tolist()[0] == "not improved"


def test_memories_that_ride_along_and_never_help_are_told(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "ledger")
    app.segmented_control("ledger").set_value("Memories").run()
    table = app.dataframe[0].value.set_index("id")
    assert table.loc[1, ["retrieved", "applied", "helped"]].tolist() == [3 + _too(library, 1), 3, 3]
    assert table.loc[2, ["with outcome", "applied", "helped"]].tolist() == [3, 0, 0]
    app.toggle("riding").set_value(True).run()
    assert app.dataframe[0].value["id"].tolist() == [2]


def _too(library: MemoryBank, memory_id: int) -> int:
    return sum(hit.memory_id == memory_id for hit in library.retrievals()[-1].hits)


def test_a_memory_shows_its_outcomes(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "ledger")
    app.segmented_control("ledger").set_value("Memories").run()
    choose(app, 0)
    chosen = app.dataframe[0].value["id"].tolist()[0]
    said = everything(app)
    assert library.snapshot().by_id(chosen).text in said
    assert said.count("improved") >= 3
    assert not app.exception


def test_what_never_fired_is_listed(open_app: Open, library: MemoryBank) -> None:
    library.save_query(TASK)
    library.save_query("a question that no session asked")
    app = open_app(library, "ledger")
    app.segmented_control("ledger").set_value("Never fired").run()
    assert app.dataframe[0].value.index.tolist() == [4]
    said = everything(app)
    assert "a question that no session asked" in said
    assert f"• {TASK}" not in said


def test_the_past_knows_no_later_rows_nor_outcomes(open_app: Open, library: MemoryBank) -> None:
    table = open_app(library, "ledger", revision="2").dataframe[0].value
    assert table["outcome"].tolist() == ["no outcome yet", "improved"]
