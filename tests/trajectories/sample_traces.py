"""The run as tracing tools write it down: a span for each call of the model and of a tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sample_talk import Call, Talk, chat_messages, dump, lines


def langfuse(talk: Talk) -> str:
    messages = chat_messages(talk)
    observations: list[dict[str, Any]] = []
    for i, message in enumerate(messages):
        if message["role"] != "user":
            model = message["role"] == "assistant"
            observations.append(
                {
                    "id": f"o{i}",
                    "parentObservationId": None,
                    "traceId": "t",
                    "startTime": f"2026-01-01T00:00:{i:02}Z",
                    "type": "GENERATION" if model else "TOOL",
                    "name": message.get("name", "llm"),
                    "level": "DEFAULT",
                    "input": dump(
                        messages[:i]
                        if model
                        else dict(talk.calls[int(message["tool_call_id"][5:])].arguments)
                    ),
                    "output": dump(message) if model else message["content"],
                }
            )
    observations.reverse()
    return dump(
        {
            "trace": {"id": "t", "name": "maker", "input": dump(messages[:1])},
            "observations": observations,
        }
    )


def _spans(
    talk: Talk,
    model: Callable[[list[Any], Any], dict[str, Any]],
    tool: Callable[[Call, str], dict[str, Any]],
) -> list[dict[str, Any]]:
    messages = chat_messages(talk)
    spans: list[dict[str, Any]] = []
    for i, message in enumerate(messages):
        if message["role"] == "user":
            continue
        if message["role"] == "assistant":
            attributes = model(messages[:i], message)
        else:
            attributes = tool(talk.calls[int(message["tool_call_id"][5:])], message["tool_call_id"])
        spans.append(
            {
                "name": "span",
                "context": {"trace_id": "0xt", "span_id": f"0x{i:02}"},
                "parent_id": "0xroot",
                "start_time": f"2026-01-01T00:00:{i:02}",
                "attributes": attributes,
            }
        )
    return spans


def opentelemetry(talk: Talk) -> str:
    def parts(message: dict[str, Any]) -> dict[str, Any]:
        if message["role"] == "tool":
            answer = {
                "type": "tool_call_response",
                "id": message["tool_call_id"],
                "result": message["content"],
            }
            return {"role": "tool", "parts": [answer]}
        said = [{"type": "text", "content": message["content"]}] if message.get("content") else []
        for call in message.get("tool_calls", []):
            said.append(
                {
                    "type": "tool_call",
                    "id": call["id"],
                    "name": call["function"]["name"],
                    "arguments": json.loads(call["function"]["arguments"]),
                }
            )
        return {"role": message["role"], "parts": said}

    spans = _spans(
        talk,
        lambda asked, answer: {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "model-1",
            "gen_ai.input.messages": dump([parts(m) for m in asked]),
            "gen_ai.output.messages": dump([parts(answer)]),
        },
        lambda call, call_id: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": dump(dict(call.arguments)),
            "gen_ai.tool.call.result": call.result,
        },
    )
    return dump({"spans": spans[::-1]})


def openinference(talk: Talk) -> str:
    def flat(prefix: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for i, message in enumerate(messages):
            at = f"{prefix}.{i}.message"
            found[f"{at}.role"] = message["role"]
            found[f"{at}.content"] = message.get("content") or ""
            if "tool_call_id" in message:
                found[f"{at}.tool_call_id"] = message["tool_call_id"]
            for j, call in enumerate(message.get("tool_calls", [])):
                found[f"{at}.tool_calls.{j}.tool_call.id"] = call["id"]
                for name in ("name", "arguments"):
                    found[f"{at}.tool_calls.{j}.tool_call.function.{name}"] = call["function"][name]
        return found

    spans = _spans(
        talk,
        lambda asked, answer: {
            "openinference.span.kind": "LLM",
            **flat("llm.input_messages", asked),
            **flat("llm.output_messages", [answer]),
        },
        lambda call, call_id: {
            "openinference.span.kind": "TOOL",
            "tool.name": call.tool,
            "input.value": dump(dict(call.arguments)),
            "output.value": call.result,
        },
    )
    return lines(
        [{**span, "span_kind": span["attributes"]["openinference.span.kind"]} for span in spans]
    )


def langsmith(talk: Talk) -> str:
    messages = chat_messages(talk)
    children = []
    for i, message in enumerate(messages):
        head = {
            "id": f"r{i}",
            "trace_id": "t",
            "parent_run_id": "root",
            "dotted_order": f"2026.{i:02}",
            "name": "x",
        }
        if message["role"] == "assistant":
            children.append(
                {
                    **head,
                    "run_type": "llm",
                    "inputs": {"messages": [messages[:i]]},
                    "outputs": {"generations": [[{"text": "", "message": message}]]},
                }
            )
        elif message["role"] == "tool":
            call = talk.calls[int(message["tool_call_id"][5:])]
            children.append(
                {
                    **head,
                    "name": call.tool,
                    "run_type": "tool",
                    "inputs": {"input": dump(dict(call.arguments))},
                    "outputs": {"output": call.result},
                }
            )
    return dump(
        {
            "id": "root",
            "trace_id": "t",
            "run_type": "chain",
            "name": "maker",
            "dotted_order": "2026",
            "inputs": {"input": talk.task},
            "outputs": {"output": talk.answer},
            "child_runs": children,
        }
    )
