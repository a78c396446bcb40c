"""A text that may be one JSON document, many of them in a row, or neither."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

ABSENT: Any = object()
"""Stands where a text is no JSON document."""
_HEAD = 40
_DECODER = json.JSONDecoder()
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]|"', re.DOTALL)
_SPACE = re.compile(r"[\s,\x1e]*")
_FENCE = re.compile(r"^(```+|~~~+)[^\n`]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)


@dataclass
class Source:
    """What is to be read. `value` may be given where only a part of a document is read."""

    text: str
    filename: str = ""
    given: Any = ABSENT
    warnings: list[str] = field(default_factory=list)

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
            return _opened(json.loads(self.text))
        except RecursionError:
            return ABSENT
        except ValueError as error:
            if "Extra data" in str(error) or (start == "{" and self._is_lines()):
                return ABSENT
        return self._mended()

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

    def _mended(self) -> Any:
        closed = closed_json(self.text)
        value = _loaded(closed) if closed else ABSENT
        if value is not ABSENT and value not in ({}, []):
            self.warn("The text ends inside JSON; what comes before the cut was read.")
            return value
        return ABSENT

    @cached_property
    def head(self) -> list[Any]:
        """The first records."""
        quiet = Source(self.text, given=self.value)
        found: list[Any] = []
        for record in quiet.records():
            found.append(record)
            if len(found) == _HEAD:
                break
        return found

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
            value, at = _record(text, start)
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
        return Source("", self.filename, value, self.warnings)


def _record(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at a place, or in the rest of its line, and where to go on."""
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    places = [start, text.find('{"', start + 1, end)] if text[start] != "{" else [start]
    for place in places:
        if place >= 0 and text[place] in '{["-0123456789tfn':
            try:
                return _DECODER.raw_decode(text, place)
            except (ValueError, RecursionError):
                continue
    return ABSENT, end


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ABSENT


def _opened(value: Any) -> Any:
    """A document that was written as text into JSON, once or twice."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
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
    found = [match[2] for match in _FENCE.finditer(text)]
    if not found:
        opening = re.match(r"\s*(?:```+|~~~+)[^\n`]*\n", text)
        found = [text[opening.end() :]] if opening else []
    return sorted(found, key=len, reverse=True)
