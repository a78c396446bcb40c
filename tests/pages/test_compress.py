"""Compress: what it would cost, argued with, committed, taken back."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, CompressionSettings, MemoryBank, Modify, impact
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    """Twenty lessons over a capacity of twelve; a query whose only relevant lesson is weak."""
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
    operations = [
        Add(f"{word} lesson {i} about {word} and {i}", "tool", word, confidence=0.3 + 0.03 * i)
        for i, word in enumerate(words * 2)
    ]
    bank.commit(bank.plan(Batch(operations, "twenty lessons")))
    bank.configure(capacity=12)
    bank.save_query("alpha lesson 0 about alpha", judgements={1: 3})
    bank.save_query("kappa lesson 19 about kappa", judgements={20: 3, 10: 1})


def plan_of(bank: MemoryBank, strategy: str = "hybrid", pin: tuple[int, ...] = ()):  # type: ignore[no-untyped-def]
    return bank.plan_compression(CompressionSettings(strategy=strategy, capacity=12), pin=pin)  # type: ignore[arg-type]


def test_all_strategies_stand_side_by_side_with_the_library_s_numbers(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "compress")
    assert not app.exception
    table = app.dataframe[0].value
    assert list(table.index) == ["hybrid", "diversity", "importance", "temporal"]
    queries = library.queries()
    vectors = library.embed([query.task for query in queries])
    for strategy in table.index:
        plan = plan_of(library, strategy)
        cost = impact(plan.before, plan.after, queries, vectors)
        row = table.loc[strategy]
        assert row["kept"] == len(plan.after)
        assert row["dropped"] == len(plan.dropped)
        assert row["recall@5"] == pytest.approx(cost.comparison.after.recall.mean)
        assert row["lose the only one"] == len(cost.comparison.losing_only)


def test_what_goes_is_listed_with_the_number_that_decided(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "compress")
    listed = app.dataframe[1].value
    plan = plan_of(library)
    assert listed.index.tolist() == plan.dropped.tolist()
    for memory_id in plan.dropped.tolist():
        assert listed.loc[memory_id, "why"] == plan.decision(memory_id).sentence


def test_a_lesson_that_is_spared_stays_and_is_pinned_with_the_commit(
    open_app: Open, library: MemoryBank
) -> None:
    spared = int(plan_of(library).dropped[0])
    app = open_app(library, "compress")
    app.session_state["_spared"] = (spared,)
    app.run()
    assert spared not in app.dataframe[1].value.index
    confirm(app)
    app.button("commit").click().run()
    assert not app.exception
    assert library.snapshot().by_id(spared).pinned
    assert len(library.snapshot()) == 12


def confirm(app: AppTest) -> None:
    for box in app.text_input:
        if box.key == "confirm-compression":
            box.set_value(str(len(app.dataframe[1].value))).run()


def test_losing_a_query_s_only_lesson_asks_for_a_typed_word(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "compress")
    app.segmented_control("strategy").set_value("importance").run()
    assert "loses the only relevant lesson" in app.text_input("confirm-compression").label
    assert app.button("commit").disabled
    app.text_input("confirm-compression").set_value("wrong").run()
    assert app.button("commit").disabled
    confirm(app)
    app.button("commit").click().run()
    made = library.revisions()[-1]
    assert made.kind == "compression"
    assert "importance" in made.reason
    assert "p = 0.2" in made.reason
    assert made.removed == 4
    library.commit(library.plan_undo(made.number))
    assert library.snapshot().memories == library.snapshot(1).memories


def test_a_bank_that_has_gone_on_is_planned_anew_and_it_is_said(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "compress")
    library.commit(library.plan(Batch([Modify(3, pinned=True), Modify(4, pinned=True)])))
    app.run()
    assert "gone on from revision 1 to 2 (+0 −0 ~2)" in everything(app)
    assert not {3, 4} & set(app.dataframe[1].value.index)


def test_a_capacity_below_the_pinned_ones_is_refused_in_words(
    open_app: Open, library: MemoryBank
) -> None:
    library.commit(library.plan(Batch([Modify(i, pinned=True) for i in range(1, 15)])))
    said = everything(open_app(library, "compress"))
    assert "14 memories are pinned" in said


def test_the_curve_is_computed_on_request_and_kept(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "compress")
    assert not app.get("plotly_chart")
    app.button("curve-button").click().run()
    assert not app.exception
    points = app.session_state["_curve"]["points"]
    assert len(points) == 50
    assert app.get("plotly_chart")
    app.number_input("capacity").set_value(10).run()
    assert not app.get("plotly_chart")  # other parameters, another curve


def test_an_empty_bank_says_so(open_app: Open, bank: MemoryBank) -> None:
    assert "nothing to compress" in everything(open_app(bank, "compress"))


def test_the_map_has_an_arrow_from_what_goes_to_what_is_nearest(
    open_app: Open, library: MemoryBank
) -> None:
    library.fit_map()
    app = open_app(library, "compress")
    assert not app.get("plotly_chart"), "it is drawn for those who look at it only"
    app.session_state["cost"] = "On the map"
    app.run()
    assert not app.exception
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    plan = plan_of(library)
    (lines,) = [trace for trace in drawn["data"] if trace["mode"] == "lines"]
    laid = library.map()
    assert laid is not None
    wanted = {
        (*laid.position_of(gone).tolist(), *laid.position_of(plan.decision(gone).nearest).tolist())
        for gone in plan.dropped.tolist()
    }
    x, y = lines["x"], lines["y"]
    found = [(x[i], y[i], x[i + 1], y[i + 1]) for i in range(0, len(x), 3)]
    assert np.array(sorted(found)) == pytest.approx(np.array(sorted(wanted)))
