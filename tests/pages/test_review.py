"""Review: what is proposed is seen with its reasons, decided, and decided again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    Add,
    Adjust,
    Batch,
    Delete,
    Evidence,
    Memory,
    MemoryBank,
    Merge,
    Modify,
    Outcome,
    Restore,
    Step,
    ToolDetail,
    Trajectory,
    nearest,
)
from pages.components import review_decide
from tests.conftest import Filled
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
LONG = "word " * 33


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    """Six lessons, two groups of proposals, one of which cites a run that is kept."""
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    words = ("rebase", "merge", "clone", "fetch", "push", "tag")
    bank.commit(bank.plan(Batch([
        Add(f"Use git {word} with care, case {i}.", "tool", "git" if i < 4 else "web",
            confidence=0.3 + 0.1 * i)
        for i, word in enumerate(words)
    ], "six lessons")))  # fmt: skip
    run = Trajectory(
        "Move a branch", (Step(1, "user", "Move it."), Step(2, "assistant", "Rebasing now.", "git",
        "rebase --onto main", "Successfully rebased.")), Outcome(success=True),
    )  # fmt: skip
    bank.keep_trajectories([run], ids=["run-1"])
    bank.propose(Batch([
        Add("Rebase onto main before a push.", "tool", "git", ToolDetail("git rebase", "--onto"),
            rationale="It saved a merge.",
            evidence=(Evidence("run-1", (2,)), Evidence("run-9", (4, 5)))),
        Modify(1, text="Use git rebase with great care, case 0.", rationale="Great care."),
        Add(LONG, "tool", "git"),
    ], "A run of git"), source="reflection")  # fmt: skip
    bank.acting_as("mara").propose(
        Batch([Merge((5, 6), "Use git push and tag with care."), Merge((1,), "One."), Delete(99)],
              "Near copies"),
        source="duplicates",
    )  # fmt: skip


@pytest.fixture(autouse=True)
def pace(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """In how many seconds a second key is a held one; in none, unless a test is about that."""

    def within(seconds: float) -> None:
        monkeypatch.setattr(review_decide, "CALM", seconds)

    within(0)
    return within


def press(app: AppTest, key: str) -> AppTest:
    app.button(key).click().run()
    assert not app.exception
    return app


def shown(app: AppTest) -> int:
    return app.session_state["proposal"]


def states(bank: MemoryBank) -> str:
    return " ".join(p.state[0] for p in bank.proposals(None))


def test_the_first_is_shown_with_all_that_speaks_for_it(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "review")
    assert not app.exception
    said = everything(app)
    for part in ("Add", "git", "proposal 1", "It saved a merge.", "from reflection", "by tester",
                 "A run of git", "Rebase onto main before a push.", "new memory",
                 "run run-1 · step 2", "Move a branch", "it succeeded", "Rebasing now.",
                 "Successfully rebased.", "run run-9 · steps 4, 5", "is not kept"):  # fmt: skip
        assert part in said, part
    plan = library.plan_proposals(1)
    for neighbour in nearest(plan.after, -1, limit=5):
        assert neighbour.memory.text in said
        assert f"{neighbour.similarity:.2f}" in said


def test_accept_commits_it_and_goes_to_the_next(open_app: Open, library: MemoryBank) -> None:
    app = press(open_app(library, "review"), "accept-proposal")
    assert states(library) == "a p p p p p"
    assert library.snapshot().memories[-1].text == "Rebase onto main before a push."
    assert shown(app) == 2
    assert app.session_state["_made"][0] == 2  # the bar with Undo
    said = everything(app)
    assert "Use git rebase with" in said
    assert ":green-background[great]" in said


def test_a_held_key_accepts_one(
    open_app: Open, library: MemoryBank, pace: Callable[[float], None]
) -> None:
    app = press(open_app(library, "review"), "accept-proposal")
    pace(60)
    for _ in range(3):
        press(app, "accept-proposal")
    assert states(library) == "a p p p p p"
    pace(0)
    press(app, "accept-proposal")
    assert states(library) == "a a p p p p"


def test_an_undo_has_it_wait_again_and_a_rejected_one_can_still_be_accepted(
    open_app: Open, library: MemoryBank
) -> None:
    app = press(open_app(library, "review"), "accept-proposal")
    library.commit(library.plan_undo(2))
    assert states(library) == "p p p p p p"
    app.run()
    app.query_params["proposal"] = "1"
    press(app.run(), "reject-proposal")
    assert "Reject because" in everything(app)
    press(app, "reject-1")
    assert states(library) == "r p p p p p"
    assert library.proposals("rejected")[0].decision_reason == "Too generic"
    app.segmented_control("review").set_value("Rejected").run()
    assert "Too generic" in everything(app)
    press(app, "accept-proposal")
    assert states(library) == "a p p p p p"


def test_a_rejection_in_ones_own_words_and_put_back(open_app: Open, library: MemoryBank) -> None:
    app = press(open_app(library, "review"), "reject-proposal")
    app.text_input("reject-reason-1").set_value("We squash.")
    next(b for b in app.button if b.label == "Reject with this reason").click().run()
    assert library.proposals("rejected")[0].decision_reason == "We squash."
    app.segmented_control("review").set_value("Rejected").run()
    press(app, "put-back")
    assert states(library) == "p p p p p p"


def test_skip_goes_round(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "review", proposal="5")
    assert shown(app) == 5
    seen = [shown(press(app, "skip-proposal")) for _ in range(3)]
    assert seen == [6, 1, 2]
    assert states(library) == "p p p p p p"


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [(3, "33 words"), (5, "two or more"), (6, "no memory 99")],
)
def test_a_refused_one_is_shown_with_the_reason_and_cannot_be_accepted_as_it_is(
    open_app: Open, library: MemoryBank, proposal: int, reason: str
) -> None:
    app = open_app(library, "review", proposal=str(proposal))
    said = everything(app)
    assert "Refused as it stands" in said
    assert reason in said
    assert app.button("accept-proposal").disabled


ODD = (
    Add(5, "tool", "git"),  # type: ignore[arg-type]
    Add("Use uv.", "nope", 5, rationale=6, tags=None, confidence="high"),  # type: ignore[arg-type]
    Add("Use\nuv.", "tool", "git", evidence=(Evidence("", ()), Evidence("r", (-2,)))),
    Merge(("a", "b"), None),  # type: ignore[arg-type]
    Modify("1", tags=(5,)),  # type: ignore[arg-type]
    Delete(10**30),
    Adjust(1, 0.9, 3, 2),
    Restore(Memory(7, "tool", "An old one.", "git")),
)
"""What an agent may propose that knows no rules."""


def test_whatever_was_proposed_can_be_looked_at_and_opened_for_an_edit(
    open_app: Open, library: MemoryBank
) -> None:
    ids = library.propose(Batch(ODD, "odd"))
    assert not open_app(library, "review", review_view="Table").exception
    app = open_app(library, "review")
    for proposal_id in ids:
        app.query_params["proposal"] = str(proposal_id)
        press(app.run(), "edit-proposal")
        assert f"proposal {proposal_id}" in everything(app)
    app.query_params["proposal"] = str(ids[0])
    press(app.run(), "edit-proposal")
    app.text_input(f"edit-{ids[0]}-text").set_value("Use uv for this.").run()
    press(app, "accept-edited")
    assert library.snapshot().memories[-1].text == "Use uv for this."


def test_a_stale_one_shows_both_versions(open_app: Open, library: MemoryBank) -> None:
    library.commit(library.plan(Batch([Modify(1, text="Use git rebase with no care, case 0.")])))
    said = everything(open_app(library, "review", proposal="2"))
    assert "has changed since revision 1" in said
    assert ":green-background[no]" in said
    assert "Use git rebase with great care, case 0." in said


def test_a_refused_one_is_edited_and_then_accepted(open_app: Open, library: MemoryBank) -> None:
    app = press(open_app(library, "review", proposal="3"), "edit-proposal")
    assert app.button("accept-edited").disabled
    app.text_input("edit-3-text").set_value("Few words are enough.").run()
    press(app, "accept-edited")
    accepted = library.proposals("accepted")[0]
    assert (accepted.id, accepted.revision) == (3, 2)
    assert library.snapshot().memories[-1].text == "Few words are enough."
    app.query_params["proposal"] = "5"
    press(app.run(), "edit-proposal")
    assert "needs two memories or more; 1 is chosen" in everything(app)
    app.multiselect("edit-5-ids").set_value([1, 2]).run()
    press(app, "accept-edited")
    assert library.snapshot().memories[-1].provenance.merged_from == (1, 2)
    app.query_params["proposal"] = "6"
    press(app.run(), "edit-proposal")
    assert "no memory 99" in everything(app)
    app.number_input("edit-6-target").set_value(3).run()
    press(app, "accept-edited")
    assert 3 not in library.snapshot()
    assert states(library) == "p p a p a a"


def test_a_modify_is_edited_where_its_memory_has_changed(
    open_app: Open, library: MemoryBank
) -> None:
    library.commit(library.plan(Batch([Modify(1, domain="shell")])))
    app = press(open_app(library, "review", proposal="2"), "edit-proposal")
    app.text_input("edit-2-1-text").set_value("Use git rebase with the greatest care.").run()
    press(app, "accept-edited")
    memory = library.snapshot().by_id(1)
    assert (memory.text, memory.domain) == ("Use git rebase with the greatest care.", "shell")


def test_the_bank_changes_under_an_open_edit_and_it_is_said(
    open_app: Open, library: MemoryBank
) -> None:
    app = press(open_app(library, "review", proposal="2"), "edit-proposal")
    app.text_input("edit-2-1-text").set_value("Mine.").run()
    library.commit(library.plan(Batch([Modify(1, text="Theirs.")])))
    app.run()
    said = everything(app)
    assert "changed under this form" in said
    assert "Theirs." in said
    assert app.button("accept-edited").disabled
    press(app, "edit-rebase")
    press(app, "accept-edited")
    assert library.snapshot().by_id(1).text == "Mine."


def test_a_group_is_accepted_as_one_revision_and_what_is_refused_stays(
    open_app: Open, library: MemoryBank
) -> None:
    app = press(open_app(library, "review"), "group-proposal")
    said = everything(app)
    assert "3 proposals of one group" in said
    assert "33 words" in said
    assert "1 proposal is refused and will stay: 3" in said
    press(app, "accept-group")
    assert states(library) == "a a p p p p"
    assert {p.revision for p in library.proposals("accepted")} == {2}
    assert "33 words" in everything(app)  # it is the next, with its reason
    app.segmented_control("review").set_value("Accepted").run()
    press(app, "undo-accepted")
    assert states(library) == "p p p p p p"
    assert library.snapshot().memories == library.snapshot(1).memories


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"review_source": "duplicates"}, [4, 5, 6]),
        ({"review_change": "add"}, [1, 3]),
        ({"review_domain": "web"}, [4]),
        ({"review_refused": "true"}, [3, 5, 6]),
        ({"review_source": "reflection", "review_refused": "true"}, [3]),
    ],
)
def test_filters_come_from_the_address(
    open_app: Open, library: MemoryBank, address: dict[str, str], expected: list[int]
) -> None:
    app = open_app(library, "review", review_view="Table", **address)
    assert app.dataframe[0].value.index.tolist() == expected
    assert f"{len(expected)} of 6 proposals" in everything(app)


def test_a_filter_that_lets_nothing_through_can_be_cleared(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "review", review_source="duplicates", review_domain="web",
                   review_refused="true")  # fmt: skip
    assert "Nothing matches" in everything(app)
    app.button("clear-review-empty").click().run()
    assert "1 of 6" in app.get("progress")[0].proto.text


def tick(app: AppTest, ids: tuple[int, ...], rows: list[int]) -> None:
    """Tick rows of the table of some proposals."""
    selection = {"selection": {"rows": rows, "columns": [], "cells": []}}
    app.session_state[f"review-table-Waiting-{hash(ids)}"] = selection
    app.run()
    assert not app.exception


def test_the_table_tells_what_is_refused_and_decides_many_at_once(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "review", review_view="Table")
    table = app.dataframe[0].value
    assert table["refused because"].astype(bool).tolist() == [False, False, True, False, True, True]
    tick(app, (1, 2, 3, 4, 5, 6), [1, 2, 3])
    assert "3 proposals ticked" in everything(app)
    press(app, "accept-ticked")
    assert states(library) == "p a p a p p"
    tick(app, (1, 3, 5, 6), [1, 2])
    app.selectbox("bulk-reason").set_value("Wrong").run()
    press(app, "reject-ticked")
    assert states(library) == "p a r a r p"


def test_progress_counts_what_was_decided_here(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "review")
    assert "1 of 6" in app.get("progress")[0].proto.text
    press(app, "accept-proposal")
    assert "2 of 6" in app.get("progress")[0].proto.text
    press(app, "skip-proposal")
    assert "3 of 6" in app.get("progress")[0].proto.text


def test_when_all_is_decided_and_when_nothing_came_it_says_what_to_do_next(
    open_app: Open, bank: MemoryBank
) -> None:
    said = everything(open_app(bank, "review"))
    assert "Nothing waits for review" in said
    assert "Clean" in said
    bank.propose(Batch([Add("Use uv.", "tool", "python")]))
    app = press(open_app(bank, "review"), "accept-proposal")
    assert "All is decided" in everything(app)


def test_an_address_that_leads_nowhere_says_so(open_app: Open, library: MemoryBank) -> None:
    library.decide(2, accept=False)
    assert "Proposal 2 is rejected" in everything(open_app(library, "review", proposal="2"))
    assert "does not have" in everything(open_app(library, "review", proposal="77"))
    assert "not here" in everything(open_app(library, "review", review_source="nobody"))


def test_a_link_to_another_one_leads_there(open_app: Open, library: MemoryBank) -> None:
    app = press(open_app(library, "review"), "skip-proposal")
    assert shown(app) == 2
    app.query_params["proposal"] = "4"
    app.run()
    assert shown(app) == 4


def test_in_the_past_nothing_can_be_decided(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "review", revision="0")
    assert not app.exception
    assert app.button("accept-proposal").disabled
    assert app.button("reject-proposal").disabled


def test_another_tab_was_faster_and_it_is_said(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "review")
    library.decide(1, accept=True)
    press(app, "accept-proposal")  # of the page as it was drawn before
    assert len(library.revisions()) == 2
    assert "accepted in revision 2" in app.session_state["_notice"]
