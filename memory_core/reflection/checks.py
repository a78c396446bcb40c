"""Whether what a model said may become a proposal: an operation, or the reasons why not.

What a run says is data, and a model may have obeyed it all the same. So an operation touches only
memories that the model was shown, none that is pinned is taken away, deletes are few, and no text
speaks to a model instead of about a task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory_core.cleaning.instructions import instruction_in
from memory_core.cleaning.lints import lint_text
from memory_core.masking import mask_secrets
from memory_core.operations import Add, Delete, Merge, Modify, Operation
from memory_core.records import (
    MAX_WORDS,
    Detail,
    Evidence,
    Kind,
    Memory,
    ProceduralDetail,
    Provenance,
    StrategicDetail,
    ToolDetail,
)
from memory_core.reflection.context import Run
from memory_core.reflection.entries import Cited, Entry
from memory_core.reflection.telling import step_numbers
from memory_core.trajectories.normal_form import clean

MOST_DELETES = 2
"""Deletes of one reflection on a run; where there are more, none is believed."""
_MOST_REASONS = 6
_LONGEST_DOMAIN = 40
_LONGEST_RATIONALE = 600
_LONGEST_DETAIL = 2000
_ABOUT_THE_MEMORY = re.compile(
    r"""\b(?:memory\s+bank|(?:delete|remove|erase|wipe|clear|drop|overwrite|merge)\s+(?:\w+\s+){0,3}
    (?:memories|lessons)|(?:accept|approve|keep|trust)\s+this\s+(?:lesson|memory|proposal|operation)
    |this\s+(?:lesson|memory)\s+(?:must|should|overrides|replaces|takes\s+precedence))\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """An entry with its operation, or with what is wrong with it."""

    operation: Operation | None
    """None where it is not even that, or holds what must not be kept."""
    reasons: tuple[str, ...] = ()
    """What is wrong, in sentences; none where it may be proposed."""


@dataclass(frozen=True)
class Checks:
    """What an entry is held against."""

    runs: Sequence[Run]
    """Those that were shown, in the order of their numbers from 1."""
    candidates: Mapping[int, Memory]
    """The memories that were shown, by id."""
    domain: str = ""
    """What a person chose; empty lets the model say."""
    _numbers: dict[int, frozenset[int]] = field(default_factory=dict, repr=False)

    def check(self, entry: Entry, touched: Collection[int] = ()) -> Checked:
        """One entry. `touched`: the ids that operations before it change."""
        evidence, wrong = self._evidence(entry.cited)
        rationale = _plain(entry.rationale, _LONGEST_RATIONALE)
        if entry.action == "add":
            operation, more = self._add(entry, evidence, rationale)
        else:
            wrong = [*self._about_ids(entry, touched), *wrong]
            operation, more = self._change(entry, evidence, rationale)
        return Checked(operation, (*wrong, *more))

    # -- evidence -----------------------------------------------------------------------------

    def _evidence(self, cited: Iterable[Cited]) -> tuple[tuple[Evidence, ...], list[str]]:
        found, wrong = [], []
        for one in cited:
            if not 1 <= one.run <= len(self.runs):
                wrong.append(f"There is no run {one.run}; there are runs 1 to {len(self.runs)}.")
                continue
            numbers = self._steps_of(one.run)
            missing = [step for step in one.steps if step not in numbers]
            if missing:
                wrong.append(self._missing(one.run, missing, numbers))
            there = tuple(sorted(set(one.steps) & numbers))
            if there:
                found.append(Evidence(self.runs[one.run - 1].id, there))
        if not found and not wrong:
            wrong.append("It cites no step; name the numbers of the steps that show it.")
        return tuple(found), wrong

    def _steps_of(self, run: int) -> frozenset[int]:
        if run not in self._numbers:
            self._numbers[run] = step_numbers(self.runs[run - 1].trajectory)
        return self._numbers[run]

    def _missing(self, run: int, missing: list[int], numbers: frozenset[int]) -> str:
        which = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        there = f"its steps are {min(numbers)} to {max(numbers)}" if numbers else "it has no steps"
        name = f"run {run}" if len(self.runs) > 1 else "the run"
        verb = "is no step" if len(missing) == 1 else "are no steps"
        return f"{which} {verb} of {name}; {there}."

    # -- operations ---------------------------------------------------------------------------

    def _add(
        self, entry: Entry, evidence: tuple[Evidence, ...], rationale: str
    ) -> tuple[Operation | None, list[str]]:
        kind: Kind = entry.kind  # type: ignore[assignment]  # the form has checked it
        detail = _detail(entry, kind)
        domain, wrong = self._domain(entry.domain)
        text = _plain(entry.text)
        wrong += _about_text(text, kind, domain, detail)
        used, helped = self._first_use(kind, evidence)
        operation = Add(
            text, kind, domain, detail, usage_count=used, success_count=helped,
            provenance=Provenance("reflection", evidence), rationale=rationale, evidence=evidence,
        )  # fmt: skip
        return _unless_secret(operation, wrong), wrong

    def _change(
        self, entry: Entry, evidence: tuple[Evidence, ...], rationale: str
    ) -> tuple[Operation | None, list[str]]:
        if entry.action == "delete":
            if not entry.ids:
                return None, []
            wrong = [] if rationale else ["It does not say why; give the reason in `rationale`."]
            return Delete(entry.ids[0], rationale=rationale, evidence=evidence), wrong
        text = _plain(entry.text)
        leading = self.candidates.get(entry.ids[0]) if entry.ids else None
        domain = leading.domain if leading else ""
        detail = _detail(entry, leading.kind) if leading else None
        known = detail or (leading.detail if leading else None)
        wrong = _about_text(text, leading.kind if leading else None, domain, known)
        if entry.action == "merge":
            merge = Merge(entry.ids, text, detail=detail, rationale=rationale, evidence=evidence)
            return _unless_secret(merge, wrong), wrong
        if not entry.ids:
            return None, wrong
        if leading and text == leading.text and detail in (None, leading.detail):
            wrong.append(f"It changes nothing of memory {leading.id}.")
        modify = Modify(entry.ids[0], text, detail=detail, rationale=rationale, evidence=evidence)
        return _unless_secret(modify, wrong), wrong

    def _about_ids(self, entry: Entry, touched: Collection[int]) -> list[str]:
        ids, action = entry.ids, entry.action
        wrong = []
        if action == "merge" and len(ids) < 2:
            wrong.append("A merge names the ids of two or more existing memories.")
        elif action != "merge" and len(ids) != 1:
            wrong.append(f"A {action} names the id of exactly one existing memory.")
        for memory_id in ids:
            memory = self.candidates.get(memory_id)
            if memory is None:
                wrong.append(f"Memory {memory_id} is not among those that were shown.")
            elif memory_id in touched:
                wrong.append(f"Memory {memory_id} is changed by another operation already.")
            elif memory.pinned and action in ("delete", "merge"):
                wrong.append(f"Memory {memory_id} is pinned; it may be modified, not taken away.")
        return wrong[:_MOST_REASONS]

    def _domain(self, said: str) -> tuple[str, list[str]]:
        if self.domain:
            return self.domain, []
        domain = _plain(said).lower()
        if len(domain) > _LONGEST_DOMAIN:
            return "general", [f"The domain is longer than {_LONGEST_DOMAIN} letters."]
        if instruction_in(domain):
            return "general", ["The domain reads like an instruction to the model."]
        return domain or "general", []

    def _first_use(self, kind: Kind, evidence: Sequence[Evidence]) -> tuple[int, int]:
        """A procedure was used once, in the run that it comes from, and helped if that did well."""
        if kind != "procedural" or not evidence:
            return 0, 0
        cited = {one.trajectory_id for one in evidence}
        ends = [run.trajectory.outcome.success for run in self.runs if run.id in cited]
        if None in ends:
            return 0, 0
        return 1, int(all(ends))


def too_many_deletes(operations: Iterable[Operation], runs: int) -> str:
    """Why the deletes of a reflection on so many runs are not believed; empty where they are."""
    count, most = (
        sum(isinstance(operation, Delete) for operation in operations),
        MOST_DELETES * runs,
    )
    if count <= most:
        return ""
    return (
        f"The model deletes {count} memories; it is believed up to {most} for so many runs, so "
        "none of these deletes is proposed."
    )


def _detail(entry: Entry, kind: Kind) -> Detail | None:
    """What the entry says beyond its text; None where it says nothing."""
    if kind == "strategic":
        return StrategicDetail(_plain(entry.problem, _LONGEST_DETAIL)) if entry.problem else None
    if kind == "tool":
        if not entry.tool:
            return None
        return ToolDetail(_plain(entry.tool, 200), _plain(entry.usage, _LONGEST_DETAIL))
    steps = tuple(_plain(step, _LONGEST_DETAIL) for step in entry.steps[:50])
    before = tuple(_plain(one, _LONGEST_DETAIL) for one in entry.preconditions[:50])
    return ProceduralDetail(steps, before) if steps or before else None


def _about_text(text: str, kind: Kind | None, domain: str, detail: Detail | None) -> list[str]:
    if not text:
        return ["The text is empty."]
    wrong = []
    for lint in lint_text(text, kind=kind, domain=domain, detail=detail):
        if lint.rule == "over length":
            words = len(text.split())
            wrong.append(f"The text has {words} words; at most {MAX_WORDS} are allowed.")
        else:
            wrong.append(lint.message)
    if _ABOUT_THE_MEMORY.search(text):
        wrong.append("The text speaks about this memory instead of about a task.")
    return wrong


def _unless_secret(operation: Operation, wrong: Iterable[str]) -> Operation | None:
    """What holds a secret is not kept, not even as refused."""
    return None if any("secret" in reason for reason in wrong) else operation


def _plain(text: str, longest: int | None = None) -> str:
    """On one line, masked, and without what no store holds."""
    line = " ".join(clean(text).split())
    if longest is None:
        return line
    masked = mask_secrets(line)[0]
    return masked if len(masked) <= longest else masked[: longest - 1] + "…"
