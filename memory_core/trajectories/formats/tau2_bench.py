"""tau2-bench: simulations of tasks; both the agent and the user may call tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.formats.tau_bench import named
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.outcomes import outcome_in
from memory_core.trajectories.shapes import first_string, mapping, objects, string
from memory_core.trajectories.source import Source, found_in


def _is_results(value: dict[str, Any]) -> bool:
    simulations = objects(value.get("simulations"))
    return any(isinstance(one.get("messages"), list) for one in simulations[:5])


def _is_simulation(value: dict[str, Any]) -> bool:
    return isinstance(value.get("messages"), list) and "task_id" in value and (
        "termination_reason" in value or "reward_info" in value
    )  # fmt: skip


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_results, 2) or found_in(source.head, _is_simulation, 1))


def read(source: Source) -> Iterator[Trajectory]:
    for value in source.records():
        results = found_in(value, _is_results, 2)
        for document in results:
            for simulation in objects(document.get("simulations")):
                yield _run(simulation, document, source)
        if not results:
            for simulation in found_in(value, _is_simulation, 1):
                yield _run(simulation, {}, source)


def _run(simulation: dict[str, Any], document: dict[str, Any], source: Source) -> Trajectory:
    rated = mapping(simulation.get("reward_info"))
    agent = mapping(mapping(document.get("info")).get("agent_info"))
    outcome = outcome_in(rated)
    run = Run(
        source.pictures,
        name=named(simulation),
        agent=string(agent.get("implementation")),
        model=string(agent.get("llm")),
        task=_task(simulation, document),
        outcome=replace(outcome, reason=first_string(simulation, "termination_reason")),
    )
    for message in objects(simulation.get("messages")):
        for one in objects(message.get("tool_messages")) or [message]:
            read_message(run, one)
    return run.finish()


def _task(simulation: dict[str, Any], document: dict[str, Any]) -> str:
    tasks = objects(document.get("tasks"))
    same = (task for task in tasks if str(task.get("id")) == str(simulation.get("task_id")))
    task = next(same, {})
    scenario = mapping(task.get("user_scenario"))
    told = scenario.get("instructions")
    if isinstance(told, str):
        return told
    fields = ("reason_for_call", "task_instructions", "instructions")
    return first_string(mapping(told), *fields) or string(
        mapping(task.get("description")).get("purpose")
    )


FORMAT = Format("tau2-bench", matches, read)
