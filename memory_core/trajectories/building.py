"""A run as it is put together: what was said, calls, and the results that are joined to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_core.run_records import Outcome, Role, Step, Trajectory
from memory_core.trajectories.shapes import LONGEST_ERROR, Pictures, failure_in


@dataclass
class Draft:
    """A step that may still get its result."""

    role: Role
    text: str = ""
    tool: str = ""
    arguments: str = ""
    observation: str = ""
    error: str = ""
    waits: bool = False
    """A call without its result, so far."""
    orphan: bool = False
    """A result without its call, so far."""
    gone: bool = False
    """It was joined to another one."""


@dataclass
class Run:
    """One run in the making. Steps are numbered at the end, from 1, as they came."""

    pictures: Pictures = field(default_factory=Pictures)
    name: str = ""
    agent: str = ""
    model: str = ""
    task: str = ""
    """Where it stays empty, the first thing that a user says is the task."""
    outcome: Outcome = field(default_factory=Outcome)
    children: list[Trajectory] = field(default_factory=list)
    _drafts: list[Draft] = field(default_factory=list)
    _by_id: dict[str, Draft] = field(default_factory=dict)
    _thoughts: list[str] = field(default_factory=list)
    _spoke: bool = False

    def say(self, role: Role, text: str) -> None:
        """Somebody says something; empty text is no step."""
        self.flush()
        if text.strip():
            self._drafts.append(Draft(role, text))

    def think(self, text: str) -> None:
        """A thought; it goes with the agent's next words or call."""
        if text.strip():
            self._thoughts.append(text)

    def speak(self, text: str) -> None:
        """The agent says something, which goes with its next call if that follows at once."""
        if self._spoke:
            self.flush()
        if text.strip():
            self._thoughts.append(text)
            self._spoke = True

    def call(
        self, tool: str, arguments: str, call_id: str = "", *, text: str = "", final: bool = False
    ) -> Draft:
        """The agent calls a tool. No result is waited for after a `final` call."""
        early = self._by_id.get(call_id) if call_id else None
        if early is not None and early.waits and (early.tool, early.arguments) == (tool, arguments):
            return early  # told twice, as by LangChain in parts and in a field
        said = "\n\n".join((*self._thoughts, *([text] if text.strip() else [])))
        self._thoughts, self._spoke = [], False
        draft = Draft("assistant", said, tool or "unnamed tool", arguments, waits=not final)
        if early is not None and early.orphan:  # the result came first
            draft.observation, draft.error, draft.waits = early.observation, early.error, False
            early.gone = True
        self._drafts.append(draft)
        if call_id:
            self._by_id[call_id] = draft
        return draft

    def result(self, call_id: str, text: str, error: str | None = "", *, tool: str = "") -> None:
        """What a call gave. Without an id it belongs to the oldest call that waits.

        `error` is None where the source says that it went well; where it says nothing, the text
        is looked at.
        """
        self.flush()
        draft = self._by_id.get(call_id) if call_id else self._waiting(tool)
        if draft is None:
            draft = Draft("tool", "", tool, orphan=True)
            self._drafts.append(draft)
            if call_id:
                self._by_id[call_id] = draft
        give(draft, text, error)

    def _waiting(self, tool: str) -> Draft | None:
        waiting = []
        for draft in reversed(self._drafts):
            if draft.role == "user":
                break
            if draft.waits:
                waiting.append(draft)
        waiting.reverse()
        named = [draft for draft in waiting if draft.tool == tool]
        return next(iter(named or waiting), None)

    def call_ids(self) -> list[str]:
        """The ids of the calls so far, in order; empty for one without."""
        names = {id(draft): name for name, draft in self._by_id.items()}
        return [
            names.get(id(draft), "") for draft in self._drafts if draft.tool and not draft.orphan
        ]

    @property
    def waits(self) -> bool:
        """Whether some call has no result yet."""
        return any(draft.waits for draft in self._drafts)

    @property
    def had_calls(self) -> bool:
        return any(draft.tool and not draft.orphan for draft in self._drafts)

    def orphans(self) -> list[str]:
        """The ids of the results whose calls are not there."""
        return [name for name, draft in self._by_id.items() if draft.orphan]

    def has_result(self, call_id: str) -> bool:
        draft = self._by_id.get(call_id)
        return draft is not None and not draft.waits

    def flush(self) -> None:
        """What the agent has said without a call becomes a step of its own."""
        if self._thoughts:
            self._drafts.append(Draft("assistant", "\n\n".join(self._thoughts)))
        self._thoughts, self._spoke = [], False

    @property
    def last(self) -> Draft | None:
        return self._drafts[-1] if self._drafts else None

    def finish(self) -> Trajectory:
        self.flush()
        kept = [draft for draft in self._drafts if not draft.gone]
        said = (draft.text for draft in kept if draft.role == "user")
        return Trajectory(
            task=(self.task or next(said, "")).strip(),
            steps=tuple(_step(number, draft) for number, draft in enumerate(kept, start=1)),
            outcome=self.outcome,
            agent=self.agent,
            model=self.model,
            children=tuple(self.children),
            name=self.name,
        )


def give(draft: Draft, text: str, error: str | None = "") -> None:
    """Put a result into a step; a second one for the same call is put below the first."""
    if draft.observation and text and not draft.waits and text != draft.observation:
        text = f"{draft.observation}\n{text}"
    draft.observation = text or draft.observation
    if error == "":
        error = failure_in(text)
    draft.error = (draft.error or error or "")[:LONGEST_ERROR]
    draft.waits = False


def _step(number: int, draft: Draft) -> Step:
    return Step(
        number,
        draft.role,
        draft.text,
        draft.tool,
        draft.arguments,
        draft.observation,
        draft.error,
        "call" if draft.waits else "result" if draft.orphan else "",
    )
