"""Messages as the many dialects write them: one reader for all, into a run.

OpenAI chat and Responses items, Anthropic, Gemini, LangChain, OpenTelemetry, OpenInference,
Vercel and pi differ in names, not in kind: somebody says something, calls a tool, gets a result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memory_core.run_records import Role
from memory_core.trajectories.building import Run
from memory_core.trajectories.calls import (
    CALL_ITEMS,
    read_call,
    read_call_item,
    read_result,
    read_result_item,
    read_tool_message,
)
from memory_core.trajectories.shapes import (
    first_string,
    items,
    mapping,
    objects,
    parsed,
    string,
    text_of,
)

ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "HumanMessage": "user",
    "assistant": "assistant", "ai": "assistant", "AIMessage": "assistant", "model": "assistant",
    "agent": "assistant", "gpt": "assistant", "AIMessageChunk": "assistant", "bot": "assistant",
    "gemini": "assistant", "chatbot": "assistant",
    "system": "system", "developer": "system", "SystemMessage": "system",
    "tool": "tool", "function": "tool", "toolResult": "tool", "tool_result": "tool",
    "ToolMessage": "tool", "FunctionMessage": "tool", "observation": "tool",
    "tool_response": "tool",
    "ipython": "tool", "environment": "tool", "approval": "system",
}  # fmt: skip

_CALL_PARTS = {"tool_use", "toolCall", "tool_call", "tool-call", "server_tool_use", "mcp_tool_use"}
_RESULT_PARTS = {
    "tool_result", "tool-result", "toolResult", "tool_call_response", "tool_response",
    "web_search_tool_result", "code_execution_tool_result", "mcp_tool_result",
}  # fmt: skip
_CALLS_AS_TEXT = ('[{"function"', '[{ "function')
_THOUGHT_PARTS = {"thinking", "reasoning", "redacted_thinking", "thought"}


def is_message(value: Any) -> bool:
    """Whether a value is a message of a dialect that is known here."""
    message = unwrapped(value)
    if role_of(message):
        return any(
            name in message
            for name in ("content", "parts", "tool_calls", "value", "function_call", "text")
        )
    return is_item(message)


def is_item(value: Any) -> bool:
    """Whether a value is an item of the Responses API."""
    kind = string(mapping(value).get("type"))
    return kind in CALL_ITEMS or kind.removesuffix("_output") in CALL_ITEMS or (
        kind == "reasoning" and "summary" in value
    )  # fmt: skip


def role_of(message: dict[str, Any]) -> Role | None:
    return ROLES.get(first_string(message, "role", "from")) or (
        ROLES.get(string(message.get("type"))) if "content" in message else None
    )


def unwrapped(value: Any) -> dict[str, Any]:
    """A message without what some dialects put around it."""
    message = mapping(value)
    if isinstance(message.get("kwargs"), dict) and isinstance(message.get("id"), list):
        named = string(message["id"][-1]) if message["id"] else ""
        return {"role": named, **message["kwargs"]}
    if isinstance(message.get("data"), dict) and "content" in message["data"]:
        return {"role": message.get("type"), **message["data"]}
    if isinstance(message.get("message"), dict) and "role" not in message and "type" not in message:
        return dict(message["message"])
    inner = message.get("content")
    if isinstance(inner, dict) and isinstance(inner.get("parts"), list):  # a reply of Gemini's
        return {"role": "model", **inner}
    if "toolCallId" in message and "toolName" in message and "role" not in message:
        return {"role": "assistant", "tool_calls": [message]}  # a bare call of Vercel's
    return message


def read_messages(run: Run, messages: Iterable[Any]) -> None:
    """Put messages into a run, one after the other. What is no message is passed over."""
    for value in messages:
        read_message(run, value)


def read_message(run: Run, value: Any) -> None:
    message = unwrapped(value)
    kind = string(message.get("type"))
    if kind in CALL_ITEMS:
        read_call_item(run, message)
    elif kind.endswith("_output") and kind.removesuffix("_output") in CALL_ITEMS:
        read_result_item(run, message)
    elif kind == "reasoning" and "role" not in message:
        run.think(text_of(message.get("summary") or message.get("content"), run.pictures))
    elif role := role_of(message):
        _read_turn(run, message, role)


def _read_turn(run: Run, message: dict[str, Any], role: Role) -> None:
    written = message.get("content")
    if (
        role in ("assistant", "tool")
        and isinstance(written, str)
        and written[:12] in _CALLS_AS_TEXT
    ):
        calls = [call for call in objects(parsed(written)) if "function" in call]
        if calls:  # Koog writes calls into the text, and says them back in the tool's name
            message, role = {"tool_calls": calls}, "assistant"
    if role == "tool" and not _holds_results(message):
        read_tool_message(run, message)
        return
    content = message.get(
        "content", message.get("parts", message.get("value", message.get("text")))
    )
    if role == "assistant":
        for name in ("reasoning_content", "reasoning", "thinking", "thought", "thoughts"):
            run.think(_thought(run, message.get(name)))
    parts = content if isinstance(content, list) else None
    if parts is None or not any(isinstance(part, dict) for part in parts):
        _say(run, role, text_of(content, run.pictures))
    else:
        _read_parts(run, parts, role)
    for call in _calls_of(message):
        read_call(run, call)
    if role == "assistant" and message.get("type") != "message":
        run.flush()


def _thought(run: Run, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        lines = (first_string(part, "description", "text", "thinking", "subject") for part in value)
        return "\n".join(line for line in lines if line)
    return text_of(value, run.pictures)


def _say(run: Run, role: Role, text: str) -> None:
    if role == "assistant":
        run.speak(text)
    else:
        run.say(role, text)


def _holds_results(message: dict[str, Any]) -> bool:
    parts = objects(message.get("content")) + objects(message.get("parts"))
    return any(_part_kind(part) in ("result", "call") for part in parts)


def _part_kind(part: dict[str, Any]) -> str:
    kind = string(part.get("type"))
    if kind in _CALL_PARTS or "functionCall" in part or "function_call" in part:
        return "call"
    if kind in _RESULT_PARTS or "functionResponse" in part or "function_response" in part:
        return "result"
    return "thought" if kind in _THOUGHT_PARTS or part.get("thought") is True else "text"


def _read_parts(run: Run, parts: list[Any], role: Role) -> None:
    """Words before a call go with it; a result ends what was said before."""
    said: list[Any] = []

    def speak() -> None:
        text = text_of(said, run.pictures)
        said.clear()
        if text:
            _say(run, role, text)

    for part in parts:
        kind = _part_kind(mapping(part))
        if kind == "text":
            said.append(part)
        elif kind == "thought":
            run.think(text_of([part], run.pictures))
        else:
            speak()
            (read_call if kind == "call" else read_result)(run, part)
    speak()


def _calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    extra = mapping(message.get("additional_kwargs"))
    calls = objects(message.get("tool_calls")) or objects(message.get("toolCalls"))
    calls = calls or objects(extra.get("tool_calls")) or objects(message.get("invalid_tool_calls"))
    legacy = message.get("function_call") or extra.get("function_call")
    return calls or ([legacy] if isinstance(legacy, dict) else [])


def messages_in(value: Any) -> list[Any]:
    """The messages that a value holds: it is a list of them, or one of its fields is."""
    found = items(value)
    if not found and isinstance(value, dict):
        names = (
            "messages",
            "input",
            "conversation",
            "conversations",
            "history",
            "contents",
            "items",
        )
        found = next((value[n] for n in names if isinstance(value.get(n), list)), [])
    return found if any(is_message(item) for item in found[:40]) else []
