"""Plan, execute, reflect, memorize: one session of an agent on the bank, told as events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable

from memory_core.bank import MemoryBank
from memory_core.errors import LoopError
from memory_core.loop.calls import Agent, Calls, Environment
from memory_core.loop.session import RUN_FORMAT, RUN_PREFIX, Session, Verdict
from memory_core.loop_records import Episode, Event, Finished, Task
from memory_core.reflection.context import Reflector
from memory_core.settings import RetrievalSettings, SettingsError
from memory_core.validation import shown

__all__ = [
    "MAX_STEPS",
    "RUN_FORMAT",
    "RUN_PREFIX",
    "AboveRunningMean",
    "Agent",
    "Environment",
    "last_episode",
    "run_episode",
    "succeeded",
]

MAX_STEPS = 20
"""Enough for a language model; what tries things out needs more."""


def succeeded(episode: Episode) -> bool | None:
    """By success alone; what was cut short tells nothing."""
    if episode.ending in ("success", "failure", "steps"):
        return bool(episode.success)
    return None


class AboveRunningMean:
    """Improved is a success, or a reward above the mean of the sessions before.

    Where successes are rare, useful lessons would otherwise lose confidence for what they could
    not finish alone.
    """

    def __init__(self) -> None:
        self._rewards: list[float] = []

    def __call__(self, episode: Episode) -> bool | None:
        if succeeded(episode) is None:
            return None
        before = self._rewards
        mean = sum(before) / len(before) if before else 0.0
        self._rewards = [*before, episode.reward]
        return bool(episode.success) or episode.reward > mean


def run_episode(
    agent: Agent,
    environment: Environment,
    task: Task | str,
    bank: MemoryBank,
    *,
    settings: RetrievalSettings | None = None,
    reflector: Reflector | None = None,
    max_steps: int = MAX_STEPS,
    accept: bool = False,
    memory: bool = True,
    learn: bool = True,
    improved: Verdict = succeeded,
    timeout: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Generator[Event, None, None]:
    """One session as events, the last of which (Finished) carries the episode.

    Memories are retrieved and injected (unless `memory` is false), the agent acts for at most
    `max_steps`, the run is kept, its outcome moves the confidence of what was followed, and the
    reflector draws lessons, which wait as proposals or are accepted at once (`accept`). Without a
    reflector it is that of text games where the world tells what is admissible, otherwise the
    rules. Each session begins a new epoch. With `learn` false nothing at all is written: that
    measures a bank.

    `timeout` is in seconds for the agent and the environment together. `stop` is asked before
    each step; closing the iterator stops as well. What the agent, the environment or the
    reflector raise ends up in a Failed event and in `Episode.error`. The run so far is kept then,
    and no outcome is recorded for a session that was cut short. Raises MemoryCoreError where the
    bank cannot begin the session, and SettingsError, before anything is begun, for limits that
    are none.
    """
    _check_limits(max_steps, timeout)
    session = Session(
        bank, task if isinstance(task, Task) else Task(task), agent, memory, learn, time.monotonic()
    )
    calls = Calls(agent, environment, timeout)
    try:
        yield session.plan(settings)
        yield from session.execute(calls, max_steps, stop)
    except BaseException as error:
        session.break_off(error)
        raise
    finally:
        session.close(environment, calls)
    yield from session.settle(improved)
    if session.ending not in ("stopped", "error"):
        yield from session.learn_from(reflector, accept)
    yield Finished(session.episode())


def _check_limits(max_steps: object, timeout: object) -> None:
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 0:
        raise SettingsError(
            f"`max_steps` must be a whole number, 0 or more; it is {shown(max_steps)}."
        )
    if timeout is None:
        return
    seconds = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not seconds or not 0 <= timeout <= threading.TIMEOUT_MAX:  # type: ignore[operator]
        raise SettingsError(
            f"`timeout` must be seconds, 0 or more, or None for no limit; it is {shown(timeout)}."
        )


def last_episode(events: Iterable[Event]) -> Episode:
    """Run a session to its end without looking; its episode."""
    episode = None
    for event in events:
        if isinstance(event, Finished):
            episode = event.episode
    if episode is None:
        raise LoopError("These events have no end; give those of `run_episode`.")
    return episode
