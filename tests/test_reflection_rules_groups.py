"""Rollouts of one task against each other, by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_core import (
    Add,
    Delete,
    Drafts,
    HashEmbedder,
    Memory,
    Modify,
    Outcome,
    ReflectionContext,
    RuleReflector,
    Run,
    Snapshot,
    ToolDetail,
    Trajectory,
    read_trajectories,
)
from memory_core.places import data
from tests.test_reflection_rules import call, run_of

WON, LOST = Outcome(True, 1.0), Outcome(False, 0.0)


def compared(runs: Sequence[Trajectory], memories: Sequence[Memory] = ()) -> Drafts:
    embed = HashEmbedder().embed
    snapshot = Snapshot.empty()
    if memories:
        snapshot = Snapshot.from_memories(memories, embed([one.text for one in memories]))
    context = ReflectionContext(snapshot, embed)
    return RuleReflector().compare([Run(f"run-{n}", run) for n, run in enumerate(runs)], context)


def rollout(
    outcome: Outcome, *tools: str, task: str = "Refund the customer of order 17."
) -> Trajectory:
    return run_of(task, *(call(tool, {"order": 17}, "{}") for tool in tools), outcome=outcome)


def test_the_sample_group_shows_that_the_whole_itinerary_has_to_be_sent():
    file = data() / "trajectories" / "airline-refund-group.json"
    drafts = compared(read_trajectories(file.read_bytes(), file.name).trajectories)

    (lesson,) = drafts.operations
    assert isinstance(lesson, Add)
    assert "send 2 entries in `flights` of `update_reservation_flights`" in lesson.text
    assert "`get_reservation_details` shows" in lesson.text
    assert "2 runs ended well and 1 badly" in lesson.rationale
    assert [item.steps for item in lesson.evidence] == [(12,), (11,), (12,)]


def test_a_call_that_only_the_better_made_is_told_with_what_it_came_before():
    drafts = compared(
        [
            rollout(WON, "get_order", "check_policy", "refund_order"),
            rollout(LOST, "get_order", "refund_order"),
            rollout(WON, "check_policy", "get_order", "refund_order"),
        ]
    )

    texts = [one.text for one in drafts.operations if isinstance(one, Add)]
    assert any("call `check_policy` before `refund_order`" in text for text in texts)
    assert not any("`get_order`" in text for text in texts)
    for one in drafts.operations:
        assert {item.trajectory_id for item in one.evidence} == {"run-0", "run-1", "run-2"}


def test_a_call_that_only_the_worse_made_is_advised_against():
    drafts = compared(
        [rollout(WON, "get_order", "refund_order"), rollout(LOST, "get_order", "escalate")]
    )

    assert any("do without `escalate`" in one.text for one in drafts.operations)


def test_the_order_that_the_better_kept_is_told():
    drafts = compared(
        [rollout(WON, "notify", "refund_order"), rollout(LOST, "refund_order", "notify")]
    )

    assert "call `notify` before `refund_order`" in drafts.operations[0].text


def test_an_error_that_only_the_worse_met_is_told():
    failing = run_of(
        "Refund the customer of order 17.",
        call("refund_order", {"order": 17}, error="Error: amount exceeds the balance"),
        call("refund_order", {"order": 17}, "{}"),
        outcome=LOST,
    )
    drafts = compared([failing, rollout(WON, "refund_order")])

    assert any("“amount exceeds the balance”" in one.text for one in drafts.operations)


def test_rewards_part_the_better_from_the_worse():
    drafts = compared(
        [
            rollout(Outcome(None, 0.9), "get_order", "check_policy"),
            rollout(Outcome(None, 0.2), "get_order"),
            rollout(Outcome(None, 0.8), "get_order", "check_policy"),
        ]
    )

    assert "`check_policy`" in drafts.operations[0].text
    assert "0.8 or 0.9" in drafts.operations[0].rationale


def test_runs_that_cannot_be_told_apart_give_a_note():
    same = compared([rollout(WON, "a"), rollout(WON, "b")])
    untold = compared([rollout(Outcome(), "a"), rollout(Outcome(), "b")])
    alone = compared([rollout(WON, "a")])
    several = compared([rollout(WON, "a"), rollout(LOST, "b", task="Another task, quite.")])
    alike = compared([rollout(WON, "get_order"), rollout(LOST, "get_order")])

    for drafts in (same, untold, alone, several, alike):
        assert not drafts.operations
    assert "ended alike" in same.notes[0]
    assert "fewer than two say how they ended" in untold.notes[0]
    assert "nothing to compare it with" in alone.notes[0]
    assert "2 of the 2 runs are the only ones of their task" in several.notes[0]
    assert "no difference in their calls" in alike.notes[0]


# -- memories that advise otherwise ----------------------------------------------------------------

ORDER = [rollout(WON, "notify", "refund_order"), rollout(LOST, "refund_order", "notify")]


def memory_of(number: int, text: str, *, pinned: bool = False) -> Memory:
    return Memory(number, "strategic", text, "customer service", pinned=pinned)


def opposite() -> str:
    """What the group shows, turned round."""
    text = compared(ORDER).operations[0].text
    return text.replace(
        "call `notify` before `refund_order`", "call `refund_order` before `notify`"
    )


def test_a_memory_that_advises_the_opposite_is_changed():
    (operation,) = compared(ORDER, [memory_of(4, opposite())]).operations

    assert isinstance(operation, Modify)
    assert operation.id == 4
    assert "call `notify` before `refund_order`" in (operation.text or "")
    assert "Memory 4 advises otherwise" in operation.rationale
    assert operation.evidence


def test_it_is_deleted_where_another_memory_has_it_right():
    right = compared(ORDER).operations[0].text
    operations = compared(ORDER, [memory_of(4, opposite()), memory_of(9, right)]).operations

    deleted = [one for one in operations if isinstance(one, Delete)]
    assert [one.id for one in deleted] == [4]
    assert "Memory 9 says it" in deleted[0].rationale


def test_pinned_memories_and_those_about_other_tools_are_left_alone():
    pinned = compared(ORDER, [memory_of(4, opposite(), pinned=True)]).operations
    other = opposite().replace("refund_order", "close_ticket").replace("notify", "archive")
    elsewhere = compared(
        ORDER, [replace(memory_of(4, other), kind="tool", detail=ToolDetail("archive"))]
    ).operations

    assert [type(one) for one in pinned] == [Add]
    assert [type(one) for one in elsewhere] == [Add]
