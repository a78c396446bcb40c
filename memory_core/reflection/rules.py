"""Lessons without a language model: from tool calls and outcomes, counts and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memory_core.counting import count_of
from memory_core.operations import Add
from memory_core.records import Evidence
from memory_core.reflection.calls import LOOKED_AT, Call, calls_of
from memory_core.reflection.context import Drafts, ReflectionContext, Run
from memory_core.reflection.counting import is_call
from memory_core.reflection.domains import domain_of
from memory_core.reflection.gists import gist_of
from memory_core.reflection.grouping import compared
from memory_core.reflection.lessons import Lesson, admitted, together
from memory_core.reflection.phrases import clipped, listed, quoted
from memory_core.reflection.procedures import generalized, kept_calls, procedure
from memory_core.reflection.strategies import strategy
from memory_core.reflection.tool_lessons import tool_lessons
from memory_core.reflection_records import RefusedDraft
from memory_core.run_records import Trajectory

_MOST_OF_CHILDREN = 2
"""Lessons of all sub-agents of a run."""


@dataclass(frozen=True, slots=True)
class _Learned:
    """What one run gave."""

    lessons: tuple[Lesson, ...]
    domain: str
    notes: tuple[str, ...]


class RuleReflector:
    """Draws lessons from what can be counted and compared; the same runs give the same lessons."""

    name = "rules"

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """Lessons of each run; those that several runs bear out are one."""
        learned: list[_Learned] = []
        for place, run in enumerate(runs):
            context.progress(f"Reading run {place + 1} of {len(runs)}", place / len(runs))
            learned.append(_learned(run, context))
        context.progress("Done", 1.0)
        operations: list[Add] = []
        refused: list[RefusedDraft] = []
        for domain in dict.fromkeys(one.domain for one in learned):
            lessons = [lesson for one in learned if one.domain == domain for lesson in one.lessons]
            kept, others = admitted(_put_together(lessons), domain)
            operations += kept
            refused += others
        notes = _counted(note for one in learned for note in one.notes)
        return Drafts(tuple(operations), tuple(refused), notes)

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """What the better of several rollouts of one task did that the worse did not."""
        return compared(runs, context)


def _learned(run: Run, context: ReflectionContext) -> _Learned:
    trajectory = run.trajectory
    calls = calls_of(trajectory)
    gist = gist_of(trajectory.task)
    domain = domain_of(calls, gist, trajectory.task, context)
    lessons: list[Lesson] = []
    if calls:
        texts = [(step.number, step.text) for step in trajectory.steps if step.role == "assistant"]
        kept = kept_calls(run, calls)
        known = procedure(run, calls, kept, gist)
        whole = known or strategy(run, calls, kept, gist)
        lessons = [*tool_lessons(run, calls, gist, texts), *([whole] if whole else [])]
    from_children = tuple(islice(_of_children(run), _MOST_OF_CHILDREN))
    lessons += from_children
    notes = (*_nothing(run, calls, lessons), *_about_children(trajectory, from_children))
    return _Learned(tuple(lessons), domain, notes)


def _put_together(lessons: Sequence[Lesson]) -> list[Lesson]:
    joined = together(lessons)
    return [
        generalized([other for other in lessons if other.key == one.key], one) if one.key else one
        for one in joined
    ]


def _named(run: Run) -> str:
    told = clipped(run.trajectory.name or run.trajectory.task, 8, 60)
    return f"Run {quoted(told)}" if told else "A run without a task"


def _nothing(run: Run, calls: Sequence[Call], lessons: Sequence[Lesson]) -> Iterator[str]:
    """Why a run gave no lesson."""
    trajectory = run.trajectory
    if lessons:
        return
    if not trajectory.steps:
        yield f"{_named(run)} has no steps: nothing to learn from."
    elif not calls:
        yield f"{_named(run)} calls no tool, and the rules learn from tool calls alone."
    else:
        failed = [call for call in calls if call.failed]
        by_user = [call for call in failed if call.refused_by_user]
        told = f"{_named(run)} makes {count_of(len(calls), 'tool call')}"
        if by_user:
            told += f", of which the user refused {len(by_user)}; that says nothing about the tool"
        elif failed:
            steps = listed(str(call.number) for call in failed[:5])
            told += (
                f"; {len(failed)} failed (step{'s' if len(failed) > 1 else ''} {steps}), and no "
                "call shows what would have worked"
            )
        else:
            told += "; none failed, and they make no procedure that is worth keeping"
        yield told + "."


# -- sub-agents ------------------------------------------------------------------------------------


def _of_children(run: Run) -> Iterator[Lesson]:
    """Tool lessons of sub-agents, borne out by the step that sent them."""
    for child in run.trajectory.children[:20]:
        step = _sending_step(run.trajectory, child)
        calls = calls_of(child)
        if step is None or not calls:
            continue
        texts = [(one.number, one.text) for one in child.steps if one.role == "assistant"]
        for lesson in tool_lessons(Run(run.id, child), calls, gist_of(child.task), texts):
            told = quoted(clipped(child.name or child.agent or child.task, 8, 60))
            yield replace(
                lesson,
                rationale=f"In the run of the sub-agent {told}, sent by step {step}: "
                f"{lesson.rationale}",
                evidence=(Evidence(run.id, (step,)),),
            )


def _sending_step(parent: Trajectory, child: Trajectory) -> int | None:
    """The call that started a sub-agent: it names the agent, or hands over its task."""
    task = child.task.strip()[:80]
    for step in parent.steps:
        told = f"{step.tool} {step.arguments[:LOOKED_AT]} {step.observation[:2_000]}"
        named = any(len(name) >= 3 and name in told for name in (child.name, child.agent))
        if is_call(step) and (named or (len(task) >= 8 and task in told)):
            return step.number
    delegating = [
        step.number
        for step in parent.steps
        if is_call(step)
        and any(word in step.tool.lower() for word in ("task", "agent", "delegate"))
    ]
    return delegating[0] if len(delegating) == 1 else None


def _about_children(trajectory: Trajectory, learned: Sequence[Lesson]) -> Iterator[str]:
    count = len(trajectory.children)
    if count and not learned:
        yield (
            f"{count_of(count, 'sub-agent')} took part; evidence cites the steps of "
            "the main run alone, so read a sub-agent's run by itself to learn from it."
        )


def _counted(notes: Iterator[str]) -> tuple[str, ...]:
    """Each note once."""
    return tuple(dict.fromkeys(notes))
