"""Query: what an agent would get, and the numbers that ranked it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    KINDS,
    Add,
    Batch,
    Delete,
    MemoryBank,
    Retrieval,
    RetrievalSettings,
    contrast,
    sweep,
)
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
TASK = "join two tables without more rows"


MARK = re.compile(r":gray-background\[\*\*(.*?)\*\*\]")


def literal(markdown: str) -> str:
    """What a person reads of a text that was made safe and had words marked in it."""
    text = MARK.sub(r"\1", markdown.replace("\u2060", ""))
    return re.sub(r"\\(.)", r"\1", text)


def texts(app: AppTest, found: Retrieval) -> list[str]:
    """The texts of memories on the page, in their order."""
    known = {memory.text for memory in found.snapshot}
    return [text for m in app.markdown if (text := literal(m.value)) in known]


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Count the rows before and after a join of two tables.", "procedural", "data"),
        Add("Move a branch with git rebase.", "tool", "git", confidence=0.9),
        Add("Two tables join on a key; look for duplicates in it.", "strategic", "data"),
    ])))  # fmt: skip


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


def ask(app: AppTest, task: str = TASK, look: str = "Hits") -> AppTest:
    app.text_area("task").set_value(task)
    app.segmented_control("look").set_value(look)
    return app.run()


@pytest.fixture
def crowd(filled: Filled) -> MemoryBank:
    """Twelve lessons that share words with the task, of unlike confidence."""
    return filled(_crowd)


def _crowd(bank: MemoryBank) -> None:
    words = ("rows", "tables", "join", "key", "more", "two")
    bank.commit(bank.plan(Batch([
        Add(f"{words[n % 6].capitalize()} before {words[(n + 2) % 6]}, case {n}.",
            KINDS[n % 3], "data" if n % 4 else "git", confidence=0.05 + 0.08 * n)
        for n in range(12)
    ])))  # fmt: skip


def test_each_hit_has_its_rank_by_similarity_and_the_matching_words_are_marked(
    open_app: Open, crowd: MemoryBank
) -> None:
    app = ask(open_app(crowd, "query"))
    found = crowd.retrieve(TASK)
    plain = crowd.retrieve(TASK, RetrievalSettings(confidence_weight=0.0, limit=12))
    order = [hit.memory.id for hit in plain.hits]
    captions = [c.value for c in app.caption if "by similarity alone" in c.value]
    for hit, caption in zip(found.hits, captions, strict=False):
        assert f"#{order.index(hit.memory.id) + 1} by similarity alone" in caption
    marks = [mark for m in app.markdown for mark in MARK.findall(m.value)]
    assert {mark.lower() for mark in marks} <= {"rows", "tables", "join", "more", "two"}
    assert len(marks) >= 5


def test_near_misses_stand_below_the_cut_with_their_margin(
    open_app: Open, crowd: MemoryBank
) -> None:
    app = ask(open_app(crowd, "query"))
    whole = crowd.retrieve(TASK, RetrievalSettings(limit=12)).hits
    assert texts(app, crowd.retrieve(TASK))[:10] == [hit.memory.text for hit in whole[:10]]
    said = everything(app)
    for hit in whole[5:10]:
        assert f"(−{whole[4].score - hit.score:.3f})" in said


def test_of_each_kind_gives_three_of_each(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"))
    app.toggle("per_kind").set_value(True).run()
    assert app.number_input("limit").value == 3
    found = crowd.retrieve(TASK, RetrievalSettings(per_kind=3))
    assert app.code[-1].value == found.injection
    assert len(found.hits) == 9


@pytest.mark.parametrize("advice", ["weight-0", "confidence", "domain", "limit"])
def test_the_advice_of_why_not_holds_when_it_is_followed(
    open_app: Open, crowd: MemoryBank, advice: str
) -> None:
    app = ask(open_app(crowd, "query"), look="Why not?")
    tried = 0
    for memory in crowd.snapshot():
        app.text_input("about").set_value(str(memory.id)).run()
        keys = {button.key for button in app.button}
        if f"advice-{advice}" not in keys or "It is in" in everything(app):
            continue
        app.button(f"advice-{advice}").click().run()
        assert "It is in, at rank" in everything(app)
        tried += 1
        if advice == "confidence":
            assert "as if memory" in everything(app)
            app.button("stop-supposing").click().run()
        app.slider("weight").set_value(0.2)
        app.multiselect("domains").set_value([])
        app.number_input("limit").set_value(5).run()
    assert tried
    assert crowd.snapshot().revision == 1


def test_why_not_finds_a_memory_by_its_words_and_says_when_there_is_none(
    open_app: Open, crowd: MemoryBank
) -> None:
    app = ask(open_app(crowd, "query"), look="Why not?")
    app.text_input("about").set_value("CASE 11").run()
    assert crowd.retrieve(TASK).why_not(12).sentence in literal(everything(app))
    app.text_input("about").set_value("case before").run()
    assert len(app.selectbox[-1].options) == 12
    for nothing in ("no such words", "4711"):
        app.text_input("about").set_value(nothing).run()
        assert app.warning
        assert not app.exception


def test_a_supposed_confidence_writes_nothing_and_records_nothing(
    open_app: Open, crowd: MemoryBank
) -> None:
    app = open_app(crowd, "query")
    app.session_state["_supposed"] = (1, 0.95)
    ask(app)
    risen = crowd.snapshot().edit(put=[replace(crowd.snapshot().by_id(1), confidence=0.95)])
    assert app.code[-1].value == crowd.retrieve(TASK, revision=risen).injection
    assert "recorded from the latest revision" in everything(app)


def test_two_settings_stand_beside_each_other(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"), look="Compare")
    app.slider("weight2").set_value(1.0)
    app.segmented_control("preset2").set_value("published").run()
    other = RetrievalSettings(confidence_weight=1.0)
    told = contrast(crowd.retrieve(TASK), crowd.retrieve(TASK, other))
    assert [m.value for m in app.metric] == [
        f"{told.overlap:.2f}", f"{told.rank_biased_overlap:.2f}"
    ]  # fmt: skip
    assert app.dataframe[-1].value["text"].tolist() == [move.memory.text for move in told.moves]
    app.button("use-second").click().run()
    assert app.slider("weight").value == 1.0
    assert [m.value for m in app.metric] == ["1.00", "1.00"]


def test_the_sweep_has_its_numbers_as_tables(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"), look="Over λ")
    lines, crossings = (table.value for table in app.dataframe)
    ids = [hit.memory.id for hit in crowd.retrieve(TASK, RetrievalSettings(limit=10)).hits]
    assert lines["memory"].tolist() == ids
    at_1 = [crowd.snapshot().by_id(i).confidence for i in ids]
    assert lines["score at λ = 1"].tolist() == pytest.approx(at_1)
    assert len(crossings) == len(sweep(crowd.retrieve(TASK), ids).crossings)


def test_inferred_domains_are_shown_and_used_on_request(
    open_app: Open, library: MemoryBank
) -> None:
    app = ask(open_app(library, "query"), task="two tables join on a key, count the rows")
    assert library.infer_domains("two tables join on a key, count the rows") == ("data",)
    assert "it is about data" in everything(app)
    assert app.multiselect("domains").value == []
    app.button("infer-domain").click().run()
    assert app.multiselect("domains").value == ["data"]
    app.button("all-domains").click().run()
    assert app.multiselect("domains").value == []


def test_pasted_tasks_run_at_once_and_are_saved_as_queries(
    open_app: Open, crowd: MemoryBank
) -> None:
    crowd.save_query("two rows")
    app = ask(open_app(crowd, "query"), look="Many tasks")
    app.text_area("_tasks").set_value("two rows\n\n  more   keys \ntwo rows\n")
    app.button(key="FormSubmitter:many-tasks-Run them").click().run()
    table = app.dataframe[-1].value
    expected = [
        (task, hit.rank, hit.memory.id)
        for task in ("two rows", "more keys")
        for hit in crowd.retrieve(task).hits
    ]
    assert list(zip(table["task"], table["rank"], table["id"], strict=True)) == expected
    app.button("save-tasks").click().run()
    app.button("save-tasks").click().run()
    assert [query.task for query in crowd.queries()] == ["two rows", "more keys"]


def test_too_many_tasks_are_cut_and_it_is_said(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"), look="Many tasks")
    app.text_area("_tasks").set_value("\n".join(f"task {n}" for n in range(230)))
    app.button(key="FormSubmitter:many-tasks-Run them").click().run()
    assert "230 tasks are too many" in everything(app)
    assert app.dataframe[-1].value["task"].nunique() == 200


def record(app: AppTest, applied: list[int], improved: str = "improved") -> AppTest:
    name = next(pills.key for pills in app.pills if "applied-" in str(pills.key))
    retrieval = name.removeprefix("applied-")
    app.pills(name).set_value(applied)
    app.segmented_control(f"improved-{retrieval}").set_value(improved)
    app.button(key=f"FormSubmitter:outcome-{retrieval}-Record the outcome").click()
    return app.run()


def test_an_outcome_moves_confidence_until_it_is_undone(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"))
    found = crowd.retrieve(TASK)
    first, second = found.hits[0].memory, found.hits[1].memory
    record(app, [first.id, second.id])
    moved = crowd.snapshot().by_id(first.id)
    assert moved.confidence == pytest.approx(min(first.confidence * 0.9 + 0.1, 0.95))
    assert (moved.usage_count, moved.success_count) == (1, 1)
    (row,) = crowd.retrievals()
    assert row.injection == found.injection
    assert [hit.memory_id for hit in row.hits if hit.applied] == [first.id, second.id]
    assert f"{first.confidence:.3f} → {moved.confidence:.3f}" in everything(app)
    crowd.commit(crowd.plan_undo(2))
    app.run()
    assert crowd.snapshot().memories == crowd.snapshot(1).memories
    assert "Outcome recorded" not in everything(app)
    assert [pills for pills in app.pills if "applied-" in str(pills.key)]


def test_a_hurried_second_click_counts_nothing_twice(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"))
    found = app.session_state["_found"][1]
    record(app, [found.hits[0].memory.id])
    again = crowd.record_outcome(found, improved=True, applied=[found.hits[0].memory.id])
    assert again.number == crowd.snapshot().revision == 2
    assert len(crowd.retrievals()) == 1


def test_a_retrieval_is_kept_without_an_outcome_once(open_app: Open, crowd: MemoryBank) -> None:
    app = ask(open_app(crowd, "query"))
    app.button("keep").click().run()
    assert app.button("keep").disabled
    (row,) = crowd.retrievals()
    assert (row.task, row.improved) == (TASK, None)
    record(app, [row.hits[0].memory_id], "not improved")
    (row,) = crowd.retrievals()
    assert row.improved is False


def test_in_the_past_nothing_is_recorded(open_app: Open, crowd: MemoryBank) -> None:
    crowd.start_epoch()
    app = open_app(crowd, "query", revision="1")
    ask(app)
    assert texts(app, crowd.retrieve(TASK, revision=1))
    assert not [button for button in app.button if button.key in {"keep", "undo"}]


def test_a_query_can_be_asked_as_if_the_waiting_proposals_were_accepted(
    open_app: Open, library: MemoryBank
) -> None:
    library.propose(Batch([Add(TASK, "tool", "data"), Delete(99)]), source="reflection")
    app = open_app(library, "query")
    app.text_area("task").set_value(TASK).run()
    assert TASK not in [text.value for text in app.text]
    app.toggle("proposed").set_value(True).run()
    assert not app.exception
    assert app.code[-1].value.splitlines()[0] == f"[G0] {TASK}"
    assert len(library.revisions()) == 1
