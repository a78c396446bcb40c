"""A lesson on its way to become an operation, and the doubts that keep it from that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memory_core.cleaning.lints import detail_texts, lint_text
from memory_core.operations import Add
from memory_core.records import MAX_WORDS, Detail, Evidence, Kind
from memory_core.reflection.gists import Gist
from memory_core.reflection.phrases import first_fitting
from memory_core.reflection_records import RefusedDraft

_STOPPING = ("over length", "generic", "secret", "instruction")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one or more runs bear out."""

    text: str
    kind: Kind
    detail: Detail
    rationale: str
    evidence: tuple[Evidence, ...]
    key: tuple[str, ...] = field(default=())
    """Lessons with the same key say the same thing of several runs; empty for none."""
    usage_count: int = 0
    success_count: int = 0
    weight: float = 0.0
    """Of several that say the same, the heaviest gives the words."""


def admitted(lessons: Iterable[Lesson], domain: str) -> tuple[list[Add], list[RefusedDraft]]:
    """Those that may be laid before a person, and those that must not, with the reason."""
    kept: list[Add] = []
    refused: list[RefusedDraft] = []
    for lesson in lessons:
        draft = Add(
            lesson.text,
            lesson.kind,
            domain,
            lesson.detail,
            usage_count=lesson.usage_count,
            success_count=lesson.success_count,
            rationale=lesson.rationale,
            evidence=lesson.evidence,
        )
        reason = doubt_about(draft)
        if reason:
            refused.append(RefusedDraft(reason, lesson.text, draft))
        else:
            kept.append(draft)
    return kept, refused


def doubt_about(draft: Add) -> str:
    """Why a draft must not become a lesson; empty where nothing speaks against it."""
    words = len(draft.text.split())
    if not 1 <= words <= MAX_WORDS:
        return f"It has {words} words; a memory has 1 to {MAX_WORDS}."
    whole = (draft.text, *detail_texts(draft.detail))
    if any("[masked" in text for text in whole):
        return "It would quote a place where a secret was masked."
    found = lint_text(draft.text, kind=draft.kind, domain=draft.domain, detail=draft.detail)
    return next((lint.message for lint in found if lint.rule in _STOPPING), "")


def together(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Lessons that say the same of several runs as one each, with all their evidence."""
    grouped: dict[tuple[str, ...], list[Lesson]] = {}
    for place, lesson in enumerate(lessons):
        grouped.setdefault(lesson.key or (str(place),), []).append(lesson)
    return [_joined(group) for group in grouped.values()]


def _joined(group: list[Lesson]) -> Lesson:
    first = max(group, key=lambda lesson: lesson.weight)
    if len(group) == 1:
        return first
    evidence: dict[str, set[int]] = {}
    for lesson in group:
        for item in lesson.evidence:
            evidence.setdefault(item.trajectory_id, set()).update(item.steps)
    runs = len(evidence)
    more = f" The same shows in {runs} runs." if runs > 1 else " It shows more than once."
    return Lesson(
        first.text,
        first.kind,
        first.detail,
        first.rationale + more,
        tuple(Evidence(run, tuple(sorted(steps))) for run, steps in evidence.items()),
        first.key,
        sum(lesson.usage_count for lesson in group),
        sum(lesson.success_count for lesson in group),
    )


def opened(gist: Gist, *levels: Sequence[str]) -> str:
    """The fullest body that fits after as much of the task as fits.

    Each level is one thing to say, from long to short; the first that fits is taken.
    """
    for bodies in levels:
        for words in (12, 10, 8, 6, 5):
            start = gist.opening(words)
            text = first_fitting(*(start + body for body in bodies)) if start else ""
            if text:
                return text
    whole = (body[:1].upper() + body[1:] for bodies in levels for body in bodies)
    return first_fitting(*whole)
