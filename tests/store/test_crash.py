"""Processes that are killed: what was acknowledged stays, what was not is whole or not there."""

from __future__ import annotations

import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from children import commit_until_killed, leave_log, lessons, small, started
from damage import flipped, refused

from memory_core import MemoryBank, Revision, StoreCorruptError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


def assert_whole(bank: MemoryBank) -> None:
    """Every revision's numbers agree with what it holds, and with those before it."""
    before: set[int] = set()
    for number, revision in enumerate(bank.revisions(), start=1):
        assert revision.number == number
        snapshot = bank.snapshot(number)
        ids = set(snapshot.ids.tolist())
        assert len(snapshot) == len(ids) == revision.size
        assert ids - before == set(revision.ids.values())
        assert (revision.added, revision.removed) == (len(ids - before), len(before - ids))
        assert snapshot.vectors.shape == (revision.size, snapshot.pool.dimension)
        before = ids
    for memory_id in sorted(before)[-1:]:
        assert [change.action for change in bank.history(memory_id)] == ["added"]


@pytest.mark.long
def test_fifty_kills_lose_nothing_that_was_acknowledged(bank_path: Path) -> None:
    chance = random.Random(11)
    acknowledged: dict[str, int] = {}
    unknown: list[str] = []
    typical = 0.05  # seconds of a commit, so that kills fall on all of it however slow it is

    def note(told: tuple[Any, ...]) -> None:
        what, key, *number = told
        if what == "trying":
            unknown.append(key)
        else:
            unknown.remove(key)
            acknowledged[key] = number[0]

    for kill in range(50):
        with started(commit_until_killed, bank_path, f"k{kill}", 1 + kill % 3) as child:
            assert child.receive() == "ready"
            for _ in range(chance.randrange(3)):
                note(child.receive())
                start = time.perf_counter()
                note(child.receive())
                typical = time.perf_counter() - start
            note(child.receive())
            child.process.join(chance.uniform(0.0, 1.2 * typical))
        for told in child.rest():
            note(told)
        if kill in (1, 8):
            assert_whole(small(bank_path))
    bank = small(bank_path)
    assert_whole(bank)
    numbers = {revision.key: revision.number for revision in bank.revisions()}
    assert acknowledged.items() <= numbers.items()
    # What was killed before it could say so is found by its key, and nothing else is there.
    assert len(acknowledged) > 20
    assert len(unknown) > 20
    found = {key: revision.number for key in unknown if (revision := bank.find_revision(key))}
    assert found
    assert numbers == acknowledged | found


def _left_with_log(path: Path, commits: int) -> list[Revision]:
    small(path).update(lessons("early"))
    with started(leave_log, path, commits) as child:
        child.process.join(60)
    made = child.rest()
    assert len(made) == commits
    assert path.with_name(path.name + ".wal").stat().st_size > 0
    return made


def test_what_was_committed_but_not_yet_moved_into_the_bank_is_taken_in(bank_path: Path) -> None:
    made = _left_with_log(bank_path, 3)
    bank = small(bank_path)
    assert list(bank.revisions()[1:]) == made
    assert_whole(bank)
    assert bank.find_revision(made[-1].key) == made[-1]
    assert {p.name for p in bank_path.parent.iterdir()} == {bank_path.name, "bank.duckdb.lock"}
    assert bank.update(lessons("after")).number == 5


def test_an_open_bank_sees_what_a_killed_process_has_left(bank_path: Path) -> None:
    bank = small(bank_path)
    assert len(bank.snapshot()) == 0
    made = _left_with_log(bank_path, 2)
    assert len(bank.snapshot()) == made[-1].size


def test_a_log_whose_end_was_never_written_gives_the_commits_before(bank_path: Path) -> None:
    """As a kill leaves it within a commit: that commit was never acknowledged."""
    made = _left_with_log(bank_path, 3)
    log = bank_path.with_name(bank_path.name + ".wal")
    whole_bank, whole_log = bank_path.read_bytes(), log.read_bytes()
    chance = random.Random(2)
    most = 0
    anywhere = [chance.randrange(len(whole_log)) for _ in range(4)]
    for size in [0, 8, len(whole_log) - 1, *anywhere]:
        bank_path.write_bytes(whole_bank)
        log.write_bytes(whole_log[:size])
        bank = small(bank_path)
        assert bank.revisions()[1:] == tuple(made[: len(bank.revisions()) - 1])
        most = max(most, len(bank.revisions()))
        assert len(bank.snapshot()) == bank.revisions()[-1].size
        assert bank.update(lessons("after")).number == len(bank.revisions())
        bank_path.with_name(bank_path.name + ".lock").unlink()
    assert most == 3


def test_a_flipped_bit_in_the_log_is_refused(bank_path: Path) -> None:
    """DuckDB alone takes some of them for the end of the log, and drops what was acknowledged."""
    made = _left_with_log(bank_path, 3)
    log = bank_path.with_name(bank_path.name + ".wal")
    lock = bank_path.with_name(bank_path.name + ".lock")
    content, record = log.read_bytes(), lock.read_bytes()
    entries, start = [], 8
    while start < len(content):
        entries.append(start)
        start += 16 + int.from_bytes(content[start : start + 8], "little")
    assert start == len(content)
    chance = random.Random(4)
    chosen = [*chance.sample(entries, 6), entries[-1]]
    lengths = [entry + byte for entry in chosen for byte in (0, 2)]
    anywhere = [chance.randrange(len(content)) for _ in range(12)]
    for position in [*range(8), *lengths, *anywhere]:
        log.write_bytes(flipped(content, position, chance.randrange(8)))
        lock.write_bytes(record)
        message = refused(bank_path, StoreCorruptError)
        assert log.name in message, position
    log.write_bytes(content)
    lock.write_bytes(record)
    assert small(bank_path).revisions()[-1] == made[-1]


def test_without_its_lock_file_a_log_is_still_taken_in(bank_path: Path, tmp_path: Path) -> None:
    """Someone copies a bank and its log after a crash, to look at it elsewhere."""
    made = _left_with_log(bank_path, 2)
    copy = tmp_path / "elsewhere.duckdb"
    shutil.copy(bank_path, copy)
    shutil.copy(bank_path.with_name(bank_path.name + ".wal"), copy.with_name(copy.name + ".wal"))
    assert small(copy).revisions()[-1] == made[-1]
