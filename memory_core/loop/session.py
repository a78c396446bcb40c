"""One session of the loop, as far as it has come, and what each part of it does to the bank."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from uuid import uuid4

from memory_core.bank import MemoryBank
from memory_core.errors import MemoryCoreError
from memory_core.injection import NO_EXPERIENCE
from memory_core.loop.calls import Agent, Calls, Environment, OutOfTimeError, acted, observed
from memory_core.loop_records import (
    Action,
    Began,
    Ended,
    Ending,
    Episode,
    EpisodeStep,
    Event,
    Failed,
    Injected,
    Memorized,
    Observation,
    OutcomeRecorded,
    Planned,
    Reflected,
    Stepped,
    Task,
)
from memory_core.masking import mask_secrets
from memory_core.operations import Add, Merge, Modify, Operation
from memory_core.reflection.context import Reflector
from memory_core.reflection.text_games import TextGameReflector
from memory_core.retrieval import Hit, Retrieval
from memory_core.run_records import Outcome, Trajectory
from memory_core.settings import RetrievalSettings
from memory_core.text_games.transcript import steps_of
from memory_core.trajectories.normal_form import clean

RUN_FORMAT = "loop"
"""Under which the bank keeps the loop's runs."""
RUN_PREFIX = "episode-"
"""Of a run's id; the id of its retrieval follows, or another one where nothing was retrieved."""

Verdict = Callable[[Episode], bool | None]
"""Whether a session counts as improved by what it applied; None records no outcome."""


@dataclass
class Session:
    """A session as far as it has come."""

    bank: MemoryBank
    task: Task
    agent: Agent
    memory: bool
    learn: bool
    begun: float
    epoch: int = 0
    found: Retrieval | None = None
    injected: tuple[Injected, ...] = ()
    first: Observation | None = None
    steps: list[EpisodeStep] = field(default_factory=list)
    ending: Ending = "stopped"
    errors: list[str] = field(default_factory=list)
    trajectory: Trajectory | None = None
    trajectory_id: str = ""
    improved: bool | None = None
    outcome_revision: int | None = None
    lessons: tuple[str, ...] = ()
    proposal_ids: tuple[int, ...] = ()
    revision: int | None = None

    # -- plan and execute ---------------------------------------------------------------------

    def plan(self, settings: RetrievalSettings | None) -> Planned:
        self.epoch = self.bank.start_epoch() if self.learn else self.bank.epoch
        if self.memory:
            self.found = self.bank.retrieve(self.task.text, settings, record=self.learn)
            self.injected = tuple(_injected(hit) for hit in self.found.hits)
        return Planned(self.task, self.epoch, self.injected, self.injection, self.retrieval_id)

    @property
    def injection(self) -> str:
        return self.found.injection if self.found else NO_EXPERIENCE

    @property
    def retrieval_id(self) -> str:
        return self.found.id if self.found and self.learn else ""

    def execute(self, calls: Calls, max_steps: int, stop: Callable[[], bool]) -> Iterator[Event]:
        doing = "reset"
        try:
            seen = self.first = observed(calls.reset(self.task))
            yield Began(seen)
            doing = "begin"
            calls.begin(self.task, self.injection, self.found.hits if self.found else ())
            while self._goes_on(seen, max_steps, stop):
                doing = "act"
                action = self._ours(acted(calls.act(seen)))
                doing = "step"
                now = observed(calls.step(action.text))
                step = EpisodeStep(len(self.steps) + 1, action, now, now.reward - seen.reward)
                self.steps.append(step)
                seen = now
                yield Stepped(step)
        except OutOfTimeError:
            self.ending = "time"
        except Exception as error:
            self.ending = "error"
            yield self._failed(doing, error)
        yield from self._kept()

    def _goes_on(self, seen: Observation, max_steps: int, stop: Callable[[], bool]) -> bool:
        if seen.done:
            ending: dict[bool | None, Ending] = {True: "success", False: "failure", None: "done"}
            self.ending = ending[seen.success]
        elif len(self.steps) >= max_steps:
            self.ending = "steps"
        elif stop():
            self.ending = "stopped"
        else:
            return True
        return False

    def _ours(self, action: Action) -> Action:
        """The action, with only such memories followed as were injected."""
        there = {hit.id for hit in self.injected}
        return replace(action, followed=tuple(i for i in action.followed if i in there))

    @property
    def success(self) -> bool | None:
        last = self.steps[-1].observation if self.steps else self.first
        if self.ending == "steps":
            return False
        return last.success if last is not None and last.done else None

    @property
    def reward(self) -> float:
        last = self.steps[-1].observation if self.steps else self.first
        return last.reward if last is not None else 0.0

    # -- the end ------------------------------------------------------------------------------

    def break_off(self, cause: BaseException) -> None:
        """It ends from outside; the run so far is kept, or `cause` tells why it could not be."""
        if isinstance(cause, KeyboardInterrupt | GeneratorExit):
            self.ending = "stopped"
        else:
            self.ending = "error"
            self.errors.append(_said(cause))
        try:
            self.keep()
        except Exception as error:
            cause.add_note(f"The run could not be kept: {_said(error)}")

    def _kept(self) -> Iterator[Event]:
        try:
            self.keep()
        except Exception as error:
            yield self._failed("keep", error)
        yield Ended(self.ending, self.success, self.reward, self.trajectory_id, self.error)

    def keep(self) -> None:
        """Keep the run, once, as far as it came."""
        if not self.learn or self.trajectory is not None or not self.steps:
            return
        reason = {"steps": "out of steps", "time": "out of time", "error": self.error}
        self.trajectory = Trajectory(
            self.task.text,
            steps_of(self.first, self.steps),
            Outcome(self.success, self.reward, reason.get(self.ending, self.ending)),
            agent=_name_of(self.agent),
            name=self.task.name,
        )
        # One run for each session, though two may have gone alike.
        name = f"{RUN_PREFIX}{self.found.id if self.found else uuid4()}"
        self.bank.keep_trajectories([self.trajectory], format=RUN_FORMAT, ids=[name])
        self.trajectory_id = name

    def close(self, environment: Environment, calls: Calls) -> None:
        """The environment is told that it is over; what it says to that does not matter."""
        calls.rest()
        if not calls.lost and callable(end := getattr(environment, "close", None)):
            try:
                end()
            except Exception as error:
                self.errors.append(f"close: {_said(error)}")

    def _failed(self, doing: str, error: BaseException) -> Failed:
        self.errors.append(f"{doing}: {_said(error)}")
        return Failed(doing, _said(error))

    @property
    def error(self) -> str:
        return "; ".join(self.errors)

    # -- what is learned ----------------------------------------------------------------------

    def settle(self, improved: Verdict) -> Iterator[Event]:
        """The outcome moves confidence, before anything slow can come between."""
        if not self.learn or self.found is None:
            return
        try:
            episode = self.episode()
            verdict = improved(episode)
            if verdict is None:
                return
            made = self.bank.record_outcome(
                self.found, improved=verdict, applied=episode.followed, reward=self.reward
            )
        except Exception as error:
            yield self._failed("outcome", error)
            return
        self.improved, self.outcome_revision = bool(verdict), made.number
        yield OutcomeRecorded(self.improved, episode.followed, made.number)

    def learn_from(self, reflector: Reflector | None, accept: bool) -> Iterator[Event]:
        if self.trajectory is None:
            return
        if reflector is None and self.first is not None and self.first.actions:
            reflector = TextGameReflector()
        try:
            reflection = self.bank.draft_lessons(
                [self.trajectory], reflector, domain=self.task.domain, format=RUN_FORMAT,
                ids=[self.trajectory_id],
            )  # fmt: skip
            self.proposal_ids = self.bank.keep_reflection(reflection)
        except Exception as error:
            yield self._failed("reflect", error)
            return
        self.lessons = tuple(filter(None, map(_text_of, reflection.operations)))
        refused = tuple(draft.reason for draft in reflection.refused)
        yield Reflected(reflection.operations, refused, reflection.notes)
        try:
            if accept and self.proposal_ids:
                taken = self.bank.accept_fitting(self.proposal_ids, reason="accepted by the loop")
                self.revision = taken.revision.number if taken.revision else None
        except Exception as error:
            yield self._failed("memorize", error)
        if self.proposal_ids:
            yield Memorized(self.proposal_ids, self.revision)

    def episode(self) -> Episode:
        return Episode(
            task=self.task,
            agent=_name_of(self.agent),
            memory=self.memory,
            epoch=self.epoch,
            ending=self.ending,
            success=self.success,
            reward=self.reward,
            first=self.first,
            steps=tuple(self.steps),
            injected=self.injected,
            injection=self.injection,
            retrieval_id=self.retrieval_id,
            trajectory_id=self.trajectory_id,
            improved=self.improved,
            outcome_revision=self.outcome_revision,
            proposal_ids=self.proposal_ids,
            lessons=self.lessons,
            revision=self.revision,
            error=self.error,
            seconds=time.monotonic() - self.begun,
        )


def _injected(hit: Hit) -> Injected:
    memory = hit.memory
    return Injected(memory.id, hit.rank, hit.score, memory.kind, memory.text, memory.confidence)


def _text_of(operation: Operation) -> str:
    return (operation.text or "") if isinstance(operation, Add | Modify | Merge) else ""


def _name_of(agent: Agent) -> str:
    return clean(str(getattr(agent, "name", type(agent).__name__)))


def _said(error: BaseException) -> str:
    """What failed, in words and without secrets; kinds that are not ours are named."""
    told, _ = mask_secrets(clean(str(error)))
    if isinstance(error, MemoryCoreError):
        return told
    return f"{type(error).__name__}: {told}" if told else type(error).__name__
