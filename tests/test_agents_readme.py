"""README's section "Under an agent": each snippet as it stands, providers scripted at the wire."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.mcp_clients import answer, environment, in_a_loop
from tests.model_servers import ModelServer, Reply, serving

README = Path(__file__).resolve().parents[1] / "README.md"
LESSON = (
    "Run `git rebase --onto main old topic` to move a branch without the other topic's commits."
)
ANSWER = "I go by [G0] and run `git rebase --onto main old topic`."
LOG = json.dumps(
    [{"role": "user", "content": "Move it."}, {"role": "assistant", "content": ANSWER}]
)


def snippets() -> dict[str, str]:
    """The code blocks of the section by what the line before each says."""
    section = README.read_text(encoding="utf-8").partition("## Under an agent\n")[2]
    section = section.partition("\n## ")[0]
    return {
        block[1].strip(): block[2]
        for block in re.finditer(r"^With ([\w ]+)[^\n]*\n\n```\w+\n(.*?)```", section, re.M | re.S)
    }


RESPONSE = json.dumps(
    {
        "id": "resp_1", "object": "response", "created_at": 1_764_500_000, "status": "completed",
        "model": "gpt-5.5", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}],
    }
).encode()  # fmt: skip


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving(Reply(body=RESPONSE)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "no-key")
        yield server


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving(Reply(text=ANSWER)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "no-key")
        yield server


Run = Callable[..., MemoryBank]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a snippet in a folder with a bank that has one lesson; gives that bank."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINNOW_MODEL", "hash")
    bank = MemoryBank.open("memories.duckdb", embedder=HashEmbedder())
    bank.update(Batch([Add(LESSON, "tool", "git")]))

    def run(snippet: str, **given: Any) -> MemoryBank:
        exec(snippets()[snippet], {"works": lambda answer: "rebase" in answer, **given})
        return bank

    return run


def assert_learned(bank: MemoryBank) -> None:
    """One retrieval is in the ledger, and the lesson that helped has risen for it."""
    (row,) = bank.retrievals()
    assert row.injection == f"[G0] {LESSON}"
    assert row.improved is True
    assert [hit.applied for hit in row.hits] == [True]
    assert bank.snapshot().by_id(1).confidence == pytest.approx(0.55)


def test_the_section_shows_these_five() -> None:
    assert list(snippets()) == [
        "any agent", "the OpenAI SDK", "the Anthropic SDK", "LangGraph", "anything that speaks MCP",
    ]  # fmt: skip


def test_any_agent(run: Run) -> None:
    prompts = []

    def my_agent(*, system: str, task: str) -> tuple[str, str]:
        prompts.append((system, task))
        return ANSWER, LOG

    bank = run("any agent", my_agent=my_agent)
    assert prompts == [(f"[G0] {LESSON}", bank.retrievals()[0].task)]
    assert_learned(bank)
    assert [kept.step_count for kept in bank.trajectories()] == [2]
    assert len(bank.reflections()) == 1


def test_the_openai_sdk(run: Run, openai: ModelServer) -> None:
    bank = run("the OpenAI SDK")
    (asked,) = openai.requests
    assert asked.path == "/v1/responses"
    assert asked.body["instructions"].startswith(f"[G0] {LESSON}\n")
    assert asked.body["input"] == bank.retrievals()[0].task
    assert_learned(bank)


def test_the_anthropic_sdk(run: Run, anthropic: ModelServer) -> None:
    bank = run("the Anthropic SDK")
    (asked,) = anthropic.requests
    assert asked.path == "/v1/messages"
    assert asked.body["system"].startswith(f"[G0] {LESSON}\n")
    assert asked.body["messages"] == [{"role": "user", "content": bank.retrievals()[0].task}]
    assert_learned(bank)


def test_langgraph(run: Run, openai: ModelServer) -> None:
    """Its node asks a provider, as a real one would."""

    def my_node(state: dict[str, str]) -> dict[str, str]:
        from openai import OpenAI

        reply = OpenAI().responses.create(
            model="gpt-5.5", instructions=state["guidelines"], input=state["task"]
        )
        return {"answer": reply.output_text}

    bank = run("LangGraph", my_node=my_node)
    assert [asked.body["instructions"] for asked in openai.requests] == [f"[G0] {LESSON}"]
    assert_learned(bank)


def test_a_client_s_configuration(run: Run, tmp_path: Path) -> None:
    """The command that it names, on a bank of ours; the module where nothing is installed."""
    run("any agent", my_agent=lambda **_: (ANSWER, LOG))
    (server,) = json.loads(snippets()["anything that speaks MCP"])["mcpServers"].values()
    assert server["command"] == "winnow"
    assert server["args"][:2] == ["mcp", "--bank"]
    installed = shutil.which("winnow", path=os.path.dirname(sys.executable))  # noqa: PTH120
    command = [installed] if installed else [sys.executable, "-m", "memory_core.cli"]
    arguments = [
        *command[1:],
        *server["args"][:2],
        str(tmp_path / server["args"][2].split("/")[-1]),
    ]

    async def main() -> None:
        parameters = StdioServerParameters(
            command=command[0], args=arguments, env=environment(), cwd=tmp_path
        )
        async with Client(parameters) as client:
            found = answer(await client.call_tool("retrieve_memories", {"task": "rebase"}))
            assert found["injection"] == f"[G0] {LESSON}"

    in_a_loop(main)
