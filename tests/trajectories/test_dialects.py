"""The same talk in the words of many vendors, within and without the formats that carry it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sample_runs import TALK, claude_code, codex, openai_chat

from memory_core import Reading, UnreadableTrajectoryError, read_files, read_trajectories

Row = tuple[str, str, str, str]


def told(reading: Reading) -> list[Row]:
    """Who, words, tool and result of the steps of the first run."""
    return [(s.role, s.text, s.tool, s.observation) for s in reading.trajectories[0].steps]


WEATHER: list[Row] = [
    ("user", "Rain in Oslo?", "", ""),
    ("assistant", "", "look", "wet"),
    ("assistant", "Yes, it rains.", "", ""),
]
CITY = {"city": "Oslo"}
CITY_TEXT = json.dumps(CITY)
DIALECTS: dict[str, list[dict[str, Any]]] = {
    "OpenAI": [
        {"role": "user", "content": "Rain in Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "look", "arguments": CITY_TEXT},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "wet"},
        {"role": "assistant", "content": "Yes, it rains."},
    ],
    "OpenAI, of old": [
        {"role": "user", "content": "Rain in Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "look", "arguments": CITY_TEXT},
        },
        {"role": "function", "name": "look", "content": "wet"},
        {"role": "assistant", "content": "Yes, it rains."},
    ],
    "LangChain": [
        {"type": "human", "content": "Rain in Oslo?"},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"id": "1", "name": "look", "args": CITY, "type": "tool_call"}],
        },
        {
            "type": "tool",
            "content": "wet",
            "tool_call_id": "1",
            "name": "look",
            "status": "success",
        },
        {"type": "ai", "content": "Yes, it rains."},
    ],
    "LangChain, as it writes itself down": [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "HumanMessage"],
            "kwargs": {"content": "Rain in Oslo?"},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "AIMessage"],
            "kwargs": {
                "content": [{"type": "tool_use", "id": "1", "name": "look", "input": CITY}],
                "tool_calls": [{"id": "1", "name": "look", "args": CITY}],
            },
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "ToolMessage"],
            "kwargs": {"content": "wet", "tool_call_id": "1"},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "AIMessage"],
            "kwargs": {"content": "Yes, it rains."},
        },
    ],
    "Gemini": [
        {"role": "user", "parts": [{"text": "Rain in Oslo?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": CITY}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "look", "response": {"output": "wet"}}}],
        },
        {"role": "model", "parts": [{"text": "Yes, it rains."}]},
    ],
    "Vercel": [
        {"role": "user", "content": [{"type": "text", "text": "Rain in Oslo?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "1", "toolName": "look", "input": CITY}
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "1",
                    "toolName": "look",
                    "output": {"type": "text", "value": "wet"},
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Yes, it rains."}]},
    ],
    "ShareGPT": [
        {"from": "human", "value": "Rain in Oslo?"},
        {"from": "gpt", "value": "", "tool_calls": [{"name": "look", "arguments": CITY}]},
        {"from": "tool", "value": "wet"},
        {"from": "gpt", "value": "Yes, it rains."},
    ],
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_list_of_messages(name: str) -> None:
    reading = read_trajectories(json.dumps(DIALECTS[name]))
    assert told(reading) == WEATHER
    assert json.loads(reading.trajectories[0].steps[1].arguments) == CITY
    assert not any(step.unmatched for step in reading.trajectories[0].steps)


@pytest.mark.parametrize("name", DIALECTS)
def test_messages_line_by_line_and_in_an_object(name: str) -> None:
    lines = "\n".join(json.dumps(message) for message in DIALECTS[name])
    assert told(read_trajectories(lines)) == WEATHER
    assert (
        told(read_trajectories(json.dumps({"messages": DIALECTS[name], "reward": 1.0}))) == WEATHER
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_messages_in_a_trace_of_langfuse(name: str) -> None:
    asked, call, result, answer = DIALECTS[name]
    generations = [([asked], call), ([asked, call, result], answer)]
    observations = [
        {
            "id": str(i),
            "parentObservationId": None,
            "type": "GENERATION",
            "startTime": str(i),
            "input": json.dumps(put_in),
            "output": json.dumps(put_out),
        }
        for i, (put_in, put_out) in enumerate(generations)
    ]
    reading = read_trajectories(json.dumps({"trace": {"id": "t"}, "observations": observations}))
    assert reading.format == "Langfuse"
    assert told(reading) == WEATHER


def observation(
    number: int, kind: str, name: str, put_in: Any, put_out: Any, parent: str = ""
) -> dict[str, Any]:
    return {
        "id": str(number),
        "parentObservationId": parent or None,
        "type": kind,
        "name": name,
        "startTime": str(number),
        "level": "DEFAULT",
        "input": put_in if isinstance(put_in, str) else json.dumps(put_in),
        "output": put_out if isinstance(put_out, str) else json.dumps(put_out),
    }


def test_langfuse_over_vercel_tells_one_call_of_the_model_twice() -> None:
    calls = [{"toolCallId": "1", "toolName": "look", "input": CITY_TEXT}]
    observations = [
        observation(1, "GENERATION", "ai.generateText", {"prompt": "Rain in Oslo?"}, calls),
        observation(
            2,
            "GENERATION",
            "ai.generateText.doGenerate",
            [DIALECTS["Vercel"][0]],
            calls,
            parent="1",
        ),
        observation(3, "TOOL", "look", CITY, "wet", parent="1"),
    ]
    assert (
        told(read_trajectories(json.dumps({"trace": {}, "observations": observations})))
        == WEATHER[:2]
    )


def test_langfuse_over_google_s_kit() -> None:
    asked, call, result, answer = DIALECTS["Gemini"]
    config = {"config": {"system_instruction": "Be brief."}}
    observations = [
        observation(
            1, "GENERATION", "call_llm", {**config, "contents": [asked]}, {"content": call}
        ),
        observation(2, "TOOL", "execute_tool look", CITY, {"output": "wet"}),
        observation(
            3,
            "GENERATION",
            "call_llm",
            {**config, "contents": [asked, call, result]},
            {"content": answer},
        ),
    ]
    reading = read_trajectories(json.dumps({"trace": {}, "observations": observations}))
    assert [row[0] for row in told(reading)] == ["system", "user", "assistant", "assistant"]
    assert [row[2] for row in told(reading)] == ["", "", "look", ""]


def test_langfuse_over_microsoft_s_framework_wraps_results() -> None:
    wrapped = json.dumps({"type": "function_result", "call_id": "1", "result": "wet"})
    asked = {"role": "user", "parts": [{"type": "text", "content": "Rain in Oslo?"}]}
    call = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "1", "name": "look", "arguments": CITY_TEXT}],
    }
    result = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "1", "response": wrapped}],
    }
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "Yes, it rains."}]}
    observations = [
        observation(1, "AGENT", "invoke_agent", [asked], [call, result, answer]),
        observation(2, "GENERATION", "chat", [asked], [call], parent="1"),
        observation(3, "TOOL", "look", CITY, "wet", parent="1"),
        observation(4, "GENERATION", "chat", [asked, call, result], [answer], parent="1"),
    ]
    assert (
        told(read_trajectories(json.dumps({"trace": {}, "observations": observations}))) == WEATHER
    )


def test_langfuse_over_koog_writes_calls_as_text() -> None:
    call = json.dumps(
        [{"function": {"name": "look", "arguments": CITY_TEXT}, "id": "1", "type": "function"}]
    )
    asked = {"role": "user", "content": "Rain in Oslo?"}
    observations = [
        observation(1, "GENERATION", "llm.chat", [asked], [{"role": "assistant", "content": call}]),
        observation(2, "SPAN", "tool.look", CITY, "wet"),
        observation(
            3,
            "GENERATION",
            "llm.chat",
            [asked, {"role": "tool", "content": call}, {"role": "tool", "content": "wet"}],
            [{"role": "assistant", "content": "Yes, it rains."}],
        ),
    ]
    assert (
        told(read_trajectories(json.dumps({"trace": {}, "observations": observations}))) == WEATHER
    )


def test_sub_agents_of_a_trace_lie_beside_it() -> None:
    ask, sub = {"role": "user", "content": "Plan it."}, {"role": "user", "content": "Find a hotel."}
    handed = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": "hotel_agent", "arguments": "{}"}}],
    }
    observations = [
        observation(1, "AGENT", "planner", None, None),
        observation(2, "GENERATION", "llm", [ask], handed, parent="1"),
        observation(3, "TOOL", "hotel_agent", {}, "The Grand.", parent="1"),
        observation(4, "AGENT", "hotel agent", None, None, parent="3"),
        observation(
            5,
            "GENERATION",
            "llm",
            [sub],
            {"role": "assistant", "content": "The Grand."},
            parent="4",
        ),
        observation(
            6, "GENERATION", "llm", [ask], {"role": "assistant", "content": "Done."}, parent="1"
        ),
    ]
    (run,) = read_trajectories(json.dumps({"trace": {}, "observations": observations})).trajectories
    assert [(s.text, s.tool) for s in run.steps] == [
        ("Plan it.", ""),
        ("", "hotel_agent"),
        ("Done.", ""),
    ]
    (child,) = run.children
    assert (child.agent, child.task) == ("hotel agent", "Find a hotel.")


def test_streams_are_put_together() -> None:
    anthropic = [
        {"type": "message_start", "message": {"role": "assistant", "model": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "I look"},
        },
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "1", "name": "look"},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"city":'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": ' "Oslo"}'},
        },
    ]
    stream = "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in anthropic
    )
    reading = read_trajectories(stream)
    assert (reading.format, told(reading)) == (
        "Anthropic Messages",
        [("assistant", "I look", "look", "")],
    )
    assert json.loads(reading.trajectories[0].steps[0].arguments) == CITY
    chunks = [{"choices": [{"delta": {"content": part}}]} for part in ("Yes, ", "it rains.")]
    openai = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    reading = read_trajectories(openai)
    assert (reading.format, told(reading)) == ("OpenAI chat", [WEATHER[2]])


def test_a_text_world_with_its_verdict() -> None:
    log = """Environment #3:
You are in the middle of a room.
Your task is to: put a mug on the desk.
> think: I need a mug first.
OK.
> take mug 1 from shelf 2
You pick up the mug 1 from the shelf 2.
> put mug 1 in/on desk 1
Nothing happens.
STATUS: FAIL
"""
    (run,) = read_trajectories(log).trajectories
    assert run.task == "put a mug on the desk."
    assert [(s.text, s.tool, s.arguments) for s in run.steps[1:]] == [
        ("I need a mug first.", "take", "take mug 1 from shelf 2"),
        ("", "put", "put mug 1 in/on desk 1"),
    ]
    assert run.steps[2].error
    assert run.outcome.success is False


def test_react_as_langchain_prints_it() -> None:
    log = (
        "Thought: I search.\nAction: search\nAction Input: rain Oslo\nObservation: wet\n"
        "Thought: I know.\nFinal Answer: Yes."
    )
    (run,) = read_trajectories(log).trajectories
    assert [(s.tool, s.arguments, s.observation) for s in run.steps] == [
        ("search", "rain Oslo", "wet"),
        ("", "", ""),
    ]


def test_bare_mini_swe_agent_of_the_first_version() -> None:
    messages = [
        {
            "role": "user",
            "content": "Please solve this issue: It crashes.\n\nYou can execute bash commands.",
        },
        {"role": "assistant", "content": "I look.\n\n```mswea_bash_command\nls\n```"},
        {"role": "user", "content": "<returncode>2</returncode>\n<output>\nls: no\n</output>"},
        {
            "role": "assistant",
            "content": "```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```",
        },
    ]
    reading = read_trajectories(json.dumps(messages))
    (run,) = reading.trajectories
    assert (reading.format, run.task, run.outcome.reason) == (
        "mini-swe-agent",
        "It crashes.",
        "Submitted",
    )
    assert [(s.text, s.tool, s.arguments, s.observation, s.error) for s in run.steps[1:2]] == [
        ("I look.", "bash", "ls", "ls: no", "ls: no")
    ]


def test_one_run_in_several_files_is_one_again() -> None:
    log = claude_code(TALK).splitlines()
    files = [("a.jsonl", "\n".join(log[:3]).encode()), ("b.jsonl", "\n".join(log[3:]).encode())]
    reading = read_files(files)
    (run,) = reading.trajectories
    (whole,) = read_trajectories(claude_code(TALK)).trajectories
    assert run.steps == whole.steps


def test_several_files_of_several_formats() -> None:
    files = [
        ("a.jsonl", codex(TALK).encode()),
        ("b.json", openai_chat(TALK).encode()),
        ("c.json", openai_chat(TALK).encode()),
    ]
    reading = read_files(files)
    assert reading.format == "Codex CLI"
    assert len(reading.trajectories) == 3
    with pytest.raises(UnreadableTrajectoryError, match=r"empty\.txt"):
        read_files([*files, ("empty.txt", b" ")])
