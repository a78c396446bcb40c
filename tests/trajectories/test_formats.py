"""One run, as each tool would write it down, is read as one and the same run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_runs import SHELLS, TALK, WRITERS, Call, Talk

from memory_core import TRAJECTORY_FORMATS, Step, read_trajectories

EVERY = {**WRITERS, **SHELLS}


def arguments_of(step: Step) -> object:
    """What the arguments mean; SWE-agent's begin with the command."""
    text = step.arguments.removeprefix(step.tool).strip()
    return json.loads(text)


@pytest.mark.parametrize("name", EVERY)
def test_the_format_is_recognised(name: str) -> None:
    title, write = EVERY[name]
    reading = read_trajectories(write(TALK))
    assert reading.format == title
    assert reading.format in TRAJECTORY_FORMATS
    assert reading.warnings == ()
    assert len(reading.trajectories) == 1


@pytest.mark.parametrize("name", WRITERS)
def test_calls_results_errors_and_words_are_all_there(name: str) -> None:
    _, write = WRITERS[name]
    (run,) = read_trajectories(write(TALK)).trajectories
    assert run.task == TALK.task
    assert [step.number for step in run.steps] == list(range(1, len(run.steps) + 1))
    calls = [step for step in run.steps if step.tool]
    assert [step.tool for step in calls] == [call.tool for call in TALK.calls]
    assert [arguments_of(step) for step in calls] == [dict(call.arguments) for call in TALK.calls]
    assert [step.observation for step in calls] == [call.result for call in TALK.calls]
    assert [bool(step.error) for step in calls] == [call.failed for call in TALK.calls]
    assert all(step.role == "assistant" and not step.unmatched for step in calls)
    assert [step.text for step in calls] == [call.said for call in TALK.calls]
    assert run.steps[-1].text == TALK.answer
    assert "no such file" in calls[0].error


@pytest.mark.parametrize("name", SHELLS)
def test_what_a_shell_was_told_is_kept_as_written(name: str) -> None:
    _, write = SHELLS[name]
    (run,) = read_trajectories(write(TALK)).trajectories
    calls = [step for step in run.steps if step.tool]
    assert run.task == TALK.task
    assert [json.loads(step.arguments)["path"] for step in calls] == [
        "app.tml",
        "app.toml",
        "app.toml",
    ]
    assert [step.observation for step in calls] == [call.result for call in TALK.calls]
    assert [bool(step.error) for step in calls] == [True, False, False]


@pytest.mark.parametrize("name", EVERY)
def test_a_call_without_its_result_is_kept_and_marked(name: str) -> None:
    _, write = EVERY[name]
    *others, last = TALK.calls
    run = read_trajectories(
        write(replace(TALK, calls=(*others, replace(last, result=None))))
    ).trajectories[0]
    calls = [step for step in run.steps if step.tool]
    assert len(calls) == 3
    assert [step.observation for step in calls] == [*(c.result for c in others), ""]
    if name != "SWE-agent":  # it writes an empty text for a result that is empty
        assert [step.unmatched for step in calls] == ["", "", "call"]


@pytest.mark.parametrize("name", EVERY)
def test_a_format_can_be_forced(name: str) -> None:
    title, write = EVERY[name]
    assert read_trajectories(write(TALK), format=title) == read_trajectories(write(TALK))


def test_cursor_has_calls_and_no_results() -> None:
    rows = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "list src"}]}},
        {
            "role": "assistant",
            "message": {
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "name": "Shell", "input": {"command": "ls src"}},
                ]
            },
        },
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "a.py and b.py"}]}},
    ]
    reading = read_trajectories("\n".join(map(json.dumps, rows)))
    assert reading.format == "Cursor"
    (run,) = reading.trajectories
    assert [(s.role, s.tool, s.unmatched) for s in run.steps] == [
        ("user", "", ""),
        ("assistant", "Shell", "call"),
        ("assistant", "", ""),
    ]
    assert run.steps[1].text == "I look."


def test_reflexion_s_memories_are_told_to_be_lessons() -> None:
    rows = [
        {
            "name": "env_0",
            "is_success": False,
            "memory": ["I bought the wrong one.", "I searched too narrowly."],
        },
        {"name": "env_1", "is_success": True, "memory": []},
    ]
    reading = read_trajectories(json.dumps(rows))
    assert reading.format == "Reflexion results"
    assert [run.outcome.success for run in reading.trajectories] == [False, True]
    assert [len(run.steps) for run in reading.trajectories] == [2, 0]
    assert any("2 lessons" in warning for warning in reading.warnings)


def test_anything_else_is_one_step_of_text_with_a_warning() -> None:
    reading = read_trajectories("Dear diary, today the agent did nothing.\nNothing at all.")
    assert reading.format == "raw text"
    ((step,),) = (run.steps for run in reading.trajectories)
    assert step.text == "Dear diary, today the agent did nothing.\nNothing at all."
    assert reading.warnings


def test_outcomes_are_told_where_the_source_tells_them() -> None:
    told = {
        name: read_trajectories(WRITERS[name][1](TALK)).trajectories[0].outcome
        for name in ("tau-bench", "tau2-bench", "Inspect", "SWE-agent", "OpenAI chat")
    }
    assert [(o.success, o.reward) for o in told.values()] == [
        (True, 1.0),
        (True, 1.0),
        (True, 1.0),
        (None, None),
        (None, None),
    ]
    assert told["tau2-bench"].reason == "user_stop"
    assert told["SWE-agent"].reason == "submitted"


words = st.text("abcdefgh ", min_size=1, max_size=12).map(lambda text: f"w{text.strip()}")
some_calls = st.builds(
    Call,
    tool=st.sampled_from(["read", "write", "search_web", "run"]),
    arguments=st.dictionaries(st.sampled_from(["path", "query", "n"]), words, min_size=1),
    result=st.none() | words,
    said=st.just("") | words,
)
talks = st.builds(
    Talk, task=words, calls=st.lists(some_calls, min_size=1, max_size=6).map(tuple), answer=words
)


@settings(max_examples=40, deadline=None)
@given(talk=talks, name=st.sampled_from(sorted(WRITERS)))
def test_every_call_in_the_source_appears_once(talk: Talk, name: str) -> None:
    (run,) = read_trajectories(WRITERS[name][1](talk)).trajectories
    read = Counter(
        (s.tool, json.dumps(arguments_of(s), sort_keys=True)) for s in run.steps if s.tool
    )
    assert read == Counter(
        (c.tool, json.dumps(dict(c.arguments), sort_keys=True)) for c in talk.calls
    )
