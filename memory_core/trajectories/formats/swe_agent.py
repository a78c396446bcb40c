"""SWE-agent: `.traj` files, a list of actions and what each gave, beside the whole chat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run, give
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.outcomes import of_exit
from memory_core.trajectories.shapes import (
    first_string,
    json_text,
    mapping,
    objects,
    parsed,
    string,
    text_of,
)
from memory_core.trajectories.source import Source, found_in

_TASK = re.compile(
    r"(?:ISSUE:|<pr_description>|<issue>)\s*(.*?)\s*(?:\n\s*INSTRUCTIONS:|</pr_description>|</issue>"
    r"|\Z)",
    re.DOTALL,
)


def _is_traj(value: dict[str, Any]) -> bool:
    steps = objects(value.get("trajectory"))
    return any("action" in step and "observation" in step for step in steps[:5])


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_traj, depth=2))


def read(source: Source) -> Iterator[Trajectory]:
    for value in source.records():
        for document in found_in(value, _is_traj, depth=2):
            yield _run(document, source)


def _run(document: dict[str, Any], source: Source) -> Trajectory:
    facts = mapping(document.get("info"))
    history = [m for m in objects(document.get("history")) if not m.get("is_demo")]
    plan = mapping(parsed(document.get("replay_config")))
    run = Run(
        source.pictures,
        name=string(mapping(plan.get("agent")).get("name")) or string(document.get("instance_id")),
        agent="SWE-agent",
        model=string(mapping(mapping(plan.get("agent")).get("model")).get("name")),
        outcome=of_exit(string(facts.get("exit_status"))),
        task=_task(history, plan),
    )
    steps = objects(document.get("trajectory"))
    calls = [_call_of(message) for message in history if message.get("role") == "assistant"]
    if len(calls) != len(steps):
        calls = [("", "")] * len(steps)
    for step, (tool, arguments) in zip(steps, calls, strict=True):
        _read(run, step, tool, arguments)
    return run.finish()


def _call_of(message: dict[str, Any]) -> tuple[str, str]:
    calls = objects(message.get("tool_calls"))
    function = mapping(calls[0].get("function")) if len(calls) == 1 else {}
    return string(function.get("name")), json_text(function.get("arguments") or "")


def _read(run: Run, step: dict[str, Any], tool: str, arguments: str) -> None:
    action = string(step.get("action")).strip()
    text = (first_string(step, "thought", "response")).strip()
    observation = text_of(step.get("observation"), run.pictures)
    if action:
        tool = tool or _command(action)
        run.call(tool, arguments or action, text=text, final=not observation)
    else:
        run.say("assistant", text)
    if run.last is not None and observation:
        give(run.last, observation)


def _command(action: str) -> str:
    """The first word that is not the setting of a variable."""
    words = action.split()
    return next((word for word in words[:6] if "=" not in word), words[0])


def _task(history: list[dict[str, Any]], plan: dict[str, Any]) -> str:
    problem = mapping(plan.get("problem_statement"))
    said = next((text_of(m.get("content"), Run().pictures) for m in history
                 if m.get("role") == "user"), "")  # fmt: skip
    stated = _TASK.search(said)
    return stated[1] if stated else first_string(problem, "text", "problem_statement") or said


FORMAT = Format("SWE-agent", matches, read)
