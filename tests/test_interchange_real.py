"""Real files of other systems, as far as they are at hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memory_core import ImportChoices, InterchangeError, MemoryBank, read_memories


def planned(bank: MemoryBank, file: Path, form: str, **choices: str):  # type: ignore[no-untyped-def]
    if not file.exists():
        pytest.skip(f"{file.name} is not among the outside data")
    reading = read_memories(file.read_bytes(), file.name)
    assert reading.format == form
    plan = bank.plan(reading.batch(ImportChoices(**choices)))  # type: ignore[arg-type]
    bank.commit(plan.accepted_only())
    assert len(bank.snapshot()) == len(plan.accepted)
    return reading, plan


def test_training_free_grpo_s_agent(bank: MemoryBank, datasets: Path):
    file = datasets / "retrieval" / "training_free_grpo" / "math_practice_agent.yaml"
    reading, plan = planned(bank, file, "grpo", long_texts="cut", domain="maths")
    assert [entry.source_id for entry in reading.entries] == [f"G{n}" for n in range(27)]
    # Two are one sentence of 34 and 36 words: there is no end that they could be cut at.
    assert len(plan.refused) == 2
    # Its YAML folds lines, so that its words are compared.
    words = re.sub(r"\\\s*\\?", " ", file.read_text(encoding="utf-8")).replace("\\n", " ").split()
    told = " ".join(words)
    for memory in bank.snapshot():
        assert memory.text in told
        assert memory.domain == "maths"
        assert 1 <= memory.word_count <= 32


def test_the_skillbook_of_ace_and_the_prompt_made_of_it(bank: MemoryBank, datasets: Path):
    folder = datasets / "retrieval" / "ace_skillbook"
    reading, plan = planned(bank, folder / "skillbook_20260318_150822.json", "kayba")
    book = json.loads((folder / "skillbook_20260318_150822.json").read_text(encoding="utf-8"))
    assert [e.lesson.text for e in reading.entries if e.lesson] == [
        skill["content"] for skill in book["skills"].values()
    ]
    assert len(plan.accepted) == 5
    for memory in bank.snapshot():
        assert (memory.usage_count, memory.success_count, memory.confidence) == (1, 1, 0.55)
        assert "Justification: " in memory.provenance.note
    prompt = read_memories((folder / "external_agent_injection_20260318_150822.txt").read_bytes())
    assert [e.lesson.text for e in prompt.entries if e.lesson] == [
        e.lesson.text for e in reading.entries if e.lesson
    ]
    assert len(bank.plan(prompt.batch()).refused) == 6  # five copies, and the one of 40 words


def test_memento_s_cases(bank: MemoryBank, datasets: Path):
    _, plan = planned(bank, datasets / "retrieval" / "memento" / "dummy_memo.jsonl", "memento")
    assert not plan.refused
    assert [memory.success_count for memory in bank.snapshot()] == [0, 0, 0, 0, 1, 1, 1, 1]
    for memory in bank.snapshot():
        assert memory.kind == "procedural"
        assert memory.detail.steps  # type: ignore[union-attr]


def test_portable_memory_s_example(bank: MemoryBank, datasets: Path):
    folder = datasets / "retrieval" / "portable_ai_memory"
    reading, plan = planned(bank, folder / "example-memory-store.json", "pam")
    assert not plan.refused
    assert [memory.confidence for memory in bank.snapshot()] == [0.95, 0.95, 0.95, 0.88, 0.95]
    assert {memory.domain for memory in bank.snapshot()} == {
        "personal", "technical", "professional",
    }  # fmt: skip
    assert "access" in reading.lost
    with pytest.raises(InterchangeError, match="none of the known formats"):
        read_memories((folder / "example-conversation.json").read_bytes())


def test_letta_s_agent(bank: MemoryBank, datasets: Path):
    file = datasets / "trajectories" / "letta_agent_file" / "memgpt_agent_with_convo.af"
    reading, plan = planned(bank, file, "letta")
    assert not plan.refused
    texts = [memory.text for memory in bank.snapshot()]
    assert "Occupation: Computer science PhD student at UC Berkeley" in texts
    assert "I am Sam." in texts
    assert not any(text.endswith((":", "?")) and ": ?" in text for text in texts)
    assert any("Age: ?" in problem.message for problem in reading.problems)
