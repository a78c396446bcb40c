"""Records as JSON: nothing is lost, and the same value gives the same text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core import (
    Add,
    Delete,
    InvalidBatchError,
    Memory,
    Merge,
    Modify,
    Restore,
    StoreCorruptError,
    ToolDetail,
)
from memory_core.serialization import (
    check_proposable,
    dumps,
    memory_from_dict,
    memory_to_dict,
    operation_from_dict,
    operation_to_dict,
)
from tests.strategies import memories, operation_lists


@given(memories())
def test_a_memory_survives_json_to_the_byte(memory):
    text = dumps(memory_to_dict(memory))
    assert memory_from_dict(json.loads(text)) == memory
    assert dumps(memory_to_dict(memory_from_dict(json.loads(text)))) == text


@given(operation_lists([1, 2, 3]), memories())
def test_so_does_an_operation(operations, memory):
    for operation in (*operations, Restore(memory, rationale="undo")):
        text = dumps(operation_to_dict(operation))
        assert operation_from_dict(json.loads(text)) == operation


def test_an_operation_of_an_unknown_type_is_corruption():
    with pytest.raises(StoreCorruptError, match="explode"):
        operation_from_dict({"operation": "explode", "id": 1})


@pytest.mark.parametrize(
    "operation",
    [
        Add(object(), "tool", "git"),
        Add("text", "tool", "git", confidence=float("nan")),
        Add("text", "tool", "git", detail={"tool": "git"}),
        Add("text", "tool", "git", provenance=None),
        Add("lone \ud800 half", "tool", "git"),
        Delete(1, evidence="step 3"),
        Delete({1}),
        Restore(None),
        "delete 1",
        None,
    ],
)
def test_what_cannot_be_written_down_cannot_be_proposed(operation):
    with pytest.raises(InvalidBatchError):
        check_proposable(operation)


def test_what_leans_on_another_operation_cannot_be_proposed_either():
    for operation in (Delete(-1), Modify(-2, text="x"), Merge((5, -1), "both")):
        with pytest.raises(InvalidBatchError, match="on its own"):
            check_proposable(operation)


@given(st.text(max_size=200))
def test_what_only_breaks_a_rule_may_be_proposed_for_a_person_to_mend(text):
    if text.isprintable():
        check_proposable(Add(text * 40, "recipe", "", ToolDetail("git"), confidence=7))
    check_proposable(Merge((5,), "one alone"))


def test_a_memory_with_nothing_special_takes_little_room():
    plain = memory_to_dict(Memory(1, "tool", "Use uv.", "python"))
    assert plain["provenance"] == {"source": "manual"}
