"""The loop: a session is told as events, what happened is kept, and faults leave the bank whole."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    AboveRunningMean,
    Action,
    Add,
    Batch,
    Began,
    Ended,
    Episode,
    Failed,
    Finished,
    HashEmbedder,
    MemoryBank,
    Observation,
    OutcomeRecorded,
    Planned,
    SettingsError,
    Stepped,
    StoreFullError,
    Task,
    read_trajectories,
    run_episode,
)
from memory_core.loop import last_episode
from memory_core.reflection.context import Drafts, ReflectionContext, Run
from tests.toy_worlds import Corridor, Failing, Remote, Scripted

WALK = Task("Walk to the east end of the corridor.", "corridor/1", "corridors")
LESSON = "In corridors go east, step by step, until the end is reached."


class OneLesson:
    """A reflector that always says the same."""

    name = "one lesson"

    def __init__(self, text: str = "Going east was right in the corridor at place 2.") -> None:
        self.text = text

    def reflect(self, runs: list[Run], context: ReflectionContext) -> Drafts:
        return Drafts((Add(self.text, "strategic", context.domain or "any"),))

    compare = reflect


@pytest.fixture
def taught(bank: MemoryBank) -> MemoryBank:
    """A bank with one lesson that fits."""
    bank.update(Batch([Add(LESSON, "strategic", "corridors")]))
    return bank


def memories(bank: MemoryBank) -> dict[int, tuple[str, float, int, int]]:
    return {m.id: (m.text, m.confidence, m.usage_count, m.success_count) for m in bank.snapshot()}


# -- a session that goes well ---------------------------------------------------------------------


def test_a_session_is_told_from_the_plan_to_its_episode(taught: MemoryBank) -> None:
    agent = Scripted()
    events = list(run_episode(agent, Corridor(3), WALK, taught, reflector=OneLesson()))
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        "Planned", "Began", "Stepped", "Stepped", "Stepped", "Ended", "OutcomeRecorded",
        "Reflected", "Memorized", "Finished",
    ]  # fmt: skip
    assert isinstance(events[0], Planned)
    assert LESSON in events[0].injection
    assert agent.prompts[-1] == events[0].injection
    assert isinstance(events[-1], Finished)
    episode = events[-1].episode
    assert (episode.ending, episode.success, episode.reward, episode.error) == (
        "success", True, 3.0, "",
    )  # fmt: skip
    assert [step.gain for step in episode.steps] == [1.0, 1.0, 1.0]


def test_the_run_the_outcome_and_the_lesson_are_in_the_bank(taught: MemoryBank) -> None:
    before = taught.epoch
    episode = last_episode(
        run_episode(Scripted(), Corridor(3), WALK, taught, reflector=OneLesson())
    )
    assert episode.epoch == before + 1 == taught.epoch
    run = taught.trajectory(episode.trajectory_id)
    assert run is not None
    assert [step.arguments for step in run.steps if step.role == "assistant"] == ["go east"] * 3
    assert run.outcome.success is True
    (row,) = taught.retrievals()
    assert (row.id, row.improved, row.reward) == (episode.retrieval_id, True, 3.0)
    assert memories(taught)[1][1:] == (pytest.approx(0.55), 1, 1)
    (waiting,) = taught.proposals()
    assert waiting.id in episode.proposal_ids
    assert waiting.operation.evidence == () or episode.trajectory_id in {
        item.trajectory_id for item in waiting.operation.evidence
    }


def test_lessons_wait_for_a_person_unless_the_caller_accepts_them(taught: MemoryBank) -> None:
    waiting = last_episode(run_episode(Scripted(), Corridor(), WALK, taught, reflector=OneLesson()))
    assert (waiting.revision, len(taught.snapshot())) == (None, 1)
    text = "Another lesson: the corridor has 3 places."
    accepted = last_episode(
        run_episode(Scripted(), Corridor(), WALK, taught, reflector=OneLesson(text), accept=True)
    )
    assert accepted.revision is not None
    assert text in {m.text for m in taught.snapshot()}
    assert [p.id for p in taught.proposals()] == list(waiting.proposal_ids)


def test_a_lesson_that_breaks_a_rule_goes_on_waiting_and_hurts_nothing(bank: MemoryBank) -> None:
    reflector = OneLesson(" ".join(["word"] * 40))
    episode = last_episode(
        run_episode(Scripted(), Corridor(), WALK, bank, reflector=reflector, accept=True)
    )
    assert episode.error == ""
    assert (episode.revision, len(bank.snapshot())) == (None, 0)


def test_without_memory_nothing_is_injected_and_the_run_is_kept(taught: MemoryBank) -> None:
    agent = Scripted()
    episode = last_episode(
        run_episode(agent, Corridor(), WALK, taught, memory=False, reflector=OneLesson())
    )
    assert LESSON not in agent.prompts[-1]
    assert (episode.injected, episode.retrieval_id, episode.improved) == ((), "", None)
    assert taught.trajectory(episode.trajectory_id) is not None
    assert taught.retrievals() == ()
    assert memories(taught)[1][1:] == (0.5, 0, 0)


def test_measuring_a_bank_writes_nothing_at_all(taught: MemoryBank) -> None:
    before = (taught.signature(), taught.snapshot().revision, taught.epoch)
    episode = last_episode(run_episode(Scripted(), Corridor(), WALK, taught, learn=False))
    assert (taught.signature(), taught.snapshot().revision, taught.epoch) == before
    assert [one.text for one in episode.injected] == [LESSON]
    assert episode.success is True
    assert episode.trajectory_id == ""


def test_a_game_teaches_without_a_reflector_being_named(bank: MemoryBank) -> None:
    won = last_episode(run_episode(Scripted(), Corridor(), WALK, bank, accept=True))
    assert won.lessons
    assert all(m.domain == "corridors" for m in bank.snapshot())
    again = last_episode(run_episode(Scripted(), Corridor(), WALK, bank))
    assert {one.text for one in again.injected} == {m.text for m in bank.snapshot()}


def test_the_run_can_be_pasted_as_the_library_exports_it(bank: MemoryBank) -> None:
    episode = last_episode(run_episode(Scripted(), Corridor(), WALK, bank))
    run = bank.trajectory(episode.trajectory_id)
    assert run is not None
    told = "\n".join(f"> {step.arguments}\n{step.observation}" for step in run.steps)
    reading = read_trajectories(f"Your task is to: {run.task}\n{told}")
    assert reading.trajectories


# -- limits ---------------------------------------------------------------------------------------


def test_twenty_steps_by_default_and_that_counts_as_no_success(taught: MemoryBank) -> None:
    episode = last_episode(run_episode(Scripted(), Corridor(100), WALK, taught))
    assert (len(episode.steps), episode.ending, episode.success) == (20, "steps", False)
    assert episode.improved is False
    assert memories(taught)[1][1:] == (pytest.approx(0.45), 1, 0)


@given(limit=st.integers(0, 12), length=st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_never_more_steps_than_allowed_or_needed(
    tmp_path_factory: pytest.TempPathFactory, limit: int, length: int
) -> None:
    bank = MemoryBank.open(tmp_path_factory.mktemp("b") / "b.duckdb", embedder=HashEmbedder())
    events = run_episode(Scripted(), Corridor(length), WALK, bank, max_steps=limit, learn=False)
    episode = last_episode(events)
    assert len(episode.steps) == min(limit, length)
    assert episode.success is (length <= limit)


def test_a_world_that_is_over_at_once_is_no_fault(bank: MemoryBank) -> None:
    episode = last_episode(run_episode(Scripted(), Corridor(0), WALK, bank))
    assert (episode.steps, episode.ending, episode.error) == ((), "success", "")


def test_out_of_time_keeps_the_steps_and_records_no_outcome(taught: MemoryBank) -> None:
    agent = Failing(2, lambda: time.sleep(30))
    begun = time.monotonic()
    episode = last_episode(run_episode(agent, Corridor(9), WALK, taught, timeout=1.0))
    assert time.monotonic() - begun < 20
    assert (episode.ending, len(episode.steps), episode.success) == ("time", 2, None)
    assert episode.improved is None
    assert taught.trajectory(episode.trajectory_id) is not None
    assert memories(taught)[1][1:] == (0.5, 0, 0)


# -- faults ---------------------------------------------------------------------------------------


def raising(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("at", [0, 2])
def test_an_agent_that_raises(taught: MemoryBank, at: int) -> None:
    agent = Failing(at, lambda: raising(RuntimeError("no idea; password=hunter2secret")))
    world = Corridor(5)
    events = list(run_episode(agent, world, WALK, taught))
    failed = next(event for event in events if isinstance(event, Failed))
    assert (failed.doing, "no idea" in failed.error) == ("act", True)
    assert "hunter2secret" not in failed.error
    episode = events[-1].episode
    assert (episode.ending, len(episode.steps)) == ("error", at)
    assert "no idea" in episode.error
    assert (taught.trajectory(episode.trajectory_id) is not None) == (at > 0)
    assert memories(taught)[1][1:] == (0.5, 0, 0)
    assert world.closed == 1
    assert last_episode(run_episode(Scripted(), Corridor(), WALK, taught)).success is True


def test_a_world_whose_process_is_killed(taught: MemoryBank) -> None:
    world = Remote()
    events = run_episode(Scripted(), world, WALK, taught, max_steps=9)
    seen = []
    for event in events:
        seen.append(event)
        if isinstance(event, Stepped) and event.step.number == 3:
            world.process.kill()
            world.process.wait()
    episode = seen[-1].episode
    assert (episode.ending, len(episode.steps)) == ("error", 3)
    assert any(isinstance(event, Failed) and event.doing == "step" for event in seen)
    run = taught.trajectory(episode.trajectory_id)
    assert run is not None
    assert run.steps[-1].observation.startswith("at 3")
    assert taught.retrievals()[0].improved is None


class Odd:
    """A world that answers whatever it was given."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def reset(self, task: Task) -> Observation:
        return Observation("begin")

    def step(self, action: str) -> object:
        return self.answer


@pytest.mark.parametrize(
    "answer", [None, "text", Observation("x", reward=float("nan")), Observation("\x00\ud800")]
)
def test_answers_that_are_none_leave_the_bank_whole(taught: MemoryBank, answer: object) -> None:
    episode = last_episode(run_episode(Scripted(), Odd(answer), WALK, taught, max_steps=2))
    assert taught.snapshot().by_id(1).text == LESSON
    assert MemoryBank.open(taught.path, embedder=HashEmbedder()).trajectories() is not None
    assert (episode.ending == "error") == (answer is None or answer == "text" or not episode.steps)


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", None), ("description", 3), ("inventory", None), ("actions", None), ("actions", (1,)),
     ("reward", None), ("reward", "9"), ("reward", 10**400), ("done", "no"), ("success", "yes")],
)  # fmt: skip
def test_an_answer_whose_fields_are_nonsense_is_told_by_the_field(
    taught: MemoryBank, field: str, value: object
) -> None:
    answer = replace(Observation("x", done=True), **{field: value})
    episode = last_episode(run_episode(Scripted(), Odd(answer), WALK, taught))
    assert episode.ending == "error"
    assert f"`{field}` of an Observation must be" in episode.error


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", 5), ("thought", None), ("followed", None), ("followed", ("1",)), ("followed", ([],))],
)
def test_an_action_whose_fields_are_nonsense_keeps_the_run_so_far(
    taught: MemoryBank, field: str, value: object
) -> None:
    class Confused(Scripted):
        def act(self, observation: Observation) -> Action:
            action = super().act(observation)
            return replace(action, **{field: value}) if self.done > 2 else action

    episode = last_episode(run_episode(Confused(), Corridor(9), WALK, taught))
    assert (episode.ending, len(episode.steps)) == ("error", 2)
    assert f"`{field}` of an Action must be" in episode.error
    assert taught.trajectory(episode.trajectory_id) is not None


def test_numbers_and_truths_of_numpy_are_as_good_as_plain_ones(taught: MemoryBank) -> None:
    answer = Observation("x", reward=np.float32(2), done=np.True_, success=np.bool_(True))
    episode = last_episode(run_episode(Scripted(), Odd(answer), WALK, taught))
    assert (episode.ending, episode.reward, episode.error) == ("success", 2.0, "")
    assert type(episode.reward) is float


@pytest.mark.parametrize(
    "limits",
    [{"max_steps": -1}, {"max_steps": None}, {"max_steps": 1.5}, {"timeout": -1.0},
     {"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": "9"}],
)  # fmt: skip
def test_a_limit_that_is_none_is_refused_before_anything_is_begun(
    taught: MemoryBank, limits: dict[str, Any]
) -> None:
    before = taught.epoch
    with pytest.raises(SettingsError, match=f"`{next(iter(limits))}` must be"):
        last_episode(run_episode(Scripted(), Corridor(), WALK, taught, **limits))
    assert taught.epoch == before


def test_an_agent_that_claims_memories_it_never_had(taught: MemoryBank) -> None:
    class Boaster(Scripted):
        def act(self, observation: Observation) -> Action:
            return Action("go east", followed=(1, 77, 1))

    episode = last_episode(run_episode(Boaster(), Corridor(), WALK, taught))
    assert episode.followed == (1,)
    assert episode.error == ""


def test_a_reflector_that_fails_costs_no_outcome(taught: MemoryBank) -> None:
    class Broken(OneLesson):
        def reflect(self, runs: list[Run], context: ReflectionContext) -> Drafts:
            raise ValueError("broken")

    events = list(run_episode(Scripted(), Corridor(), WALK, taught, reflector=Broken()))
    assert any(isinstance(event, Failed) and event.doing == "reflect" for event in events)
    episode = events[-1].episode
    assert episode.improved is True
    assert "broken" in episode.error
    assert episode.success is True


def test_an_interrupt_goes_through_and_the_run_is_kept(taught: MemoryBank) -> None:
    agent = Failing(2, lambda: raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        last_episode(run_episode(agent, Corridor(9), WALK, taught))
    (kept,) = taught.trajectories()
    assert kept.outcome.reason == "stopped"


def test_an_agent_that_ends_the_program_is_told_with_the_run(taught: MemoryBank) -> None:
    agent = Failing(2, lambda: raising(SystemExit("no more credit")))
    with pytest.raises(SystemExit):
        last_episode(run_episode(agent, Corridor(9), WALK, taught))
    (kept,) = taught.trajectories()
    assert kept.outcome.reason == "SystemExit: no more credit"


def test_an_interrupt_is_not_lost_where_the_run_cannot_be_kept(
    taught: MemoryBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **how: object) -> None:
        raise StoreFullError("No space is left.")

    monkeypatch.setattr(taught, "keep_trajectories", full)
    agent = Failing(2, lambda: raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt) as stopped:
        last_episode(run_episode(agent, Corridor(9), WALK, taught))
    assert stopped.value.__notes__ == ["The run could not be kept: No space is left."]


@pytest.mark.skipif(sys.platform == "win32", reason="there SIGINT would end the process")
def test_an_interrupt_leaves_a_world_alone_that_is_still_at_work(taught: MemoryBank) -> None:
    world, answering = Corridor(9), threading.Event()

    def stop_it() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        answering.wait(20)

    try:
        with pytest.raises(KeyboardInterrupt):
            last_episode(run_episode(Failing(2, stop_it), world, WALK, taught, timeout=60))
    finally:
        answering.set()
    assert world.closed == 0
    assert len(taught.trajectories()) == 1


# -- stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [Planned, Began, Stepped, Ended, OutcomeRecorded])
def test_closing_the_events_anywhere_keeps_what_there_was(
    taught: MemoryBank, after: type[object]
) -> None:
    world = Corridor(4)
    with closing(run_episode(Scripted(), world, WALK, taught, reflector=OneLesson())) as events:
        for event in events:
            if isinstance(event, after):
                break
    assert len(taught.trajectories()) == (after not in (Planned, Began))
    assert world.closed == 1
    outcomes = [row.improved for row in taught.retrievals()]
    assert outcomes == [True if after is OutcomeRecorded else None]
    assert last_episode(run_episode(Scripted(), Corridor(), WALK, taught)).success is True


def test_a_person_stops_between_two_steps(taught: MemoryBank) -> None:
    asked = iter([False, False, True])
    events = run_episode(Scripted(), Corridor(9), WALK, taught, stop=lambda: next(asked))
    episode: Episode = last_episode(events)
    assert (episode.ending, len(episode.steps), episode.success) == ("stopped", 2, None)
    assert episode.improved is None
    assert episode.proposal_ids == ()


def test_an_outcome_is_never_recorded_twice(taught: MemoryBank) -> None:
    episode = last_episode(run_episode(Scripted(), Corridor(), WALK, taught))
    before = memories(taught)
    revision = taught.record_outcome(
        episode.retrieval_id, improved=True, applied=episode.followed, reward=episode.reward
    )
    assert revision.number == episode.outcome_revision
    assert memories(taught) == before


# -- what counts as improved ----------------------------------------------------------------------


def test_the_caller_says_what_counts_as_improved(taught: MemoryBank) -> None:
    events = run_episode(
        Scripted(["wait"]), Corridor(), WALK, taught, max_steps=1, improved=lambda episode: True
    )
    assert last_episode(events).improved is True
    none = run_episode(Scripted(), Corridor(), WALK, taught, improved=lambda episode: None)
    assert last_episode(none).improved is None


def test_above_the_running_mean(taught: MemoryBank) -> None:
    improved = AboveRunningMean()
    verdicts = [
        last_episode(
            run_episode(
                Scripted(), Corridor(50), WALK, taught, max_steps=steps, improved=improved,
            )
        ).improved
        for steps in (2, 1, 2, 3)
    ]  # fmt: skip
    # Rewards 2, 1, 2, 3 against means 0, 2, 1.5 and 1.67 of those before.
    assert verdicts == [True, False, True, True]
