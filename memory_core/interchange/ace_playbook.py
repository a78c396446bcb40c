"""ACE playbook: sections `## NAME`, bullets `[err-00007] helpful=2 harmful=1 :: text`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import earned
from memory_core.interchange.formats import Found, MemoryFormat, Written, of
from memory_core.interchange.source import Source, Unfit
from memory_core.records import Kind, Memory

TITLE = "ACE playbook"
_SECTION = re.compile(r"\s*#{1,6}\s*(?P<name>\S.*?)\s*#*\s*")
_BULLET = re.compile(
    r"\s*(?:[-*•]\s+)?\[(?P<id>[^\[\]\s]{1,80})\]"
    r"(?:\s+helpful=(?P<helpful>\d{1,12}))?(?:\s+harmful=(?P<harmful>\d{1,12}))?"
    r"(?:\s+neutral=(?P<neutral>\d{1,12}))?\s*::\s?(?P<text>.*)"
)
_PREFIXES: dict[Kind, str] = {"strategic": "str", "procedural": "proc", "tool": "tool"}
_KIND_OF_PREFIX: dict[str, Kind] = {
    **{prefix: kind for kind, prefix in _PREFIXES.items()},
    "shr": "strategic", "api": "tool", "code": "procedural", "sop": "procedural",
}  # fmt: skip


def matches(source: Source) -> bool:
    return any(map(_BULLET.fullmatch, source.plain.splitlines()[:2_000]))


def read(source: Source) -> Found:
    lines = source.plain.splitlines()
    if not any(map(_BULLET.fullmatch, lines)):
        raise Unfit("it has no bullet such as “[err-00007] helpful=2 harmful=1 :: text”.")
    return _bullets(lines)


def _bullets(lines: Sequence[str]) -> Iterator[ImportEntry | ImportProblem]:
    section: str | None = None
    place, match, text = 0, None, ""
    for number, line in enumerate([*lines, "# end"], start=1):
        bullet, heading = _BULLET.fullmatch(line), _SECTION.fullmatch(line)
        if match and line.strip() and not bullet and not heading:
            text = f"{text} {line.strip()}"  # a bullet's text may go on in lines of its own
            continue
        if match:
            yield _entry(place, match, text.strip(), section)
            match = None
        if heading:
            section = heading["name"].lower()
        elif bullet:
            place, match, text = number, bullet, bullet["text"]
        elif line.strip():
            yield ImportProblem(f"line {number}", "it stands under no bullet and is none itself.")


def _entry(
    place: int, bullet: re.Match[str], text: str, section: str | None
) -> ImportEntry | ImportProblem:
    if not text:
        return ImportProblem(f"line {place}", f"the bullet {bullet['id']} has no text.")
    helpful, harmful = int(bullet["helpful"] or 0), int(bullet["harmful"] or 0)
    lesson = Lesson(
        text,
        kind=_KIND_OF_PREFIX.get(bullet["id"].split("-")[0].lower()) or kind_of_section(section),
        domain=section,
        confidence=earned(helpful, harmful),
        usage_count=helpful + harmful,
        success_count=helpful,
    )
    neutral = ("neutral",) if int(bullet["neutral"] or 0) else ()
    return ImportEntry(f"line {place}", lesson=lesson, source_id=bullet["id"], lost=neutral)


def kind_of_section(section: str | None) -> Kind | None:
    """The kind that a section's name speaks of; None where it speaks of none."""
    words = set(re.findall(r"[a-z]+", (section or "").lower()))
    if words & {"tool", "tools", "api", "apis"}:
        return "tool"
    if words & {"procedure", "procedures", "workflow", "workflows", "steps", "code", "snippets"}:
        return "procedural"
    return None


def write(memories: Sequence[Memory], made_at: str) -> Written:
    sections: dict[str, list[str]] = {}
    folded = 0
    for number, memory in enumerate(memories, start=1):
        text = " ".join(memory.text.splitlines()).strip()
        folded += text != memory.text
        harmful = memory.usage_count - memory.success_count
        sections.setdefault(" ".join(memory.domain.split()).upper(), []).append(
            f"[{_PREFIXES[memory.kind]}-{number:05d}] helpful={memory.success_count} "
            f"harmful={harmful} :: {text}"
        )
    blocks = ["\n".join((f"## {name}", *bullets)) for name, bullets in sections.items()]
    return Written("\n\n".join(blocks) + "\n", of(folded, "line breaks within texts"))


FORMAT = MemoryFormat(
    "ace",
    TITLE,
    "[err-00007] helpful=2 harmful=1 :: text, under ## SECTION",
    ".txt",
    matches,
    read,
    write,
    frozenset({"kind", "domain", "counts"}),
    media_type="text/plain",
)
