"""Judgements as files: TREC qrels and JSON lines, written and read.

qrels    `3 0 17 2`: query 3, memory 17, grade 2; what evaluation tools such as trec_eval take.
         It knows numbers only, so that it means something to the bank that it came from.
JSONL    one query a line, with its task and the texts of its memories; it can go to another bank.

A line that cannot be read is reported with its number, and the others are read. Nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from memory_core.errors import InterchangeError, InvalidMemoryError
from memory_core.ledger_records import SavedQuery
from memory_core.validation import check_string, shown

JudgementFormat: TypeAlias = Literal["qrels", "jsonl"]
FORMATS: tuple[JudgementFormat, ...] = ("qrels", "jsonl")

MAX_BYTES = 50_000_000
MAX_LINE = 1_000_000
"""Characters of a line; a longer one is reported, not parsed."""
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line, or a part of it, that is not taken."""

    line: int
    """From 1."""
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """One grade, as a file has it."""

    memory_id: int
    grade: int
    text: str | None = None
    """The memory's text where the file tells it: by it another bank finds its own id."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query's grades, as a file has them."""

    number: int | None
    """Its id in the bank that the file came from; None where the file does not tell."""
    task: str | None
    """None in qrels, which know numbers only."""
    domains: tuple[str, ...] = ()
    judgements: tuple[JudgedMemory, ...] = ()
    line: int = 0
    """The first line that speaks of it."""


@dataclass(frozen=True, slots=True)
class JudgementReading:
    """What a file says, and what in it cannot be taken."""

    format: JudgementFormat
    queries: tuple[JudgedQuery, ...]
    problems: tuple[LineProblem, ...] = ()


# -- writing --------------------------------------------------------------------------------------


def write_qrels(queries: Iterable[SavedQuery]) -> str:
    """TREC qrels: `query 0 memory grade`, a line for each judgement, grades of 0 too."""
    return "".join(
        f"{query.id} 0 {memory_id} {grade}\n"
        for query in queries
        for memory_id, grade in sorted(query.judgements.items())
    )


def write_jsonl(queries: Iterable[SavedQuery], texts: Mapping[int, str] | None = None) -> str:
    """A JSON object for each query, judged or not; `texts` are those of memories by id."""
    known = texts or {}
    return "".join(_json_line(query, known) + "\n" for query in queries)


def _json_line(query: SavedQuery, texts: Mapping[int, str]) -> str:
    judged = [
        {"memory": memory_id, "grade": grade}
        | ({"text": texts[memory_id]} if memory_id in texts else {})
        for memory_id, grade in sorted(query.judgements.items())
    ]
    line = {"query": query.id, "task": query.task, "domains": query.domains, "judgements": judged}
    return json.dumps(line, ensure_ascii=False)


def write_judgements(
    queries: Iterable[SavedQuery], texts: Mapping[int, str], *, format: JudgementFormat
) -> str:
    """Queries and judgements in a format. Raises InterchangeError for an unknown one."""
    _check_format(format)
    return write_qrels(queries) if format == "qrels" else write_jsonl(queries, texts)


def _check_format(format: object) -> None:
    if format not in FORMATS:
        raise InterchangeError(
            f"Unknown format {shown(format)} of judgements; known: {', '.join(FORMATS)}."
        )


# -- reading --------------------------------------------------------------------------------------


class Unfit(Exception):
    """A line, or a part of it, cannot be taken; the message says why."""


def read_judgements(
    content: str | bytes, *, format: JudgementFormat | None = None
) -> JudgementReading:
    """Read qrels or JSON lines; which of them, the content tells unless `format` does.

    Raises InterchangeError when it is no text, too large, or of no known format.
    """
    text = _decoded(content)
    # Not `splitlines`, for which U+2028 and form feeds within a JSON string end a line, too.
    lines = [line.rstrip("\r") for line in text.split("\n")]
    numbered = [(n, line) for n, line in enumerate(lines, start=1) if line.strip()]
    if format is None:
        format = "jsonl" if numbered and numbered[0][1].lstrip()[:1] in "{[" else "qrels"
    _check_format(format)
    found = _Found()
    for number, line in numbered:
        try:
            if len(line) > MAX_LINE:
                raise Unfit(f"it has more than {MAX_LINE:,} characters.")
            _READERS[format](line, number, found)
        except Unfit as error:
            found.report(number, str(error))
    return found.reading(format)


def _decoded(content: str | bytes) -> str:
    if len(content) > MAX_BYTES:
        raise InterchangeError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = bytes(content).count(b"\n", 0, error.start) + 1
        raise InterchangeError(
            f"Line {line} is not UTF-8 text; save the file as UTF-8 and try again."
        ) from error


@dataclass(slots=True)
class _Found:
    """What has been read so far, each judgement once."""

    queries: dict[object, JudgedQuery] = field(default_factory=dict)
    grades: dict[object, dict[int, JudgedMemory]] = field(default_factory=dict)
    problems: list[LineProblem] = field(default_factory=list)

    def report(self, line: int, message: str) -> None:
        self.problems.append(LineProblem(line, message))

    def add(self, key: object, query: JudgedQuery) -> None:
        self.queries.setdefault(key, query)
        self.grades.setdefault(key, {})

    def grade(self, key: object, judged: JudgedMemory) -> None:
        known = self.grades[key].setdefault(judged.memory_id, judged)
        if known.grade != judged.grade:
            raise Unfit(
                f"memory {judged.memory_id} has grade {judged.grade} here and {known.grade} in "
                f"line {known.line}; the first one counts."
            )

    def reading(self, format: JudgementFormat) -> JudgementReading:
        queries = tuple(
            JudgedQuery(
                query.number, query.task, query.domains, tuple(self.grades[key].values()),
                query.line,
            )
            for key, query in self.queries.items()
        )  # fmt: skip
        return JudgementReading(format, queries, tuple(self.problems))


def _read_qrels_line(line: str, number: int, found: _Found) -> None:
    fields = line.split()
    if len(fields) != 4:
        raise Unfit(
            f"four fields are needed, `query 0 memory grade`; there are {len(fields)}: "
            f"{shown(line.strip())}."
        )
    query, memory = _number(fields[0], "query"), _number(fields[2], "memory")
    grade = _grade(int(fields[3]) if _is_plain(fields[3].removeprefix("-")) else fields[3])
    found.add(query, JudgedQuery(query, None, line=number))
    found.grade(query, JudgedMemory(memory, grade, line=number))


def _is_plain(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and len(digits) <= 19


def _number(value: object, what: str) -> int:
    """An id: a whole number from 1, also as digits."""
    if isinstance(value, str) and _is_plain(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST:
        raise Unfit(f"the {what} must be a whole number, as the bank gave it; it is "
                     f"{shown(value)}.")  # fmt: skip
    return value


def _grade(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in range(4):
        raise Unfit(f"a grade is 0, 1, 2 or 3; it is {shown(value)}.")
    return value


def _read_json_line(line: str, number: int, found: _Found) -> None:
    entry = _json_object(line)
    task = _text(entry.get("task"), "task")
    if not task.strip():
        raise Unfit("the task is empty.")
    told = entry.get("query")
    domains = entry.get("domains", [])
    if not isinstance(domains, list):
        raise Unfit(f"`domains` must be a list of names; it is {shown(domains)}.")
    query = JudgedQuery(
        None if told is None else _number(told, "query"),
        task,
        tuple(_text(domain, "domain") for domain in domains),
        line=number,
    )
    judged = entry.get("judgements", [])
    if not isinstance(judged, list):
        raise Unfit("`judgements` must be a list of objects with `memory` and `grade`.")
    found.add(task, query)
    for item in judged:
        try:
            found.grade(task, _judged_memory(item, number))
        except Unfit as error:
            found.report(number, str(error))


def _json_object(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        # Not the decoder's words alone: they quote nothing, and a column tells where to look.
        column = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unfit(f"this is no JSON{column}.") from error
    if not isinstance(entry, dict):
        raise Unfit(f"a JSON object is needed, with `task`; this is {type(entry).__name__}.")
    return entry


def _judged_memory(item: object, line: int) -> JudgedMemory:
    if not isinstance(item, dict):
        raise Unfit(f"a judgement is an object with `memory` and `grade`; it is {shown(item)}.")
    text = item.get("text")
    return JudgedMemory(
        _number(item.get("memory"), "memory"),
        _grade(item.get("grade")),
        None if text is None else _text(text, "memory's text"),
        line,
    )


def _text(value: object, name: str) -> str:
    try:
        check_string(value, name)
    except InvalidMemoryError as error:
        message = str(error)
        raise Unfit(message[0].lower() + message[1:]) from error
    return str(value)


_READERS: dict[str, Callable[[str, int, _Found], None]] = {
    "qrels": _read_qrels_line,
    "jsonl": _read_json_line,
}
