"""What README says works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_library_s_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, in an empty folder; with the deterministic embedder, to be quick."""
    _, _, section = README.read_text(encoding="utf-8").partition("## The library\n")
    code = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINNOW_MODEL", "hash")
    names: dict[str, object] = {}
    exec(code, names)
    assert (tmp_path / "memories.duckdb").is_file()
    assert names["found"].injection.startswith("[G0] Run `git rebase --onto")  # type: ignore[attr-defined]
