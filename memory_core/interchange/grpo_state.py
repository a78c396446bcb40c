"""Training-free GRPO, state: `{"G0": "Title: text"}`, or lines `[G0]. Title: text`, also in YAML.

Its ids are numbered anew at every step; ours stay, and theirs is kept in the memory's note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memory_core.errors import MissingDependencyError
from memory_core.interchange.entries import ImportEntry, ImportProblem, Lesson
from memory_core.interchange.fields import a_text
from memory_core.interchange.formats import Found, MemoryFormat, Written, each
from memory_core.interchange.source import Record, Source, Unfit
from memory_core.records import Memory
from memory_core.serialization import dumps

TITLE = "training-free GRPO"
MAX_YAML = 2_000_000
"""Characters; YAML is read slowly, and an agent's settings are short."""
_ID = re.compile(r"G\d{1,9}")
_LINE = re.compile(r"^[ \t]*\[(G\d{1,9})\]\.?[ \t]*", re.MULTILINE)
_YAML = re.compile(r"^(?:agent|instructions|\s+instructions)\s*:", re.MULTILINE)


def matches(source: Source) -> bool:
    value = source.value
    if isinstance(value, dict):
        return bool(value) and all(_ID.fullmatch(key) for key in value)
    return bool(_LINE.search(source.plain) or _in_yaml(source))


def read(source: Source) -> Found:
    value = source.value
    if isinstance(value, dict):
        return each([Record(key, text) for key, text in value.items()], _one)
    text = _instructions(source) if _in_yaml(source) else source.plain
    return _from_lines(text)


def _one(record: Record) -> Found:
    yield ImportEntry(
        record.where, lesson=Lesson(a_text(record.value, record.where)), source_id=record.where
    )


def _from_lines(text: str) -> Iterator[ImportEntry | ImportProblem]:
    marks = list(_LINE.finditer(text))
    if not marks:
        raise Unfit("it has no line that begins with [G0].")
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        name = mark[1]
        block = text[mark.end() : following.start() if following else len(text)]
        # A blank line ends the last lesson: behind it the prompt goes on.
        lesson = " ".join(re.split(r"\n[ \t]*\r?\n", block.strip(), maxsplit=1)[0].split())
        if lesson:
            yield ImportEntry(name, lesson=Lesson(lesson), source_id=name)
        else:
            yield ImportProblem(name, "it has no text.")


def _in_yaml(source: Source) -> bool:
    return (
        source.filename.lower().endswith((".yaml", ".yml")) or bool(_YAML.search(source.plain))
    ) and "[G" in source.plain


def _instructions(source: Source) -> str:
    """The text of all `instructions` in a YAML file."""
    try:
        import yaml
    except ImportError as error:
        raise MissingDependencyError("Reading YAML needs PyYAML: pip install PyYAML") from error
    if len(source.plain) > MAX_YAML:
        raise Unfit(f"its YAML has more than {MAX_YAML:,} characters; keep the lessons only.")
    try:
        value = yaml.safe_load(source.plain)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unfit(f"its YAML cannot be read: {str(error).splitlines()[0][:120]}.") from error
    found = "\n\n".join(_texts_with_lessons(value))
    if not found:
        raise Unfit("no text in its YAML has a line that begins with [G0].")
    return found


def _texts_with_lessons(value: Any) -> Iterator[str]:
    """Texts that have lessons, anywhere in the value; each once, however often it is named."""
    waiting: list[Any] = [value]
    seen: set[Any] = set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if item not in seen and _LINE.search(item):
                seen.add(item)
                yield item
        elif isinstance(item, dict | list) and id(item) not in seen:
            seen.add(id(item))
            waiting.extend(reversed(list(item.values() if isinstance(item, dict) else item)))


def write(memories: Sequence[Memory], made_at: str) -> Written:
    state = {f"G{number}": memory.text for number, memory in enumerate(memories)}
    return Written(dumps(state) + "\n")


FORMAT = MemoryFormat(
    "grpo",
    TITLE,
    '{"G0": "Title: text"}, or lines [G0]. Title: text, also in YAML',
    ".json",
    matches,
    read,
    write,
)
