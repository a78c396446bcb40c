"""Replies in labelled text, for models without structured output.

    Strategy: Check the seat map before …
    Evidence: steps 3, 4
    Procedure: Cancel a booking that was paid with a voucher
    Step: look the booking up by its code
    Step: …
    Tool: search_flights – takes dates as YYYY-MM-DD

Labels may be bold, numbered, or the items of a list; what a label does not begin belongs to the
line before.
"""

from __future__ import annotations

import re
from typing import Any

_LABELS = (
    "strategy", "strategic", "procedure", "procedural", "step", "steps", "tool", "evidence",
    "domain", "rationale", "reason", "why", "problem", "precondition", "preconditions", "usage",
    "add", "modify", "update", "merge", "delete", "remove",
)  # fmt: skip
_LABEL = re.compile(
    rf"""^[\s>*+\#•\-–]*+(?:\d{{1,3}}[.)]\s*+)?[*_`\#\s]*+
    (?P<label>{"|".join(_LABELS)})(?:[ ]memory|[ ]lesson)?
    (?:\s*\#?(?P<numbers>\d[\d\s,;&\#and]*?))?
    [*_`]*+\s*+[:：][*_`]*+\s*+(?P<rest>.*)$""",
    re.IGNORECASE | re.VERBOSE,
)
_CITING = re.compile(
    r"\s*[(\[](?:evidence:?\s*|see\s+)?(steps?\s[^()\[\]]{1,80})[)\]]\.?\s*$", re.IGNORECASE
)
_TOOL_NAME = re.compile(
    r"^[`\"']?(?P<name>[\w.:/\-]{1,80})[`\"']?\s*(?:[:–—]|\s-)\s+(?P<rest>\S.*)$"
)
_BULLET = re.compile(r"^(?:[-*+•–]|\d{1,3}[.)])\s+")
_NOTHING = re.compile(
    r"""^\W*(?:none|nothing(?:\s+\w+){0,5}|no\s+(?:new\s+)?(?:lessons?|operations?|changes?)
    (?:\s+\w+){0,4}|n/a)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_KIND_OF = {
    "strategy": "strategic", "strategic": "strategic", "procedure": "procedural",
    "procedural": "procedural", "tool": "tool",
}  # fmt: skip
_ACTION_OF = {
    "add": "add", "modify": "modify", "update": "modify", "merge": "merge", "delete": "delete",
    "remove": "delete",
}  # fmt: skip
_FIELD_OF = {"reason": "rationale", "why": "rationale", "precondition": "preconditions"}


def labelled_entries(text: str) -> list[dict[str, Any]] | None:
    """The entries of a labelled reply, as plain values; None where nothing is labelled."""
    entries: list[dict[str, Any]] = []
    field = ""
    for line in text.splitlines():
        match = _LABEL.match(line)
        if match:
            field = _begin(entries, match)
        elif line.strip() and entries and field:
            _go_on(entries[-1], field, _BULLET.sub("", line.strip()))
    if not entries:
        return [] if says_nothing(text) else None
    return [_finished(entry) for entry in entries]


def says_nothing(text: str) -> bool:
    """Whether a reply says that there is nothing to be learned."""
    return bool(_NOTHING.match(text.strip()))


def _begin(entries: list[dict[str, Any]], match: re.Match[str]) -> str:
    """Take a labelled line up; the name of the field that the next lines go on with."""
    label, rest = match["label"].lower(), match["rest"].strip()
    if label in _ACTION_OF:
        action = _ACTION_OF[label]
        entries.append({"action": action, "text": "", "ids": match["numbers"] or ""})
        where = "rationale" if action == "delete" else "text"
        entries[-1][where] = rest
        return where
    if label in _KIND_OF:
        kind, last = _KIND_OF[label], entries[-1] if entries else None
        if last is not None and "kind" not in last and not last.get("text"):
            last["kind"] = kind  # `Add:` with the kind on the next line
        else:
            entries.append({"action": "add", "kind": kind})
        entries[-1]["text"] = rest
        return "text"
    if not entries:
        if label not in ("step", "steps"):
            return ""
        entries.append({"action": "add", "kind": "procedural", "text": ""})
    entry = entries[-1]
    field = _FIELD_OF.get(label, label)
    if field in ("step", "steps"):
        entry.setdefault("steps", [])
        if rest:
            entry["steps"].append(rest)
        return "steps"
    if field == "preconditions":
        entry.setdefault(field, [])
        if rest:
            entry[field].append(rest)
        return field
    entry[field] = f"{entry[field]}, {rest}" if entry.get(field) else rest
    return field


def _go_on(entry: dict[str, Any], field: str, line: str) -> None:
    if field in ("steps", "preconditions"):
        entry[field].append(line)
    else:
        entry[field] = f"{entry.get(field, '')} {line}".strip()


def _finished(entry: dict[str, Any]) -> dict[str, Any]:
    entry["text"] = entry.get("text", "").strip().strip("*_").strip()
    citing = _CITING.search(entry["text"])
    if citing:
        entry["text"] = entry["text"][: citing.start()].rstrip()
        entry.setdefault("evidence", citing[1])
    named = _TOOL_NAME.match(entry["text"]) if entry.get("kind") == "tool" else None
    if named and "tool" not in entry:
        entry["tool"] = named["name"]
        entry["text"] = f"{named['name']}: {named['rest']}"
    return entry
