"""A reflection that goes on beside the page: its progress, its end, and the try again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import streamlit as st

from memory_core import (
    MemoryBank,
    MemoryCoreError,
    Reflection,
    Reflector,
    RuleReflector,
    Trajectory,
)
from pages.components import banks, jobs, keys, reflect_given, reflect_past
from pages.components.frame import Desk
from pages.components.reflect_ask import Asked
from pages.components.text import md

PATIENCE = 0.4
"""Seconds that a page waits for what may be there at once."""


@dataclass(frozen=True)
class Work:
    """What is reflected on, by what; the same reflector goes on where it was interrupted."""

    name: str
    of: str
    """The digest of what lay on the desk."""
    bank: MemoryBank
    reflector: Reflector
    runs: tuple[Trajectory, ...]
    format: str
    asked: Asked

    def do(self, tell: jobs.Progress) -> Reflection:
        made = self.bank.draft_lessons(
            self.runs, self.reflector, as_group=self.asked.as_group, domain=self.asked.domain,
            format=self.format, progress=tell,
        )  # fmt: skip
        self.bank.keep_reflection(made)
        return made


def begin(desk: Desk, of: str, runs: Sequence[Trajectory], format: str, asked: Asked) -> None:
    """Start reflecting; what came before is forgotten here."""
    try:
        reflector = _reflector(asked)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    bank = banks.writable(desk.bank)
    work = Work(uuid4().hex, of, bank, reflector, tuple(runs), format, asked)
    st.session_state[keys.REFLECTING] = work
    jobs.start(work.name, work.do)


def _reflector(asked: Asked) -> Reflector:
    if not asked.model.name:
        return RuleReflector()
    from memory_core import LLMReflector

    model = asked.model
    return LLMReflector(model.name, base_url=model.base_url, api_key=model.key)


def goes_on(desk: Desk) -> bool:
    """Whether a reflection is under way, or has stopped on the way."""
    return _mine(desk) is not None


def is_busy(desk: Desk) -> bool:
    """Whether a reflection is under way."""
    work = _mine(desk)
    job = jobs.find(work.name) if work else None
    return job is not None and not job.done.is_set()


def _mine(desk: Desk) -> Work | None:
    work: Work | None = st.session_state.get(keys.REFLECTING)
    if work is None or str(work.bank.path) != str(desk.bank.path):
        return None
    if jobs.find(work.name) is None:
        st.session_state.pop(keys.REFLECTING, None)
        return None
    return work


def open_if_done(desk: Desk) -> None:
    """Show what a reflection found, once it has; to be called before anything is shown."""
    work = _mine(desk)
    job = jobs.find(work.name) if work else None
    if work is None or job is None or not job.done.wait(PATIENCE) or job.result is None:
        return
    st.session_state.pop(keys.REFLECTING, None)
    jobs.forget(work.name)
    given = reflect_given.given()
    if given is not None and given.digest != work.of:  # another run is being looked at by now
        st.toast(
            "The reflection on the run before is done; it stands in the list below the samples."
        )
        return
    reflect_past.open_one(job.result.key)
    st.rerun()  # with the proposals that it left in the bank


def section(desk: Desk) -> None:
    """How far it has come; or why it ended, and the way on."""
    work = _mine(desk)
    job = jobs.find(work.name) if work else None
    if work is None or job is None:
        return
    if not job.done.is_set():
        _watch(work.name)
        return
    if job.is_stopped:
        st.markdown("**The reflection was stopped.** What the model answered until then is kept.")
    else:
        st.error(md(job.failure))
        if work.asked.model.name:
            st.caption("What was done until then is kept: a new try asks only for what is missing.")
    with st.container(horizontal=True):
        st.button("Go on" if job.is_stopped else "Try again", key="reflect-again", type="primary",
                  on_click=_again, args=(work,))  # fmt: skip
        st.button("Leave it", key="reflect-leave", on_click=_leave, args=(work,))


@st.fragment(run_every=0.5)
def _watch(name: str) -> None:
    job = jobs.find(name)
    if job is None or job.done.is_set():
        st.rerun()
    st.progress(job.share, f"**Reflecting** · {md(job.doing)}")
    st.button("Stop", key="stop-reflecting", on_click=job.stop, disabled=job.is_stopped)
    st.caption("The other pages can be used meanwhile; it goes on.")


def _again(work: Work) -> None:
    jobs.forget(work.name)
    jobs.start(work.name, work.do)


def _leave(work: Work) -> None:
    jobs.forget(work.name)
    st.session_state.pop(keys.REFLECTING, None)
