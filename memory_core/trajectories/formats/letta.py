"""Letta's agent file: agents with their messages, beside memory blocks and tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_messages
from memory_core.trajectories.shapes import first_string, mapping, objects, string
from memory_core.trajectories.source import Source, found_in


def _is_file(value: dict[str, Any]) -> bool:
    agents = isinstance(value.get("agents"), list)
    older = "agent_type" in value and isinstance(value.get("messages"), list)
    return (agents and "blocks" in value and "tools" in value) or older


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_file, 1))


def read(source: Source) -> Iterator[Trajectory]:
    for value in source.records():
        for document in found_in(value, _is_file, 1):
            for agent in objects(document.get("agents")) or [document]:
                yield _run(agent, source)


def _run(agent: dict[str, Any], source: Source) -> Trajectory:
    run = Run(
        source.pictures,
        name=string(agent.get("id")),
        agent=string(agent.get("name")),
        model=first_string(mapping(agent.get("llm_config")), "handle", "model"),
    )
    read_messages(run, [_whole(message) for message in objects(agent.get("messages"))])
    return run.finish()


def _whole(message: dict[str, Any]) -> dict[str, Any]:
    """A result may lie in `tool_returns`, beside an empty content."""
    returned = objects(message.get("tool_returns"))
    if message.get("role") != "tool" or not returned:
        return {name: field for name, field in message.items() if name != "type"}
    first = returned[0]
    told = message.get("content") or first.get("func_response") or first.get("stdout")
    status = {"status": first["status"]} if "status" in first else {}
    call_id = message.get("tool_call_id") or first.get("tool_call_id")
    return {"role": "tool", "content": told, "tool_call_id": call_id, **status}


FORMAT = Format("Letta", matches, read)
