"""`winnow compress` and `winnow map`, as a person or a script calls them."""

from __future__ import annotations

import csv
import io
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from memory_core import Add, Batch, CompressionSettings, MemoryBank
from tests.commands import Winnow
from tests.conftest import Filled

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def full(filled: Filled) -> MemoryBank:
    """Twelve lessons over a capacity of eight, and a query whose only good lesson is weak."""
    return filled(_full)


def _full(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add(f"{word} lesson {i} about {word} and {i}", "tool", word, confidence=0.3 + 0.03 * i)
        for i, word in enumerate(WORDS * 2)
    ], "twelve lessons")))  # fmt: skip
    bank.configure(capacity=8)
    bank.save_query("alpha lesson 0 about alpha and 0", judgements={1: 3})


def test_the_plan_is_shown_with_its_price_and_nothing_is_written(
    winnow: Winnow, full: MemoryBank
) -> None:
    planned = full.plan_compression(CompressionSettings(capacity=8))
    for words in ((), ("--dry-run",)):
        told = winnow("compress", "--json", *words).json
        assert [one["id"] for one in told["dropped"]] == planned.dropped.tolist()
        assert told["size"] == {"before": 12, "after": 8}
        assert told["revision"] is None
        lost = {i for one in told["cost"]["losing"] for i in one["lost"]}
        assert (1 in lost) == (1 in planned.dropped.tolist())
        said = winnow("compress", *words)
        assert said.returncode == 0
        assert "Nothing was written." in said.stdout
        assert "Drops 4 of 12" in said.stdout
    assert len(full.revisions()) == 1


def test_yes_commits_that_very_plan(winnow: Winnow, full: MemoryBank) -> None:
    shown = winnow("compress", "--strategy", "importance", "--pin", 1, "--json").json
    assert 1 not in [one["id"] for one in shown["dropped"]]
    done = winnow("compress", "--strategy", "importance", "--pin", 1, "--yes", "--json").json
    assert done["revision"] == 2
    assert done["dropped"] == shown["dropped"]
    gone = set(full.snapshot(1).ids.tolist()) - set(full.snapshot().ids.tolist())
    assert gone == {one["id"] for one in done["dropped"]} != set()
    assert full.snapshot().by_id(1).pinned
    assert winnow("undo", 2).returncode == 0
    assert full.snapshot().memories == full.snapshot(1).memories


def test_nothing_to_do_is_no_error(winnow: Winnow, full: MemoryBank) -> None:
    ended = winnow("compress", "--capacity", 50, "--yes")
    assert ended.returncode == 0
    assert "Nothing was written." in ended.stdout
    assert len(full.revisions()) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [(("--strategy", "magic"), 2), (("--yes", "--dry-run"), 2), (("--pin", "99"), 1),
     (("--capacity", "0", "--pin", "1"), 1), (("--fraction", "2", "--strategy", "importance"), 1)],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    winnow: Winnow, full: MemoryBank, words: tuple[str, ...], code: int
) -> None:
    ended = winnow("compress", *words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert len(full.revisions()) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
@pytest.mark.parametrize(("answer", "revisions"), [("n", 1), ("y", 2)])
def test_on_a_terminal_it_asks(
    full: MemoryBank, winnow_environment: dict[str, str], answer: str, revisions: int
) -> None:
    code, said = on_a_terminal(["compress"], winnow_environment, f"{answer}\n", until="[y/N]")
    assert code == 0, said
    assert "takes 4 memories out?" in said
    assert len(full.revisions()) == revisions


def on_a_terminal(
    words: list[str], environment: dict[str, str], answer: str = "", until: str = ""
) -> tuple[int, str]:
    """How the command ends on a terminal, and all that stands on it then."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_core.cli", *words],
        env={**os.environ, **environment}, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    said, deadline = b"", time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # its other end is closed
            break
        if not piece:
            break
        said += piece
        if until and until in said.decode(errors="replace"):
            os.write(ours, answer.encode())
            until = ""
    os.close(ours)
    return process.wait(60), said.decode(errors="replace")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_no_text_plays_with_a_terminal(
    bank: MemoryBank, winnow_environment: dict[str, str]
) -> None:
    """A screen is cleared, a title set and a line hidden by such texts, where they are obeyed."""
    reasons = ("Clear\x1b[2J it.", "Title\x1b]0;mine\x07 it.", "Hide\x9b8m it.", "Turn \u202eit.")
    for number, reason in enumerate(reasons):
        bank.commit(bank.plan(Batch([Add(f"Lesson {number}.", "tool", "git")], reason)))
    code, said = on_a_terminal(["history"], winnow_environment)
    assert code == 0
    for piece in ("Clear\\x1b[2J it.", "Title\\x1b]0;mine\\x07 it.", "Hide\\x9b8m", "\\u202eit."):
        assert piece in said
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)


# -- the map --------------------------------------------------------------------------------------


def test_the_map_is_fitted_once_and_says_how_far_it_can_be_trusted(
    winnow: Winnow, full: MemoryBank
) -> None:
    first = winnow("map", "--json").json
    (made,) = full.projections()
    assert (first["fitted"], first["map"], first["method"]) == (True, made.id, "pca")
    assert first["honesty"]["sentence"] == made.honesty.sentence
    said = winnow("map")
    assert made.honesty.sentence in said.stdout
    assert len(full.projections()) == 1
    assert winnow("map", "--refit").returncode == 0
    assert len(full.projections()) == 2


def test_positions_are_the_library_s(winnow: Winnow, full: MemoryBank, tmp_path: Path) -> None:
    points = winnow("map", "--json").json["points"]
    found = full.map()
    assert found is not None
    assert [point["id"] for point in points] == found.snapshot.ids.tolist()
    np.testing.assert_array_equal([[p["x"], p["y"]] for p in points], found.positions)
    file = tmp_path / "map.csv"
    assert winnow("map", "--csv", file).returncode == 0
    printed = winnow("map", "--csv", "-").stdout
    assert file.read_text(encoding="utf-8") == printed
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["text"] for row in rows] == [memory.text for memory in full.snapshot()]
    assert [float(row["x"]) for row in rows] == found.positions[:, 0].tolist()


def test_an_empty_bank_has_no_map(winnow: Winnow, bank: MemoryBank) -> None:
    ended = winnow("map")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no memory to map" in ended.stderr
