"""Sessions of the loop are read back from a bank as they were, by whoever opens it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from memory_core import (
    Action,
    Add,
    Batch,
    Drafts,
    Ended,
    Episode,
    Evidence,
    Hit,
    MemoryBank,
    Modify,
    Observation,
    ReflectionContext,
    Run,
    Stepped,
    Task,
    read_episode,
    read_episodes,
    run_episode,
)
from memory_core.loop import last_episode
from tests.toy_worlds import Corridor

WALK = Task("Walk to the east end of the corridor.", "corridor/1")


class Guided:
    """Thinks aloud at every other step, and follows what it was given, if anything."""

    name = "guided"

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        self.ids = tuple(hit.memory.id for hit in hits)
        self.steps = 0

    def act(self, observation: Observation) -> Action:
        self.steps += 1
        thought = "East it is.\nFor good." if self.steps % 2 else ""
        return Action("go east", thought, self.ids[: self.steps - 1])


class Citing:
    """Draws a lesson that cites its run."""

    name = "citing"

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        evidence = (Evidence(runs[0].id, (2,)),)
        return Drafts((Add("The corridor ends in the east.", "strategic", "any",
                           evidence=evidence),))  # fmt: skip

    compare = reflect


@pytest.fixture
def taught(bank: MemoryBank) -> MemoryBank:
    bank.update(Batch([
        Add("In corridors go east.", "strategic", "corridors"),
        Add("Count the rows of a join.", "tool", "sql"),
    ]))  # fmt: skip
    return bank


def played(bank: MemoryBank, **settings: object) -> Episode:
    return last_episode(
        run_episode(Guided(), Corridor(4), WALK, bank, reflector=Citing(), **settings)  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("accept", [True, False])
@pytest.mark.parametrize("max_steps", [20, 2])
def test_a_session_reads_as_it_was_told(
    taught: MemoryBank, reopen: Callable[[], MemoryBank], memory: bool, accept: bool, max_steps: int
) -> None:
    told = played(taught, memory=memory, accept=accept, max_steps=max_steps)
    read = read_episode(reopen(), told.trajectory_id)
    assert read is not None
    # A run without memory has no row in the ledger, which is what knows the session's number.
    expected = replace(
        told, seconds=0.0, epoch=told.epoch if memory else 0,
        injection=told.injection if memory else "",
    )  # fmt: skip
    assert read == expected
    (summary,) = read_episodes(reopen())
    for name in (
        "task", "agent", "memory", "ending", "success", "reward", "trajectory_id",
        "retrieval_id", "improved", "outcome_revision", "proposal_ids", "revision",
    ):  # fmt: skip
        assert getattr(summary, name) == getattr(told, name), name
    assert summary.step_count == len(told.steps)
    assert set(summary.applied) == set(told.followed)


def test_what_was_injected_stays_what_it_was(taught: MemoryBank) -> None:
    told = played(taught)
    taught.commit(taught.plan(Batch([Modify(1, text="In corridors go back.")])))
    read = read_episode(taught, told.trajectory_id)
    assert read is not None
    assert read.injected == told.injected


def test_an_outcome_that_is_taken_back_counts_no_longer(taught: MemoryBank) -> None:
    told = played(taught)
    assert told.outcome_revision is not None
    assert read_episodes(taught)[0].improved is True
    taught.commit(taught.plan_undo(told.outcome_revision))
    assert read_episodes(taught)[0].improved is None


def test_the_same_game_with_and_without_memory_is_kept_twice(bank: MemoryBank) -> None:
    """On an empty bank the two runs are alike to the letter."""
    played(bank, memory=False)
    played(bank, memory=True)
    assert [game.memory for game in read_episodes(bank)] == [False, True]


def test_a_session_that_was_stopped_is_read_as_stopped(taught: MemoryBank) -> None:
    with closing(run_episode(Guided(), Corridor(4), WALK, taught, reflector=Citing())) as events:
        for event in events:
            if isinstance(event, Stepped) and event.step.number == 2:
                break
    (game,) = read_episodes(taught)
    assert (game.ending, game.success, game.step_count, game.improved) == ("stopped", None, 2, None)
    assert not taught.proposals(None)


def test_who_leaves_at_the_end_has_the_run_and_no_lessons(taught: MemoryBank) -> None:
    """So the page plays what is there to compare with."""
    events = run_episode(Guided(), Corridor(4), WALK, taught, reflector=Citing(), memory=False)
    with closing(events):
        for event in events:
            if isinstance(event, Ended):
                break
    (game,) = read_episodes(taught)
    assert (game.ending, game.success, game.step_count) == ("success", True, 4)
    assert not taught.proposals(None)


def test_other_runs_are_no_sessions(taught: MemoryBank) -> None:
    told = played(taught)
    run = taught.trajectory(told.trajectory_id)
    assert run is not None
    taught.keep_trajectories([run], format="text", ids=["another"])
    assert len(read_episodes(taught)) == 1
    assert read_episode(taught, "none") is None
