"""Counts of tool calls and errors, against a count of their own in the raw files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from memory_core import Step, ToolCount, Trajectory, first_error, read_trajectories, tool_counts
from memory_core.places import data

SAMPLE = data() / "trajectories" / "airline-refund-group.json"
OUTSIDE = Path("trajectories") / "tau_bench" / "gpt-4o-airline.12records.json"


def counted(messages: list[dict]) -> tuple[Counter[str], Counter[str]]:
    """Calls and errors by tool in messages of OpenAI chat, where an error is a text `Error: …`."""
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    names: dict[str, str] = {}
    for message in messages:
        for made in message.get("tool_calls") or []:
            names[made["id"]] = made["function"]["name"]
            calls[made["function"]["name"]] += 1
        if message["role"] == "tool" and str(message["content"]).startswith("Error"):
            errors[names.get(message["tool_call_id"], message.get("name", ""))] += 1
    return calls, errors


def assert_equal_counts(file: Path) -> int:
    records = json.loads(file.read_text())
    runs = read_trajectories(file.read_bytes(), file.name).trajectories
    assert len(runs) == len(records)
    for run, record in zip(runs, records, strict=True):
        calls, errors = counted(record["traj"])
        counts = tool_counts(run)
        assert {one.tool: one.calls for one in counts} == dict(calls)
        assert {one.tool: one.errors for one in counts if one.errors} == dict(errors)
    return sum(one.errors for run in runs for one in tool_counts(run))


def test_the_counts_of_the_sample_group_are_those_of_its_raw_messages():
    assert assert_equal_counts(SAMPLE) == 2


def test_the_counts_of_twelve_tau_bench_runs_are_those_of_their_raw_messages(datasets: Path):
    file = datasets / OUTSIDE
    if not file.is_file():
        pytest.skip(f"{OUTSIDE} is not among the outside data")
    assert assert_equal_counts(file) > 0


def test_the_first_failing_step_and_the_worst_tools_come_first():
    run = Trajectory(
        "",
        (
            Step(1, "user", "go"),
            Step(2, "assistant", tool="a", observation="fine"),
            Step(3, "assistant", tool="b", error="Error"),
            Step(4, "assistant", tool="a", observation="fine"),
            Step(5, "tool", tool="c", observation="lost", unmatched="result"),
            Step(6, "assistant", tool="b", error="Error"),
        ),
    )

    assert tool_counts(run) == (ToolCount("b", 2, 2, 3), ToolCount("a", 2, 0, None))
    assert first_error(run) == 3
    assert tool_counts(Trajectory("")) == ()
    assert first_error(Trajectory("")) is None
