"""What two versions of a memory differ in, field by field and in words."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core import Memory, ProceduralDetail, StrategicDetail, ToolDetail
from pages.components import diff
from pages.components.text import md

NONE = "none"
AROUND = 8
"""Words of a long field that stay in sight beside each difference."""
SHORT = 60
"""Letters before and after, together, of a field that needs no line of its own."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, before and after, as a person writes it."""

    label: str
    before: str
    after: str

    @property
    def is_short(self) -> bool:
        """Whether several of it stand on one line."""
        return len(self.before) + len(self.after) <= SHORT

    @property
    def plain(self) -> str:
        """For a cell of a table."""
        return f"{self.label}: {_short(self.before)} → {_short(self.after)}"

    @property
    def markdown(self) -> str:
        """For the page, word by word."""
        return f"{self.label}: {diff.words(self.before or NONE, self.after or NONE, around=AROUND)}"


def _short(value: str, limit: int = 80) -> str:
    line = " ".join(value.split()) or NONE
    return line if len(line) <= limit else line[: limit - 1] + diff.ELLIPSIS


def field_changes(before: Memory, after: Memory) -> tuple[FieldChange, ...]:
    """All that differs but the text, in the order in which a memory is read."""
    old, new = fields(before), fields(after)
    if before.confidence != after.confidence and old["confidence"] == new["confidence"]:
        old["confidence"] = f"{before.confidence:.4f}"
        new["confidence"] = f"{after.confidence:.4f}"
    names = dict.fromkeys((*old, *new))
    return tuple(
        FieldChange(name, old.get(name, ""), new.get(name, ""))
        for name in names
        if old.get(name, "") != new.get(name, "")
    )


def fields(memory: Memory) -> dict[str, str]:
    """All fields of a memory but its text, by name; those that are empty are left out."""
    values = {
        "kind": memory.kind,
        "domain": memory.domain,
        "tags": ", ".join(memory.tags),
        "pinned": "yes" if memory.pinned else "no",
        **_detail(memory),
        "confidence": f"{memory.confidence:.2f}",
        "applied": str(memory.usage_count),
        "helped": str(memory.success_count),
        "session": str(memory.epoch),
        "from": _origin(memory),
    }
    return {name: value for name, value in values.items() if value}


def _detail(memory: Memory) -> dict[str, str]:
    match memory.detail:
        case StrategicDetail(problem):
            return {"problem": problem}
        case ToolDetail(tool, usage):
            return {"tool": tool, "usage": usage}
        case ProceduralDetail(steps, preconditions):
            return {
                "before the first step": "; ".join(preconditions),
                "steps": " ".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
            }
    return {}


def _origin(memory: Memory) -> str:
    origin = memory.provenance
    words = [origin.source]
    words += [f"run {item.trajectory_id}" for item in origin.evidence]
    if origin.merged_from:
        words.append("from " + ", ".join(map(str, origin.merged_from)))
    return ", ".join(words) + (f": {origin.note}" if origin.note else "")


def told(memory: Memory) -> str:
    """Markdown of the fields worth reading when a memory comes or goes."""
    shown = dict(fields(memory))
    for name in ("kind", "domain", "session"):
        shown.pop(name)
    if not memory.pinned:
        shown.pop("pinned")
    if not memory.usage_count:
        shown.pop("applied")
        shown.pop("helped")
    return " · ".join(f"{name} {md(value, limit=160)}" for name, value in shown.items())
