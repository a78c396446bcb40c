"""History: what each revision did and why, and the ways back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, Delete, HashEmbedder, MemoryBank, Merge, Modify, ToolDetail
from tests.conftest import Filled
from tests.hostile import TEXTS
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]


@pytest.fixture
def lived(filled: Filled) -> MemoryBank:
    """Five revisions by two people."""
    return filled(_lived)


def _lived(bank: MemoryBank) -> None:
    def commit(by: MemoryBank, reason: str, *operations: object, kind: str = "edit") -> None:
        by.commit(by.plan(Batch(operations, reason, kind=kind)))  # type: ignore[arg-type]

    ann = bank.acting_as("ann")
    commit(bank, "first lessons",
           Add("Move a branch with git rebase --onto.", "tool", "git", ToolDetail("git rebase")),
           Add("Find a lost commit with git reflog.", "tool", "git"),
           Add("Count the rows before a join.", "procedural", "data"), kind="import")  # fmt: skip
    commit(ann, "says it better",
           Modify(2, text="Find a lost commit by git reflog.", rationale="shorter"))  # fmt: skip
    found = bank.retrieve("lost commit")
    bank.record_outcome(found, improved=True, applied=[2])
    commit(ann, "one of two", Merge((1, 2), "Move branches and find commits with git."))
    commit(bank, "not ours", Delete(3), Add("Joins: check 2 keys.", "procedural", "data"))


def press(app: AppTest, key: str) -> AppTest:
    app.button(key).click().run()
    assert not app.exception, app.exception
    return app


def test_the_list_has_every_revision_with_its_actor_reason_kind_and_counts(
    open_app: Open, lived: MemoryBank
) -> None:
    app = open_app(lived, "history")
    assert not app.exception
    table = app.dataframe[0].value
    made = lived.revisions()
    assert table.index.tolist() == [5, 4, 3, 2, 1]
    for revision in made:
        row = table.loc[revision.number]
        assert (row["kind"], row["reason"], row["actor"]) == (
            revision.kind, revision.reason, revision.actor,
        )  # fmt: skip
        assert (row["+"], row["~"], row["−"], row["size"]) == (
            revision.added, revision.changed, revision.removed, revision.size,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "numbers"),
    [
        ({"by": "ann"}, [4, 2]),
        ({"change": "import"}, [1]),
        ({"reason": "BETTER says"}, [2]),
        ({"by": "ann", "reason": "two"}, [4]),
    ],
)
def test_filters_come_from_the_address(
    open_app: Open, lived: MemoryBank, address: dict[str, str], numbers: list[int]
) -> None:
    app = open_app(lived, "history", **address)
    assert app.dataframe[0].value.index.tolist() == numbers
    assert f"{len(numbers)} of 5 revisions" in everything(app)


def test_no_match_and_what_the_address_names_in_vain_are_said(
    open_app: Open, lived: MemoryBank
) -> None:
    app = open_app(lived, "history", reason="zebra")
    assert "No revision matches" in everything(app)
    assert "5 of 5 revisions" in everything(press(app, "clear-history"))
    assert "revision “99”" in everything(open_app(lived, "history", opened="99"))
    assert "gardener" in everything(open_app(lived, "history", by="gardener"))


def test_one_revision_shows_what_it_did_word_by_word(open_app: Open, lived: MemoryBank) -> None:
    said = everything(open_app(lived, "history", opened="2"))
    assert "Find a lost commit :red-background[~~with~~] :green-background[by] git reflog." in said
    assert "says it better" in said
    said = everything(open_app(lived, "history", opened="3"))
    assert "confidence: :red-background[~~0.50~~] :green-background[0.55]" in said
    assert "applied: :red-background[~~0~~] :green-background[1]" in said
    said = everything(open_app(lived, "history", opened="4"))  # the merge, with its sources
    assert "1 merged" in said
    assert "removed" not in said.split("1 merged")[1]
    assert "Move branches and find commits with git." in said
    assert "git rebase" in said


def test_undo_is_previewed_then_made_as_a_new_revision(open_app: Open, lived: MemoryBank) -> None:
    app = press(open_app(lived, "history", opened="4"), "undo-revision")
    said = everything(app)
    assert "Undo revision 4" in app.button("commit-change").label
    assert "2 added" in said
    assert len(lived.revisions()) == 5
    press(app, "commit-change")
    made = lived.revisions()[-1]
    assert (made.number, made.kind) == (6, "undo")
    assert made.reason == "Undo of revision 4: one of two"
    for memory_id in (1, 2):
        assert lived.snapshot().by_id(memory_id) == lived.snapshot(3).by_id(memory_id)
    assert app.session_state["_made"] == (6, "Took revision 4 back")


def test_what_has_changed_again_is_refused_by_an_undo_and_the_rest_is_offered(
    open_app: Open, lived: MemoryBank
) -> None:
    app = press(open_app(lived, "history", opened="1"), "undo-revision")
    said = everything(app)
    assert "Memory 1 has left the bank since revision 1" in said
    assert app.button("commit-change").disabled  # nothing of it is left to take back
    app = press(open_app(lived, "history", opened="5"), "undo-revision")
    lived.commit(lived.plan(Batch([Modify(5, pinned=True)])))
    press(app, "commit-change")  # stale: it is made again and shown
    assert "Memory 5 has changed since" in everything(app)
    assert app.button("commit-change").label == "Undo revision 5: only 1 of 2"
    press(app, "commit-change")
    assert 3 in lived.snapshot()
    assert 5 in lived.snapshot()


def test_the_bank_returns_to_a_revision_as_a_new_one(open_app: Open, lived: MemoryBank) -> None:
    app = press(open_app(lived, "history", opened="1"), "restore-revision")
    assert "the bank goes from 2 to 3 memories" in everything(app)
    press(app, "commit-change")
    assert lived.snapshot().revision == 6
    assert lived.snapshot().memories == lived.snapshot(1).memories
    assert lived.revisions()[-1].reason == "Return to revision 1"


def test_a_revision_is_looked_at_on_every_page_and_nothing_can_be_written_then(
    open_app: Open, lived: MemoryBank
) -> None:
    app = press(open_app(lived, "history", opened="2"), "look-at")
    assert app.session_state["revision"] == 2
    app.run()
    assert app.button("undo-revision").disabled
    assert app.button("restore-revision").disabled
    app = app.switch_page("pages/browse.py").run()
    assert "3 of 3 memories" in everything(app)


def test_any_two_revisions_are_compared_in_either_order(open_app: Open, lived: MemoryBank) -> None:
    app = open_app(lived, "history", history="Compare two", **{"from": "1", "to": "5"})
    said = everything(app)
    found = lived.diff(1, 5)
    assert (len(found.added), len(found.removed), len(found.changed)) == (2, 3, 0)
    assert "1 merged" in said
    assert "1 added" in said
    assert "1 removed" in said
    app.button("swap-revisions").click().run()
    said = everything(app)
    assert "3 added" in said
    assert "2 removed" in said
    said = everything(open_app(lived, "history", history="Compare two", **{"from": "0", "to": "1"}))
    assert "3 added" in said
    app = open_app(lived, "history", history="Compare two", **{"from": "3", "to": "3"})
    assert "one and the same" in everything(app)


def test_a_memory_s_life_goes_from_its_first_text_to_its_end(
    open_app: Open, lived: MemoryBank
) -> None:
    app = open_app(lived, "history", history="One memory's life", life="2")
    said = everything(app)
    places = [said.index(f"in revision {number}") for number in (4, 3, 2, 1)]
    assert places == sorted(places)  # the latest first
    for part in ("merged in revision 4", "changed in revision 3", "Why: shorter", "ann",
                 "no longer in the bank", ":red-background[~~with~~] :green-background[by]",
                 "confidence: :red-background[~~0.50~~] :green-background[0.55]"):  # fmt: skip
        assert part in said
    assert "never was a memory 99" in everything(
        open_app(lived, "history", history="One memory's life", life="99")
    )
    said = everything(open_app(lived, "history", history="One memory's life", life="branches"))
    assert "memory 4" in said
    assert "in the bank" in said


def test_an_empty_bank_has_a_history_page_that_says_what_to_do(
    open_app: Open, bank: MemoryBank
) -> None:
    assert "Nothing has happened yet" in everything(open_app(bank, "history"))
    assert "nothing to compare" in everything(open_app(bank, "history", history="Compare two"))


def test_another_session_s_revision_appears(open_app: Open, lived: MemoryBank) -> None:
    app = open_app(lived, "history")
    other = MemoryBank.open(lived.path, embedder=HashEmbedder(), actor="bob")
    other.commit(other.plan(Batch([Delete(5)], "while you looked")))
    app.run()
    assert app.dataframe[0].value.loc[6, "actor"] == "bob"


@pytest.mark.parametrize("number", range(0, len(TEXTS), 3))
def test_hostile_reasons_and_texts_break_nothing(
    open_app: Open, bank: MemoryBank, number: int
) -> None:
    text, other = TEXTS[number], TEXTS[number - 1]
    hostile = bank.acting_as(other)
    hostile.commit(hostile.plan(Batch([Add(text, "tool", other)], text, kind=other)))
    hostile.commit(hostile.plan(Batch([Modify(1, text=other, rationale=text)], other)))
    for address in ({"opened": "2"}, {"history": "Compare two", "from": "1", "to": "2"},
                    {"history": "One memory's life", "life": "1"}):  # fmt: skip
        app = open_app(bank, "history", **address)
        assert not app.exception
        shown = text.split()[0].replace("**", "").replace("\\", "")  # as `everything` does
        assert shown in everything(app)
