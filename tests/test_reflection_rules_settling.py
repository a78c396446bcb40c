"""Drafts against what the bank holds: copies become notes, changes or merges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_core import (
    Add,
    Batch,
    Drafts,
    Evidence,
    Memory,
    MemoryBank,
    Merge,
    Modify,
    Operation,
    ReflectionContext,
    Snapshot,
    ToolDetail,
)
from memory_core.reflection.settling import settle

NEAR = "Send every segment to `update_flights`, unchanged ones too."
FULL = "Send every segment to `update_flights`, the 2 unchanged ones too, or a leg vanishes."
LEAN = "Send every segment to `update_flights`."
FAR = "Quote prices in euros."


def embed(texts: Sequence[str]) -> np.ndarray:
    """Texts about segments near each other (cosine 0.95), all others far."""
    rows = np.zeros((len(texts), 384), dtype=np.float32)
    for row, text in enumerate(texts):
        own = 1 + sum(text.encode()) % 383
        about = "segment" in text
        rows[row, 0] = np.sqrt(0.95) if about else 0.0
        rows[row, own] = np.sqrt(0.05) if about else 1.0
    return rows


def draft(text: str, run: str = "run-1", *steps: int, kind: str = "tool") -> Add:
    detail = ToolDetail("update_flights") if kind == "tool" else None
    evidence = (Evidence(run, steps or (3,)),)
    return Add(text, kind, "airline", detail, rationale="Step 3 failed.", evidence=evidence)  # type: ignore[arg-type]


def bank_of(*texts: str, pinned: bool = False) -> Snapshot:
    memories = [Memory(n, "tool", t, "airline", pinned=pinned) for n, t in enumerate(texts, 1)]
    return Snapshot.from_memories(memories, embed(texts)) if texts else Snapshot.empty()


def settled(snapshot: Snapshot, *operations: Operation) -> Drafts:
    return settle(Drafts(operations), ReflectionContext(snapshot, embed))


def test_what_is_new_stays_as_it_is():
    drafts = settled(bank_of(FAR), draft(NEAR))

    assert drafts.operations == (draft(NEAR),)
    assert not drafts.notes


def test_an_exact_copy_is_dropped_and_its_memory_named():
    drafts = settled(bank_of(FAR, NEAR), draft(NEAR))

    assert not drafts.operations
    assert "word for word" in drafts.notes[0]
    assert "memory 2" in drafts.notes[0]


def test_a_near_copy_that_says_more_changes_the_memory():
    (operation,) = settled(bank_of(FAR, LEAN), draft(FULL)).operations

    assert isinstance(operation, Modify)
    assert (operation.id, operation.text) == (2, FULL)
    assert operation.detail == ToolDetail("update_flights")
    assert "memory 2" in operation.rationale
    assert operation.rationale.startswith("Step 3 failed.")
    assert operation.evidence == draft(FULL).evidence


def test_a_near_copy_that_says_less_is_known():
    drafts = settled(bank_of(FULL), draft(LEAN))

    assert not drafts.operations
    assert "memory 1" in drafts.notes[0]


def test_near_memories_are_merged_where_the_draft_adds_nothing():
    (operation,) = settled(bank_of(FULL, NEAR, FAR), draft(LEAN)).operations

    assert isinstance(operation, Merge)
    assert operation.ids == (1, 2)
    assert operation.text == FULL
    assert "memory 1" in operation.rationale
    assert operation.evidence == draft(LEAN).evidence


def test_pinned_memories_are_not_merged_away():
    drafts = settled(bank_of(FULL, NEAR, pinned=True), draft(LEAN))

    assert not drafts.operations
    assert drafts.notes


def test_drafts_near_each_other_are_one_with_the_evidence_of_both():
    (operation,) = settled(
        Snapshot.empty(), draft(LEAN, "run-1", 3), draft(FULL, "run-2", 5), draft(LEAN, "run-1", 9)
    ).operations

    assert isinstance(operation, Add)
    assert operation.text == FULL
    assert set(operation.evidence) == {Evidence("run-1", (3, 9)), Evidence("run-2", (5,))}


def test_two_drafts_do_not_change_one_memory():
    other = draft(FULL.replace("2", "3") + " Twice!", kind="strategic")
    drafts = settled(bank_of(LEAN), draft(FULL), other)

    assert [type(one) for one in drafts.operations] == [Modify]
    assert "memory 1, which another draft changes" in drafts.notes[0]


def test_a_near_draft_that_contradicts_is_added_and_says_so():
    (operation,) = settled(
        bank_of("Send one segment to `update_flights` before you pay."),
        draft("Pay before you send one segment to `update_flights`."),
    ).operations

    assert isinstance(operation, Add)
    assert "contradict memory 1" in operation.rationale


def test_other_operations_and_broken_drafts_pass_untouched():
    broken = draft(" ".join(["segment"] * 40))
    change = Modify(1, text="Quote prices in pounds.")
    drafts = settled(bank_of(FAR), change, broken, draft(""))

    assert drafts.operations == (change, broken, draft(""))


def test_what_is_settled_can_be_committed(bank: MemoryBank):
    bank.update(Batch((Add(LEAN, "tool", "airline"), Add(FAR, "tool", "airline"))))
    context = ReflectionContext(bank.snapshot(), embed)
    near = Snapshot.from_memories(bank.snapshot().memories, embed([LEAN, FAR]))
    drafts = settle(Drafts((draft(FULL), draft(FAR))), ReflectionContext(near, context.embed))

    plan = bank.plan(Batch(drafts.operations, kind="reflection"))

    assert not plan.refused
    bank.commit(plan)
    assert {memory.text for memory in bank.snapshot()} == {FULL, FAR}
