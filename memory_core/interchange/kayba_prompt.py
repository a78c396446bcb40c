"""kayba skills as they are injected into a prompt: a table of tab-separated rows. Import only.

skills[2]{id section content helpful harmful neutral}:
  context-00001 <tab> context <tab> "text, quoted where it has a comma" <tab> 1 <tab> 0 <tab> 0
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.interchange.formats import Found, MemoryFormat, each
from memory_core.interchange.kayba_skillbook import one_skill
from memory_core.interchange.source import Record, Source, Unfit, parse

_HEAD = re.compile(
    r"^[ \t]*(?:skills|bullets)\[\d+[^\]\n]{0,3}\]\{(?P<names>[^}\n]{1,300})\}:[ \t]*$",
    re.MULTILINE,
)
_COUNTS = frozenset({"helpful", "harmful", "neutral"})


def matches(source: Source) -> bool:
    return bool(_HEAD.search(source.plain))


def read(source: Source) -> Found:
    head = _HEAD.search(source.plain)
    if head is None:
        raise Unfit("it has no table that begins with “skills[…]{id section content …}:”.")
    names = re.split(r"[\s,|]+", head["names"].strip())
    before = source.plain.count("\n", 0, head.end()) + 2
    lines = source.plain[head.end() + 1 :].split("\n")
    return each(_rows(names, lines, before), one_skill)


def _rows(names: list[str], lines: list[str], first: int) -> Iterator[Record]:
    for number, line in enumerate(lines, start=first):
        if not line.strip() or not line.startswith((" ", "\t")):
            return  # the table is its indented lines; behind it the prompt goes on
        cells = line.strip().split("\t")
        if len(cells) != len(names):
            yield Record(
                f"line {number}", None, f"it has {len(cells)} cells; the table has {len(names)}."
            )
            continue
        try:
            values = {name: _value(name, cell) for name, cell in zip(names, cells, strict=True)}
        except Unfit as problem:
            yield Record(f"line {number}", None, str(problem))
            continue
        yield Record(f"line {number}", values)


def _value(name: str, cell: str) -> Any:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return parse(cell) if quoted or name in _COUNTS else cell


FORMAT = MemoryFormat(
    "kayba-prompt",
    "kayba skills in a prompt",
    "skills[6]{id section content helpful harmful neutral}: and rows",
    ".txt",
    matches,
    read,
    media_type="text/plain",
)
