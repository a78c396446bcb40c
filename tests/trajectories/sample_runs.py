"""A run of a made-up agent, and how each tool would write it down."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
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


def _id(number: int) -> str:
    return f"call_{number:03}"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(rows: list[Any]) -> str:
    return "".join(_dump(row) + "\n" for row in rows)


def _results(talk: Talk) -> list[tuple[int, Call]]:
    return [(i, call) for i, call in enumerate(talk.calls) if call.result is not None]


def atif(talk: Talk) -> str:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": talk.task}]
    for i, call in enumerate(talk.calls):
        told = {"source_call_id": _id(i), "content": call.result}
        steps.append(
            {
                "step_id": i + 2,
                "source": "agent",
                "message": call.said,
                "tool_calls": [
                    {
                        "tool_call_id": _id(i),
                        "function_name": call.tool,
                        "arguments": dict(call.arguments),
                    }
                ],
                "observation": {"results": [told] if call.result is not None else []},
            }
        )
    steps.append({"step_id": 99, "source": "agent", "message": talk.answer})
    agent = {"name": "maker", "version": "1", "model_name": "model-1"}
    return _dump({"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps})


def swe_agent(talk: Talk) -> str:
    steps = [
        {
            "action": f"{call.tool} {_dump(dict(call.arguments))}",
            "observation": call.result or "",
            "thought": call.said,
            "response": call.said,
            "state": {},
        }
        for call in talk.calls
    ]
    steps.append(
        {"action": "", "observation": "", "thought": talk.answer, "response": "", "state": {}}
    )
    history = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": f"ISSUE:\n{talk.task}\n\nINSTRUCTIONS:\nOne command at a time.",
        },
    ]
    return _dump(
        {
            "environment": "e",
            "trajectory": steps,
            "history": history,
            "info": {"exit_status": "submitted"},
        }
    )


def openhands(talk: Talk) -> str:
    events: list[dict[str, Any]] = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": talk.task}}
    ]
    for call in talk.calls:
        events.append(
            {
                "id": len(events),
                "source": "agent",
                "action": call.tool,
                "args": {**call.arguments, "thought": call.said},
            }
        )
        if call.result is not None:
            events.append(
                {
                    "id": len(events),
                    "source": "agent",
                    "observation": call.tool,
                    "content": call.result,
                    "cause": events[-1]["id"],
                    "extras": {"metadata": {"exit_code": int(call.failed)}},
                }
            )
    events.append(
        {
            "id": len(events),
            "source": "agent",
            "action": "message",
            "args": {"content": talk.answer},
        }
    )
    return _dump(events)


def chat_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        function = {"name": call.tool, "arguments": _dump(dict(call.arguments))}
        messages.append(
            {
                "role": "assistant",
                "content": call.said or None,
                "tool_calls": [{"id": _id(i), "type": "function", "function": function}],
            }
        )
        if call.result is not None:
            messages.append(
                {"role": "tool", "tool_call_id": _id(i), "name": call.tool, "content": call.result}
            )
    return [*messages, {"role": "assistant", "content": talk.answer}]


def openai_chat(talk: Talk) -> str:
    return _dump(chat_messages(talk))


def tau_bench(talk: Talk) -> str:
    info = {"task": {"instruction": talk.task}}
    return _dump(
        [{"task_id": 3, "trial": 1, "reward": 1.0, "info": info, "traj": chat_messages(talk)}]
    )


def tau2_bench(talk: Talk) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        messages.append(
            {
                "role": "assistant",
                "content": call.said or None,
                "tool_calls": [
                    {
                        "id": _id(i),
                        "name": call.tool,
                        "arguments": dict(call.arguments),
                        "requestor": "assistant",
                    }
                ],
            }
        )
        if call.result is not None:
            messages.append(
                {"role": "tool", "id": _id(i), "content": call.result, "error": call.failed}
            )
    messages.append({"role": "assistant", "content": talk.answer})
    simulation = {
        "id": "x",
        "task_id": "3",
        "trial": 0,
        "messages": messages,
        "reward_info": {"reward": 1.0},
        "termination_reason": "user_stop",
    }
    task = {"id": "3", "user_scenario": {"instructions": {"reason_for_call": talk.task}}}
    return _dump({"info": {}, "tasks": [task], "simulations": [simulation]})


def anthropic_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        said = [{"type": "text", "text": call.said}] if call.said else []
        use = {"type": "tool_use", "id": _id(i), "name": call.tool, "input": dict(call.arguments)}
        messages.append({"role": "assistant", "content": [*said, use]})
        if call.result is not None:
            messages.append(
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": _id(i),
                            "content": [{"type": "text", "text": call.result}],
                            "is_error": call.failed,
                        }
                    ],
                }
            )
    return [*messages, {"role": "assistant", "content": [{"type": "text", "text": talk.answer}]}]


def anthropic(talk: Talk) -> str:
    return _dump({"model": "claude-x", "max_tokens": 10, "messages": anthropic_messages(talk)})


def anthropic_log(talk: Talk) -> str:
    messages = anthropic_messages(talk)
    rows = [
        {
            "request": {"body": {"model": "claude-x", "messages": messages[:i]}},
            "response": {"body": {"type": "message", "model": "claude-x", **messages[i]}},
        }
        for i, message in enumerate(messages)
        if i and message["role"] == "assistant"
    ]
    return _lines(rows)


def claude_code(talk: Talk) -> str:
    rows: list[dict[str, Any]] = []
    for i, message in enumerate(anthropic_messages(talk)):
        head = {
            "type": message["role"],
            "uuid": f"u{i}",
            "parentUuid": f"u{i - 1}" if i else None,
            "sessionId": "s-1",
            "isSidechain": False,
            "timestamp": "2026-01-01T00:00:00Z",
        }
        extra = (
            {"id": f"msg_{i}", "type": "message", "model": "claude-x"}
            if message["role"] == "assistant"
            else {}
        )
        rows.append({**head, "message": {**extra, **message}})
    return _lines([*rows, {"type": "summary", "summary": "A port was set", "leafUuid": "u0"}])


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
                "call_id": _id(i),
                "arguments": _dump(dict(call.arguments)),
            }
        )
        if call.result is not None:
            rows.append({"type": "function_call_output", "call_id": _id(i), "output": call.result})
    return [
        *rows,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": talk.answer}],
        },
    ]


def openai_responses(talk: Talk) -> str:
    return _dump(response_items(talk))


def run_state(talk: Talk) -> str:
    items = [
        {"type": "x", "agent": {"name": "maker"}, "raw_item": item}
        for item in response_items(talk)[1:]
    ]
    return _dump(
        {
            "$schemaVersion": "1.9",
            "original_input": talk.task,
            "generated_items": items,
            "current_agent": {"name": "maker"},
        }
    )


def codex(talk: Talk) -> str:
    time = {"timestamp": "2026-01-01T00:00:00Z"}
    rows = [
        {**time, "type": "session_meta", "payload": {"id": "s-1", "cwd": "/w"}},
        {**time, "type": "turn_context", "payload": {"model": "model-1"}},
    ]
    rows += [{**time, "type": "response_item", "payload": item} for item in response_items(talk)]
    return _lines(
        [*rows, {**time, "type": "event_msg", "payload": {"type": "token_count", "info": None}}]
    )


def gemini_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"type": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        told = {"error" if call.failed else "output": call.result}
        answer = [{"functionResponse": {"id": _id(i), "name": call.tool, "response": told}}]
        messages.append(
            {
                "type": "gemini",
                "content": call.said,
                "model": "gemini-x",
                "toolCalls": [
                    {
                        "id": _id(i),
                        "name": call.tool,
                        "args": dict(call.arguments),
                        "result": answer if call.result is not None else None,
                        "status": "error" if call.failed else "success",
                    }
                ],
            }
        )
    return [*messages, {"type": "gemini", "content": talk.answer, "model": "gemini-x"}]


def gemini(talk: Talk) -> str:
    return _dump({"sessionId": "s-1", "projectHash": "abc", "messages": gemini_messages(talk)})


def gemini_lines(talk: Talk) -> str:
    return _lines(
        [
            {"sessionId": "s-1", "projectHash": "abc"},
            *({**m, "sessionId": "s-1"} for m in gemini_messages(talk)),
        ]
    )


def openclaw(talk: Talk) -> str:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": talk.task}]}
    ]
    for i, call in enumerate(talk.calls):
        said = [{"type": "text", "text": call.said}] if call.said else []
        part = {
            "type": "toolCall",
            "id": _id(i),
            "name": call.tool,
            "arguments": dict(call.arguments),
        }
        messages.append(
            {"role": "assistant", "content": [*said, part], "model": "m", "provider": "p"}
        )
        if call.result is not None:
            messages.append(
                {
                    "role": "toolResult",
                    "toolCallId": _id(i),
                    "toolName": call.tool,
                    "content": [{"type": "text", "text": call.result}],
                    "isError": call.failed,
                }
            )
    messages.append(
        {"role": "assistant", "content": [{"type": "text", "text": talk.answer}], "model": "m"}
    )
    rows: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s-1", "cwd": "/w"}]
    for i, message in enumerate(messages):
        rows.append(
            {
                "type": "message",
                "id": f"e{i}",
                "parentId": f"e{i - 1}" if i else None,
                "message": message,
            }
        )
    return _lines(rows)


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
                    "input": _dump(
                        messages[:i]
                        if model
                        else dict(talk.calls[int(message["tool_call_id"][5:])].arguments)
                    ),
                    "output": _dump(message) if model else message["content"],
                }
            )
    observations.reverse()
    return _dump(
        {
            "trace": {"id": "t", "name": "maker", "input": _dump(messages[:1])},
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
            "gen_ai.input.messages": _dump([parts(m) for m in asked]),
            "gen_ai.output.messages": _dump([parts(answer)]),
        },
        lambda call, call_id: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": _dump(dict(call.arguments)),
            "gen_ai.tool.call.result": call.result,
        },
    )
    return _dump({"spans": spans[::-1]})


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
            "input.value": _dump(dict(call.arguments)),
            "output.value": call.result,
        },
    )
    return _lines(
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
                    "inputs": {"input": _dump(dict(call.arguments))},
                    "outputs": {"output": call.result},
                }
            )
    return _dump(
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


def inspect_sample(talk: Talk) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task, "source": "input"}]
    for i, call in enumerate(talk.calls):
        messages.append(
            {
                "role": "assistant",
                "content": call.said,
                "tool_calls": [
                    {
                        "id": _id(i),
                        "function": call.tool,
                        "arguments": dict(call.arguments),
                        "type": "function",
                    }
                ],
            }
        )
        if call.result is not None:
            error = {"type": "unknown", "message": call.result} if call.failed else None
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": _id(i),
                    "function": call.tool,
                    "content": f"attachment://{_id(i)}",
                    "error": error,
                }
            )
    messages.append({"role": "assistant", "content": talk.answer})
    attached = {_id(i): call.result for i, call in _results(talk)}
    return {
        "id": 1,
        "epoch": 1,
        "input": talk.task,
        "messages": messages,
        "attachments": attached,
        "scores": {"match": {"value": "C", "explanation": "as asked"}},
    }


def inspect(talk: Talk) -> str:
    return _dump(
        {
            "version": 2,
            "status": "success",
            "eval": {"task": "ports", "model": "model-1"},
            "samples": [inspect_sample(talk)],
        }
    )


def inspect_zip(talk: Talk) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", _dump({"version": 2, "eval": {"task": "ports"}}))
        file.writestr("samples/1_epoch_1.json", _dump(inspect_sample(talk)))
        file.writestr("summaries.json", "[]")
    return packed.getvalue()


def letta(talk: Talk) -> str:
    agent = {
        "id": "a",
        "name": "maker",
        "messages": [{"type": "message", **m} for m in chat_messages(talk)],
    }
    return _dump({"agents": [agent], "blocks": [], "tools": [], "groups": []})


def mini_swe_agent(talk: Talk) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        command = _dump({"tool": call.tool, **call.arguments})
        messages.append(
            {
                "role": "assistant",
                "content": call.said,
                "extra": {"actions": [{"command": command, "tool_call_id": _id(i)}]},
            }
        )
        if call.result is not None:
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": _id(i),
                    "content": call.result,
                    "extra": {"returncode": int(call.failed)},
                }
            )
    messages.append({"role": "assistant", "content": talk.answer})
    return _dump(
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "messages": messages,
            "info": {"mini_version": "2.0.0", "exit_status": "Submitted"},
        }
    )


def react(talk: Talk) -> str:
    lines = [f"Question: {talk.task}"]
    for i, call in enumerate(talk.calls, start=1):
        lines += [f"Thought {i}: {call.said}"] if call.said else []
        lines.append(f"Action {i}: {call.tool}[{_dump(dict(call.arguments))}]")
        lines += [f"Observation {i}: {call.result}"] if call.result is not None else []
    return "\n".join([*lines, f"Final Answer: {talk.answer}"])


def muse(talk: Talk) -> str:
    rows = [("USER MESSAGE", talk.task)]
    for call in talk.calls:
        code = _dump({"tool": call.tool, **call.arguments})
        rows.append(("ASSISTANT MESSAGE", f"{call.said}\n<code>{code}</code>"))
        rows += [("USER MESSAGE", call.result)] if call.result is not None else []
    rows.append(("ASSISTANT MESSAGE", talk.answer))
    return "\n".join(f"{i:02}. | ==== {who} ====\n{said}" for i, (who, said) in enumerate(rows))


WRITERS: dict[str, tuple[str, Callable[[Talk], str | bytes]]] = {
    "ATIF": ("ATIF", atif),
    "SWE-agent": ("SWE-agent", swe_agent),
    "OpenHands": ("OpenHands events", openhands),
    "tau-bench": ("tau-bench", tau_bench),
    "tau2-bench": ("tau2-bench", tau2_bench),
    "Claude Code": ("Claude Code", claude_code),
    "Codex": ("Codex CLI", codex),
    "Gemini": ("Gemini CLI", gemini),
    "Gemini lines": ("Gemini CLI", gemini_lines),
    "OpenClaw": ("OpenClaw / pi", openclaw),
    "Anthropic": ("Anthropic Messages", anthropic),
    "Anthropic log": ("Anthropic Messages", anthropic_log),
    "OpenAI chat": ("OpenAI chat", openai_chat),
    "Responses": ("OpenAI Responses", openai_responses),
    "RunState": ("OpenAI Responses", run_state),
    "Langfuse": ("Langfuse", langfuse),
    "OpenTelemetry": ("OpenTelemetry GenAI", opentelemetry),
    "OpenInference": ("OpenInference", openinference),
    "LangSmith": ("LangSmith", langsmith),
    "Inspect": ("Inspect", inspect),
    "Inspect zip": ("Inspect", inspect_zip),
    "Letta": ("Letta", letta),
    "ReAct": ("ReAct text", react),
}
"""By a short name: the format's own name, and its writer."""
SHELLS: dict[str, tuple[str, Callable[[Talk], str | bytes]]] = {
    "mini-swe-agent": ("mini-swe-agent", mini_swe_agent),
    "MUSE": ("MUSE history", muse),
}
"""Formats whose one tool runs what the agent writes."""
