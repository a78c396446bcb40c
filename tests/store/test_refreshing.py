"""An open bank whose file others change, replace or spoil shows what is there, and no more."""

from __future__ import annotations

import shutil
import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from children import assert_equal, lessons, small
from damage import flipped

from memory_core import (
    Add,
    Batch,
    Delete,
    MemoryBank,
    Modify,
    StalePlanError,
    StoreCorruptError,
)

# -- another file in the same place -------------------------------------------------------------


def test_another_bank_in_the_same_place_is_seen_at_once(bank_path: Path, tmp_path: Path) -> None:
    bank = small(bank_path)
    bank.update(lessons("a", "b", "c"))
    bank.update(lessons("d"))
    before = bank.snapshot()
    other = tmp_path / "other.duckdb"
    small(other).update(lessons("x"))
    small(other).update(Batch([Modify(1, text="something else entirely")]))
    for plan in (
        bank.plan(Batch([Delete(1)])),
        bank.plan(Batch([Add("new", "tool", "git")])),
    ):
        shutil.copy(other, bank_path)
        # The same number of revisions, and a memory of the same id: still not what was planned on.
        with pytest.raises(StalePlanError, match="Plan again"):
            bank.commit(plan)
    assert [m.text for m in bank.snapshot().memories] == ["something else entirely"]
    assert len(bank.snapshot(1)) == 1
    assert_equal(bank.snapshot(), small(bank_path).snapshot())
    # What was read before stays what it was.
    assert len(before.memories) == 4
    assert bank.update(lessons("y")).number == 3


def test_an_older_copy_in_the_same_place_is_seen_at_once(bank_path: Path, tmp_path: Path) -> None:
    bank = small(bank_path)
    bank.update(lessons("a", "b"))
    copy = tmp_path / "copy.duckdb"
    shutil.copy2(bank_path, copy)
    bank.update(Batch([Delete(1), Add("gone soon", "tool", "git")]))
    assert bank.snapshot().ids.tolist() == [2, 3]
    stale = bank.plan(Batch([Modify(2, text="planned before")]))
    shutil.copy2(copy, bank_path)
    assert bank.snapshot().ids.tolist() == [1, 2]
    with pytest.raises(StalePlanError, match="Plan again"):
        bank.commit(stale)
    # The copy takes another way from here: the same numbers, other memories.
    small(bank_path).update(lessons("another", "way"))
    small(bank_path).update(lessons("further"))
    assert_equal(bank.snapshot(), small(bank_path).snapshot())
    assert len(bank.snapshot(2)) == 4
    # And once more, past the number that is known here, before anyone looks.
    shutil.copy2(copy, bank_path)
    for name in ("a third", "way", "that is", "longer"):
        small(bank_path).update(lessons(name))
    assert_equal(bank.snapshot(), small(bank_path).snapshot())
    assert_equal(bank.snapshot(2), small(bank_path).snapshot(2))


def test_a_bank_that_could_not_be_read_is_seen_as_it_is_once_it_can(
    bank_path: Path, tmp_path: Path
) -> None:
    bank = small(bank_path)
    bank.update(lessons("mine"))
    mine = bank_path.read_bytes()
    other = tmp_path / "other.duckdb"
    expected = small(other).plan(lessons("theirs", "too")).after.texts()
    small(other).update(lessons("theirs", "too"))
    theirs = other.read_bytes()
    unreadable = 0
    for position in range(13_000, len(theirs), 262_144):
        bank_path.write_bytes(mine)
        assert len(bank.snapshot()) == 1
        bank_path.write_bytes(flipped(theirs, position, 0))
        try:
            bank.snapshot()
        except StoreCorruptError:
            unreadable += 1
        bank_path.write_bytes(theirs)
        assert bank.snapshot().texts() == expected
    assert unreadable > 3


# -- growth -------------------------------------------------------------------------------------


class Counting:
    """Vectors of four numbers from a text's digits: thousands of texts cost nothing."""

    name = "counting"
    fingerprint = "1"
    dimension = 4

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        numbers = [int("0" + "".join(c for c in t if c in string.digits)) for t in texts]
        rows = np.array([[1.0, n % 7, n % 11, n % 1009] for n in numbers])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_a_long_session_keeps_what_it_needs_and_no_more(bank_path: Path) -> None:
    """Plans and changes leave texts that nobody looks at any more; they are not kept for ever."""
    bank = MemoryBank.open(bank_path, embedder=Counting())
    bank.update(Batch([Add(f"lesson {i}", "tool", "git") for i in range(300)]))
    early = bank.snapshot()
    expected = early.memories
    sizes = []
    for k in range(3):
        bank.plan(Batch([Add(f"only planned {k} {i}", "tool", "git") for i in range(5_500)]))
        bank.update(Batch([Modify(1 + k, text=f"changed {k}")]))
        bank.plan(Batch([Modify(9, text=f"planned {k}")]))
        cold = MemoryBank.open(bank_path, embedder=Counting())
        assert_equal(bank.snapshot(), cold.snapshot())
        assert_equal(bank.snapshot(k + 1), cold.snapshot(k + 1))
        sizes.append(len(bank.snapshot().pool))
    assert max(sizes) < 16_000
    assert early.memories == expected
    assert early.texts()[0] == "lesson 0"


def test_a_big_batch_comes_back_whole(bank_path: Path) -> None:
    """More texts than are read at a time, in one commit and from an open and a cold bank."""
    bank = MemoryBank.open(bank_path, embedder=Counting())
    onlooker = MemoryBank.open(bank_path, embedder=Counting())
    batch = Batch([Add(f"lesson {i}", "tool", f"d{i % 10}") for i in range(17_000)])
    assert bank.update(batch).size == 17_000
    cold = MemoryBank.open(bank_path, embedder=Counting()).snapshot()
    assert_equal(onlooker.snapshot(), cold)
    assert cold.texts() == [f"lesson {i}" for i in range(17_000)]
    expected = Counting().embed(cold.texts())
    assert np.allclose(cold.vectors, expected, atol=1e-6)
