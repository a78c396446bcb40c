"""`winnow import` and `winnow export`, as a person or a script calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_core import Add, Batch, MemoryBank, read_memories, write_memories
from tests import foreign_files
from tests.commands import Winnow


@pytest.fixture
def state(tmp_path: Path) -> Path:
    file = tmp_path / "state.json"
    lessons = json.loads(foreign_files.GRPO_STATE) | {"G2": "word " * 40}
    file.write_text(json.dumps(lessons), encoding="utf-8")
    return file


def test_a_dry_run_shows_the_plan_and_writes_nothing(
    winnow: Winnow, bank: MemoryBank, state: Path
) -> None:
    shown = winnow("import", state, "--dry-run").stdout
    assert "training-free GRPO: 2 to add" in shown
    assert "G2: The text has 40 words" in shown
    assert "Nothing was written" in shown
    assert bank.revisions() == ()


def test_import_makes_one_revision_that_undo_takes_back(
    winnow: Winnow, bank: MemoryBank, state: Path
) -> None:
    said = json.loads(
        winnow("import", state, "--domain", "maths", "--kind", "tool", "--json").stdout
    )
    assert said["revision"] == 1
    assert [one["where"] for one in said["accepted"]] == ["G0", "G1"]
    assert [one["where"] for one in said["refused"]] == ["G2"]
    assert {(m.domain, m.kind) for m in bank.snapshot()} == {("maths", "tool")}
    assert winnow("undo", 1).returncode == 0
    assert len(bank.snapshot()) == 0


def test_operations_find_their_lessons_by_a_state(
    winnow: Winnow, bank: MemoryBank, state: Path, tmp_path: Path
) -> None:
    bank.commit(
        bank.plan(Batch([Add("Unit check: Convert all lengths to metres first.", "tool", "a")]))
    )
    operations = tmp_path / "operations.json"
    operations.write_text(foreign_files.GRPO_OPERATIONS, encoding="utf-8")
    shown = winnow("import", operations, "--state", state).stdout
    assert "1 to add, 1 to modify" in shown
    assert "record 3: it names G1" in shown
    assert bank.snapshot().by_id(1).text == "Convert every length to metres."


def test_what_is_proposed_waits_with_what_is_only_too_long(
    winnow: Winnow, bank: MemoryBank, state: Path
) -> None:
    assert "3 proposals in Review" in winnow("import", state, "--propose").stdout
    waiting = bank.proposals()
    assert [proposal.source for proposal in waiting] == ["import"] * 3
    assert len(bank.refused_proposals()) == 1
    assert len(bank.snapshot()) == 0


def test_an_export_is_the_library_s_and_says_what_is_not_in_it(
    winnow: Winnow, bank: MemoryBank, tmp_path: Path
) -> None:
    bank.commit(bank.plan(Batch([Add("Größe prüfen", "tool", "git", tags=("slow",))])))
    bank.commit(bank.plan(Batch([Add("another", "strategic", "sql")])))
    assert winnow("export").stdout == write_memories(bank.snapshot(), "winnow").content.decode()
    file = tmp_path / "out.parquet"
    assert (
        winnow("export", "--format", "winnow-parquet", "--revision", 1, "-o", file).returncode == 0
    )
    assert [e.lesson.text for e in read_memories(file.read_bytes()).entries if e.lesson] == [
        "Größe prüfen"
    ]
    told = winnow("export", "--format", "grpo", "--domain", "GIT")
    assert json.loads(told.stdout) == {"G0": "Größe prüfen"}
    assert "the tags of 1 memory" in told.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("import", "nowhere.json"), "cannot be read"),
        (("import", "{state}", "--format", "kayba"), "no kayba skillbook"),
        (("import", "{state}", "--long-texts", "shorten"), "refuse or cut"),
        (("import", "{state}", "--kind", "idea"), "known: strategic"),
        (("export", "--format", "letta"), "imported only"),
        (("export", "-o", "{state}/x"), "cannot be written"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence_and_exit_code_1(
    winnow: Winnow, bank: MemoryBank, state: Path, words: tuple[str, ...], expected: str
) -> None:
    result = winnow(*(word.format(state=state) for word in words))
    assert result.returncode == 1
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert bank.revisions() == ()
