"""Query: what an agent would get, and the numbers that ranked it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, MemoryBank, Retrieval, RetrievalSettings
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
TASK = "join two tables without more rows"


def literal(markdown: str) -> str:
    """What a person reads of a text that was made safe and had words marked in it."""
    text = re.sub(r":gray-background\[\*\*(.*?)\*\*\]", r"\1", markdown.replace("\u2060", ""))
    return re.sub(r"\\(.)", r"\1", text)


def texts(app: AppTest, found: Retrieval) -> list[str]:
    """The texts of memories on the page, in their order."""
    known = {memory.text for memory in found.snapshot}
    return [text for m in app.markdown if (text := literal(m.value)) in known]


@pytest.fixture
def library(bank: MemoryBank) -> MemoryBank:
    bank.commit(bank.plan(Batch([
        Add("Count the rows before and after a join of two tables.", "procedural", "data"),
        Add("Move a branch with git rebase.", "tool", "git", confidence=0.9),
        Add("Two tables join on a key; look for duplicates in it.", "strategic", "data"),
    ])))  # fmt: skip
    return bank


def test_the_first_visit_runs_the_first_saved_query(open_app: Open, library: MemoryBank) -> None:
    library.save_query(TASK)
    app = open_app(library, "query")
    assert app.text_area("task").value == TASK
    found = library.retrieve(TASK)
    assert texts(app, found)[: len(found.hits)] == [hit.memory.text for hit in found.hits]
    assert app.code[-1].value == found.injection


def test_hits_scores_and_injection_are_the_library_s(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "query")
    app.text_area("task").set_value(TASK)
    app.slider("weight").set_value(0.5)
    app.number_input("limit").set_value(2)
    app.run()
    found = library.retrieve(TASK, RetrievalSettings(limit=2, confidence_weight=0.5))
    said = everything(app)
    assert texts(app, found)[: len(found.hits)] == [hit.memory.text for hit in found.hits]
    for hit in found.hits:
        parts = hit.parts
        assert f"similarity {parts.similarity.value:.2f} × 0.50" in said
        assert f"confidence {parts.confidence.value:.2f} × 0.50 = {hit.score:.2f}" in said
    assert app.code[-1].value == found.injection


def test_domains_and_kinds_narrow_what_is_eligible(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "query", task=TASK, domains="git")
    app.text_area("task").set_value(TASK).run()
    app.multiselect("domains").set_value(["git"]).run()
    assert texts(app, library.retrieve(TASK)) == ["Move a branch with git rebase."]
    app.multiselect("kinds").set_value(["strategic"]).run()
    assert "No memory is eligible" in everything(app)


def test_an_empty_task_and_an_empty_bank_say_what_to_do(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "query")
    assert "Write a task" in everything(app)
    app.text_area("task").set_value("anything").run()
    assert "no memories yet" in everything(app)


def test_a_query_runs_on_the_revision_that_is_looked_at(
    open_app: Open, library: MemoryBank
) -> None:
    library.commit(library.plan(Batch([Add(TASK, "tool", "data")])))
    app = open_app(library, "query")
    app.text_area("task").set_value(TASK).run()
    assert texts(app, library.retrieve(TASK))[0] == TASK
    app.session_state["revision"] = 1
    app.run()
    found = library.retrieve(TASK, revision=1)
    assert texts(app, found) == [hit.memory.text for hit in found.hits]
