"""The run as each agent and benchmark writes it down, and all the ways by name."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

from sample_talk import (
    TALK,
    Call,
    Talk,
    anthropic_messages,
    chat_messages,
    dump,
    gemini_messages,
    id_of,
    lines,
    response_items,
)
from sample_traces import langfuse, langsmith, openinference, opentelemetry

__all__ = [
    "SHELLS",
    "TALK",
    "WRITERS",
    "Call",
    "Talk",
    "claude_code",
    "codex",
    "openai_chat",
    "swe_agent",
]


def _results(talk: Talk) -> list[tuple[int, Call]]:
    return [(i, call) for i, call in enumerate(talk.calls) if call.result is not None]


def atif(talk: Talk) -> str:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": talk.task}]
    for i, call in enumerate(talk.calls):
        told = {"source_call_id": id_of(i), "content": call.result}
        steps.append(
            {
                "step_id": i + 2,
                "source": "agent",
                "message": call.said,
                "tool_calls": [
                    {
                        "tool_call_id": id_of(i),
                        "function_name": call.tool,
                        "arguments": dict(call.arguments),
                    }
                ],
                "observation": {"results": [told] if call.result is not None else []},
            }
        )
    steps.append({"step_id": 99, "source": "agent", "message": talk.answer})
    agent = {"name": "maker", "version": "1", "model_name": "model-1"}
    return dump({"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps})


def swe_agent(talk: Talk) -> str:
    steps = [
        {
            "action": f"{call.tool} {dump(dict(call.arguments))}",
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
    return dump(
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
    return dump(events)


def openai_chat(talk: Talk) -> str:
    return dump(chat_messages(talk))


def tau_bench(talk: Talk) -> str:
    info = {"task": {"instruction": talk.task}}
    return dump(
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
                        "id": id_of(i),
                        "name": call.tool,
                        "arguments": dict(call.arguments),
                        "requestor": "assistant",
                    }
                ],
            }
        )
        if call.result is not None:
            messages.append(
                {"role": "tool", "id": id_of(i), "content": call.result, "error": call.failed}
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
    return dump({"info": {}, "tasks": [task], "simulations": [simulation]})


def anthropic(talk: Talk) -> str:
    return dump({"model": "claude-x", "max_tokens": 10, "messages": anthropic_messages(talk)})


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
    return lines(rows)


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
    return lines([*rows, {"type": "summary", "summary": "A port was set", "leafUuid": "u0"}])


def openai_responses(talk: Talk) -> str:
    return dump(response_items(talk))


def run_state(talk: Talk) -> str:
    items = [
        {"type": "x", "agent": {"name": "maker"}, "raw_item": item}
        for item in response_items(talk)[1:]
    ]
    return dump(
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
    return lines(
        [*rows, {**time, "type": "event_msg", "payload": {"type": "token_count", "info": None}}]
    )


def gemini(talk: Talk) -> str:
    return dump({"sessionId": "s-1", "projectHash": "abc", "messages": gemini_messages(talk)})


def gemini_lines(talk: Talk) -> str:
    return lines(
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
            "id": id_of(i),
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
                    "toolCallId": id_of(i),
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
    return lines(rows)


def inspect_sample(talk: Talk) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task, "source": "input"}]
    for i, call in enumerate(talk.calls):
        messages.append(
            {
                "role": "assistant",
                "content": call.said,
                "tool_calls": [
                    {
                        "id": id_of(i),
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
                    "tool_call_id": id_of(i),
                    "function": call.tool,
                    "content": f"attachment://{id_of(i)}",
                    "error": error,
                }
            )
    messages.append({"role": "assistant", "content": talk.answer})
    attached = {id_of(i): call.result for i, call in _results(talk)}
    return {
        "id": 1,
        "epoch": 1,
        "input": talk.task,
        "messages": messages,
        "attachments": attached,
        "scores": {"match": {"value": "C", "explanation": "as asked"}},
    }


def inspect(talk: Talk) -> str:
    return dump(
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
        file.writestr("header.json", dump({"version": 2, "eval": {"task": "ports"}}))
        file.writestr("samples/1_epoch_1.json", dump(inspect_sample(talk)))
        file.writestr("summaries.json", "[]")
    return packed.getvalue()


def letta(talk: Talk) -> str:
    agent = {
        "id": "a",
        "name": "maker",
        "messages": [{"type": "message", **m} for m in chat_messages(talk)],
    }
    return dump({"agents": [agent], "blocks": [], "tools": [], "groups": []})


def mini_swe_agent(talk: Talk) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": talk.task}]
    for i, call in enumerate(talk.calls):
        command = dump({"tool": call.tool, **call.arguments})
        messages.append(
            {
                "role": "assistant",
                "content": call.said,
                "extra": {"actions": [{"command": command, "tool_call_id": id_of(i)}]},
            }
        )
        if call.result is not None:
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": id_of(i),
                    "content": call.result,
                    "extra": {"returncode": int(call.failed)},
                }
            )
    messages.append({"role": "assistant", "content": talk.answer})
    return dump(
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
        lines.append(f"Action {i}: {call.tool}[{dump(dict(call.arguments))}]")
        lines += [f"Observation {i}: {call.result}"] if call.result is not None else []
    return "\n".join([*lines, f"Final Answer: {talk.answer}"])


def muse(talk: Talk) -> str:
    rows = [("USER MESSAGE", talk.task)]
    for call in talk.calls:
        code = dump({"tool": call.tool, **call.arguments})
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


SHELLS: dict[str, tuple[str, Callable[[Talk], str | bytes]]] = {
    "mini-swe-agent": ("mini-swe-agent", mini_swe_agent),
    "MUSE": ("MUSE history", muse),
}
