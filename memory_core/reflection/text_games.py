"""Lessons from text games, without a language model: what won, what lost, which verbs are worth it.

A game is sliced backwards from its rewards (game_slicing.py); what several games have in common
replaces what each of them showed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_core.operations import Add, Modify, Operation
from memory_core.records import MAX_WORDS, Evidence, Memory, ProceduralDetail, ToolDetail
from memory_core.reflection.context import Drafts, ReflectionContext, Run
from memory_core.reflection.game_slicing import essential, losing, procedure
from memory_core.text_games.lessons import (
    LessonStep,
    Verbs,
    in_common,
    never_detail,
    never_in,
    same_shape,
    steps_in,
    verbs_detail,
    verbs_in,
)
from memory_core.text_games.transcript import Turn, turns_of

DOMAIN = "text games"
_OFTEN = 0.2
"""Share of the fruitful runs that a verb must have served in to be recommended."""
_TRIED = 5
"""Uses without any service after which a verb is advised against."""
_WORD = re.compile(r"\w+")
_COUNT = re.compile(r"(\S+) (\d+)/(\d+)")
_ARROW = " → "
"""Between what is to be done and what the lesson says to it."""
_GOAL_WORDS = 12
_LEAST_GOAL = 6
"""Words that are left for it, whatever else a lesson says."""
_MOST_WAYS = 6
"""Ways to lose that one warning tells."""


class TextGameReflector:
    """Draws a procedure from what won, a warning from what lost, and one lesson on verbs."""

    name = "text games"

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """Lessons of each run; what is known already is made more general instead of copied."""
        desk = _Desk(context)
        for run in runs:
            turns = turns_of(run.trajectory)
            if not turns:
                desk.notes.append(f"Run {run.id} tells no admissible commands and no score.")
                continue
            desk.read(run, turns)
        return desk.drafts()

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """The same, with the best run first: what it did is what the others are measured by."""
        return self.reflect(sorted(runs, key=_score, reverse=True), context)


def _score(run: Run) -> float:
    outcome = run.trajectory.outcome
    return (outcome.reward or 0.0) + bool(outcome.success)


@dataclass
class _Desk:
    """The lessons that are known, and what the runs at hand make of them."""

    context: ReflectionContext
    notes: list[str] = field(default_factory=list)
    drafted: dict[int, Operation] = field(default_factory=dict)
    """By memory; what is new has negative ids."""
    known: dict[int, Memory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domain = self.domain
        self.known = {m.id: m for m in self.context.snapshot.memories if m.domain == domain}

    @property
    def domain(self) -> str:
        return self.context.domain or DOMAIN

    def drafts(self) -> Drafts:
        return Drafts(tuple(self.drafted.values()), notes=tuple(self.notes))

    def read(self, run: Run, turns: Sequence[Turn]) -> None:
        kept = essential(turns)
        task = run.trajectory.task
        evidence = Evidence(run.id, tuple(turns[i].number for i in kept))
        steps = procedure(turns, kept)
        if steps:
            won = turns[-1].after.success is True
            self._procedure(task, steps, evidence, won)
        if lost := losing(turns):
            self._warning(task, lost, Evidence(run.id, (turns[-1].number,)))
        if kept or lost:
            self._verbs(task, turns, set(kept), evidence)
        else:
            self.notes.append(f"Run {run.id} neither gained nor lost anything: nothing to learn.")

    def _procedure(
        self, task: str, steps: tuple[LessonStep, ...], evidence: Evidence, won: bool
    ) -> None:
        for memory in self.known.values():
            former = steps_in(memory)
            if same_shape(former, steps):
                shared = in_common(former, steps)
                goal = _with_letters(_goal_in(memory.text), shared.first)
                text = _procedure_text(goal, shared.steps)
                self._again(memory, text, _procedural(shared.steps), evidence)
                return
        text = _procedure_text(_goal(task, steps), steps)
        self._new(
            Add(
                text, "procedural", self.domain, _procedural(steps),
                usage_count=1, success_count=int(won),
                rationale="These steps led to the reward.", evidence=(evidence,),
            )
        )  # fmt: skip

    def _warning(self, task: str, way: tuple[LessonStep, ...], evidence: Evidence) -> None:
        memory = next((m for m in self.known.values() if never_in(m)), None)
        former = never_in(memory) if memory else ()
        same = next((w for w in former if len(w) == len(way) and same_shape(w, way)), None)
        if same is None:
            ways = (*former, way)[-_MOST_WAYS:]
        else:
            ways = tuple(in_common(w, way).steps if w is same else w for w in former)
        text, detail = _never_text(_goal(task, way), ways), never_detail(ways)
        if memory is not None:
            self._again(memory, text, detail, evidence)
            return
        self._new(
            Add(
                text, "tool", self.domain, detail,
                rationale="This command lost the game.", evidence=(evidence,),
            )
        )  # fmt: skip

    def _verbs(self, task: str, turns: Sequence[Turn], kept: set[int], evidence: Evidence) -> None:
        memory = next((m for m in self.known.values() if verbs_in(m) != Verbs()), None)
        served, used = _counts(memory)
        for verb in {turn.command.verb for turn in turns}:
            used[verb] += sum(turn.command.verb == verb for turn in turns)
            served[verb] += any(turns[i].command.verb == verb for i in kept)
        verbs = _judged(served, used)
        if verbs == Verbs():
            return
        counts = ", ".join(f"{verb} {served[verb]}/{used[verb]}" for verb in sorted(used))
        text, detail = (
            _verbs_text(_goal(task, procedure(turns, sorted(kept))), verbs),
            verbs_detail(verbs, counts),
        )
        if memory is not None:
            self._again(memory, text, detail, evidence)
            return
        self._new(
            Add(
                text, "tool", self.domain, detail,
                rationale="What served in runs with a reward, and what never did.",
                evidence=(evidence,),
            )
        )  # fmt: skip

    def _new(self, add: Add) -> None:
        number = -1 - len([i for i in self.drafted if i < 0])
        self.drafted[number] = add
        self.known[number] = Memory(
            number, add.kind, add.text, add.domain, add.detail, usage_count=add.usage_count
        )

    def _again(
        self, memory: Memory, text: str, detail: ProceduralDetail | ToolDetail, evidence: Evidence
    ) -> None:
        """A lesson that is known was borne out: it becomes what all its runs have in common.

        The words stay where a person has put them otherwise.
        """
        text = text if _ARROW.strip() in memory.text else memory.text
        self.known[memory.id] = replace(memory, text=text, detail=detail)
        drafted = self.drafted.get(memory.id)
        if isinstance(drafted, Add | Modify):
            cited = (*drafted.evidence, evidence)
            self.drafted[memory.id] = replace(drafted, text=text, detail=detail, evidence=cited)
        elif (text, detail) != (memory.text, memory.detail):
            self.drafted[memory.id] = Modify(
                memory.id, text=text, detail=detail, evidence=(evidence,),
                rationale="Another run bore it out; this is what they have in common.",
            )  # fmt: skip
        else:
            self.notes.append(f"Known already: {memory.text}")


def _procedural(steps: Sequence[LessonStep]) -> ProceduralDetail:
    return ProceduralDetail(tuple(map(str, steps)))


def _counts(memory: Memory | None) -> tuple[Counter[str], Counter[str]]:
    """For each verb the runs it served in, and its uses, as a lesson keeps them."""
    usage = memory.detail.usage if memory and isinstance(memory.detail, ToolDetail) else ""
    found = _COUNT.findall(usage.rpartition("counts: ")[2])
    served = Counter({verb: int(count) for verb, count, _ in found})
    return served, Counter({verb: int(count) for verb, _, count in found})


def _judged(served: Counter[str], used: Counter[str]) -> Verbs:
    most = max(served.values(), default=0)
    if not most:
        return Verbs()
    use = sorted((v for v in used if served[v] >= _OFTEN * most), key=lambda v: (-served[v], v))
    avoid = sorted((v for v in used if not served[v] and used[v] >= _TRIED), key=lambda v: -used[v])
    return Verbs(tuple(use[:8]), tuple(avoid[:6]))


# -- wording --------------------------------------------------------------------------------------


def _goal(task: str, commands: Iterable[LessonStep] = ()) -> str:
    """The sentence of a task that has most words in common with what was done, shortened.

    Of those that have as many, the first.
    """
    done = {word for step in commands for word in step.command.text.lower().split()}
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(task.split()))
    known = [len(done & set(_WORD.findall(sentence.lower()))) for sentence in sentences]
    words = sentences[known.index(max(known))].split()
    return " ".join(words[:_GOAL_WORDS]).rstrip(".:;,!?")


def _goal_in(text: str) -> str:
    return text.partition(_ARROW)[0]


def _with_letters(goal: str, letters: Mapping[str, str]) -> str:
    for name in sorted(letters, key=len, reverse=True):
        goal = re.sub(rf"\b{re.escape(name)}\b", letters[name], goal)
    return goal


def _procedure_text(goal: str, steps: Sequence[LessonStep]) -> str:
    """Goal and steps in at most 32 words; of too many steps, the last ones."""
    told = list(map(str, steps))
    said = "; ".join(told)
    while len(told) > 1 and len(said.split()) > MAX_WORDS - _LEAST_GOAL:
        told = told[1:]
        said = "; ".join(["…", *told])
    return _with_goal(goal, said)


def _never_text(goal: str, ways: Sequence[Sequence[LessonStep]]) -> str:
    told = "; ".join(dict.fromkeys(str(way[-1]) for way in ways))
    return _with_goal(goal, f"never {told}: it lost the game")


def _verbs_text(goal: str, verbs: Verbs) -> str:
    text = f"use {', '.join(verbs.use)}"
    if verbs.avoid:
        text += f"; avoid {', '.join(verbs.avoid)}"
    return _with_goal(goal, text)


def _with_goal(goal: str, said: str) -> str:
    room = max(MAX_WORDS - len(said.split()) - 1, 0)
    short = " ".join(goal.split()[: min(room, _GOAL_WORDS)])
    return " ".join((short + _ARROW + said).split()[:MAX_WORDS])
