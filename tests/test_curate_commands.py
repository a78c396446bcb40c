"""`winnow add` and `winnow review`, as a person or a script calls them."""

from __future__ import annotations

import pytest

from memory_core import (
    Add,
    Batch,
    Delete,
    MemoryBank,
    Modify,
    ProceduralDetail,
    StrategicDetail,
    ToolDetail,
)
from tests.commands import Winnow
from tests.conftest import Filled

LONG = "word " * 33


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("--kind", "tool", "--tool", "git", "--usage", "git push"), ToolDetail("git", "git push")),
        (("--kind", "strategic", "--problem", "It hangs."), StrategicDetail("It hangs.")),
        (("--kind", "procedural", "--step", "look", "--step", "leap", "--precondition", "a cliff"),
         ProceduralDetail(("look", "leap"), ("a cliff",))),
        (("--kind", "tool"), None),
    ],
)  # fmt: skip
def test_a_lesson_is_added_with_what_is_said_of_it(
    winnow: Winnow, bank: MemoryBank, words: tuple[str, ...], detail: object
) -> None:
    more = ("--tag", "a", "--tag", "b", "--pin", "--reason", "a fall", "--json")
    told = winnow("add", "Look at 2 things.", "--domain", " Hills ", *words, *more).json
    (memory,) = bank.snapshot()
    assert told == {"id": memory.id, "revision": 1, "doubts": []}
    assert (memory.text, memory.domain, memory.detail) == ("Look at 2 things.", "hills", detail)
    assert (memory.tags, memory.pinned) == (("a", "b"), True)
    assert bank.revision(1).reason == "a fall"


def test_a_doubt_does_not_stop_it_and_is_told_beside_the_result(
    winnow: Winnow, bank: MemoryBank
) -> None:
    ended = winnow("add", "Be careful.", "--domain", "all", "--kind", "strategic")
    assert ended.returncode == 0
    assert ended.stdout == "Memory 1, in revision 1.\n"
    assert "doubt: " in ended.stderr
    assert len(bank.snapshot()) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((LONG, "--domain", "x", "--kind", "tool"), 1, "33 words"),
        (("Fine.", "--domain", "x", "--kind", "idea"), 2, "idea"),
        (("Fine.", "--domain", "x"), 2, "--kind"),
        (("Fine.", "--domain", "x", "--kind", "tool", "--step", "a"), 2, "procedural"),
    ],
)
def test_what_is_refused_writes_nothing(
    winnow: Winnow, bank: MemoryBank, words: tuple[str, ...], code: int, said: str
) -> None:
    ended = winnow("add", *words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
    assert bank.revisions() == ()


def test_a_proposed_lesson_waits(winnow: Winnow, bank: MemoryBank) -> None:
    told = winnow("add", "Wait 3 s.", "--domain", "x", "--kind", "tool", "--propose", "--json").json
    (waiting,) = bank.proposals()
    assert told["proposal"] == waiting.id
    assert bank.revisions() == ()


# -- review ---------------------------------------------------------------------------------------


@pytest.fixture
def queue(filled: Filled) -> MemoryBank:
    """Proposals 1 to 3 of one group, of which the third is too long; 4 of another."""
    return filled(_queue)


def _queue(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([Add("First lesson of 2.", "tool", "git"),
                                 Add("Second lesson of 2.", "tool", "git")])))  # fmt: skip
    bank.propose(Batch([Add("Third lesson of 3.", "tool", "git"),
                        Modify(1, text="First lesson of 3.", rationale="there are three"),
                        Add(LONG, "tool", "git")], "a run"), source="reflection")  # fmt: skip
    bank.propose(Batch([Delete(2)], "a clean-up"), source="duplicates")


def states(bank: MemoryBank) -> str:
    return "".join(p.state[0] for p in bank.proposals(None))


def test_the_list_has_what_waits_and_what_would_be_refused(
    winnow: Winnow, queue: MemoryBank
) -> None:
    listed = winnow("review", "--json").json
    assert [one["id"] for one in listed] == [1, 2, 3, 4]
    assert [one["operation"]["name"] for one in listed] == ["add", "modify", "add", "delete"]
    assert listed[1]["operation"]["id"] == 1
    assert [bool(one["refused"]) for one in listed] == [False, False, True, False]
    said = winnow("review").stdout
    for part in ("Third lesson", "Modify 1: First", "there are three", "33 words", "2 groups"):
        assert part in said
    assert states(queue) == "pppp"


def test_several_are_accepted_as_one_revision(winnow: Winnow, queue: MemoryBank) -> None:
    told = winnow("review", 1, 4, "--accept", "--json").json
    assert told == {"decision": "accept", "ids": [1, 4], "revision": 2, "left": []}
    assert states(queue) == "appa"
    assert [m.text for m in queue.snapshot()] == ["First lesson of 2.", "Third lesson of 3."]


def test_a_group_goes_together_and_what_is_refused_is_left_when_one_says_so(
    winnow: Winnow, queue: MemoryBank
) -> None:
    refused = winnow("review", 1, "--group", "--accept")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert states(queue) == "pppp"
    ended = winnow("review", 1, "--group", "--accept", "--skip-refused", "--json")
    assert ended.returncode == 3
    assert ended.json["ids"] == [1, 2]
    assert [one["id"] for one in ended.json["left"]] == [3]
    assert states(queue) == "aapp"
    assert len(queue.revisions()) == 2


def test_rejected_with_a_reason_and_put_back(winnow: Winnow, queue: MemoryBank) -> None:
    assert winnow("review", "--all", "--reject", "--reason", "not now").returncode == 0
    assert {p.decision_reason for p in queue.proposals("rejected")} == {"not now"}
    assert winnow("review").stdout == "There is none.\n"
    assert [one["id"] for one in winnow("review", "--state", "rejected", "--json").json] == [
        1, 2, 3, 4,
    ]  # fmt: skip
    assert winnow("review", 2, "--put-back").returncode == 0
    assert states(queue) == "rprr"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--accept",), 2),
        (("1", "--accept", "--reject"), 2),
        (("one", "--accept"), 2),
        (("99", "--accept"), 1),
        (("99",), 1),
        (("3", "--accept"), 1),
    ],
)
def test_what_cannot_be_decided_decides_nothing(
    winnow: Winnow, queue: MemoryBank, words: tuple[str, ...], code: int
) -> None:
    ended = winnow("review", *words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr
    assert states(queue) == "pppp"
