"""Words for lessons: quotations that are short enough, and what an error says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from memory_core.records import MAX_WORDS

_LOOKED_AT = 4_000
_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ufeff]+"
)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[A-Z0-9“\"'`(\[-])|\n+")
_MARK = re.compile(r"\b(?:error|fatal|failed|denied|cannot|not found)\b", re.IGNORECASE)
_EXCEPTION = re.compile(r"(?:[\w.]*\.)?(\w*(?:Error|Exception|Interrupt|Exit|Warning)\b.*)")


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


def one_line(text: str) -> str:
    """A text in one line, without what cannot be seen."""
    return " ".join(_HIDDEN.sub(" ", text).split())


def word_count(text: str) -> int:
    return len(text.split())


def clipped(text: str, words: int, letters: int = 90) -> str:
    """The beginning of a text, with a … where something is left out."""
    line = one_line(text[:_LOOKED_AT])
    parts = line.split(" ")
    kept = " ".join(parts[:words])
    if len(kept) > letters:
        kept = kept[: letters - 1].rstrip()
    return kept if kept == line else kept.rstrip(" ,;:.-") + "…"


def quoted(text: str) -> str:
    return "“" + text.replace("“", "'").replace("”", "'").replace('"', "'").strip() + "”"


def code(text: str) -> str:
    return "`" + text.replace("`", "'") + "`"


def listed(parts: Iterable[str], word: str = "and") -> str:
    """`a, b and c`."""
    known = list(parts)
    return f" {word} ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)


def first_fitting(*texts: str) -> str:
    """The first text that is short enough for a memory; empty where none is."""
    return next((text for text in texts if 0 < word_count(text) <= MAX_WORDS), "")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each in one line."""
    return [line for part in _SENTENCE.split(text[:_LOOKED_AT]) if (line := one_line(part))]


# -- errors ----------------------------------------------------------------------------------------


def told_by(error: str, *, words: int = 10) -> str:
    """What an error says, in a few words."""
    text = _most_telling(error if len(error) <= 2 * _LOOKED_AT else
                         error[:_LOOKED_AT] + "\n" + error[-_LOOKED_AT:])  # fmt: skip
    line = one_line(text)
    while (
        shorter := re.sub(r"^(?:[\w.]*:?\s?Error|error|fatal|ERROR|parsing|E)\s*:\s*", "", line)
    ) != line:
        line = shorter
    line = re.sub(r"\b[0-9a-f]{16,40}\b", lambda found: found[0][:7], line)
    cut = re.match(r"(.{12,}?[\w\])'\"])(?:\.\s|\s\(see\b|\s+Similar:|;\s)", line)
    return clipped(cut[1] if cut else line.rstrip("."), words)


def says_what_failed(error: str) -> bool:
    """Whether an error says more than that there was one."""
    return told_by(error).strip(" .…").lower() not in ("", "error", "failed", "failure")


def _most_telling(error: str) -> str:
    message = _message_in_json(error)
    if message:
        return message
    block = re.search(r"BEGIN error message =*\n(.*?)\n=*\s*END error", error, re.DOTALL)
    if block:
        error = block[1]
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    lines = [
        line for line in lines if not re.match(r"(?:Exit code|exit status)\s+\d+$", line)
    ] or lines
    if any(line.startswith(("Traceback", 'File "')) for line in lines):
        raised = [found[1] for line in lines if (found := _EXCEPTION.match(line))]
        return raised[-1] if raised else lines[-1]
    marked = [line for line in lines if _MARK.search(line)]
    said = [
        line for line in marked if not re.search(r"(?:error|errors|following|action)\W*:?$", line)
    ]
    return next(iter(said or marked or lines), "")


def _message_in_json(error: str) -> str:
    if error.lstrip()[:1] != "{":
        return ""
    try:
        value: Any = json.loads(error)
    except (ValueError, RecursionError):
        return ""
    for _ in range(4):
        if not isinstance(value, dict):
            break
        value = next((value[key] for key in ("message", "error", "detail", "errors", "reason")
                      if value.get(key)), "")  # fmt: skip
    return value if isinstance(value, str) else ""


def shape_of(error: str) -> str:
    """An error without what is particular to one call: names in quotes or brackets, numbers."""
    told = told_by(error, words=14).lower()
    return re.sub(r"\[.*?\]|'.*?'|`.*?`|\(.*?\)|\b\w*\d\w*\b|/\S+", "•", told)
