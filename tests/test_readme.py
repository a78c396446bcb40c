"""What README says works."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def first_snippet(section: str) -> str:
    """The first Python block below a heading, as it stands."""
    _, _, text = README.read_text(encoding="utf-8").partition(f"## {section}\n")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Runs code in an empty folder, with the deterministic embedder; the names that it leaves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINNOW_MODEL", "hash")

    def run(code: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(code, names)
        return names

    return run


def test_the_library_s_example_runs(run: Callable[[str], dict[str, Any]]) -> None:
    names = run(first_snippet("The library"))
    assert Path("memories.duckdb").is_file()
    assert names["found"].injection.startswith("[G0] Run `git rebase --onto")


def test_lessons_come_from_a_run(run: Callable[[str], dict[str, Any]]) -> None:
    sample = README.parent / "data" / "trajectories" / "git-recover-lost-commit.jsonl"
    shutil.copy(sample, "run.jsonl")
    names = run(first_snippet("Lessons from runs"))
    assert names["reading"].format == "Claude Code"
    assert names["bank"].proposals()


@pytest.mark.long
def test_an_agent_plays_games(run: Callable[[str], dict[str, Any]]) -> None:
    pytest.importorskip("textworld")
    code = first_snippet("The loop")
    assert "range(8)" in code
    names = run(code.replace("range(8)", "range(1)"))
    assert [kept.format for kept in names["bank"].trajectories()] == ["loop"]
