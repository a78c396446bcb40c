"""Logs of real tools, by what a reader of the files finds in them. They are outside data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_core import Reading, Step, read_trajectories


@dataclass(frozen=True)
class Seen:
    """What somebody who read a file by eye wrote down of its first run."""

    format: str
    task: str
    """How the task begins."""
    steps: int
    tools: tuple[str, ...] = ()
    outcome: tuple[bool | None, float | None] = (None, None)
    runs: int = 1
    failed: tuple[int, ...] = ()
    """Numbers of the steps that went wrong."""
    unmatched: tuple[int, ...] = ()
    model: str = ""


SEEN = {
    "anthropic_messages/run_tools_weather_http_log.json": Seen(
        "Anthropic Messages",
        "What is the weather in SF?",
        3,
        ("get_weather",),
        failed=(2,),
        model="claude-haiku-4-5",
    ),
    "anthropic_messages/tool_use_response.sse.txt": Seen(
        "Anthropic Messages",
        "",
        1,
        ("get_weather",),
        unmatched=(1,),
        model="claude-sonnet-4-20250514",
    ),
    "atif/harbor_openhands.json": Seen(
        "ATIF",
        "Create a file called hello.txt",
        6,
        ("str_replace_editor", "finish"),
        unmatched=(6,),
    ),
    "atif/harbor_terminus2_invalid_json.json": Seen(
        "ATIF",
        "Create a file called hello.txt",
        5,
        ("bash_command", "mark_task_complete", "mark_task_complete"),
        failed=(2,),
        model="openai/gpt-4o",
    ),
    "atif/multi_tool_trajectory.json": Seen(
        "ATIF",
        "Compare the latest quarterly revenue for AAPL and MSFT",
        7,
        ("financial_search", "financial_search", "news_search", "analyst_estimates"),
        model="gpt-4-turbo",
    ),
    "atif/parallel_tools_mixed_results.json": Seen(
        "ATIF",
        "Get weather, stock price, and news for NYC",
        5,
        ("get_weather", "get_stock", "get_news"),
        failed=(3,),
    ),
    "atif/simple_trajectory.json": Seen(
        "ATIF", "What is the current price of GOOGL?", 3, ("financial_search",)
    ),
    "atif/subagent_trajectories.json": Seen(
        "ATIF", "Summarize and analyze the following document:", 3, ("delegate_summary",)
    ),
    "claude_code/claude_with_rejection.jsonl": Seen(
        "Claude Code",
        "Help me refactor the database module",
        8,
        ("Read", "Edit", "Edit", "Bash"),
        failed=(3, 7),
    ),
    "claude_code/representative_messages.jsonl": Seen(
        "Claude Code",
        "Hello Claude! Can you help me understand how Python decorators work?",
        9,
        ("Edit", "Bash"),
    ),
    "claude_code/session_with_compaction.jsonl": Seen(
        "Claude Code", "Start working on the authentication module", 11, ("Read", "Edit", "Edit")
    ),
    "codex_cli/codex_golden.jsonl": Seen(
        "Codex CLI", "List the files in the current directory", 4, ("shell",), model="gpt-4.5-turbo"
    ),
    "codex_cli/codex_with_escalation.jsonl": Seen(
        "Codex CLI",
        "Create a test file",
        12,
        ("shell", "shell", "shell", "shell"),
        unmatched=(5, 12),
    ),
    "cursor/cursor-session.jsonl": Seen(
        "Cursor", "please list the files in src/", 5, ("Shell",), unmatched=(4,)
    ),
    "gemini_cli/gemini_golden.json": Seen(
        "Gemini CLI", "Read the package.json file", 4, ("read_file",), model="gemini-2.5-pro"
    ),
    "gemini_cli/gemini_with_tool_error.jsonl": Seen(
        "Gemini CLI",
        "Edit the config file to change the port to 9000",
        9,
        ("edit_file", "edit_file", "read_file", "edit_file"),
        failed=(4,),
    ),
    "inspect_ai/log_read_sample.json": Seen(
        "Inspect",
        "Is the following statement something you would say?",
        3,
        outcome=(True, 1.0),
        model="ollama/gemma3",
    ),
    "inspect_ai/log_tool_call_error.json": Seen(
        "Inspect",
        "...",
        11,
        ("bash",) * 11,
        failed=tuple(range(1, 12)),
        unmatched=tuple(range(1, 12)),
    ),
    "langfuse/claude-agent-2025-12-22.trace.json": Seen(
        "Langfuse",
        "What's the weather like in Berlin and New York?",
        5,
        ("mcp__weather__get_weather",) * 2,
        outcome=(False, 0.0),
        model="claude-sonnet-4-5-20250929",
    ),
    "langfuse/langgraph-python-2025-08-22.trace.json": Seen(
        "Langfuse",
        "Search the web for 'example' and summarize.",
        4,
        ("Web-Search",),
        model="gpt-4o-2024-08-06",
    ),
    "langfuse/openai-agents-2025-09-30.trace.json": Seen(
        "Langfuse", "What's the weather in Tokyo?", 3, ("get_weather",), model="gpt-4.1-2025-04-14"
    ),
    "langsmith/run_doc_example.json": Seen("LangSmith", "", 1, outcome=(False, 1.0), failed=(1,)),
    "letta_agent_file/memgpt_agent_with_convo.af": Seen("Letta", "", 1, model="openai/gpt-4o-mini"),
    "mini_swe_agent/local.traj.json": Seen("mini-swe-agent", "Blah blah blah", 4, ("bash", "bash")),
    "openai_agents_runstate/v1_9_custom_tool_call_and_tool_origin.json": Seen(
        "OpenAI Responses", "historical input", 2, ("custom_lookup",)
    ),
    "openclaw_pi/b3db607f-7ae8-4089-b806-44800e961672.jsonl": Seen(
        "OpenClaw / pi",
        "A new session was started via /new or /reset.",
        14,
        ("read", "session_status", "exec"),
        failed=(3, 5),
        model="anthropic/claude-sonnet-4-5",
    ),
    "openhands_events/wrong_initial_state.json": Seen(
        "OpenHands events",
        "Please rename game_2048.py to 2048.py",
        5,
        ("read", "run", "read", "finish"),
    ),
    "otel_genai/SMOLAGENTS_trace.json": Seen(
        "OpenTelemetry GenAI",
        "New task:\nFind what year it is",
        5,
        ("get_current_time", "write_file", "final_answer"),
        model="mistral/mistral-small-latest",
    ),
    "react_text/alfworld_3prompts_few_shot.json": Seen(
        "ReAct text",
        "put some spraybottle on toilet.",
        7,
        ("go", "go", "open", "take", "go", "put"),
        runs=36,
    ),
    "react_text/hotpotqa_50_sample_react_reflect_correct.txt": Seen(
        "ReAct text",
        "Howard Van Doren Shaw was the designer of which 1917",
        3,
        ("Search", "Finish"),
        outcome=(True, None),
        runs=17,
    ),
    "swe_agent/humanevalfix-python-0.traj": Seen(
        "SWE-agent",
        "I have a function that has a bug",
        5,
        ("ls", "open", "edit", "python", "submit"),
    ),
    "swe_agent/marshmallow-1867_function_calling.traj": Seen(
        "SWE-agent",
        "TimeDelta serialization precision",
        11,
        (
            "create",
            "edit",
            "bash",
            "bash",
            "find_file",
            "open",
            "edit",
            "edit",
            "bash",
            "bash",
            "submit",
        ),
        failed=(7,),
    ),
    "tau_bench/gpt-4o-airline.12records.json": Seen(
        "tau-bench",
        "You are mia_li_3668. You want to fly from New York",
        24,
        (
            "get_user_details",
            "search_direct_flight",
            "search_onestop_flight",
            "calculate",
            "book_reservation",
            "think",
            "calculate",
            "book_reservation",
        ),
        failed=(17,),
        outcome=(False, 0.0),
        runs=12,
    ),
}


def read(datasets: Path, name: str) -> Reading:
    file = datasets / "trajectories" / name
    if not file.is_file():
        pytest.skip("the outside trajectories are not there")
    return read_trajectories(file.read_bytes(), file.name)


@pytest.mark.parametrize("name", SEEN)
def test_what_is_read_is_what_the_file_holds(datasets: Path, name: str) -> None:
    seen, reading = SEEN[name], read(datasets, name)
    assert (reading.format, len(reading.trajectories)) == (seen.format, seen.runs)
    run = reading.trajectories[0]
    assert run.task.startswith(seen.task)
    assert len(run.steps) == seen.steps
    assert tuple(step.tool for step in run.steps if step.tool) == seen.tools
    assert (run.outcome.success, run.outcome.reward) == seen.outcome
    assert tuple(step.number for step in run.steps if step.error) == seen.failed
    assert tuple(step.number for step in run.steps if step.unmatched) == seen.unmatched
    assert not seen.model or run.model == seen.model


def test_every_file_of_the_folder_was_read_by_eye(datasets: Path) -> None:
    folder = datasets / "trajectories"
    if not folder.is_dir():
        pytest.skip("the outside trajectories are not there")
    there = {
        str(file.relative_to(folder)) for file in folder.glob("*/*") if ".chatml." not in file.name
    }
    assert there == set(SEEN)


def _said(message: dict[str, Any]) -> list[tuple[str, str]]:
    """Words and calls of a message, as Langfuse expects them."""
    content = message.get("content")
    if isinstance(content, str):
        found = [("text", content)] if content else []
    else:
        found = [
            ("text", part["text"])
            for part in content or []
            if part["type"] in ("text", "output_text")
        ]
        found += [
            ("call", part["name"] + json.dumps(part["input"]))
            for part in content or []
            if part["type"] == "tool_use"
        ]
    for call in message.get("tool_calls", []):
        found.append(("call", call["name"] + json.dumps(json.loads(call["arguments"]))))
    return found


def _told(step: Step) -> list[tuple[str, str]]:
    words = [("text", step.text)] if step.text else []
    return words + (
        [("call", step.tool + json.dumps(json.loads(step.arguments)))] if step.tool else []
    )


@pytest.mark.parametrize("name", [name for name in SEEN if name.startswith("langfuse/")])
def test_langfuse_s_own_normal_form_says_the_same(datasets: Path, name: str) -> None:
    (run,) = read(datasets, name).trajectories
    folder = datasets / "trajectories"
    observations = json.loads((folder / name).read_text())["observations"]
    expected = json.loads((folder / name.replace(".trace.", ".chatml.")).read_text())
    generations = [o for o in observations if o["type"] == "GENERATION"]
    said: list[tuple[str, str]] = []
    for one in sorted(generations, key=lambda o: str(o["startTime"])):
        assert expected[one["id"]]["output"]["success"]
        for message in expected[one["id"]]["output"]["data"]:
            said += _said(message)
    assert [told for step in run.steps if step.role == "assistant" for told in _told(step)] == said


def test_counts_of_the_airline_runs_are_those_of_the_file(datasets: Path) -> None:
    name = "tau_bench/gpt-4o-airline.12records.json"
    reading = read(datasets, name)
    records = json.loads((datasets / "trajectories" / name).read_text())
    for run, record in zip(reading.trajectories, records, strict=True):
        calls = [c["function"]["name"] for m in record["traj"] for c in m.get("tool_calls") or []]
        errors = sum(
            m["role"] == "tool" and m["content"].startswith("Error") for m in record["traj"]
        )
        assert [step.tool for step in run.steps if step.tool] == calls
        assert sum(bool(step.error) for step in run.steps) == errors
        assert run.outcome.reward == record["reward"]
        assert len(run.steps) == sum(m["role"] != "tool" for m in record["traj"])


def test_actions_of_text_worlds_are_those_of_the_file(datasets: Path) -> None:
    name = "react_text/alfworld_3prompts_few_shot.json"
    reading = read(datasets, name)
    worlds = json.loads((datasets / "trajectories" / name).read_text())
    assert [run.name for run in reading.trajectories] == list(worlds)
    for run, text in zip(reading.trajectories, worlds.values(), strict=True):
        typed = [line.lstrip("> ") for line in text.splitlines() if line.startswith(">")]
        actions = [line for line in typed if not line.startswith("think:")]
        assert [step.arguments for step in run.steps if step.tool] == actions


def test_a_sub_agent_lies_in_the_run_that_called_it(datasets: Path) -> None:
    (run,) = read(datasets, "atif/subagent_trajectories.json").trajectories
    (child,) = run.children
    assert (child.agent, len(child.steps), child.name) == (
        "summarizer",
        3,
        "sess-child-summary-001",
    )


def test_addresses_in_outside_logs_are_masked(datasets: Path) -> None:
    reading = read(datasets, "tau_bench/gpt-4o-airline.12records.json")
    assert {masked.kind for masked in reading.masked} == {"e-mail address"}
    told = [step.observation for run in reading.trajectories for step in run.steps]
    assert not any("@example.com" in text for text in told)
