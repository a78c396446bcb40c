"""What models write, and what is read in it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.reflection.entries import Cited, UnreadableEntryError, read_entry
from memory_core.reflection.labelled import labelled_entries
from memory_core.reflection.replies import read_reply
from tests.reflecting import lesson

WHOLE = json.dumps({"lessons": [lesson(), lesson(text="Another one about search_flights.")]})


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"Here you are:\n```json\n{WHOLE}\n```\nI hope that helps {{a lot}}.",
        f"<think>They want [lessons], {{maybe}} two.</think>{WHOLE}",
        json.dumps(json.loads(WHOLE)["lessons"]),
        json.dumps({"operations": json.loads(WHOLE)["lessons"]}),
        json.dumps({"lessons": json.dumps(json.loads(WHOLE)["lessons"])}),
        json.dumps(json.loads(WHOLE), indent=2).replace("\n", "\r\n"),
    ],
)
def test_json_is_found_in_all_its_wrappings(text: str) -> None:
    assert [value["text"] for value in read_reply(text).values] == [  # type: ignore[index]
        lesson()["text"], "Another one about search_flights.",
    ]  # fmt: skip


@given(st.integers(0, len(WHOLE) - 1))
def test_of_a_reply_that_breaks_off_the_whole_entries_are_read(end: int) -> None:
    reply = read_reply(WHOLE[:end], cut=True)
    first_ends = WHOLE.index('}, {"action"')
    expected = 0 if end <= first_ends else 1 if end <= len(WHOLE) - 3 else 2
    assert len(reply.values) == expected
    assert reply.cut


@pytest.mark.parametrize(
    "text", ["Nothing.", "None", '{"lessons": []}', "[]", "No new lessons.", "**Nothing to learn**"]
)
def test_a_reply_may_say_that_there_is_nothing(text: str) -> None:
    reply = read_reply(text)
    assert reply.values == ()
    assert reply.problem == ""


@pytest.mark.parametrize(
    "text", ["", "   ", "The agent did well, I think.", "{}", "[1, 2]", '{"a": 1}']
)
def test_a_reply_without_entries_says_why(text: str) -> None:
    reply = read_reply(text)
    assert reply.values == ()
    assert reply.problem


def test_all_labels_are_understood() -> None:
    text = """
Some words before.

1. **Strategy:** When `search` finds nothing, drop the last word
   and search again.
   *Problem:* empty results
   - Evidence: steps 3–5 and 9
   Domain: Web
2) Procedure: Reset a password by e-mail (steps 4, 5)
   Precondition: the account has an address
   Step: open /reset
   - Step: fill the form in
   * send it
   Reason: it worked
### Tool: `curl` – needs -L to follow redirects [step 8]
Usage: curl -L URL
Modify #12: The new text of it.
Merge 3, 4 and 5: One text for all
Delete 6: step 2 shows that it is wrong
Evidence: 2
"""
    strategy, procedure, tool, modify, merge, delete = labelled_entries(text) or []
    assert strategy == {
        "action": "add", "kind": "strategic", "evidence": "steps 3–5 and 9", "domain": "Web",
        "text": "When `search` finds nothing, drop the last word and search again.",
        "problem": "empty results",
    }  # fmt: skip
    assert procedure["text"] == "Reset a password by e-mail"
    assert procedure["evidence"] == "steps 4, 5"
    assert procedure["steps"] == ["open /reset", "fill the form in", "send it"]
    assert procedure["preconditions"] == ["the account has an address"]
    assert procedure["rationale"] == "it worked"
    assert (tool["tool"], tool["usage"]) == ("curl", "curl -L URL")
    assert tool["text"] == "curl: needs -L to follow redirects"
    entries = [read_entry(value, several_runs=False) for value in (modify, merge, delete)]
    assert [(one.action, one.ids) for one in entries] == [
        ("modify", (12,)), ("merge", (3, 4, 5)), ("delete", (6,)),
    ]  # fmt: skip
    assert entries[2].cited == (Cited(1, (2,)),)
    assert entries[2].rationale == "step 2 shows that it is wrong"


@pytest.mark.parametrize(
    ("evidence", "cited"),
    [
        ([3, 1], (Cited(1, (3, 1)),)),
        ("3", (Cited(1, (3,)),)),
        ("steps 3-5, 8", (Cited(1, (3, 4, 5, 8)),)),
        (["step 3", "4"], (Cited(1, (3, 4)),)),
        ([{"run": 2, "steps": [3]}, {"run": 1, "step": "4"}], (Cited(2, (3,)), Cited(1, (4,)))),
        ("run 2 step 3; run 1: steps 4 to 5", (Cited(2, (3,)), Cited(1, (4, 5)))),
        ([3.0, True, None, [4]], (Cited(1, (3, 4)),)),
        (None, ()),
        ("somewhere", ()),
        ("1-999999999", (Cited(1, (1, 999999999)),)),
    ],
)
def test_steps_are_cited_in_many_ways(evidence: object, cited: tuple[Cited, ...]) -> None:
    assert read_entry(lesson(evidence=evidence), several_runs=True).cited == cited


@pytest.mark.parametrize(
    ("slip", "kind", "action"),
    [
        ({"kind": "Strategy"}, "strategic", "add"),
        ({"kind": "procedure", "tool": ""}, "procedural", "add"),
        ({"action": "UPDATE", "ids": 12}, "tool", "modify"),
        ({"action": None}, "tool", "add"),
        ({"action": "Remove", "ids": "#12"}, "tool", "delete"),
    ],
)
def test_common_slips_are_mended(slip: dict[str, Any], kind: str, action: str) -> None:
    entry = read_entry(lesson(**slip), several_runs=False)
    assert (entry.kind, entry.action) == (kind, action)
    assert entry.ids == ((12,) if "ids" in slip else ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["action", "kind", "text", "evidence", "ids", "steps", "lessons", "x"]),
        inner, max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(json_values, st.booleans())
def test_no_value_breaks_the_reading_of_an_entry(value: object, several_runs: bool) -> None:
    with suppress(UnreadableEntryError):  # and nothing else
        entry = read_entry(value, several_runs=several_runs)
        assert entry.action in ("add", "modify", "merge", "delete")


fragments = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"lessons"',
        ":",
        ",",
        "Strategy:",
        "Step:",
        "\n",
        "- ",
        "**",
        "12",
        "<think>",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(fragments | st.text(max_size=8), max_size=40).map("".join), st.booleans())
def test_no_text_breaks_the_reading_of_a_reply(text: str, cut: bool) -> None:
    reply = read_reply(text, cut=cut)
    assert reply.values or reply.problem or reply.cut or reply.raw


@pytest.mark.parametrize(
    "text",
    [
        "*" * 100_000,
        "[" * 100_000,
        '{"lessons": [' + "{" * 100_000,
        "Step: a\n" * 20_000,
        "# " * 50_000,
    ],
)
def test_repetitive_replies_are_read_in_no_time(text: str) -> None:
    read_reply(text)
