"""A run of a made-up agent, and its messages in the dialects of the vendors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of a tool and what came of it. Nothing came where `result` is None."""

    tool: str
    arguments: Mapping[str, Any]
    result: str | None
    failed: bool = False
    said: str = ""
    """What the agent said before."""


@dataclass(frozen=True)
class Talk:
    """A task, the calls that were made for it, and the last words."""

    task: str
    calls: tuple[Call, ...]
    answer: str


TALK = Talk(
    "Set the port in app.toml to 9000.",
    (
        Call(
            "read_file",
            {"path": "app.tml"},
            "Error: no such file: app.tml",
            failed=True,
            said="I read the file first.",
        ),
        Call("read_file", {"path": "app.toml"}, "port = 8080", said="A slip; once more."),
        Call("edit_file", {"path": "app.toml", "old": "8080", "new": "9000"}, "saved"),
    ),
    "The port is 9000 now.",
)


def id_of(number: int) -> str:
    return f"call_{number:03}"


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def lines(rows: list[Any]) -> str:
    return "".join(dump(row) + "\n" for row in rows)


def chat_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        function = {"name": call.tool, "arguments": dump(dict(call.arguments))}
        messages.append(
            {
                "role": "assistant",
                "content": call.said or None,
                "tool_calls": [{"id": id_of(i), "type": "function", "function": function}],
            }
        )
        if call.result is not None:
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": id_of(i),
                    "name": call.tool,
                    "content": call.result,
                }
            )
    return [*messages, {"role": "assistant", "content": talk.answer}]


def anthropic_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        said = [{"type": "text", "text": call.said}] if call.said else []
        use = {"type": "tool_use", "id": id_of(i), "name": call.tool, "input": dict(call.arguments)}
        messages.append({"role": "assistant", "content": [*said, use]})
        if call.result is not None:
            messages.append(
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": id_of(i),
                            "content": [{"type": "text", "text": call.result}],
                            "is_error": call.failed,
                        }
                    ],
                }
            )
    return [*messages, {"role": "assistant", "content": [{"type": "text", "text": talk.answer}]}]


def response_items(talk: Talk) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": talk.task}]}
    ]
    for i, call in enumerate(talk.calls):
        if call.said:
            rows.append(
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": call.said}],
                }
            )
        rows.append(
            {
                "type": "function_call",
                "name": call.tool,
                "call_id": id_of(i),
                "arguments": dump(dict(call.arguments)),
            }
        )
        if call.result is not None:
            rows.append(
                {"type": "function_call_output", "call_id": id_of(i), "output": call.result}
            )
    return [
        *rows,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": talk.answer}],
        },
    ]


def gemini_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"type": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        told = {"error" if call.failed else "output": call.result}
        answer = [{"functionResponse": {"id": id_of(i), "name": call.tool, "response": told}}]
        messages.append(
            {
                "type": "gemini",
                "content": call.said,
                "model": "gemini-x",
                "toolCalls": [
                    {
                        "id": id_of(i),
                        "name": call.tool,
                        "args": dict(call.arguments),
                        "result": answer if call.result is not None else None,
                        "status": "error" if call.failed else "success",
                    }
                ],
            }
        )
    return [*messages, {"type": "gemini", "content": talk.answer, "model": "gemini-x"}]
