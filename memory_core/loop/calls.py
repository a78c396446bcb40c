"""The agent and the environment of a session, and calls to them within a limit of time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np

from memory_core.errors import LoopError
from memory_core.loop_records import Action, Observation, Task
from memory_core.retrieval import Hit
from memory_core.validation import shown


class Environment(Protocol):
    """A world that answers to actions. It may have `close`, which is called at the end."""

    def reset(self, task: Task) -> Observation:
        """Begin anew on a task."""
        ...

    def step(self, action: str) -> Observation:
        """Do something."""
        ...


class Agent(Protocol):
    """Chooses actions. It may have a `name`."""

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        """A session begins; `injection` belongs at the head of a system prompt."""
        ...

    def act(self, observation: Observation) -> Action:
        """What to do next."""
        ...


# -- what they give -------------------------------------------------------------------------------


def observed(answer: Observation) -> Observation:
    """What an environment gave, in plain values. Raises LoopError for what cannot be kept."""
    if not isinstance(answer, Observation):
        raise LoopError(
            f"The environment must give an Observation; it gave {type(answer).__name__}."
        )
    for name in ("text", "description", "inventory"):
        _check(answer, name, _is_text, "text")
    _check(answer, "actions", _are_texts, "a tuple of texts")
    _check(answer, "reward", _is_finite, "a finite number")
    _check(answer, "done", _is_truth, "true or false")
    _check(
        answer, "success", lambda value: value is None or _is_truth(value), "true, false or None"
    )
    return replace(
        answer,
        actions=tuple(answer.actions),
        reward=float(
            answer.reward
        ),  # NumPy's numbers and truths, which games give, are no plain ones
        done=bool(answer.done),
        success=None if answer.success is None else bool(answer.success),
    )


def acted(answer: Action) -> Action:
    """What an agent gave, in plain values. Raises LoopError for what cannot be kept."""
    if not isinstance(answer, Action):
        raise LoopError(f"The agent must give an Action; it gave {type(answer).__name__}.")
    for name in ("text", "thought"):
        _check(answer, name, _is_text, "text")
    _check(answer, "followed", _are_ids, "a tuple of memories' ids")
    return replace(answer, followed=tuple(int(i) for i in dict.fromkeys(answer.followed)))


def _check(answer: object, name: str, fits: Callable[[Any], bool], wanted: str) -> None:
    value = getattr(answer, name)
    if not fits(value):
        kind = type(answer).__name__
        raise LoopError(f"`{name}` of an {kind} must be {wanted}; it is {shown(value)}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(map(_is_text, value))


def _are_ids(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(one, Integral) for one in value)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_truth(value: Any) -> bool:
    return isinstance(value, Integral | np.bool_) and value in (0, 1)


# -- a limit of time ------------------------------------------------------------------------------


class OutOfTimeError(Exception):
    """The session's time is over."""


_T = TypeVar("_T")


class Calls:
    """Calls agent and environment, in one thread of their own where there is a limit of time."""

    def __init__(self, agent: Agent, environment: Environment, timeout: float | None) -> None:
        self.reset = self._in_time(environment.reset)
        self.step = self._in_time(environment.step)
        self.begin = self._in_time(agent.begin)
        self.act = self._in_time(agent.act)
        self.lost = False
        """Whether a call has not come back; the thread is left to itself."""
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._asked: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def _in_time(self, call: Callable[..., _T]) -> Callable[..., _T]:
        def called(*given: Any) -> _T:
            if self._deadline is None:
                return call(*given)
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise OutOfTimeError
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="episode", daemon=True)
                self._thread.start()
            self._asked.put((call, given))
            try:
                answer, error = self._answers.get(timeout=left)
            except BaseException as stopped:  # no answer in time, or nobody waits for it any more
                self.lost = True
                self.rest()
                if isinstance(stopped, Empty):
                    raise OutOfTimeError from None
                raise
            if error is not None:
                raise error
            return answer  # type: ignore[no-any-return]

        return called

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            call, given = asked
            try:
                self._answers.put((call(*given), None))
            except BaseException as error:  # it is raised where the call was made
                self._answers.put((None, error))

    def rest(self) -> None:
        """No call follows."""
        if self._thread is not None:
            self._asked.put(None)
