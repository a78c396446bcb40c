"""The agent and the environment of a session, and calls to them within a limit of time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from memory_core.errors import LoopError
from memory_core.loop_records import Action, Observation, Task
from memory_core.retrieval import Hit


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


def observed(answer: Observation) -> Observation:
    if not isinstance(answer, Observation):
        raise LoopError(
            f"The environment must give an Observation; it gave {type(answer).__name__}."
        )
    if not math.isfinite(answer.reward):
        raise LoopError(f"The environment gave a reward of {answer.reward}, which is no number.")
    return answer


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
            except Empty:
                self.lost = True
                self._asked.put(None)
                raise OutOfTimeError from None
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
