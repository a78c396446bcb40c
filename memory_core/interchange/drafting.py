"""From what a file says to the operations of a batch, by a person's choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from memory_core.errors import InvalidBatchError, InvalidMemoryError
from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.sentences import first_sentences
from memory_core.operations import Add, Batch, Delete, Merge, Modify, Operation
from memory_core.plans import Plan
from memory_core.records import INITIAL_CONFIDENCE, MAX_WORDS, Kind, Provenance
from memory_core.serialization import check_proposable
from memory_core.settings import SettingsError
from memory_core.snapshot import Snapshot
from memory_core.validation import check_kind, check_string

LongTexts: TypeAlias = Literal["refuse", "cut"]
_ORIGIN = re.compile(r"Imported from (?P<title>.+?) as (?P<id>\S.*?)\.(?:\n\n(?P<rest>.*))?", re.S)


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What a person decides about an import. Raises SettingsError, InvalidMemoryError."""

    long_texts: LongTexts = "refuse"
    """A text over 32 words: refuse it, or cut it after the last sentence that fits, and keep the
    whole in the memory's note. Where no sentence fits, it is refused all the same."""
    kind: Kind = "strategic"
    """Of what the source does not say."""
    domain: str = "general"
    """Of what the source does not say."""

    def __post_init__(self) -> None:
        if self.long_texts not in ("refuse", "cut"):
            raise SettingsError(f"`long_texts` must be refuse or cut; it is {self.long_texts!r}.")
        check_kind(self.kind)
        check_string(self.domain, "domain")
        if not self.domain.strip():
            raise SettingsError("The domain for what has none is empty; name one.")


@dataclass(frozen=True, slots=True)
class ImportDraft:
    """The operations that a file becomes, in its order, and the record behind each."""

    operations: tuple[Operation, ...]
    entries: tuple[ImportEntry, ...]
    """The entry of each operation."""
    problems: tuple[ImportProblem, ...]
    """What became no operation, and why."""
    cut: tuple[int, ...]
    """Positions of the operations whose text was cut."""
    reason: str = ""
    base_revision: int | None = None

    @property
    def batch(self) -> Batch:
        """A new batch of the operations; `plan` it once, and commit that plan."""
        return Batch(
            self.operations, reason=self.reason, kind="import", base_revision=self.base_revision
        )

    def for_review(self, plan: Plan) -> Batch:
        """What a person can decide on one by one: a batch to `propose`.

        All that the plan accepts, and what it refuses only because a text is too long: that can
        be edited there and then accepted.
        """
        accepted = [planned.index for planned in plan.accepted]
        mendable = [r.index for r in plan.refused if _is_only_too_long(r.operation)]
        chosen = tuple(self.operations[index] for index in sorted((*accepted, *mendable)))
        return replace(plan.batch, operations=chosen)


def _is_only_too_long(operation: Operation) -> bool:
    text = getattr(operation, "text", None)
    if not isinstance(text, str) or len(text.split()) <= MAX_WORDS:
        return False
    try:
        check_string(text, "text")
        check_proposable(operation)
    except (InvalidMemoryError, InvalidBatchError):
        return False
    return True


def draft(
    entries: Iterable[ImportEntry],
    title: str,
    choices: ImportChoices,
    *,
    known: Mapping[str, tuple[int, ...]] | None = None,
    problems: Iterable[ImportProblem] = (),
    reason: str = "",
    base_revision: int | None = None,
) -> ImportDraft:
    """Operations for entries; `known` has the memories that each of the source's ids may mean."""
    operations: list[Operation] = []
    behind: list[ImportEntry] = []
    refused = [*problems]
    cut: list[int] = []
    for entry in entries:
        try:
            ids = tuple(_ours(their, known or {}) for their in entry.targets)
        except LookupError as error:
            refused.append(ImportProblem(entry.where, str(error.args[0])))
            continue
        text, whole = _shortened(entry.lesson, choices)
        if whole:
            cut.append(len(operations))
        operations.append(_operation(entry, ids, text, whole, title, choices))
        behind.append(entry)
    return ImportDraft(
        tuple(operations), tuple(behind), tuple(refused), tuple(cut), reason, base_revision
    )


def _ours(their: str, known: Mapping[str, tuple[int, ...]]) -> int:
    ids = known.get(their, ())
    if not ids:
        raise LookupError(
            f"it names {their}, which no memory here is known by. Import the state that its ids "
            "are from first, or give that state with it."
        )
    if len(ids) > 1:
        names = ", ".join(map(str, ids))
        raise LookupError(
            f"it names {their}, which memories {names} were all imported as. Give the state that "
            "its ids are from."
        )
    return ids[0]


def _shortened(lesson: Lesson | None, choices: ImportChoices) -> tuple[str, str]:
    """A lesson's text, and the whole of it where that was cut."""
    text = "" if lesson is None else lesson.text
    if choices.long_texts == "refuse" or not isinstance(text, str):
        return text, ""
    if len(text.split()) <= MAX_WORDS:
        return text, ""
    beginning = first_sentences(text)
    return (text, "") if beginning is None else (beginning, text)


def _operation(
    entry: ImportEntry,
    ids: tuple[int, ...],
    text: str,
    whole: str,
    title: str,
    choices: ImportChoices,
) -> Operation:
    lesson = entry.lesson
    if entry.action == "add" and lesson is not None:
        return _add(entry, lesson, text, whole, title, choices)
    rationale = "\n\n".join(filter(None, (entry.rationale, whole and f"Whole text: {whole}")))
    if entry.action == "modify":
        return Modify(ids[0], text=text, rationale=rationale)
    if entry.action == "merge":
        return Merge(ids, text, rationale=rationale)
    return Delete(ids[0], rationale=rationale)


def _add(
    entry: ImportEntry, lesson: Lesson, text: str, whole: str, title: str, choices: ImportChoices
) -> Add:
    return Add(
        text=text,
        kind=choices.kind if lesson.kind is None else lesson.kind,
        domain=choices.domain if lesson.domain is None else lesson.domain,
        detail=lesson.detail,
        confidence=INITIAL_CONFIDENCE if lesson.confidence is None else lesson.confidence,
        usage_count=lesson.usage_count,
        success_count=lesson.success_count,
        tags=lesson.tags,
        pinned=lesson.pinned,
        epoch=lesson.epoch,
        provenance=_provenance(entry, lesson, whole, title),
        rationale=entry.rationale,
    )


def _provenance(entry: ImportEntry, lesson: Lesson, whole: str, title: str) -> Provenance:
    if lesson.provenance is not None:
        origin = lesson.provenance
        if not whole:
            return origin
        note = "\n\n".join(filter(None, (origin.note, whole)))
        return Provenance(origin.source, origin.evidence, origin.merged_from, note)
    named = f"Imported from {title} as {entry.source_id}." if entry.source_id else ""
    parts = (named or f"Imported from {title}.", whole, lesson.note)
    return Provenance("import", note="\n\n".join(filter(None, parts)))


# -- which memory another system's id means -------------------------------------------------------


def ids_by_note(snapshot: Snapshot, titles: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The memories that were imported from formats, by the ids that they had there."""
    wanted = set(titles)
    found: dict[str, tuple[int, ...]] = {}
    for memory in snapshot.memories:
        origin = _ORIGIN.fullmatch(memory.provenance.note)
        if origin and origin["title"] in wanted:
            found[origin["id"]] = (*found.get(origin["id"], ()), memory.id)
    return found


def ids_by_text(snapshot: Snapshot, entries: Iterable[ImportEntry]) -> dict[str, tuple[int, ...]]:
    """The memories that have the text of a state's entries, by the ids in that state.

    The text of one that was cut when it was imported stands in its note.
    """
    by_text: dict[str, tuple[int, ...]] = {}
    for memory in snapshot.memories:
        by_text[memory.text] = (*by_text.get(memory.text, ()), memory.id)
        origin = _ORIGIN.fullmatch(memory.provenance.note)
        if origin and origin["rest"]:
            by_text[origin["rest"]] = (*by_text.get(origin["rest"], ()), memory.id)
    return {
        entry.source_id: by_text[entry.lesson.text]
        for entry in entries
        if entry.lesson is not None and entry.lesson.text in by_text
    }
