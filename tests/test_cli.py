"""The command `winnow`, as a person or a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_core import Add, Batch, Delete, HashEmbedder, MemoryBank
from tests.commands import Winnow
from tests.conftest import Filled


@pytest.fixture
def lessons(filled: Filled) -> MemoryBank:
    return filled(_lessons)


def _lessons(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Rebase with --onto to move a branch.", "tool", "git"),
        Add("Count the rows before and after a join.", "procedural", "data"),
    ], "two lessons")))  # fmt: skip


def test_retrieve_prints_what_an_agent_would_get(winnow: Winnow, lessons: MemoryBank) -> None:
    task, path = "move a branch", str(lessons.path)
    result = winnow("retrieve", task, "--bank", path)
    found = lessons.retrieve(task)
    assert result.stdout.strip() == found.injection
    content = json.loads(winnow("retrieve", task, "--json", WINNOW_BANK=path).stdout)
    assert [hit["id"] for hit in content["hits"]] == [hit.memory.id for hit in found.hits]
    assert content["injection"] == found.injection
    assert lessons.retrievals() == ()


def test_history_and_undo(winnow: Winnow, lessons: MemoryBank) -> None:
    path = str(lessons.path)
    lessons.commit(lessons.plan(Batch([Delete(1)], "too special")))
    listed = winnow("history", "--bank", path).stdout.splitlines()
    assert "too special" in listed[0]
    assert "two lessons" in listed[1]
    assert winnow("undo", "2", "--bank", path).returncode == 0
    assert lessons.snapshot().memories == lessons.snapshot(1).memories


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("undo", "7"), "no revision 7"),
        (("retrieve", "x", "--limit", "0"), "limit"),
    ],
)
def test_errors_are_one_sentence_and_exit_code_1(
    winnow: Winnow, lessons: MemoryBank, words: tuple[str, ...], expected: str
) -> None:
    result = winnow(*words, WINNOW_BANK=str(lessons.path))
    assert result.returncode == 1
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_a_bank_that_is_not_there_is_not_created(winnow: Winnow, tmp_path: Path) -> None:
    missing = tmp_path / "missing.duckdb"
    result = winnow("history", "--bank", str(missing))
    assert result.returncode == 1
    assert str(missing) in result.stderr
    assert not missing.exists()


def test_reembed_is_the_way_out_of_another_model(winnow: Winnow, tmp_path: Path) -> None:
    class Other(HashEmbedder):
        name = "other"

    path = tmp_path / "other.duckdb"
    bank = MemoryBank.open(path, embedder=Other())
    bank.commit(bank.plan(Batch([Add("a lesson", "tool", "git")])))
    refused = winnow("history", "--bank", str(path))
    assert refused.returncode == 1
    assert "winnow reembed" in refused.stderr
    assert "1 text was embedded" in winnow("reembed", "--bank", str(path)).stdout
    assert winnow("history", "--bank", str(path)).returncode == 0
