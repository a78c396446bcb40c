"""JSON values of any shape: looked into without trust, and turned into text."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_DATA_URL = re.compile(
    r"data:([\w.+-]{1,40}/[\w.+-]{1,60})(?:;[\w=.-]{1,40}){0,4}?;base64,"
    r"(?:[\w+/=-]++\s{1,2}(?=[\w+/=-]{40}))*+[\w+/=-]*+"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{2000,}+={0,2}")
_PICTURES = {
    "image",
    "image_url",
    "input_image",
    "output_image",
    "computer_screenshot",
    "screenshot",
}
_FILES = {
    "audio", "input_audio", "output_audio", "document", "file", "input_file", "video", "media",
    "blob",
}  # fmt: skip
_THOUGHTS = ("thinking", "reasoning", "thought", "summary_text", "reasoning_text")
_FAILED = re.compile(
    r"""\s*(?:<tool_use_error>|(?:error|err|exception|failed|failure)\b\s*[:\[(]|error\s\w
    |traceback\s\(most\srecent|(?:[A-Za-z_][\w.]{0,60})?(?:Error|Exception):\s
    |exit\s?code:?\s[1-9]|exited\swith\scode\s[1-9]|command\sfailed|invalid\saction|nothing\shappens
    |could\snot\sfind|your\sproposed\sedit\shas\sintroduced
    |[^\n]{1,200}:\s(?:command\snot\sfound|no\ssuch\sfile\sor\sdirectory|permission\sdenied)$)""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_FAILED_LATER = re.compile(
    r"(?:^Traceback \(most recent call last\):|exited with (?:exit )?code [1-9]"
    r"|^\[?(?:The command completed with |Command finished with )?exit code:? [1-9]"
    r"|^(?:[A-Za-z_][\w.]{0,60})?(?:Error|Exception): [^\n]{0,400}\s*\Z)",
    re.MULTILINE,
)
LONGEST_ERROR = 500


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is a JSON object; an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value where it is a JSON array; an empty one otherwise."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The JSON objects in a JSON array."""
    return [item for item in items(value) if isinstance(item, dict)]


def string(value: Any) -> str:
    """The value where it is text or a number; empty otherwise."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # more digits than a float has room for
        return None


def first_string(value: dict[str, Any], *names: str) -> str:
    """The first of some fields that holds text."""
    return next((text for name in names if (text := string(value.get(name)))), "")


def json_text(value: Any) -> str:
    """A value as JSON text; text stays as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def parsed(value: Any) -> Any:
    """What JSON text stands for; any other value as it is. Text in text is opened twice."""
    for _ in range(2):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


class Pictures:
    """Pictures and files that are left out of texts, counted."""

    def __init__(self) -> None:
        self.count = 0

    def out_of(self, text: str) -> str:
        """The text without base64 data in it."""
        if "base64," in text:
            text = _DATA_URL.sub(self._note, text)
        return _BLOB.sub(self._note, text) if len(text) >= 2000 else text

    def _note(self, match: re.Match[str]) -> str:
        kind = match[1] if match.lastindex else "base64 data"
        return self.left_out(kind, len(match[0]))

    def left_out(self, kind: str, size: int = 0) -> str:
        self.count += 1
        amount = f", {max(1, size * 3 // 4000)} kB" if size else ""
        return f"[left out: {kind}{amount}]"


def text_of(content: Any, pictures: Pictures, *, depth: int = 0) -> str:
    """Content of any shape as text: parts on lines of their own, pictures left out with a note."""
    if content is None or content == [] or content == {}:
        return ""
    if isinstance(content, str):
        return pictures.out_of(content)
    if depth > 20 or isinstance(content, bool | int | float):
        return json_text(content)
    if isinstance(content, list):
        texts = [text_of(part, pictures, depth=depth + 1) for part in content]
        if any(isinstance(part, dict) and not _is_part(part) for part in content):
            return pictures.out_of(json_text(content))
        return "\n".join(text for text in texts if text)
    return _part_text(content, pictures, depth)


def _is_part(value: dict[str, Any]) -> bool:
    return isinstance(value.get("type"), str) or "text" in value or "functionResponse" in value


def _part_text(part: dict[str, Any], pictures: Pictures, depth: int) -> str:
    kind = string(part.get("type"))
    if kind in _PICTURES or kind in _FILES or "inlineData" in part or "inline_data" in part:
        source = part.get("source") or part.get("image_url") or part.get("inlineData") or part
        named = mapping(source)
        media = first_string(named, "media_type", "mimeType", "mime_type", "filename", "file_id")
        blob = json_text(source) if not named else first_string(named, "data", "url", "image_url")
        told = _DATA_URL.match(blob[:400])
        media = media or (told[1] if told else "")
        return pictures.left_out(media or kind or "file", len(blob) if len(blob) > 300 else 0)
    for name in ("text", *_THOUGHTS, "refusal", "content", "parts", "output_text", "value"):
        inner = part.get(name)
        if isinstance(inner, str) or (kind and isinstance(inner, list)):
            return text_of(inner, pictures, depth=depth + 1)
    if kind in ("redacted_thinking", "reasoning") or kind.endswith("_search_call"):
        return text_of(part.get("summary"), pictures, depth=depth + 1)
    return pictures.out_of(json_text(part))


def failure_in(text: str) -> str:
    """The start of a result that reads like an error; empty where it does not."""
    head = text[:400]
    if head.lstrip()[:1] == "{" and len(text) < 20_000:
        found = mapping(parsed(text))
        verdict = verdict_of(found)
        if found:
            return verdict or ""
    if _FAILED.match(head) or _FAILED_LATER.search(head) or _FAILED_LATER.search(text[-2_000:]):
        return text.strip()[:LONGEST_ERROR]
    return ""


def verdict_of(result: dict[str, Any], text: str = "") -> str | None:
    """What went wrong by a result's own fields; None where they say that it went well.

    Empty where they say nothing. `text` tells what went wrong where they only say that it did.
    """
    error = result.get("error")
    if isinstance(error, dict) and error:
        kind, message = first_string(error, "type", "code", "name"), string(error.get("message"))
        both = f"{kind}: {message}" if kind and message else kind or message
        return (both or json_text(error))[:LONGEST_ERROR]
    if isinstance(error, str) and error.strip():
        return error[:LONGEST_ERROR]
    code = _exit_code(result)
    status = string(result.get("status")).lower()
    flags = [result[name] for name in ("error", "is_error", "isError") if name in result]
    if any(flag is True for flag in flags) or status in ("error", "failed", "failure") or code:
        told = text.strip() or string(result.get("message"))
        return (told or (f"exit code {code}" if code else "error"))[:LONGEST_ERROR]
    said = flags or code == 0 or status in ("success", "succeeded", "completed", "ok")
    return None if said else ""


def _exit_code(result: dict[str, Any]) -> int | None:
    for name in ("exit_code", "exitCode", "returncode", "return_code"):
        for holder in (result, mapping(result.get("metadata"))):
            code = holder.get(name)
            if isinstance(code, int) and not isinstance(code, bool):
                return code
    return None
