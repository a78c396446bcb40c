"""What breaks a rule is refused by name, in an operation's own words, and nothing else happens."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Adjust,
    Batch,
    Delete,
    Evidence,
    HashEmbedder,
    InvalidMemoryError,
    Memory,
    Merge,
    Modify,
    ProceduralDetail,
    Provenance,
    Restore,
    Snapshot,
    StrategicDetail,
    ToolDetail,
)
from memory_core.curation import plan, texts_of
from memory_core.validation import check_memory

GOOD = Add("Pass --frozen to uv sync in CI.", "tool", "python")
LESSONS = [
    Memory(1, "tool", "Use uv.", "python"),
    Memory(2, "strategic", "Measure first.", "python", usage_count=2**63 - 1),
    Memory(3, "procedural", "Test, then tag.", "git", usage_count=9),
]
BANK = Snapshot.from_memories(LESSONS, HashEmbedder().embed([m.text for m in LESSONS]), revision=1)
WORDS_33 = "word " * 33


def planned(*operations: Any) -> Any:
    batch = Batch(operations)
    texts = texts_of(batch)
    return plan(BANK, batch, dict(zip(texts, HashEmbedder().embed(texts), strict=True)))


def add(**fields: Any) -> Add:
    return dataclasses.replace(GOOD, **fields)


REFUSED = [
    (add(text=WORDS_33), "33 words"),
    (add(text=""), "empty"),
    (add(text=" \t\n\u2003"), "empty"),
    (add(text="a\x00b"), "U+0000"),
    (add(text="half \udc80"), "surrogate"),
    (add(text=None), "text must be text"),
    (add(text=7), "text must be text"),
    (add(text=b"bytes"), "text must be text"),
    (add(kind="recipe"), "kind 'recipe'"),
    (add(kind="Tool"), "known: strategic, procedural, tool"),
    (add(kind=None), "kind None"),
    (add(kind=["tool"]), "kind"),
    (add(domain=""), "domain is empty"),
    (add(domain="  "), "domain is empty"),
    (add(domain=None), "domain must be text"),
    (add(domain="a\x00"), "U+0000"),
    (add(detail=StrategicDetail("p")), "takes a ToolDetail"),
    (add(detail="git"), "takes a ToolDetail"),
    (add(detail=""), "takes a ToolDetail"),
    (add(detail=ToolDetail("git\x00")), "U+0000"),
    (add(detail=ToolDetail(tool=3)), "detail must be text"),
    (add(kind="procedural", detail=ProceduralDetail((1, 2))), "detail must be text"),
    (add(confidence=0.049), "between 0.05 and 0.95"),
    (add(confidence=0.951), "between 0.05 and 0.95"),
    (add(confidence=1), "between 0.05 and 0.95"),
    (add(confidence=-(2**2000)), "between 0.05 and 0.95"),
    (add(confidence=10**5000), "between 0.05 and 0.95"),
    (add(confidence=math.nan), "nan"),
    (add(confidence=np.float32("nan")), "nan"),
    (add(confidence=math.inf), "inf"),
    (add(confidence="0.5"), "must be a number"),
    (add(confidence=True), "must be a number"),
    (add(confidence=None), "must be a number"),
    (add(usage_count=-1), "usage_count"),
    (add(usage_count=1.0), "usage_count"),
    (add(usage_count=True), "usage_count"),
    (add(usage_count=2**63), "usage_count"),
    (add(usage_count=1, success_count=2), "success_count"),
    (add(usage_count=1, success_count=-1), "success_count"),
    (add(epoch=-1), "epoch"),
    (add(epoch="now"), "epoch"),
    (add(tags=7), "Tags must be a list"),
    (add(tags=[7]), "tag must be text"),
    (add(tags=["ok", " "]), "tag is empty"),
    (add(tags=["\ud800"]), "surrogate"),
    (add(tags=[["nested"]]), "Tags must be a list"),
    (add(pinned=1), "pinned"),
    (add(pinned="yes"), "pinned"),
    (add(provenance=None), "provenance"),
    (add(provenance=Provenance("rumour")), "source 'rumour'"),
    (add(provenance=Provenance(note="\x00")), "U+0000"),
    (add(provenance=Provenance(merged_from=("1",))), "merged_from"),
    (add(rationale=None), "rationale must be text"),
    (add(rationale="\x00"), "U+0000"),
    (add(evidence="step 3"), "Evidence"),
    (add(evidence=("step 3",)), "Evidence"),
    (add(evidence=(Evidence(7),)), "trajectory id must be text"),
    (add(evidence=(Evidence("run", (-1,)),)), "step number"),
    (Modify(1, text=WORDS_33), "33 words"),
    (Modify(1, text=""), "empty"),
    (Modify(1, detail=StrategicDetail()), "takes a ToolDetail"),
    (Modify(1, tags=[""]), "tag is empty"),
    (Modify(1, pinned="no"), "pinned"),
    (Modify(4), "no memory 4"),
    (Modify(-2), "no memory -2"),
    (Modify(0), "no memory 0"),
    (Modify(2**70), "no memory"),
    (Modify(True), "True is not a memory's id"),
    (Modify("1"), "'1' is not a memory's id"),
    (Modify(1.0), "1.0 is not a memory's id"),
    (Modify(None), "None is not a memory's id"),
    (Delete(4), "no memory 4"),
    (Delete(False), "not a memory's id"),
    (Merge((1,), "one"), "two or more"),
    (Merge((1, 1), "the same twice"), "two or more"),
    (Merge((), "none"), "two or more"),
    (Merge((1, 4), "one is nowhere"), "no memory 4"),
    (Merge((1, True), "the same twice"), "two or more"),
    (Merge((2, True), "not an id"), "True is not a memory's id"),
    (Merge("12", "digits"), "'1' is not a memory's id"),
    (Merge(12, "a number"), "names memories by their ids"),
    (Merge(([1], [2]), "lists"), "names memories by their ids"),
    (Merge((1, 3), WORDS_33), "33 words"),
    (Merge((1, 3), None), "text must be text"),
    (Merge((1, 2), "wrong", kind="tool", detail=StrategicDetail()), "takes a ToolDetail"),
    (Merge((2, 3), "counts beyond any number"), "usage_count"),
    (Adjust(1, 0.99, 1, 1), "between 0.05 and 0.95"),
    (Adjust(1, 0.5, 1, 2), "success_count"),
    (Restore(None), "Only a memory"),
    (Restore(dataclasses.replace(LESSONS[0], id=-1)), "never in a bank"),
    (Restore(dataclasses.replace(LESSONS[0], id=True)), "never in a bank"),
    (Restore(dataclasses.replace(LESSONS[0], text="")), "empty"),
    (None, "not an operation"),
    ({"operation": "delete", "id": 1}, "not an operation"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "said"), REFUSED)
def test_it_is_refused_by_name_and_the_rest_stands(operation, said):
    result = planned(GOOD, operation, Delete(1))
    (refusal,) = result.refused
    assert said in refusal.reason
    assert (refusal.index, refusal.operation) == (1, operation)
    assert [planned.index for planned in result.accepted] == [0, 2]
    assert [memory.id for memory in result.after.memories] == [2, 3, -1]


@pytest.mark.parametrize("again", [Delete(1), Modify(1), Merge((1, 3), "x"), Adjust(1, 0.5, 0, 0)])
@pytest.mark.parametrize("first", [Delete(1), Merge((1, 2), "both", kind="tool")])
def test_what_a_batch_has_removed_it_cannot_touch_again(first, again):
    small = dataclasses.replace(LESSONS[1], usage_count=0)
    result = planned(Adjust(2, 0.5, small.usage_count, 0), first, again)
    assert [refusal.index for refusal in result.refused] == [2]
    assert "Memory 1 was already removed" in result.refused[0].reason


ACCEPTED = [
    (add(text="w " * 32), lambda m: m.text == "w " * 32),
    (add(text="a\nb"), lambda m: m.text == "a\nb"),
    (add(domain="  Shell And Git "), lambda m: m.domain == "shell and git"),
    (add(confidence=0.05), lambda m: m.confidence == 0.05),
    (add(confidence=np.float32(0.5)), lambda m: m.confidence == 0.5),
    (add(usage_count=np.int64(3)), lambda m: m.usage_count == 3),
    (add(usage_count=2**63 - 1), lambda m: m.usage_count == 2**63 - 1),
    (add(pinned=np.True_), lambda m: m.pinned is True),
    (add(tags="policy"), lambda m: m.tags == ("policy",)),
    (add(tags=[" a", "a ", "b"]), lambda m: m.tags == ("a", "b")),
    (add(evidence=[Evidence("run", (3,))]), lambda m: m.provenance.trajectory_ids == ("run",)),
]


@pytest.mark.parametrize(("operation", "holds"), ACCEPTED)
def test_what_can_be_meant_in_one_way_only_is_accepted(operation, holds):
    result = planned(operation)
    assert not result.refused
    memory = result.after.by_id(-1)
    assert holds(memory)
    assert type(memory.confidence) is float
    assert type(memory.usage_count) is int


def test_a_modified_label_is_trimmed_too():
    assert planned(Modify(1, domain=" GIT ")).after.by_id(1).domain == "git"


junk = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=3),
    st.just(10**5000), st.just(object()), st.just(GOOD), st.just(Evidence), st.just(np.arange(3)),
    st.lists(st.integers(), max_size=2), st.tuples(st.text()), st.just({"a": "b"}),
    st.just(Provenance(merged_from=(None,))), st.just(Evidence(None, (None,))),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from([GOOD, Modify(1), Delete(1), Merge((1, 3), "x"), Adjust(1, 0.5, 1, 0),
                     Restore(LESSONS[0])]),
    st.data(),
)  # fmt: skip
def test_whatever_a_field_holds_the_plan_answers_and_never_raises(operation, data):
    names = [field.name for field in dataclasses.fields(operation)]
    for name in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
        object.__setattr__(operation := dataclasses.replace(operation), name, data.draw(junk))
    result = planned(operation, Delete(2))
    assert len(result.accepted) + len(result.refused) == 2
    assert all(refusal.reason for refusal in result.refused)
    for memory in result.after.memories:
        check_memory(memory)


def test_a_memory_is_checked_by_the_same_rules_wherever_it_comes_from():
    check_memory(LESSONS[0])
    with pytest.raises(InvalidMemoryError, match="33 words"):
        check_memory(dataclasses.replace(LESSONS[0], text=WORDS_33))
