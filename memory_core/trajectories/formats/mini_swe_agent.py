"""mini-swe-agent: a chat in which each answer holds one shell command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.calls import read_tool_message
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import role_of
from memory_core.trajectories.outcomes import of_exit
from memory_core.trajectories.shapes import (
    first_string,
    json_text,
    mapping,
    objects,
    string,
    text_of,
    verdict_of,
)
from memory_core.trajectories.source import Source

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh|shell)[ \t]*\n(.*?)\n?```", re.DOTALL)
_OUTPUT = re.compile(
    r"\s*<returncode>\s*(-?\d+)\s*</returncode>\s*(?:<(?:output|output_head)>\n?(.*))?", re.DOTALL
)
_TASK = re.compile(
    r"(?:<pr_description>|<issue>|Please solve this issue:)\s*(?:Consider the following PR "
    r"description:\s*)?(.*?)\s*(?:</pr_description>|</issue>|\n\nYou can execute bash commands|\Z)",
    re.DOTALL,
)
_LAST_COMMANDS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def _document(source: Source) -> dict[str, Any]:
    value = mapping(source.value)
    version = string(value.get("trajectory_format"))
    newer = version.startswith("mini-swe-agent") or mapping(value.get("info")).get("mini_version")
    return value if newer and isinstance(value.get("messages"), list) else {}


def matches(source: Source) -> bool:
    return bool(_document(source)) or any(_is_bare(message) for message in source.head)


def _is_bare(value: Any) -> bool:
    message = mapping(value)
    content, role = string(message.get("content")), message.get("role")
    if role == "assistant":
        return "```mswea_bash_command" in content
    return role == "user" and content.lstrip().startswith("<returncode>")


def read(source: Source) -> Iterator[Trajectory]:
    document = _document(source)
    facts = mapping(document.get("info"))
    config = mapping(mapping(facts.get("config")).get("model"))
    run = Run(
        source.pictures,
        name=string(document.get("instance_id")),
        agent="mini-swe-agent",
        model=first_string(config, "model_name", "model"),
        outcome=of_exit(string(facts.get("exit_status"))),
    )
    for message in objects(document.get("messages")) if document else source.records():
        _read(run, mapping(message))
    trajectory = run.finish()
    stated = _TASK.search(trajectory.task)
    run.task = stated[1] if stated and stated[1] else trajectory.task
    yield run.finish()


def _read(run: Run, message: dict[str, Any]) -> None:
    role, extra = role_of(message), mapping(message.get("extra"))
    text = text_of(message.get("content"), run.pictures)
    if message.get("role") == "exit":
        status = string(extra.get("exit_status"))
        run.outcome = run.outcome if run.outcome.reason else of_exit(status)
        if run.last:
            run.last.waits = False
    elif role == "assistant":
        run.think(text_of(message.get("reasoning_content"), run.pictures))
        _read_answer(run, message, text)
    elif role == "tool":
        read_tool_message(run, message)
    elif role == "user" and run.last is not None and run.last.waits:
        _read_output(run, text, extra)
    elif role:
        run.say(role, text)


def _read_answer(run: Run, message: dict[str, Any], text: str) -> None:
    extra = mapping(message.get("extra"))
    actions = objects(extra.get("actions")) or _from_calls(message)
    block = None if actions else _BLOCK.search(text)
    if block:
        actions = [{"command": block[1]}]
        text = (text[: block.start()] + text[block.end() :]).strip()
    if not actions:
        run.say("assistant", text)
    for index, action in enumerate(actions):
        command = string(action.get("command")) or json_text(action)
        last = any(word in command for word in _LAST_COMMANDS)
        call_id = string(action.get("tool_call_id"))
        run.call("bash", command, call_id, text="" if index else text)
        if last and not run.outcome.reason:
            run.outcome = Outcome(reason="Submitted")


def _from_calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = objects(message.get("tool_calls"))
    return [
        {
            "command": string(mapping(call.get("function")).get("arguments")),
            "tool_call_id": string(call.get("id")),
        }
        for call in calls
    ]


def _read_output(run: Run, text: str, extra: dict[str, Any]) -> None:
    told = _OUTPUT.match(text)
    error = verdict_of(extra, text)
    if told:
        output = (told[2] or "").strip()
        text = output.removesuffix("</output>").rstrip("\n") if told[2] is not None else text
        error = verdict_of({"returncode": int(told[1][:9])}, text)
    run.result("", text, error)


FORMAT = Format("mini-swe-agent", matches, read)
