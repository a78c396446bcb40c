"""The talk with a model about one piece of a run: what it said, what was taken, what goes back.

It is kept when a request fails, so that a second try goes on where the first one stopped.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from memory_core.masking import mask_secrets
from memory_core.operations import Add, Merge, Modify, Operation, touched_ids
from memory_core.reflection.checks import Checks
from memory_core.reflection.entries import MOST_ENTRIES, UnreadableEntryError, read_entry
from memory_core.reflection.prompt import new_mark
from memory_core.reflection.replies import Reply
from memory_core.reflection_records import RefusedDraft, TokenUsage
from memory_core.trajectories.normal_form import clean

_LONGEST_KEPT = 20_000
"""Characters of what was said that are kept where it is refused."""
MOST_RETURNS = 2
"""Times that what failed a check goes back to the model."""
_CUT = "The reply broke off at its token limit; what was whole of it was taken."
_FINAL = ("instruction to the model", "hold a secret", "about this memory")
"""What these reasons are given for does not go back: whoever obeyed a run would only reword it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was said and is not taken."""

    said: str
    reasons: tuple[str, ...]
    operation: Operation | None = None
    whole: bool = False
    """Whether it is a whole reply, and not one of its entries."""

    @property
    def final(self) -> bool:
        return any(sign in reason for reason in self.reasons for sign in _FINAL)

    def refused(self) -> RefusedDraft:
        kept = mask_secrets(clean(self.said)[:_LONGEST_KEPT])[0]
        return RefusedDraft(mask_secrets(" ".join(self.reasons))[0], kept, self.operation)


@dataclass
class Exchange:
    """Rounds of question and reply about one piece."""

    operations: list[Operation] = field(default_factory=list)
    open: list[Failure] = field(default_factory=list)
    """What goes back to the model with the next question."""
    given_up: list[Failure] = field(default_factory=list)
    mark: str = field(default_factory=new_mark, repr=False)
    """What fences the run in all its questions."""
    rounds: int = 0
    finished: bool = False
    usage: TokenUsage = field(default_factory=TokenUsage)

    def refused(self) -> tuple[RefusedDraft, ...]:
        return tuple(failure.refused() for failure in (*self.given_up, *self.open))

    @property
    def written(self) -> list[str]:
        """The texts that were taken."""
        return [o.text for o in self.operations if isinstance(o, Add | Modify | Merge) and o.text]

    def take(self, reply: Reply, checks: Checks, taken: Collection[Operation] = ()) -> None:
        """Take what holds of a reply. `taken`: operations of the exchanges before this one."""
        self.rounds += 1
        before = self.open
        new, failures = self._checked(reply, checks, taken)
        self.operations += new
        entries = [failure for failure in before if not failure.whole]
        if reply.problem:
            failures = [*entries, *failures]  # they have had no answer yet
        else:
            answers = [*map(_said, new), *(failure.said for failure in failures)]
            self.given_up += _unanswered(entries, answers)
        self.given_up += [failure for failure in failures if failure.final]
        self.open = [failure for failure in failures if not failure.final]
        self.finished = not self.open or self.rounds > MOST_RETURNS

    def _checked(
        self, reply: Reply, checks: Checks, taken: Collection[Operation]
    ) -> tuple[list[Operation], list[Failure]]:
        new: list[Operation] = []
        failures: list[Failure] = []
        known = [*taken, *self.operations]
        for value in reply.values[:MOST_ENTRIES]:
            said = json.dumps(value, ensure_ascii=False)
            try:
                entry = read_entry(value, several_runs=len(checks.runs) > 1)
            except UnreadableEntryError as error:
                failures.append(Failure(said, (f"It is not of the form asked for: {error}.",)))
                continue
            ids = {i for operation in (*known, *new) for i in touched_ids(operation)}
            checked = checks.check(entry, ids)
            operation = checked.operation
            if operation is not None and _said(operation) in map(_said, (*known, *new)):
                continue  # said twice is said once
            if checked.reasons or operation is None:
                failures.append(Failure(said, checked.reasons, operation))
            else:
                new.append(operation)
        if reply.problem:
            failures.append(Failure(reply.raw, (reply.problem,), whole=True))
        elif reply.cut:
            failures.append(Failure(reply.raw, (_CUT,), whole=True))
        if len(reply.values) > MOST_ENTRIES:
            over = f"The reply holds {len(reply.values)} entries; {MOST_ENTRIES} were read."
            self.given_up.append(Failure(reply.raw, (over,)))
        return new, failures


def _said(operation: Operation) -> str:
    """What an operation says, to know it again; a delete by its id."""
    text = getattr(operation, "text", None)
    return " ".join(text.lower().split()) if text else f"{type(operation).__name__}{operation!r}"


def _unanswered(before: Sequence[Failure], answers: Sequence[str]) -> list[Failure]:
    """Those of the earlier failures that no new answer takes the place of."""
    left = list(before)
    for answer in answers:
        if not left:
            break
        words = set(answer.lower().split())
        left.remove(max(left, key=lambda old: len(words & set(old.said.lower().split()))))
    return left
