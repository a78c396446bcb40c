"""On every page: which bank and revision this is, what went wrong, and the way back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, Delete, HashEmbedder, MemoryBank
from tests.conftest import Filled

Open = Callable[..., AppTest]
PAGES = ["", "query"]
"""AppTest runs a page that it switches to without the frame; what it cannot show of Query, the
browser tests do."""


def everything(app: AppTest) -> str:
    """All that the page says, on one line."""
    kinds = (
        "header",
        "subheader",
        "markdown",
        "caption",
        "text",
        "error",
        "warning",
        "info",
        "code",
    )
    words = [element.value for kind in kinds for element in app.get(kind)]
    return " ".join(words).replace("\u2060", "").replace("\\", "").replace("**", "")


@pytest.fixture
def lessons(filled: Filled) -> MemoryBank:
    return filled(_lessons)


def _lessons(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Rebase with --onto to move a branch.", "tool", "git"),
        Add("Split the question at its unnamed entity.", "strategic", "research"),
        Add("Count the rows before and after a join.", "procedural", "data", tags=("sql",)),
    ], "three lessons")))  # fmt: skip


def test_the_status_line_tells_the_bank_and_the_revision(
    open_app: Open, lessons: MemoryBank
) -> None:
    app = open_app(lessons)
    assert not app.exception
    said = everything(app)
    for part in ("session 0", "1 strategic", "1 procedural", "1 tool", "0 proposals", "3 / 500"):
        assert part in said


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("state", ["missing", "no DuckDB file", "another model", "empty"])
def test_no_page_breaks_on_a_bank_that_cannot_be_read(
    open_app: Open, tmp_path: Path, page: str, state: str
) -> None:
    path = tmp_path / "some.duckdb"
    if state == "no DuckDB file":
        path.write_bytes(b"not a bank" * 1000)
    elif state == "another model":

        class Other(HashEmbedder):
            name = "other"

        MemoryBank.open(path, embedder=Other())
    elif state == "empty":
        MemoryBank.open(path, embedder=HashEmbedder())
    app = open_app(path, page)
    assert not app.exception
    expected = {
        "missing": "No bank is open yet",
        "no DuckDB file": "is not a DuckDB file",
        "another model": "embed",
        "empty": "Write a task" if page else "0 / 500",
    }
    assert expected[state] in everything(app)


def test_an_unknown_revision_is_said_and_the_latest_shown(
    open_app: Open, lessons: MemoryBank
) -> None:
    app = open_app(lessons, revision="99")
    assert "There is no revision 99" in everything(app)
    assert "3 of 3 memories" in everything(app)


def test_a_past_revision_is_shown_read_only(open_app: Open, lessons: MemoryBank) -> None:
    lessons.commit(lessons.plan(Batch([Delete(1)], "too special")))
    app = open_app(lessons, revision="1")
    assert "3 of 3 memories" in everything(app)
    assert "three lessons" in everything(app)
    next(b for b in app.button if b.label == "Back to latest").click().run()
    assert "2 of 2 memories" in everything(app)


def test_the_first_page_paints_before_anything_heavy_is_imported(
    lessons: MemoryBank, tmp_path: Path
) -> None:
    """In a process of its own: what other tests have imported does not count."""
    script = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=120).run()\n"
        "assert not app.exception and '3 of 3' in app.caption[1].value + app.caption[0].value\n"
        "heavy = 'torch transformers sentence_transformers sklearn umap bm25s'.split()\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    root = Path(__file__).resolve().parents[2]
    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env={
            "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(root),
            "WINNOW_BANK": str(lessons.path), "WINNOW_MODEL": "hash",
            "WINNOW_HOME": str(tmp_path / "home"),
        },
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert result.stdout.strip().splitlines()[-1:] == ["[]"], result.stderr[-2000:]
