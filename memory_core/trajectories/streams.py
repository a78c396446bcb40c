"""Replies that came as server-sent events, put together again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memory_core.trajectories.shapes import mapping, objects, string


def events(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a stream's `data:` lines."""
    for line in text.splitlines():
        if line.startswith("data:"):
            try:
                value = json.loads(line[5:])
            except (ValueError, RecursionError):
                continue  # "[DONE]", or the line where the stream was cut
            if isinstance(value, dict):
                yield value


def anthropic_messages(text: str) -> Iterator[dict[str, Any]]:
    """Messages of Anthropic's stream. One that was cut holds what had come."""
    message: dict[str, Any] = {}
    parts: dict[int, dict[str, Any]] = {}
    for event in events(text):
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            if message:
                yield {**message, "content": _whole(parts)}
            message, parts = mapping(event.get("message")), {}
        elif kind == "content_block_start" and isinstance(index, int):
            parts[index] = {**mapping(event.get("content_block"))}
        elif kind == "content_block_delta" and isinstance(index, int):
            _add(parts.get(index, {}), mapping(event.get("delta")))
    if message:
        yield {**message, "content": _whole(parts)}


def _add(part: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, field in (("text", "text"), ("thinking", "thinking"), ("partial_json", "_input")):
        if isinstance(delta.get(name), str):
            part[field] = string(part.get(field)) + delta[name]


def _whole(parts: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    whole = []
    for _, part in sorted(parts.items()):
        written = part.pop("_input", "")
        if written:
            try:
                part["input"] = json.loads(written)
            except ValueError:  # cut, or broken by the model: kept as written
                part["input"] = written
        whole.append(part)
    return whole


def openai_message(text: str) -> dict[str, Any]:
    """The message of OpenAI's stream of chunks; empty where there is none."""
    said, calls = "", dict[int, dict[str, Any]]()
    model = ""
    for event in events(text):
        model = model or string(event.get("model"))
        for choice in objects(event.get("choices"))[:1]:
            delta = mapping(choice.get("delta"))
            said += string(delta.get("content"))
            for call in objects(delta.get("tool_calls")):
                index = call.get("index") if isinstance(call.get("index"), int) else 0
                kept = calls.setdefault(index or 0, {"id": "", "name": "", "arguments": ""})
                function = mapping(call.get("function"))
                kept["id"] += string(call.get("id"))
                kept["name"] += string(function.get("name"))
                kept["arguments"] += string(function.get("arguments"))
    if not said and not calls:
        return {}
    return {"role": "assistant", "content": said, "tool_calls": list(calls.values()),
            "model": model}  # fmt: skip


def finished_response(text: str) -> dict[str, Any]:
    """The last whole response in a stream of the Responses API."""
    found: dict[str, Any] = {}
    for event in events(text):
        if isinstance(event.get("response"), dict) and event["response"].get("output"):
            found = event["response"]
    return found
