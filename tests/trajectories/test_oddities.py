"""Logs are seldom whole and clean: what people paste is read all the same."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from sample_runs import TALK, WRITERS, claude_code, codex, openai_chat, swe_agent

from memory_core import Reading, UnreadableTrajectoryError, read_trajectories


def rows(log: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.splitlines()]


def lines(records: list[Any]) -> str:
    return "\n".join(json.dumps(record) for record in records)


def tools(reading: Reading) -> list[str]:
    return [step.tool for run in reading.trajectories for step in run.steps if step.tool]


WANTED = [call.tool for call in TALK.calls]


@pytest.mark.parametrize("odd", ['"a string"', "17", "[1, 2]", "null", "", "{broken", "true"])
def test_a_line_that_is_no_object(odd: str) -> None:
    told = codex(TALK).splitlines()
    reading = read_trajectories("\n".join([*told[:4], odd, *told[4:]]))
    assert reading.format == "Codex CLI"
    assert tools(reading) == WANTED


def test_a_stream_that_was_cut_inside_json() -> None:
    log = codex(TALK)
    reading = read_trajectories(log[:-40])
    assert tools(reading) == WANTED
    assert any("line" in warning for warning in reading.warnings)


@pytest.mark.parametrize("name", ["OpenAI chat", "ATIF", "tau-bench", "Gemini", "SWE-agent"])
def test_a_document_that_was_cut(name: str) -> None:
    title, write = WRITERS[name]
    log = str(write(TALK))
    at = log.index("app.toml", log.index("app.tml") + 60)
    reading = read_trajectories(log[: log.index("8080", at)])
    assert reading.format == title
    assert tools(reading)[:1] == WANTED[:1]
    assert any("cut" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    "content", [None, [], [{"type": "text", "text": "hi"}], "hi", 5, {"text": "hi"}]
)
def test_content_of_any_shape(content: object) -> None:
    messages = [{"role": "user", "content": "do it"}, {"role": "assistant", "content": content}]
    reading = read_trajectories(json.dumps(messages))
    assert reading.format == "OpenAI chat"
    said = [step.text for step in reading.trajectories[0].steps[1:]]
    assert said in ([], ["hi"], ["5"])


def test_content_that_is_missing() -> None:
    messages = [
        {"role": "user", "content": "do it"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1"},
    ]
    (run,) = read_trajectories(json.dumps(messages)).trajectories
    assert [(s.tool, s.observation, s.unmatched) for s in run.steps] == [
        ("", "", ""),
        ("f", "", ""),
    ]


def test_pictures_are_left_out_with_a_note() -> None:
    picture = "iVBORw0KGgo" + "A" * 9000
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
    ]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": f"I saw data:image/png;base64,{picture} and {picture}"},
    ]
    reading = read_trajectories(json.dumps(messages))
    (run,) = reading.trajectories
    assert all(picture[:50] not in step.text for step in run.steps)
    assert all("left out" in step.text for step in run.steps)
    assert any("3 pictures" in warning for warning in reading.warnings)


def test_a_result_before_its_call() -> None:
    messages = json.loads(openai_chat(TALK))
    messages[1], messages[2] = messages[2], messages[1]
    (run,) = read_trajectories(json.dumps(messages)).trajectories
    calls = [step for step in run.steps if step.tool]
    assert [(s.tool, s.observation, s.unmatched) for s in calls] == [
        (call.tool, call.result, "") for call in TALK.calls
    ]


def test_a_result_without_a_call_is_kept_and_marked() -> None:
    messages = [m for m in json.loads(openai_chat(TALK)) if not m.get("tool_calls")]
    (run,) = read_trajectories(json.dumps(messages)).trajectories
    orphans = [step for step in run.steps if step.unmatched == "result"]
    assert [step.observation for step in orphans] == [call.result for call in TALK.calls]
    assert {step.role for step in orphans} == {"tool"}


def test_arguments_that_a_model_broke_are_kept_as_written() -> None:
    broken = '{"path": "app.toml", "old": '
    messages = [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "edit", "arguments": broken}}],
        },
    ]
    (run,) = read_trajectories(json.dumps(messages)).trajectories
    assert run.steps[1].arguments == broken


def test_one_huge_observation() -> None:
    messages = json.loads(openai_chat(TALK))
    messages[2]["content"] = "line of a log\n" * 300_000
    (run,) = read_trajectories(json.dumps(messages)).trajectories
    assert run.steps[1].observation == messages[2]["content"]


def test_sub_agents_in_sub_agents() -> None:
    def document(name: str, child: str) -> dict[str, Any]:
        told: dict[str, Any] = {"source_call_id": "c", "content": "handed on"}
        if child:
            told["subagent_trajectory_ref"] = [{"session_id": child}]
        call = {"tool_call_id": "c", "function_name": "delegate", "arguments": {}}
        return {
            "schema_version": "ATIF-v1.6",
            "session_id": name,
            "agent": {"name": name},
            "steps": [
                {"step_id": 1, "source": "user", "message": f"task of {name}"},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "",
                    "tool_calls": [call],
                    "observation": {"results": [told]},
                },
            ],
        }

    reading = read_trajectories(
        json.dumps([document("c", ""), document("a", "b"), document("b", "c")])
    )
    (root,) = reading.trajectories
    assert (root.name, root.children[0].name, root.children[0].children[0].name) == ("a", "b", "c")


def test_agents_that_name_each_other_end() -> None:
    log = json.loads(WRITERS["ATIF"][1](TALK))
    log["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": "s"}]
    (run,) = read_trajectories(json.dumps(log)).trajectories
    assert tools(read_trajectories(json.dumps(log))) == WANTED
    assert run.children == ()


def test_two_runs_in_one_file() -> None:
    first, second = claude_code(TALK), claude_code(TALK).replace("s-1", "s-2").replace('"u', '"v')
    reading = read_trajectories(first + second)
    assert [run.name for run in reading.trajectories] == ["s-1", "s-2"]
    assert tools(reading) == WANTED * 2
    both = read_trajectories(lines([json.loads(swe_agent(TALK)), json.loads(swe_agent(TALK))]))
    assert len(both.trajectories) == 2


def test_one_run_in_two_files() -> None:
    """ATIF splits a long run; put together as a list, it is one again."""
    whole = json.loads(WRITERS["ATIF"][1](TALK))
    parts = [{**whole, "steps": whole["steps"][:2]}, {**whole, "steps": whole["steps"][2:]}]
    (run,) = read_trajectories(json.dumps(parts)).trajectories
    assert run.steps == read_trajectories(json.dumps(whole)).trajectories[0].steps


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    log = codex(TALK).replace("saved", "gespeichert – süß").replace("\n", end)
    reading = read_trajectories(log.encode(encoding))
    assert tools(reading) == WANTED
    assert reading.trajectories[0].steps[-2].observation == "gespeichert – süß"


def test_windows_1252_is_guessed_and_said() -> None:
    reading = read_trajectories(
        "Thought 1: für Müller\nAction 1: go[x]\nObservation 1: süß".encode("cp1252")
    )
    assert reading.trajectories[0].steps[0].observation == "süß"
    assert any("1252" in warning for warning in reading.warnings)


@pytest.mark.parametrize("name", WRITERS)
def test_the_whole_thing_inside_a_markdown_fence(name: str) -> None:
    title, write = WRITERS[name]
    log = write(TALK)
    if isinstance(log, bytes):
        pytest.skip("a packed file is not pasted")
    assert read_trajectories(f"```json\n{log.rstrip()}\n```\n") == read_trajectories(log)
    reading = read_trajectories(f"Here is my log:\n\n```\n{log.rstrip()}\n```\n\nWhat went wrong?")
    assert reading.format == title


@pytest.mark.parametrize("name", WRITERS)
def test_a_document_that_was_put_into_another(name: str) -> None:
    title, write = WRITERS[name]
    log = write(TALK)
    if isinstance(log, bytes):
        pytest.skip("a packed file is not put into another")
    for wrapped in ({"data": {"log": log}}, {"items": [log]}, json.dumps(log)):
        reading = read_trajectories(json.dumps(wrapped))
        assert (reading.format, tools(reading)) == (title, WANTED)


def test_what_came_before_the_first_line_is_passed_over() -> None:
    assert tools(read_trajectories("$ cat log " + WRITERS["OpenClaw"][1](TALK))) == WANTED  # type: ignore[operator]


def test_a_branch_that_was_given_up_lies_beside_the_run() -> None:
    told = rows(claude_code(TALK))[:-1]
    tried = {
        **told[2],
        "uuid": "t1",
        "parentUuid": "u0",
        "type": "user",
        "message": {"role": "user", "content": "No, do it otherwise."},
    }
    asked_anew = {
        **told[0],
        "uuid": "t2",
        "parentUuid": "u0",
        "message": {"role": "user", "content": "Once more, please."},
    }
    answer = {**told[-1], "uuid": "t3", "parentUuid": "t2"}
    reading = read_trajectories(lines([told[0], tried, asked_anew, answer]))
    (run,) = reading.trajectories
    assert [step.text for step in run.steps] == [TALK.task, "Once more, please.", TALK.answer]
    assert [step.text for child in run.children for step in child.steps] == ["No, do it otherwise."]
    assert any("given up" in warning for warning in reading.warnings)


def test_parallel_calls_are_no_branches() -> None:
    def row(
        uuid: str, parent: str | None, role: str, content: object, message: str = ""
    ) -> dict[str, Any]:
        return {
            "type": role,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": "s",
            "isSidechain": False,
            "message": {"role": role, "id": message, "type": "message", "content": content},
        }

    log = [
        row("a", None, "user", "both, please"),
        row("b", "a", "assistant", [{"type": "text", "text": "I look at both."}], "m1"),
        row(
            "c",
            "b",
            "assistant",
            [{"type": "tool_use", "id": "1", "name": "Read", "input": {"p": 1}}],
            "m1",
        ),
        row(
            "d",
            "c",
            "assistant",
            [{"type": "tool_use", "id": "2", "name": "Read", "input": {"p": 2}}],
            "m1",
        ),
        row("e", "c", "user", [{"type": "tool_result", "tool_use_id": "1", "content": "one"}]),
        row("f", "d", "user", [{"type": "tool_result", "tool_use_id": "2", "content": "two"}]),
        row("g", "f", "assistant", [{"type": "text", "text": "Done."}], "m2"),
    ]
    (run,) = read_trajectories(lines(log)).trajectories
    assert [(s.text, s.tool, s.observation) for s in run.steps[1:]] == [
        ("I look at both.", "Read", "one"),
        ("", "Read", "two"),
        ("Done.", "", ""),
    ]
    assert run.children == ()


def test_side_chains_are_sub_agents() -> None:
    side = [
        {
            **row,
            "isSidechain": True,
            "uuid": f"s{row['uuid']}",
            "parentUuid": f"s{row['parentUuid']}" if row["parentUuid"] else None,
        }
        for row in rows(claude_code(TALK))[:-1]
    ]
    main = rows(claude_code(TALK))[:-1]
    (run,) = read_trajectories(lines([*main[:2], *side, *main[2:]])).trajectories
    assert [step.tool for step in run.steps if step.tool] == WANTED
    (child,) = run.children
    assert [step.tool for step in child.steps if step.tool] == WANTED


@pytest.mark.parametrize("nothing", ["", "  \n\t ", "\ufeff", b"", b"\xff\xfe", b"\x00\x00"])
def test_nothing_is_refused(nothing: str | bytes) -> None:
    with pytest.raises(UnreadableTrajectoryError):
        read_trajectories(nothing)


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnreadableTrajectoryError, match="Claude Code"):
        read_trajectories("x", format="Clod Code")


def test_a_forced_format_that_does_not_fit_is_said() -> None:
    reading = read_trajectories(openai_chat(TALK), format="Letta")
    assert reading.format == "OpenAI chat"
    assert any("Letta" in warning for warning in reading.warnings)


def test_characters_that_no_store_holds_are_replaced() -> None:
    log = openai_chat(TALK).replace("saved", "sa\\u0000ved \\ud83d")
    reading = read_trajectories(log)
    told = reading.trajectories[0].steps[-2].observation
    assert "\x00" not in told
    told.encode()


@pytest.mark.parametrize(
    ("told", "success", "reward"),
    [
        ({"reward": 1}, True, 1.0),
        ({"reward": 0.5}, False, 0.5),
        ({"reward": True}, True, 1.0),
        ({"reward": "1.0"}, True, 1.0),
        ({"reward": "0"}, False, 0.0),
        ({"reward": "good"}, None, None),
        ({"reward": None}, None, None),
        ({"reward": float("nan")}, None, None),
        ({"reward": float("inf")}, None, None),
        ({"reward": 10**400}, None, None),
        ({"success": "true"}, True, None),
        ({"success": "False"}, False, None),
        ({"success": 1}, True, None),
        ({"success": "perhaps"}, None, None),
        ({"passed": 1, "failed": 3}, None, None),
    ],
)
def test_an_outcome_in_any_type(
    told: dict[str, Any], success: bool | None, reward: float | None
) -> None:
    said = [{"role": "user", "content": "Sum the bill"}, {"role": "assistant", "content": "12"}]
    (run,) = read_trajectories(json.dumps({"messages": said, **told})).trajectories
    assert (run.outcome.success, run.outcome.reward) == (success, reward)


@pytest.mark.parametrize(
    "log", ["[%s]", '{"messages": [{"role": "user", "content": "x"}], "n": %s}']
)
def test_a_number_of_thousands_of_digits_stops_nothing(log: str) -> None:
    assert read_trajectories(log % ("9" * 5000)).trajectories


def test_a_gzip_file_of_several_members_is_read_whole() -> None:
    told = codex(TALK).splitlines(keepends=True)
    packed = gzip.compress("".join(told[:4]).encode()) + gzip.compress("".join(told[4:]).encode())
    assert tools(read_trajectories(packed)) == WANTED


def test_a_gzip_file_that_was_cut_says_so() -> None:
    reading = read_trajectories(gzip.compress(codex(TALK).encode())[:-30])
    assert any("gzip" in warning for warning in reading.warnings)


def test_a_list_of_talks_is_as_many_runs() -> None:
    talk = json.loads(openai_chat(TALK))
    talk = talk if isinstance(talk, list) else talk["messages"]
    reading = read_trajectories(json.dumps([talk, talk[:2], talk]))
    assert len(reading.trajectories) == 3
    assert tools(reading)[: len(WANTED)] == WANTED


def test_a_picture_is_counted_once() -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "data": "QUJD" * 200}}
    row = {
        "type": "user", "sessionId": "s", "uuid": "1", "parentUuid": None,
        "message": {"role": "user", "content": [{"type": "text", "text": "Look"}, picture]},
    }  # fmt: skip
    assert read_trajectories(json.dumps(row)).warnings[-1].startswith("1 pictures")


def test_a_response_that_repeats_its_question_keeps_its_answer() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "weigh", "arguments": "{}"}
    answer = {"object": "response", "input": "How heavy is it?", "output": [call]}
    reading = read_trajectories(json.dumps(answer))
    assert reading.format == "OpenAI Responses"
    assert tools(reading) == ["weigh"]


def test_the_task_of_cursor_is_what_the_user_typed() -> None:
    asked = "<attached_files>a.tsx</attached_files>\n<user_query>\nAdd a button\n</user_query>"
    line = {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}}
    (run,) = read_trajectories(lines([line])).trajectories
    assert run.task == "Add a button"
