"""Calls of tools and their results, in the dialects of the many vendors."""

from __future__ import annotations

from typing import Any

from memory_core.trajectories.building import Run
from memory_core.trajectories.shapes import (
    first_string,
    json_text,
    mapping,
    objects,
    parsed,
    string,
    text_of,
    verdict_of,
)

CALL_ITEMS = {
    "function_call", "custom_tool_call", "local_shell_call", "computer_call", "web_search_call",
    "file_search_call", "code_interpreter_call", "mcp_call", "image_generation_call", "shell_call",
    "apply_patch_call", "tool_search_call",
}  # fmt: skip
"""Types of items of the Responses API that are calls."""
_HOSTED = {"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call",
           "image_generation_call"}  # fmt: skip
"""Those that run at the vendor's: their result need not come back."""


def read_call(run: Run, value: Any) -> None:
    """One call of a tool, in any dialect; its result may lie in it."""
    call = mapping(value)
    call = mapping(call.get("tool_call")) or call
    inner = next((call[n] for n in ("function", "functionCall", "function_call")
                  if isinstance(call.get(n), dict)), call)  # fmt: skip
    tool = first_string(inner, "name", "toolName", "tool_name", "function_name", "function")
    arguments = _first(inner, "arguments", "input", "args", "parameters")
    call_id = first_string(call, "id", "tool_call_id", "toolCallId", "call_id")
    call_id = call_id or string(inner.get("id"))
    run.call(tool, _written(run, arguments), call_id)
    given = next((name for name in ("result", "output") if call.get(name) not in (None, [])), "")
    if given:
        _read_own_result(run, call, call_id, tool, call[given])
    elif broken := verdict_of({"error": call["parse_error"]} if call.get("parse_error") else {}):
        run.result(call_id, broken, broken, tool=tool)


def _first(value: dict[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if name in value), None)


def _written(run: Run, value: Any) -> str:
    return "" if value is None else run.pictures.out_of(json_text(value))


def _read_own_result(run: Run, call: dict[str, Any], call_id: str, tool: str, given: Any) -> None:
    answers = [part for part in objects(given) if "functionResponse" in part]
    response = mapping(mapping(answers[0]["functionResponse"]).get("response")) if answers else {}
    shown = response.get("output", response.get("error", response)) if answers else given
    text = _shown(run, shown)
    run.result(call_id, text, verdict_of(response, text) or verdict_of(call, text), tool=tool)


def read_result(run: Run, value: Any) -> None:
    """One result of a call, as a part of a message."""
    part = mapping(value)
    answer = mapping(part.get("functionResponse") or part.get("function_response"))
    if answer:
        response = mapping(answer.get("response"))
        text = _shown(run, _first(response, "output", "result", "error") or answer.get("response"))
        error = verdict_of(response, text)
        run.result(string(answer.get("id")), text, error, tool=string(answer.get("name")))
        return
    call_id = first_string(part, "tool_use_id", "tool_call_id", "toolCallId", "call_id", "id")
    text = _shown(run, _first(part, "content", "result", "output", "response", "text"))
    flags: dict[str, Any] = {n: part[n] for n in ("is_error", "isError", "error") if n in part}
    tool = first_string(part, "name", "toolName", "tool_name")
    run.result(call_id, text, verdict_of(flags, text), tool=tool)


def _shown(run: Run, content: Any) -> str:
    """A result as text, without what Vercel and Microsoft put around it."""
    if isinstance(content, dict) and set(content) == {"type", "value"}:
        content = content["value"]
    elif isinstance(content, str) and '"function_result"' in content[:200]:
        content = mapping(parsed(content)).get("result", content)
    if content is None or isinstance(content, str | list):
        return text_of(content, run.pictures)
    return run.pictures.out_of(json_text(content))


def read_tool_message(run: Run, message: dict[str, Any]) -> None:
    """A whole message that is the result of one call."""
    call_id = first_string(message, "tool_call_id", "toolCallId", "call_id", "tool_use_id", "id")
    text = _shown(run, _first(message, "content", "output", "value", "parts"))
    names = ("error", "is_error", "isError", "status")
    flags: dict[str, Any] = {name: message[name] for name in names if name in message}
    extra = mapping(message.get("extra")) or mapping(message.get("details"))
    error = verdict_of(extra, text)
    if not error:
        error = verdict_of(flags, text) if flags else error
    tool = first_string(message, "name", "toolName", "tool_name", "function")
    run.result(call_id, text, error, tool=tool)


def read_call_item(run: Run, item: dict[str, Any]) -> None:
    """A call as an item of the Responses API."""
    kind = string(item["type"])
    arguments = _first(item, "arguments", "input", "action", "code", "queries", "operation")
    call_id = first_string(item, "call_id", "id")
    tool = string(item.get("name")) or kind.removesuffix("_call")
    run.call(tool, _written(run, arguments), call_id, final=kind in _HOSTED)
    given = next((item[n] for n in ("output", "outputs", "results") if item.get(n)), None)
    if given is not None:
        text = _shown(run, given)
        run.result(call_id, text, verdict_of(item, text), tool=tool)


def read_result_item(run: Run, item: dict[str, Any]) -> None:
    """A result as an item of the Responses API. A command's holds its output and its exit code."""
    output = item.get("output")
    inner = mapping(parsed(output))
    error = verdict_of(inner) if inner else ""
    if "output" in inner and ("metadata" in inner or "exit_code" in inner):
        output = inner["output"]
        error = verdict_of(inner, string(output))
    call_id = first_string(item, "call_id", "id")
    run.result(call_id, _shown(run, output), error, tool=string(item.get("name")))
