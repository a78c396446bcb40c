"""Slow work beside the page: it goes on when the page is left, tells its steps, can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import streamlit as st

from memory_core import MemoryCoreError

Progress = Callable[[str, float], None]


KEPT = 16
"""Jobs that are done and stay, with their results."""


class Stopped(Exception):
    """Raised in a job's thread at its next step."""


@dataclass(eq=False)
class Job:
    """One piece of work in a thread of its own."""

    work: Callable[[Progress], Any]
    doing: str = "Starting"
    share: float = 0.0
    """In [0, 1], of all that is to do."""
    result: Any = None
    failure: str = ""
    """Why it failed, in words."""
    done: Event = field(default_factory=Event)
    _stop: Event = field(default_factory=Event)

    def start(self) -> Job:
        Thread(target=self._run, daemon=True).start()
        return self

    def stop(self) -> None:
        """At the next step; until then it works on."""
        self.doing = "Stopping at the next step"
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    def _run(self) -> None:
        try:
            self.result = self.work(self._tell)
        except Stopped:
            pass
        except MemoryCoreError as error:
            self.failure = str(error)
        except Exception as error:  # a thread has no page to end on: the page says it
            self.failure = f"This failed, and nothing was kept ({type(error).__name__}: {error})."
        finally:
            self.done.set()

    def _tell(self, doing: str, share: float) -> None:
        if self._stop.is_set():
            raise Stopped
        self.doing, self.share = doing, min(max(share, 0.0), 1.0)


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[object, Job]:
    return {}


def find(name: object) -> Job | None:
    """The job of that name, running or done, in whatever session it was started."""
    return _jobs().get(name)


def start(name: object, work: Callable[[Progress], Any]) -> Job:
    """Start a job, or find it where it is there already."""
    jobs = _jobs()
    for old in [key for key, job in list(jobs.items()) if job.done.is_set()][:-KEPT]:
        jobs.pop(old, None)
    fresh = Job(work)
    job = jobs.setdefault(name, fresh)
    return job.start() if job is fresh else job


def forget(name: object) -> None:
    _jobs().pop(name, None)
