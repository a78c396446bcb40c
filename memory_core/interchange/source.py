"""A file as it came in, within bounds: bytes to text, text to JSON values or numbered lines.

What is too large, packed, nested too deep or ambiguous is refused here, before any format looks at
it. Nothing is executed, and nothing is guessed without a warning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from memory_core.errors import InterchangeError

MAX_IMPORT_BYTES = 50_000_000
MAX_RECORDS = 100_000
MAX_PIECES = 5_000_000
"""Brackets, braces and commas of a text: each may cost Python a hundred bytes as a value."""
MAX_LINE = 1_000_000
"""Characters of a line of JSON lines; a longer one is reported, not parsed."""
PARQUET = b"PAR1"
_PACKED = {
    b"PK\x03\x04": "a zip archive", b"\x1f\x8b": "packed by gzip", b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz", b"7z\xbc\xaf": "a 7-zip archive",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
}  # fmt: skip
_WIDE = {
    b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip
_NO_TEXT = (
    "The file holds NUL bytes: it is no text, or is UTF-16 without the mark at its beginning. Save "
    "it as UTF-8."
)


class Unfit(Exception):
    """A record, or a part of it, cannot be taken; the message says why."""


class _NotJson:
    """Stands for the value of a text that is no JSON."""

    def __repr__(self) -> str:
        return "no JSON"


NOT_JSON = _NotJson()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file, with the place that a person finds it by."""

    where: str
    """Such as “line 3” or “record 3”, from 1."""
    value: Any
    problem: str = ""
    """Why it could not be read; then there is no value."""


def check_size(size: int) -> None:
    """Raise InterchangeError for a file that is too large to take in."""
    if size > MAX_IMPORT_BYTES:
        raise InterchangeError(
            f"The file has {size / 1e6:,.0f} MB; at most {MAX_IMPORT_BYTES // 1_000_000} MB are "
            "taken. Import it in parts."
        )


class Source:
    """What was handed in, looked at in the way a format needs it."""

    def __init__(self, content: str | bytes, filename: str | None = None) -> None:
        check_size(len(content))
        self.content = content if isinstance(content, str) else bytes(content)
        self.filename = filename or ""
        self.warnings: list[str] = []
        self.json_problem = ""
        """Why the text is no JSON, once `value` was asked for."""
        if not self.content.strip():
            raise InterchangeError("The file is empty; there is nothing to import.")

    @property
    def is_parquet(self) -> bool:
        return isinstance(self.content, bytes) and self.content.startswith(PARQUET)

    @cached_property
    def text(self) -> str:
        """The text, without a byte-order mark, NUL bytes refused; empty for Parquet."""
        if self.is_parquet:
            return ""
        text = self.content if isinstance(self.content, str) else _decoded(self.content)
        return text.removeprefix("\ufeff")

    @cached_property
    def value(self) -> Any:
        """The whole text as one JSON value, or NOT_JSON. JSON within JSON text is unpacked."""
        text = self.text.strip()
        if not text:
            return NOT_JSON
        self._check_pieces(text)
        value = self._whole(text)
        for _ in range(3):
            if not (isinstance(value, str) and value.lstrip()[:1] in ("{", "[")):
                break
            inner = self._whole(value)
            if inner is NOT_JSON:
                break
            value = inner
            self._warn("The file was JSON within a JSON text; it was unpacked.")
        return value

    def _whole(self, text: str) -> Any:
        for candidate in (text, _unfenced(text)):
            if candidate is None:
                continue
            try:
                value = parse(candidate)
            except Unfit as problem:
                self.json_problem = self.json_problem or str(problem)
                continue
            if candidate is not text:
                self._warn("Only what stood within the Markdown fence was read.")
            return value
        return NOT_JSON

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def _check_pieces(self, text: str) -> None:
        if sum(map(text.count, "[{,")) > MAX_PIECES:
            raise InterchangeError(
                f"The file holds more than {MAX_PIECES:,} values; import it in parts, and leave "
                "vectors out of it."
            )

    @cached_property
    def plain(self) -> str:
        """The text for formats that are no JSON: without a Markdown fence around it."""
        inner = _unfenced(self.text.strip()) if self.text.lstrip().startswith("```") else None
        return self.text if inner is None else inner

    @cached_property
    def lines(self) -> tuple[Record, ...]:
        """The records of JSON lines; none where the first line is no JSON object."""
        # Not `splitlines`, for which U+2028 within a JSON string ends a line, too.
        numbered = [
            (number, line.strip())
            for number, line in enumerate(self.plain.split("\n"), start=1)
            if line.strip()
        ]
        if not numbered or not numbered[0][1].startswith("{"):
            return ()
        check_count(len(numbered))
        self._check_pieces(self.plain)
        return tuple(_line(number, line) for number, line in numbered)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """What the file lists: the items of a JSON list, or JSON lines, or one JSON object."""
        value = self.value
        if isinstance(value, list):
            check_count(len(value))
            return tuple(Record(f"record {n}", item) for n, item in enumerate(value, start=1))
        if isinstance(value, dict):
            return (Record("record 1", value),)
        return self.lines

    def samples(self) -> Iterator[dict[str, Any]]:
        """Some of the first records that are objects: by their keys a format is told."""
        objects = (record.value for record in self.records if isinstance(record.value, dict))
        for _, value in zip(range(20), objects, strict=False):
            yield value


def check_count(count: int) -> None:
    """Raise InterchangeError for more records than are taken at once."""
    if count > MAX_RECORDS:
        raise InterchangeError(
            f"The file lists {count:,} records; at most {MAX_RECORDS:,} are taken at once. Import "
            "it in parts."
        )


def _line(number: int, line: str) -> Record:
    where = f"line {number}"
    if len(line) > MAX_LINE:
        return Record(where, None, f"it has more than {MAX_LINE:,} characters.")
    try:
        return Record(where, parse(line))
    except Unfit as problem:
        return Record(where, None, str(problem))


def parse(text: str) -> Any:
    """JSON to values, strictly. Raises Unfit for what is no JSON, ambiguous, or nested too deep."""
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise Unfit(
            f"it is no valid JSON ({error.msg}, line {error.lineno}, column {error.colno})."
        ) from error
    except RecursionError as error:
        raise Unfit("its JSON is nested too deep to be a list of lessons.") from error
    except ValueError as error:  # whole numbers of thousands of digits
        raise Unfit("it has a number with more digits than can be read.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Unfit(
            f"the key {json.dumps(twice[:40])} stands twice in one object, and which of the two is "
            "meant it does not say; remove one."
        )
    return made


def _constant(name: str) -> NoReturn:
    raise Unfit(f"it holds {name}, which is no JSON; write null or a number.")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise Unfit(f"the number {digits[:20]} is too large.")
    return number


def _unfenced(text: str) -> str | None:
    """What stands within the one Markdown fence of a text; None where there is none, or several."""
    lines = text.split("\n")
    fences = [row for row, line in enumerate(lines) if line.strip().startswith("```")]
    if len(fences) != 2:
        return None
    return "\n".join(lines[fences[0] + 1 : fences[1]]).strip() or None


def _decoded(content: bytes) -> str:
    for magic, what in _PACKED.items():
        if content.startswith(magic):
            raise InterchangeError(f"The file is {what}; unpack it and import what is in it.")
    if b"\x00" in content[:1_000] and not content.startswith(tuple(_WIDE)):
        raise InterchangeError(_NO_TEXT)
    encoding = next((name for mark, name in _WIDE.items() if content.startswith(mark)), "utf-8-sig")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8-sig":
            raise InterchangeError(
                f"The file begins as {encoding.upper()} and then is not; save it as UTF-8."
            ) from error
        line = content.count(b"\n", 0, error.start) + 1
        raise InterchangeError(
            f"Line {line} is not UTF-8 text (byte {content[error.start]:#04x}); the file may be "
            "Latin-1 or another encoding. Save it as UTF-8 and try again."
        ) from error
    if "\x00" in text:
        raise InterchangeError(_NO_TEXT)
    return text
