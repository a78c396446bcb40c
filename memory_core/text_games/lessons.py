"""Lessons on text games in a form that a person reads and an agent can follow.

A step is written `take apple from shelf`, or `in kitchen: prepare meal` where the place matters.
A lone capital, as in `take X from Y`, stands for any name, the same one throughout a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_core.records import Memory, ProceduralDetail, ToolDetail
from memory_core.text_games.commands import Command, command_of

VERBS = "commands"
"""The tool that a lesson on verbs is about."""
LOSING = "losing commands"
"""The tool that a warning is about."""
NEVER = "never: "
_OR = " | "
_STEP = re.compile(r"(?:in (?P<place>[^:]+): )?(?P<command>.+)", re.DOTALL)
_ANY = re.compile(r"[T-Z]\d*")
_LETTERS = "XYZUVWT"


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A command of a lesson."""

    command: Command
    place: str = ""
    """Where it was given each time; empty where that differed, or does not matter."""

    def __str__(self) -> str:
        return f"in {self.place}: {self.command.text}" if self.place else self.command.text


@dataclass(frozen=True, slots=True)
class Verbs:
    """What verbs are worth in a family of games."""

    use: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()


def is_any(name: str) -> bool:
    """Whether a name of a lesson stands for every name."""
    return _ANY.fullmatch(name) is not None


def step_of(text: str) -> LessonStep:
    """A step as it is written, read again."""
    told = _STEP.fullmatch(text.strip())
    if told is None:
        return LessonStep(Command(""))
    return LessonStep(command_of(told["command"]), (told["place"] or "").lower())


def steps_in(memory: Memory) -> tuple[LessonStep, ...]:
    """The steps of a procedure; none of another lesson."""
    detail = memory.detail
    if not isinstance(detail, ProceduralDetail):
        return ()
    return tuple(step_of(step) for step in detail.steps)


def never_in(memory: Memory) -> tuple[tuple[LessonStep, ...], ...]:
    """Of a warning, each way in which games were lost: steps, the last of which lost it."""
    detail = memory.detail
    if not isinstance(detail, ToolDetail) or detail.tool != LOSING:
        return ()
    ways = detail.usage.removeprefix(NEVER).split(_OR)
    return tuple(tuple(step_of(step) for step in way.split("; ")) for way in ways if way)


def never_detail(ways: Iterable[Sequence[LessonStep]]) -> ToolDetail:
    """The detail of a warning."""
    return ToolDetail(LOSING, NEVER + _OR.join("; ".join(map(str, way)) for way in ways))


def verbs_in(memory: Memory) -> Verbs:
    """What a lesson says on verbs; nothing where it is another lesson."""
    detail = memory.detail
    if not isinstance(detail, ToolDetail) or detail.tool != VERBS:
        return Verbs()
    said = dict(part.split(": ", 1) for part in detail.usage.split("; ") if ": " in part)
    return Verbs(*(tuple(filter(None, said.get(k, "").split(", "))) for k in ("use", "avoid")))


def verbs_detail(verbs: Verbs, counts: str = "") -> ToolDetail:
    """The detail of a lesson on verbs; `counts` is kept with it."""
    parts = [f"use: {', '.join(verbs.use)}", f"avoid: {', '.join(verbs.avoid)}"]
    return ToolDetail(VERBS, "; ".join(parts + ([f"counts: {counts}"] if counts else [])))


# -- what two lessons have in common ------------------------------------------------------------


def same_shape(one: Sequence[LessonStep], other: Sequence[LessonStep]) -> bool:
    """Whether one procedure is how the other begins, or all of it, but for names and places."""
    pairs = zip(one, other, strict=False)
    return bool(one and other) and all(a.command.template == b.command.template for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Shared:
    """What two procedures have in common."""

    steps: tuple[LessonStep, ...]
    first: Mapping[str, str]
    """Names of the first that became letters -> the letter."""
    second: Mapping[str, str]


def in_common(one: Sequence[LessonStep], other: Sequence[LessonStep]) -> Shared:
    """What two procedures share, of which one may be how the other begins.

    A name in which they differ becomes a letter, the same pair always the same one; a place in
    which they differ is dropped. What only one of them has follows, with the same letters.
    """
    letters: dict[tuple[str, str], str] = {}

    def shared(mine: str, its: str) -> str:
        same = mine == its and not is_any(mine)
        return mine if same else letters.setdefault((mine, its), _letter(len(letters)))

    steps = [
        LessonStep(
            Command(a.command.template, tuple(map(shared, a.command.names, b.command.names))),
            a.place if a.place == b.place else "",
        )
        for a, b in zip(one, other, strict=False)
    ]
    first = {mine: letter for (mine, _), letter in letters.items()}
    second = {its: letter for (_, its), letter in letters.items()}
    rest, names = (one, first) if len(one) > len(other) else (other, second)
    steps += _lettered(rest[len(steps) :], dict(names), len(letters))
    return Shared(tuple(steps), first, second)


def _lettered(
    steps: Sequence[LessonStep], names: dict[str, str], taken: int
) -> Iterator[LessonStep]:
    """Steps with names as `names` says; letters that it does not know become new ones."""
    for step in steps:
        for name in step.command.names:
            if is_any(name) and name not in names:
                names[name] = _letter(taken)
                taken += 1
        renamed = tuple(names.get(name, name) for name in step.command.names)
        yield LessonStep(Command(step.command.template, renamed), step.place)


def _letter(number: int) -> str:
    return _LETTERS[number % len(_LETTERS)] + str(number // len(_LETTERS) or "")


def origins(steps: Iterable[LessonStep]) -> dict[str, tuple[str, int]]:
    """By which template, and in which of its places, each name first comes up."""
    first: dict[str, tuple[str, int]] = {}
    for step in steps:
        for place, name in enumerate(step.command.names):
            first.setdefault(name, (step.command.template, place))
    return first
