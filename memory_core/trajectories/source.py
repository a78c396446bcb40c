"""A text that may be one JSON document, many of them in a row, or neither."""

from __future__ import annotations

import itertools
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from memory_core.trajectories.shapes import Pictures

ABSENT: Any = object()
"""Stands where a text is no JSON document."""
_HEAD = 40
_MOST_DIGITS = 300


def _whole_number(digits: str) -> int | str:
    """A number; as text where it has more digits than a float, and at last Python, can take."""
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole_number)
"""Line breaks within strings, as terminals leave them, do no harm."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_SPACE = re.compile(r"[\s,\x1e]*")
_FENCE = re.compile(r"^(```+|~~~+)([^\n`]*)(?:\n|\Z)", re.MULTILINE)


@dataclass
class Source:
    """What is to be read. `value` may be given where only a part of a document is read."""

    text: str
    filename: str = ""
    given: Any = ABSENT
    warnings: list[str] = field(default_factory=list)
    pictures: Pictures = field(default_factory=Pictures)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)

    @cached_property
    def value(self) -> Any:
        """The whole text as one JSON document; ABSENT where it is none."""
        if self.given is not ABSENT:
            return self.given
        start = self.text.lstrip()[:1]
        if start not in ("{", "[", '"'):
            return ABSENT
        try:
            return _opened(_DECODER.decode(self.text))
        except RecursionError:
            return ABSENT
        except json.JSONDecodeError as error:
            if error.msg == "Extra data" or (start == "{" and self._is_lines()):
                return ABSENT
            return self._mended(error.pos)

    def _is_lines(self) -> bool:
        """Whether some line after the first is a JSON object by itself."""
        at = self.text.find("\n")
        for _ in range(_HEAD):
            if at < 0:
                return False
            end = self.text.find("\n", at + 1)
            line = self.text[at + 1 : end if end >= 0 else len(self.text)].strip()
            if len(line) > 2 and isinstance(_loaded(line), dict):
                return True
            at = end
        return False

    def _mended(self, broken_at: int) -> Any:
        """What comes before the place where the text ends too early, or is damaged."""
        for text in (self.text, self.text[:broken_at]):
            closed = closed_json(text)
            value = _loaded(closed) if closed else ABSENT
            if value is not ABSENT and value not in ({}, []):
                line = self.text.count("\n", 0, broken_at) + 1
                self.warn(f"The JSON is cut or damaged in line {line}; what comes before was read.")
                return value
        return ABSENT

    def in_rows(self) -> Source:
        """The same text, taken for JSON values in a row even where it begins like one document."""
        rows = Source(self.text, self.filename, ABSENT, self.warnings, self.pictures)
        rows.value = ABSENT
        return rows

    @cached_property
    def head(self) -> list[Any]:
        """The first records that are objects or lists."""
        quiet = Source(self.text, given=self.value)
        quiet.value = self.value
        wanted = (record for record in quiet.records() if isinstance(record, dict | list))
        return list(itertools.islice(wanted, _HEAD))

    def records(self) -> Iterator[Any]:
        """The items of the document where it is a list, itself, or the JSON values in a row.

        They are parsed one by one; what is no JSON among them is left out with a warning.
        """
        if self.value is not ABSENT:
            yield from self.value if isinstance(self.value, list) else [self.value]
            return
        at, line, broken = 0, 1, []
        text = self.text
        while True:
            space = _SPACE.match(text, at)
            start = space.end() if space else at
            line += text.count("\n", at, start)
            if start >= len(text):
                break
            value, at = _record(text, start, first=line == 1)
            if value is ABSENT:
                broken.append(line)
            else:
                yield value
            line += text.count("\n", start, at)
        if broken:
            shown = ", ".join(str(number) for number in broken[:5])
            more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
            self.warn(f"No JSON in line {shown}{more}; left out.")

    def part(self, value: Any) -> Source:
        """A part of this document as a source of its own, with the same list of warnings."""
        return Source("", self.filename, value, self.warnings, self.pictures)


def _record(text: str, start: int, *, first: bool) -> tuple[Any, int]:
    """The value that begins at a place, or in the rest of its line, and where to go on."""
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    places = [start]
    if first and text[start] != "{" and not text.startswith("data:", start):
        places.append(text.find('{"', start, end))  # something was put before the first line
    for place in places:
        if place >= 0 and text[place] in '{["-0123456789tfn':
            try:
                return _DECODER.raw_decode(text, place)
            except (ValueError, RecursionError):
                continue
    return ABSENT, end


def _loaded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return ABSENT


def _opened(value: Any) -> Any:
    """A document that was written as text into JSON, once or twice."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        inner = _loaded(value)
        if inner is ABSENT:
            break
        value = inner
    return value


def closed_json(text: str) -> str:
    """JSON text that was cut, up to its last whole value, with all brackets closed."""
    stack: list[str] = []
    cut, closing = 0, ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            stack.append("}" if mark == "{" else "]")
            cut = token.end()
        elif mark in "}]":
            if not stack or stack.pop() != mark:
                return ""
            cut = token.end()
        elif mark == ",":
            cut = token.start()
        else:
            continue
        closing = "".join(reversed(stack)) if len(stack) < 200 else ""
    return text[:cut] + closing if cut else ""


def fenced(text: str) -> list[str]:
    """What stands in Markdown's fences, the longest first. A fence that never ends reaches far."""
    if "```" not in text and "~~~" not in text:
        return []
    found = list(_between_fences(text))
    if not found:
        opening = re.match(r"\s*(?:```+|~~~+)[^\n`]*\n", text)
        found = [text[opening.end() :]] if opening else []
    return sorted(found, key=len, reverse=True)


def _between_fences(text: str) -> Iterator[str]:
    """What stands between each fence and the next bare one of the same signs, in linear time."""
    fences = list(_FENCE.finditer(text))
    closing: dict[str, list[re.Match[str]]] = {}
    for fence in fences:
        if not fence[2].strip():
            closing.setdefault(fence[1], []).append(fence)
    done = 0
    for fence in fences:
        later = closing.get(fence[1], [])
        place = bisect_left(later, fence.end(), key=re.Match.start)
        if fence.start() >= done and place < len(later):
            done = later[place].end()
            yield text[fence.end() : later[place].start()]


def found_in(
    value: Any, test: Callable[[dict[str, Any]], bool], depth: int = 3
) -> list[dict[str, Any]]:
    """The JSON objects that pass a test: the value, or what lies in it, not deeper than `depth`."""
    if isinstance(value, dict):
        if test(value):
            return [value]
        inner: Iterable[Any] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return []
    if depth <= 0:
        return []
    return [hit for item in inner for hit in found_in(item, test, depth - 1)]
