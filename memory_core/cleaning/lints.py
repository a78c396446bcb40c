"""Doubts about a lesson's wording: over length, generic, a secret, an instruction to the model.

A lint stops nothing. Those about one text need only the text; copies are told by `likeness`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memory_core.cleaning.instructions import instruction_in
from memory_core.cleaning.wording import is_generic
from memory_core.masking import find_secrets
from memory_core.plans import Lint, PlannedOperation
from memory_core.records import (
    MAX_WORDS,
    Detail,
    Kind,
    Memory,
    ProceduralDetail,
    StrategicDetail,
    ToolDetail,
)

LINT_RULES = ("over length", "exact copy", "near copy", "generic", "secret", "instruction")
"""Names of what is doubted."""


def lint_text(
    text: str,
    *,
    kind: Kind | None = None,
    domain: str | None = None,
    detail: Detail | None = None,
) -> tuple[Lint, ...]:
    """The doubts about a memory as it is written, before anybody plans it. Their index is 0.

    A tool that the detail names makes a lesson concrete. Secrets and instructions are sought in
    the detail, too.
    """
    doubts = [*_about_length(text), *_about_content(text, domain or "", detail)]
    return (*doubts, *_about_danger(text, "text"), *lint_detail(detail))


def lint_detail(detail: Detail | None) -> tuple[Lint, ...]:
    """The doubts about a memory's detail alone."""
    whole = "\n".join(detail_texts(detail))
    return tuple(_about_danger(whole, "detail")) if whole else ()


def lint_memory(memory: Memory) -> tuple[Lint, ...]:
    """The doubts about a memory's wording."""
    return lint_text(memory.text, kind=memory.kind, domain=memory.domain, detail=memory.detail)


def detail_texts(detail: Detail | None) -> tuple[str, ...]:
    """All that a detail says."""
    match detail:
        case StrategicDetail():
            return (detail.problem,)
        case ProceduralDetail():
            return (*detail.preconditions, *detail.steps)
        case ToolDetail():
            return (detail.tool, detail.usage)
    return ()


def _about_length(text: str) -> Iterator[Lint]:
    words = len(text.split())
    if words > MAX_WORDS:
        message = f"{words} words; a memory has at most {MAX_WORDS}. Keep the rest in its detail."
        yield Lint(0, "over length", message)


def _about_content(text: str, domain: str, detail: Detail | None) -> Iterator[Lint]:
    names_a_tool = isinstance(detail, ToolDetail) and bool(detail.tool.strip())
    if not names_a_tool and is_generic(text, domain=domain):
        yield Lint(
            0,
            "generic",
            "Names no tool, object, condition or number, so it fits any task. Say when it holds "
            "and what to do then.",
        )


def _about_danger(text: str, place: str) -> Iterator[Lint]:
    kinds = dict.fromkeys(secret.kind for secret in find_secrets(text))
    kinds.pop("e-mail address", None)  # a lesson may well say whom to write to
    if kinds:
        yield Lint(
            0,
            "secret",
            f"The {place} seems to hold a secret ({', '.join(kinds)}). Take it out, and revoke it "
            "if it is real: past revisions keep it.",
        )
    passage = instruction_in(text)
    if passage:
        shown = passage if len(passage) <= 60 else passage[:59] + "…"
        yield Lint(
            0,
            "instruction",
            f"The {place} reads like an instruction to the model (“{shown}”), and it will stand "
            "in a prompt.",
        )


@dataclass(frozen=True, slots=True)
class BroughtIn:
    """What the operations of a plan bring in, and leave standing."""

    memories: tuple[Memory, ...]
    texts: Mapping[int, int]
    """By the id of each memory whose text is new, the operation that gave it."""
    details: Mapping[int, int]
    """Likewise of each memory that got another detail."""


def brought_in(accepted: Iterable[PlannedOperation], put: Iterable[Memory]) -> BroughtIn:
    """What is new in a plan whose changed memories are `put` in the end.

    What was there before, comes back, or is the text of one of the memories that are merged, is
    not new.
    """
    texts: dict[int, int] = {}
    details: dict[int, int] = {}
    for planned in accepted:
        known = {change.before.text for change in planned.changes if change.before}
        for change in planned.changes:
            after, before = change.after, change.before
            if after is None or change.action == "restored":
                continue
            if after.text not in known:
                texts[change.memory_id] = planned.index
            if before is not None and before.detail != after.detail:
                details[change.memory_id] = planned.index
    standing = tuple(m for m in put if m.id in texts or m.id in details)
    ids = {memory.id for memory in standing}
    return BroughtIn(
        standing,
        {memory_id: index for memory_id, index in texts.items() if memory_id in ids},
        {memory_id: index for memory_id, index in details.items() if memory_id in ids},
    )


def wording_lints(brought: BroughtIn) -> Iterator[Lint]:
    """The doubts about the wording of what is new."""
    for memory in brought.memories:
        if memory.id in brought.texts:
            found, index = lint_memory(memory), brought.texts[memory.id]
        else:
            found, index = lint_detail(memory.detail), brought.details[memory.id]
        for lint in found:
            yield replace(lint, index=index)
