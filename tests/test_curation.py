"""Planning: algorithm Update, operation by operation, carried out in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    InvalidBatchError,
    Memory,
    Merge,
    Modify,
    Operation,
    Plan,
    ProceduralDetail,
    Provenance,
    Snapshot,
    StrategicDetail,
    ToolDetail,
)
from memory_core.curation import plan, plan_undo, texts_of
from memory_core.difference import diff
from tests.strategies import memories, operation_lists

DETAILS = {"strategic": StrategicDetail, "procedural": ProceduralDetail, "tool": ToolDetail}


def embedded(lessons: Sequence[Memory], **named: Any) -> Snapshot:
    vectors = HashEmbedder().embed([m.text for m in lessons])
    return Snapshot.from_memories(lessons, vectors, **{"revision": 1, **named})


def planned(snapshot: Snapshot, *operations: Operation, **batch: Any):
    drawn = Batch(operations, **batch)
    texts = texts_of(drawn)
    return plan(snapshot, drawn, dict(zip(texts, HashEmbedder().embed(texts), strict=True)))


A = Memory(1, "tool", "Use uv.", "python", ToolDetail("uv"), 0.6, 4, 3, 2, ("fast",))
B = Memory(2, "tool", "Use uv!", "python", None, 0.8, 1, 0, 5, ("fast", "ci"), True)
C = Memory(3, "strategic", "Measure first.", "speed", StrategicDetail("slow"), 0.8, 6, 2, 3)
ABC = embedded([A, B, C], epoch=7)


# -- against an independent reading of the algorithm ----------------------------------------------


class Standing(dict[int, Memory]):
    """What stands after some operations, by id; ids that this batch removed are remembered."""

    def __init__(self, lessons: Sequence[Memory]) -> None:
        super().__init__({memory.id: memory for memory in lessons})
        self.new = 0

    def carry_out(self, operation: Any, epoch: int) -> bool:
        """Whether it could be; if not, nothing has changed but the numbering."""
        new_id = 0
        if isinstance(operation, Add | Merge):
            self.new += 1
            new_id = -self.new
        match operation:
            case Add():
                origin = operation.provenance
                if operation.evidence and not origin.evidence:
                    origin = replace(origin, evidence=operation.evidence)
                self[new_id] = Memory(
                    new_id, operation.kind, operation.text, operation.domain, operation.detail,
                    operation.confidence, operation.usage_count, operation.success_count,
                    epoch if operation.epoch is None else operation.epoch, operation.tags,
                    operation.pinned, origin,
                )  # fmt: skip
                return True
            case Modify() if operation.id in self:
                before = self[operation.id]
                if operation.detail and not isinstance(operation.detail, DETAILS[before.kind]):
                    return False
                given = {
                    name: getattr(operation, name)
                    for name in ("text", "detail", "domain", "tags", "pinned")
                    if getattr(operation, name) is not None
                }
                self[operation.id] = replace(before, **given)
                return True
            case Delete() if operation.id in self:
                del self[operation.id]
                return True
            case Adjust() if operation.id in self:
                self[operation.id] = replace(
                    self[operation.id], confidence=operation.confidence,
                    usage_count=operation.usage_count, success_count=operation.success_count,
                )  # fmt: skip
                return True
            case Merge() if len(set(operation.ids)) > 1 and all(i in self for i in operation.ids):
                self._merge(operation, new_id, epoch)
                return True
        return False

    def _merge(self, operation: Merge, new_id: int, epoch: int) -> None:
        sources = [self.pop(i) for i in dict.fromkeys(operation.ids)]
        first = min(sources, key=lambda m: (-m.confidence, -m.usage_count, m.id < 0, abs(m.id)))
        kind = operation.kind or first.kind
        fitting = [m for m in sources if m.kind == kind and m.detail is not None]
        fitting.sort(key=lambda m: (-m.confidence, -m.usage_count, m.id < 0, abs(m.id)))
        origins = [i for m in sources
                   for i in ([m.id] if m.id > 0 else m.provenance.merged_from)]  # fmt: skip
        self[new_id] = Memory(
            new_id, kind, operation.text, first.domain, fitting[0].detail if fitting else None,
            max(m.confidence for m in sources), sum(m.usage_count for m in sources),
            sum(m.success_count for m in sources), epoch,
            tuple(dict.fromkeys(tag for m in sources for tag in m.tags)),
            any(m.pinned for m in sources),
            Provenance(
                "merge",
                tuple(dict.fromkeys(e for m in sources for e in m.provenance.evidence)),
                tuple(dict.fromkeys(origins)),
            ),
        )  # fmt: skip


@st.composite
def lessons_and_operations(draw) -> tuple[list[Memory], tuple[Operation, ...]]:
    lessons = [replace(draw(memories()), id=2 * i + 1) for i in range(draw(st.integers(0, 5)))]
    return lessons, draw(operation_lists([memory.id for memory in lessons]))


@settings(max_examples=60, deadline=None)
@given(lessons_and_operations(), st.booleans())
def test_a_plan_is_what_the_algorithm_says(drawn, starts_epoch):
    lessons, operations = drawn
    before = embedded(lessons, epoch=70)
    result = planned(before, *operations, starts_epoch=starts_epoch)
    standing = Standing(lessons)
    possible = [standing.carry_out(operation, 70 + starts_epoch) for operation in operations]
    assert [p.index for p in result.accepted] == [i for i, could in enumerate(possible) if could]
    assert [r.index for r in result.refused] == [i for i, could in enumerate(possible) if not could]
    order = sorted(standing, key=lambda i: (i < 0, abs(i)))
    assert result.after.memories == tuple(standing[i] for i in order)
    texts = [memory.text for memory in result.after.memories]
    np.testing.assert_array_equal(result.after.vectors, HashEmbedder().embed(texts))
    assert before.memories == tuple(lessons)


@settings(max_examples=50, deadline=None)
@given(lessons_and_operations())
def test_what_a_plan_would_write_is_what_separates_before_and_after(drawn):
    lessons, operations = drawn
    result = planned(embedded(lessons), *operations)
    old = {memory.id: memory for memory in lessons}
    new = {memory.id: memory for memory in result.after.memories}
    assert set(result.removed) == set(old) - set(new)
    assert {m.id: m for m in result.put} == {i: m for i, m in new.items() if old.get(i) != m}
    told = result.diff
    assert {m.id for m in told.added} == set(new) - set(old)
    assert {m.id for m in told.removed} == set(old) - set(new)
    assert {c.memory_id: (c.before, c.after) for c in told.changed} == {
        i: (old[i], new[i]) for i in set(old) & set(new) if old[i] != new[i]
    }


@settings(max_examples=50, deadline=None)
@given(lessons_and_operations())
def test_each_memory_has_one_change_from_before_the_batch_to_after_it(drawn):
    lessons, operations = drawn
    result = planned(embedded(lessons), *operations).accepted_only()
    old = {memory.id: memory for memory in lessons}
    new = {memory.id: memory for memory in result.after.memories}
    changes = result.as_commit(actor="me", made_at_us=0).changes
    told = {c.memory_id: (c.before, c.after) for c in changes}
    assert len(told) == len(changes)
    assert told == {
        i: (old.get(i), new.get(i)) for i in old.keys() | new.keys() if old.get(i) != new.get(i)
    }
    for change in changes:
        appeared, left = change.before is None, change.after is None
        allowed = {"added"} if appeared else {"removed", "merged"} if left else {"changed"}
        assert change.action in allowed


# -- the rules, one by one ------------------------------------------------------------------------


def test_new_ids_follow_the_order_of_operations_refused_or_not():
    result = planned(ABC, Add("one", "tool", "x"), Add("", "tool", "x"), Merge((1, 2), "uv"),
                     Modify(-3, text="uv, always"))  # fmt: skip
    assert [memory.id for memory in result.after.memories] == [3, -1, -3]
    assert result.after.by_id(-3).text == "uv, always"


def test_modify_keeps_confidence_counts_and_epoch():
    after = planned(ABC, Modify(1, "Use uv 0.9.", ToolDetail("uv", "sync"), "ci", ("new",), True))
    assert after.after.by_id(1) == replace(
        A, text="Use uv 0.9.", detail=ToolDetail("uv", "sync"), domain="ci", tags=("new",),
        pinned=True,
    )  # fmt: skip


def test_a_merge_takes_the_maximum_the_sums_the_union_and_the_present():
    run = Evidence("run", (2,))
    merged = planned(ABC, Merge((1, 2), "Use uv, always.", evidence=(run,))).after.by_id(-1)
    assert (merged.confidence, merged.usage_count, merged.success_count) == (0.8, 5, 3)
    assert (merged.epoch, merged.pinned, merged.tags) == (7, True, ("fast", "ci"))
    assert merged.provenance == Provenance("merge", (run,), (1, 2))
    assert merged.detail == ToolDetail("uv")  # the most confident source has none
    assert merged.domain == "python"


def test_of_equally_confident_sources_the_more_used_leads():
    merged = planned(ABC, Merge((2, 3), "Measure uv.")).after.by_id(-1)
    assert (merged.kind, merged.domain) == ("strategic", "speed")


def test_what_a_merge_says_itself_counts():
    merge = Merge((1, 2), "x", "strategic", "Speed ", StrategicDetail("p"), ["only"])
    merged = planned(ABC, merge).after.by_id(-1)
    assert (merged.kind, merged.domain, merged.tags) == ("strategic", "speed", ("only",))
    assert merged.detail == StrategicDetail("p")


def test_merged_from_names_only_memories_that_stood_in_the_bank():
    result = planned(ABC, Add("one", "tool", "x"), Merge((1, 2), "uv"), Merge((-1, -2, 3), "all"))
    (left,) = result.after.memories
    assert left.provenance.merged_from == (1, 2, 3)


def test_a_memory_added_and_deleted_at_once_leaves_no_trace():
    result = planned(ABC, Add("one", "tool", "x"), Delete(-1))
    assert not result.refused
    assert result.after.memories == ABC.memories
    assert (result.put, result.removed) == ((), ())
    assert result.as_commit(actor="me", made_at_us=0).changes == ()


def test_an_add_takes_the_current_epoch_unless_it_says_another():
    result = planned(ABC, Add("a", "tool", "x"), Add("b", "tool", "x", epoch=3), starts_epoch=True)
    assert [memory.epoch for memory in result.after.memories[3:]] == [8, 3]
    assert result.after.epoch == 8


def copies_in(result: Plan) -> list[tuple[int, tuple[int, ...]]]:
    return [(lint.index, lint.memory_ids) for lint in result.lints if lint.rule == "exact copy"]


def test_an_exact_copy_is_a_lint_and_no_more():
    result = planned(ABC, Add("Use uv.", "tool", "x"), Modify(3, text="Use uv."))
    assert not result.refused
    assert copies_in(result) == [(0, (1,)), (1, (1, -1))]


@pytest.mark.parametrize("kind", ["import", "reflection"])
def test_imports_and_reflection_refuse_one(kind):
    twice = Add("Pin torch.", "tool", "x")
    result = planned(ABC, Add("Use uv.", "tool", "x"), twice, twice, kind=kind)
    assert [refusal.index for refusal in result.refused] == [0, 2]
    assert "memory 1" in result.refused[0].reason
    assert "memory -2" in result.refused[1].reason


def test_a_copy_of_what_leaves_is_none():
    result = planned(ABC, Delete(1), Add("Use uv.", "tool", "x"), Merge((2, 3), "Use uv!"))
    assert copies_in(result) == []


def test_a_refused_plan_cannot_be_committed_and_says_why():
    result = planned(ABC, Delete(9), Delete(1), Add("", "tool", "x"))
    with pytest.raises(InvalidBatchError) as error:
        result.raise_if_refused()
    message = str(error.value)
    assert "2 of 3 operations" in message
    assert "operation 1 (Delete): There is no memory 9" in message
    assert "operation 3 (Add): The text is empty" in message
    kept = result.accepted_only()
    kept.raise_if_refused()
    assert kept.after.memories == result.after.memories
    assert kept.batch == result.batch  # so that its ids mean the same when it is planned again


def test_a_plan_on_a_plan_is_previewed_but_not_committed():
    first = planned(ABC, Add("one", "tool", "x"))
    second = planned(first.after, Modify(-1, text="two"))
    assert second.after.by_id(-1).text == "two"
    with pytest.raises(InvalidBatchError, match="commit that one first"):
        second.as_commit(actor="me", made_at_us=0)


# -- against what its author saw ------------------------------------------------------------------


def conflicts(now: Sequence[Memory], seen: Sequence[Memory], *operations: Operation):
    texts = texts_of(Batch(operations))
    vectors = dict(zip(texts, HashEmbedder().embed(texts), strict=True))
    author = embedded(seen, revision=4)
    result = plan(embedded(now), Batch(operations), vectors, seen=[author] * len(operations))
    return [refusal.reason for refusal in result.refused]


@pytest.mark.parametrize(
    "operation", [Modify(1, pinned=True), Delete(1), Merge((3, 1), "x"), Adjust(1, 0.5, 0, 0)]
)
def test_what_has_changed_since_its_author_looked_is_refused(operation):
    changed = replace(A, confidence=0.61)
    (reason,) = conflicts([changed, B, C], [A, B, C], operation)
    assert "Memory 1 has changed since revision 4" in reason
    (reason,) = conflicts([B, C], [A, B, C], operation)
    assert "Memory 1 has left the bank since revision 4" in reason
    (reason,) = conflicts([A, B, C], [B, C], operation)
    assert "Memory 1 was not in revision 4" in reason
    assert conflicts([A, replace(B, pinned=False), C], [A, B, C], operation) == []


def test_an_add_conflicts_with_nothing():
    assert conflicts([], [A, B], Add("one", "tool", "x"), Modify(-1, domain="y")) == []


# -- two snapshots --------------------------------------------------------------------------------


def by_id(lessons: Sequence[Memory]) -> Mapping[int, Memory]:
    return {memory.id: memory for memory in lessons}


two_states = st.tuples(
    *2 * [st.lists(memories(), max_size=5).map(lambda m: by_id([replace(x, id=i + 1)
          for i, x in enumerate(m) if x.pinned or x.confidence < 0.6]))]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(two_states)
def test_a_difference_is_that_of_the_memories_in_one_pool_or_two(states):
    old, new = states
    before = embedded([*old.values()])
    vectors = {m.text: HashEmbedder().embed([m.text])[0] for m in new.values()}
    shared = before.edit(removed=[*old], put=[], vectors={}).edit(
        put=[*new.values()], vectors=vectors
    )
    for after in (shared, embedded([*new.values()])):
        told = diff(before, after)
        assert by_id(told.added) == {i: new[i] for i in new.keys() - old.keys()}
        assert by_id(told.removed) == {i: old[i] for i in old.keys() - new.keys()}
        assert {c.memory_id: (c.before, c.after) for c in told.changed} == {
            i: (old[i], new[i]) for i in old.keys() & new.keys() if old[i] != new[i]
        }
        assert len(told) == len(told.added) + len(told.removed) + len(told.changed)
        ids = [memory.id for memory in told.added]
        assert ids == sorted(ids)


@settings(max_examples=60, deadline=None)
@given(two_states)
def test_an_undo_leads_back_and_its_undo_forth_again(states):
    old, new = (embedded([*state.values()]) for state in states)
    undo = plan_undo(new, old, new, reason="undo")
    assert not undo.refused
    assert undo.after.memories == old.memories
    np.testing.assert_array_equal(undo.after.vectors, old.vectors)
    redo = plan_undo(undo.after, new, undo.after, reason="redo")
    assert redo.after.memories == new.memories
