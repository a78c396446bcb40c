"""Quality: saved queries measured, judged, tuned, compared, exported and taken in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    MEASURES,
    Add,
    Batch,
    Delete,
    MemoryBank,
    RetrievalSettings,
    compare,
    evaluate,
    tune,
)
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
NAMES = {
    "ndcg": "nDCG@5", "recall": "recall@5", "precision": "precision@5", "hit": "hit@5",
    "reciprocal_rank": "MRR",
}  # fmt: skip
ALPHA, KAPPA = "alpha lesson about alpha", "kappa lesson about kappa"


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    """Ten lessons, of which the eighth has left; two queries with judgements, one with none."""
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    operations = [
        Add(f"{word} lesson {i} about {word}", "tool", word, confidence=0.3 + 0.05 * i)
        for i, word in enumerate(words)
    ]
    bank.commit(bank.plan(Batch(operations, "ten lessons")))
    bank.save_query(ALPHA, domains=["beta"], judgements={1: 3, 8: 2, 5: 0})
    bank.save_query(KAPPA, judgements={10: 1, 3: 2})
    bank.save_query("nobody has judged this")
    bank.commit(bank.plan(Batch([Delete(8)], "too special")))


def vectors(bank: MemoryBank):  # type: ignore[no-untyped-def]
    return bank.embed([query.task for query in bank.queries()])


def test_the_numbers_are_the_library_s_and_labels_filter_nothing(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "quality")
    assert not app.exception
    found = evaluate(library.snapshot(), library.queries(), vectors(library))
    table = app.dataframe[0].value
    assert table.index.tolist() == [1, 2, 3]
    for one in found.queries:
        row = table.loc[one.query.id]
        for measure, name in NAMES.items():
            assert row[name] == pytest.approx(getattr(one, measure))
        assert row["unjudged"] == one.unjudged
    assert table.loc[3, list(NAMES.values())].isna().all()
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown == {NAMES[m]: f"{found.mean(m).mean:.2f}" for m in MEASURES}
    said = everything(app)
    assert f"{found.ndcg.low:.2f} to {found.ndcg.high:.2f} · ideal 1.00" in said
    assert "1 without a relevant memory are not measured" in said
    # The label of the first query is a domain in which its relevant memories are not.
    assert table.loc[1, "recall@5"] > 0


def test_k_and_both_weights_are_the_page_s(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality")
    app.number_input("k").set_value(1)
    app.slider("lambda").set_value(1.0).run()
    asked = RetrievalSettings(confidence_weight=1.0)
    found = evaluate(library.snapshot(), library.queries(), vectors(library), asked, 1)
    assert app.metric[0].label == "nDCG@1"
    assert app.metric[0].value == f"{found.ndcg.mean:.2f}"
    app.button("preset-hybrid").click().run()
    assert (app.slider("lambda").value, app.slider("mu").value) == (0.2, 0.2)


def test_a_judgement_is_written_and_moves_the_numbers(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality", query="1")
    assert not app.exception
    ranking = [hit.memory.id for hit in library.retrieve(ALPHA, RetrievalSettings(limit=10)).hits]
    grades = {box.key: box.value for box in app.segmented_control if "grade-" in box.key}
    assert grades["grade-1-1"] == 3
    assert grades["grade-1-8"] == 2  # it has left, and can be judged all the same
    assert set(grades) == {f"grade-1-{i}" for i in {*ranking, 8}}
    unjudged = ranking[1]
    before = app.dataframe[0].value.loc[1, "recall@5"]
    app.segmented_control(f"grade-1-{unjudged}").set_value(2).run()
    assert library.queries()[0].judgements == {1: 3, 8: 2, 5: 0, unjudged: 2}
    assert app.dataframe[0].value.loc[1, "recall@5"] == pytest.approx(2 / 3) != before
    app.segmented_control(f"grade-1-{unjudged}").set_value(None).run()
    assert library.queries()[0].judgements == {1: 3, 8: 2, 5: 0}
    assert app.dataframe[0].value.loc[1, "recall@5"] == before
    # Whoever judged since: the page shows what the bank holds, not what was clicked here.
    library.judge(1, 1, 1)
    app.run()
    assert app.segmented_control("grade-1-1").value == 1


def test_the_past_is_measured_and_not_judged(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality", query="1", revision="1")
    found = evaluate(library.snapshot(1), library.queries(), vectors(library))
    assert app.dataframe[0].value.loc[1, "recall@5"] == found.queries[0].recall
    assert all(box.disabled for box in app.segmented_control if "grade-" in box.key)


def test_a_query_is_added_opened_and_deleted(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality")
    app.text_area("new-task").set_value("  a new task ")
    app.multiselect("new-domains").set_value(["beta"])
    next(b for b in app.button if b.label == "Add this query").click().run()
    assert not app.exception
    added = library.queries()[-1]
    assert (added.task, added.domains) == ("a new task", ("beta",))
    assert f"Saved query {added.id} · about beta" in everything(app)
    app.button("delete-query").click().run()
    assert [query.id for query in library.queries()] == [1, 2, 3]
    assert "about beta" not in everything(app)


def test_a_task_that_is_saved_already_opens_and_is_not_saved_twice(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "quality")
    app.text_area("new-task").set_value(KAPPA)
    next(b for b in app.button if b.label == "Add this query").click().run()
    assert len(library.queries()) == 3
    assert "Saved query 2" in everything(app)


def test_an_address_that_names_no_query_is_said(open_app: Open, library: MemoryBank) -> None:
    assert "which is not here" in everything(open_app(library, "quality", query="99"))
    assert "which is not here" in everything(open_app(library, "quality", query="x"))


def test_the_best_weights_are_told_with_their_doubt(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality", part="Weights")
    app.button("tune").click().run()
    assert not app.exception
    found = tune(library.snapshot(), library.queries(), vectors(library))
    verdict = found.verdict("ndcg")
    said = everything(app)
    if verdict.best is verdict.present:
        assert "No pair of weights has a higher nDCG@5" in said
    else:
        assert f"nDCG@5 {verdict.best.mean('ndcg'):.3f}" in said
        assert ("too few to tell" in said) == (not verdict.is_clear)
    assert app.dataframe[-1].value.to_numpy() == pytest.approx(found.grid("ndcg"))
    assert app.get("plotly_chart")
    app.button("take-best").click().run()
    best = verdict.best.settings
    assert app.slider("lambda").value == best.confidence_weight
    assert app.slider("mu").value == best.lexical_weight


def test_the_history_measures_each_revision_by_today_s_judgements(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "quality", part="History")
    app.button("measure-history").click().run()
    assert not app.exception
    table = app.dataframe[-1].value.set_index("revision")
    assert table.index.tolist() == [1, 2]
    for number in (1, 2):
        found = evaluate(library.snapshot(number), library.queries(), vectors(library))
        assert table.loc[number, "recall@5"] == pytest.approx(found.recall.mean)
    assert app.button("measure-history").disabled
    # Another revision: the two before need not be measured again.
    library.commit(library.plan(Batch([Add("one more lesson", "tool", "alpha")])))
    app.run()
    assert app.button("measure-history").label == "Measure 1 revision"


def test_two_revisions_are_compared(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality", part="Compare")
    app.number_input("from").set_value(1).run()
    assert not app.exception
    before, after = library.snapshot(1), library.snapshot(2)
    found = compare(before, after, library.queries(), vectors(library))
    table = app.dataframe[-1].value
    assert table.loc["recall@5", "before"] == pytest.approx(found.before.recall.mean)
    assert table.loc["recall@5", "after"] == pytest.approx(found.after.recall.mean)
    said = everything(app)
    for query in found.losing:
        for lost in query.lost:
            assert before.by_id(lost.memory_id).text in said
    app.number_input("to").set_value(1).run()
    assert "does not differ from itself" in everything(app)


def gate_on_a_plan() -> None:
    """An app that shows a plan: it deletes the best lesson of the first query, and adds one."""
    from memory_core import Add, Batch, Delete
    from pages.components import frame, gate, navigation

    navigation.frame_is_there()
    desk = frame.open_desk()
    added = Add("alpha lesson about alpha and what came after", "tool", "alpha", confidence=0.9)
    gate.show(desk, desk.bank.plan(Batch([Delete(1), added], key="a plan")))


def test_the_gate_shows_what_a_plan_costs_which_query_and_what_comes_instead(
    open_app: Open, library: MemoryBank
) -> None:
    open_app(library)  # the bank on the desk
    app = AppTest.from_function(gate_on_a_plan, default_timeout=120).run()
    assert not app.exception
    said = everything(app)
    assert "1 of 3 saved queries loses a relevant memory from the first 5" in said
    assert "the only one" in said
    assert "rank 1, grade 3, leaves" in said
    assert "alpha lesson 0 about alpha" in said
    assert "alpha lesson about alpha and what came after" in said
    assert app.dataframe[0].value.loc["hit@5", "change"] == pytest.approx(-0.5)
    assert len(library.revisions()) == 2  # nothing was written


def test_files_are_looked_through_and_then_taken(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "quality", part="Files")
    content = b"2 0 1 3\n2 0 10 1\nnonsense\n7 0 1 1\n1 0 400 2\n"
    app.file_uploader("judgement-file").upload("some.qrels", content, "text/plain").run()
    assert not app.exception
    said = everything(app)
    assert "1 judgement to take" in said
    assert "Line 3: four fields" in said
    assert "Line 4: there is no saved query 7" in said
    assert "Line 5: there never was a memory 400" in said
    assert library.queries()[1].judgements == {10: 1, 3: 2}
    app.button("import-judgements").click().run()
    assert not app.exception
    assert library.queries()[1].judgements == {10: 1, 3: 2, 1: 3}


def test_without_queries_or_judgements_or_memories_it_says_what_to_do(
    open_app: Open, bank: MemoryBank
) -> None:
    assert "No saved queries yet" in everything(open_app(bank, "quality"))
    bank.save_query("a task")
    app = open_app(bank, "quality", query="1")
    assert not app.exception
    assert "judge its hits" in everything(app)
    assert "no memories" in everything(app)
    for part in ("Weights", "History", "Compare", "Files"):
        assert not open_app(bank, "quality", part=part).exception
