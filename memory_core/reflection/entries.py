"""What a model answers with: entries, each an operation as it was said, not yet believed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_ENTRIES = 20
"""Entries of one reply that are read."""
MOST_ASKED_FOR = 6
_KINDS = {
    "strategy": "strategic", "strategies": "strategic", "procedure": "procedural",
    "procedures": "procedural", "sop": "procedural", "tools": "tool", "tool use": "tool",
}  # fmt: skip
_ACTIONS = {"create": "add", "new": "add", "update": "modify", "edit": "modify", "remove": "delete"}
_RUN_STEP = re.compile(
    r"\brun\s{0,3}#?(\d{1,6})\b[\s:,;.–-]{0,4}(?:steps?)?(.*)", re.IGNORECASE | re.DOTALL
)
_BEFORE_RUN = re.compile(r"(?=\brun\s{0,3}#?\d)", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,9})\s*(?:-|–|to)\s*(\d{1,9})")
_NUMBER = re.compile(r"\d{1,9}")
_LONGEST_RANGE = 50


@dataclass(frozen=True, slots=True)
class Cited:
    """Steps of one of the runs that were shown, by its position from 1."""

    run: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation, as far as the reply could be understood."""

    action: str
    """add, modify, merge or delete."""
    text: str = ""
    kind: str = ""
    domain: str = ""
    ids: tuple[int, ...] = ()
    cited: tuple[Cited, ...] = ()
    rationale: str = ""
    problem: str = ""
    steps: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    tool: str = ""
    usage: str = ""


class UnreadableEntryError(ValueError):
    """An entry is not of the form that was asked for; the message says where."""


@cache
def reply_model(*, several_runs: bool) -> type[BaseModel]:
    """The form of a reply, as a pydantic model; with several runs, evidence names the run."""
    from pydantic import BaseModel, Field, create_model

    class Evidence(BaseModel):
        """Steps of one run that bear the lesson out."""

        run: int = Field(description="number of the run")
        steps: list[int] = Field(description="step numbers of that run")

    cited: Any = list[Evidence] if several_runs else list[int]

    class Lesson(BaseModel):
        """One change to the memory."""

        action: Literal["add", "modify", "merge", "delete"]
        kind: Literal["strategic", "procedural", "tool"]
        text: str = Field(description="the lesson itself, 32 words at most; empty for delete")
        evidence: cited = Field(description="numbers of the steps that show it; never empty")
        rationale: str = Field(description="why the steps bear it out, in one sentence")
        domain: str = Field("", description="one short label")
        ids: list[int] = Field(
            default_factory=list,
            description="modify, delete: one id of an existing memory; merge: two or more; add: []",
        )
        problem: str = Field("", description="strategic: the kind of problem")
        steps: list[str] = Field(default_factory=list, description="procedural: steps in order")
        preconditions: list[str] = Field(
            default_factory=list, description="procedural: what must hold before"
        )
        tool: str = Field("", description="tool: its name as in the log")
        usage: str = Field("", description="tool: how it is called")

    return create_model(
        "Lessons",
        __doc__="What the run teaches, as changes to the memory.",
        lessons=(
            list[Lesson],
            Field(description=f"at most {MOST_ASKED_FOR}; empty where nothing is to be learned"),
        ),
    )


def read_entry(value: object, *, several_runs: bool) -> Entry:
    """An entry from what a reply holds, common slips mended. Raises UnreadableEntryError."""
    from pydantic import ValidationError

    if not isinstance(value, Mapping):
        raise UnreadableEntryError(f"an entry must be an object, not {type(value).__name__}")
    plain = _mended(value)
    cited = _cited(plain.get("evidence"))
    plain["evidence"] = (
        [{"run": one.run, "steps": list(one.steps)} for one in cited]
        if several_runs
        else [step for one in cited for step in one.steps]
    )
    try:
        checked: Any = reply_model(several_runs=several_runs).model_validate({"lessons": [plain]})
    except ValidationError as error:
        raise UnreadableEntryError(_problems(error)) from None
    lesson = checked.lessons[0]
    return Entry(
        action=lesson.action, text=" ".join(lesson.text.split()), kind=lesson.kind,
        domain=lesson.domain, ids=tuple(dict.fromkeys(lesson.ids)), cited=cited,
        rationale=lesson.rationale.strip(), problem=lesson.problem.strip(),
        steps=_filled(lesson.steps), preconditions=_filled(lesson.preconditions),
        tool=lesson.tool.strip(), usage=lesson.usage.strip(),
    )  # fmt: skip


def _filled(texts: list[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())


def _problems(error: Any) -> str:
    """What pydantic found, in a line."""
    told = []
    for one in error.errors()[:4]:
        place = ".".join(str(part) for part in one["loc"][2:]) or "the entry"
        told.append(f"{place}: {one['msg']}")
    return "; ".join(told)


def _mended(value: Mapping[Any, Any]) -> dict[str, Any]:
    """With the names and types that were asked for, where it is clear what was meant."""
    plain = {str(name).strip().lower(): item for name, item in value.items() if item is not None}
    for wanted, others in (
        ("action", ("operation", "op", "option")),
        ("text", ("lesson", "content", "experience", "memory")),
        ("evidence", ("evidence_steps", "cites", "citations")),
        ("kind", ("type",)),
        ("ids", ("id", "memory_ids")),
        ("rationale", ("reason", "why")),
    ):
        for other in others:
            if wanted not in plain and other in plain:
                plain[wanted] = plain[other]
    for name, known in (("kind", _KINDS), ("action", _ACTIONS)):
        if isinstance(plain.get(name), str):
            said = plain[name].strip().lower()
            plain[name] = known.get(said, said)
    plain.setdefault("action", "add")
    if plain["action"] == "delete":
        plain.setdefault("text", "")
    if plain["action"] != "add":
        plain.setdefault("kind", "strategic")  # not asked of what has a kind already
    plain.setdefault("rationale", "")
    for name in ("steps", "preconditions"):
        if isinstance(plain.get(name), str):
            plain[name] = plain[name].splitlines()
    if "ids" in plain:
        plain["ids"] = list(_numbers(plain["ids"]))
    return plain


def _cited(value: object) -> tuple[Cited, ...]:
    """Step numbers from all the ways in which models write them."""
    by_run: dict[int, dict[int, None]] = {}

    def cite(run: int, steps: tuple[int, ...]) -> None:
        if steps:
            by_run.setdefault(run, {}).update(dict.fromkeys(steps))

    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, Mapping):
            plain = {str(name).lower(): part for name, part in item.items()}
            runs = _numbers(plain.get("run", 1))
            steps = _numbers(plain.get("steps", plain.get("step")))
            cite(runs[0] if runs else 0, steps)
        elif isinstance(item, str):
            for part in _BEFORE_RUN.split(item):
                match = _RUN_STEP.match(part)
                cite(int(match[1]) if match else 1, _numbers(match[2] if match else part))
        else:
            cite(1, _numbers(item))
    return tuple(Cited(run, tuple(steps)) for run, steps in by_run.items())


def _numbers(value: object) -> tuple[int, ...]:
    """The whole numbers in a value: 3, "3", "steps 3-5, 8", [3, "4"]."""
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int):
        return (value,)
    if isinstance(value, float):
        return (int(value),) if value.is_integer() else ()
    if isinstance(value, list | tuple):
        return tuple(number for item in value[:1000] for number in _numbers(item))
    if not isinstance(value, str):
        return ()
    found: list[int] = []

    def spread(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        if first <= last < first + _LONGEST_RANGE:
            found.extend(range(first, last + 1))
            return " "
        return match[0]

    rest = _RANGE.sub(spread, value)
    return tuple(sorted({*found, *map(int, _NUMBER.findall(rest))}))
