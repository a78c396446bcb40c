"""Where a bank lies: its name, its folder's rights, its disk, and how it comes to be there."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from children import (
    as_nobody,
    create_until_killed,
    lessons,
    small,
    started,
)
from damage import contents, refused

from memory_core import (
    Add,
    Batch,
    MemoryBank,
    StoreError,
    StoreFullError,
    ToolDetail,
)
from memory_core.store.log import log_path
from memory_core.store.unit import kept_open

posix = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can become someone else"
)


# -- names --------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    "name",
    ["with space", "ünïcödé 记忆", "it's", 'a "b"', "semi;colon", "-dash", "a%20b", "x.wal", "[a]*",
     "#1", ":memory:", "new\nline", "$HOME", "md:x", "n" * 240],
)  # fmt: skip
def test_a_bank_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    small(path).update(lessons(1))
    assert small(path).update(lessons(2)).number == 2
    assert {p.name for p in tmp_path.iterdir()} == {name, name + ".lock"}


@posix
@pytest.mark.parametrize("name", ["what?", "folder?/bank", "back\\slash", "n" * 252])
def test_a_name_that_duckdb_would_misread_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder?").mkdir()
    with pytest.raises(StoreError) as told:
        small(tmp_path / name)
    assert name in str(told.value)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_relative_path_stays_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    bank = small(Path("bank.duckdb"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    bank.update(lessons(1))
    assert len(small(tmp_path / "bank.duckdb").snapshot()) == 1


# -- no rights ----------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anyone can reach, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _modes(folder: Path, bank: int, lock: int, within: int) -> Path:
    path = folder / "bank.duckdb"
    small(path).update(lessons(1))
    path.chmod(bank)
    path.with_name(path.name + ".lock").chmod(lock)
    folder.chmod(within)
    return path


@as_root
@pytest.mark.parametrize(
    ("bank", "lock", "within", "commit"),
    [
        (0o644, 0o666, 0o777, False),
        (0o666, 0o644, 0o777, False),
        (0o600, 0o666, 0o777, False),
        (0o666, 0o666, 0o700, False),
        (0o666, 0o666, 0o755, True),
    ],
    ids=["bank is read-only", "lock is read-only", "unreadable", "closed folder", "no log"],
)
def test_what_may_not_be_written_is_refused(
    open_folder: Path, tmp_path: Path, bank: int, lock: int, within: int, commit: bool
) -> None:
    path = _modes(open_folder, bank, lock, within)
    before = contents(open_folder)
    with started(as_nobody, tmp_path / "warm.duckdb", path, commit) as child:
        kind, message = child.receive()
    assert kind == "StorePermissionError", message
    assert str(path) in message
    assert contents(open_folder) == before
    open_folder.chmod(0o755)
    assert len(small(path).revisions()) == 1


@as_root
def test_a_bank_is_not_created_where_nothing_may_be(open_folder: Path, tmp_path: Path) -> None:
    path = open_folder / "bank.duckdb"
    with started(as_nobody, tmp_path / "warm.duckdb", path, False) as child:
        kind, message = child.receive()
    assert kind == "StorePermissionError"
    assert str(path) in message
    assert not list(open_folder.iterdir())


# -- a full disk --------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a small disk, or gives a mounted one another size: `disk("4m")` is its folder."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def sized(size: str) -> Path:
        option = f"remount,size={size}" if folder.is_mount() else f"size={size}"
        command = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no disk can be mounted here: {error}")
        return folder

    yield sized
    if folder.is_mount():
        subprocess.run(["umount", str(folder)], check=True)


def test_a_bank_is_made_whole_or_not_at_all(disk: Callable[[str], Path]) -> None:
    for size in ("4k", "64k", "300k", "600k"):
        path = disk(size) / "bank.duckdb"
        assert "Free some space".lower() in refused(path, StoreFullError).lower()
        assert not list(path.parent.iterdir())
    path = disk("20m") / "bank.duckdb"
    assert small(path).update(lessons(1)).number == 1


def test_a_bank_that_is_kept_open_while_it_is_built_is_whole_or_refused(
    disk: Callable[[str], Path],
) -> None:
    ended = []
    for size in ("3m", "4m", "20m"):
        path = disk(size) / "bank.duckdb"
        bank = small(path)
        try:
            with kept_open(path):
                for k in range(20):
                    long = ToolDetail("git", random.Random(k).randbytes(40_000).hex())
                    bank.update(Batch([Add(f"Lesson {k}", "tool", "git", detail=long)]))
            ended.append("whole")
            assert not log_path(path).exists()
            assert small(path).revisions() == bank.revisions()
            assert len(small(path).snapshot()) == 20
        except StoreFullError:
            ended.append("refused")
        for left in path.parent.iterdir():
            left.unlink()
    assert ended[0] == "refused"
    assert ended[-1] == "whole"


def test_on_a_full_disk_nothing_acknowledged_is_lost_and_all_can_be_read(
    disk: Callable[[str], Path],
) -> None:
    path = disk("3m") / "bank.duckdb"
    bank = small(path)
    chance = random.Random(1)
    made = []

    def batch() -> Batch:
        usage = "".join(chance.choices("abcdefghij", k=2000))
        return Batch(
            [
                Add(f"Lesson {chance.random()}", "tool", "git", detail=ToolDetail("git", usage + x))
                for x in "abcdefghijklmnopqrstuvwxyz"
            ]
        )

    refusals: list[str] = []
    while len(refusals) < 3:
        try:
            made.append(bank.update(batch()))
        except StoreFullError as error:
            refusals.append(str(error))
        assert len(made) < 1000
    assert all(str(path) in message for message in refusals)
    assert bank.revisions() == tuple(made)
    assert len(small(path).snapshot()) == made[-1].size
    disk("30m")
    assert small(path).revisions() == tuple(made)
    after = bank.update(batch())
    assert after.number == len(made) + 1
    assert {p.name for p in path.parent.iterdir()} == {path.name, path.name + ".lock"}
    for revision in (*made, after):
        assert len(small(path).snapshot(revision.number)) == revision.size


# -- a creation that is killed ------------------------------------------------------------------


@posix
def test_a_creation_that_is_killed_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    chance = random.Random(5)
    for k in range(12):
        path = tmp_path / f"{k}.duckdb"
        with started(create_until_killed, path) as child:
            assert child.receive() == "ready"
            child.process.join(chance.uniform(0.0, 0.12))
        assert small(path).update(lessons(k)).number == 1
    assert {p.suffix for p in tmp_path.iterdir()} == {".duckdb", ".lock"}
    assert len(list(tmp_path.iterdir())) == 24


@posix
def test_what_a_creation_left_that_was_killed_at_its_end_is_cleared_away(bank_path: Path) -> None:
    """The bank was in place, and its building name was still there, too."""
    small(bank_path).update(lessons(1))
    left = bank_path.with_name(".bank.duckdb.building")
    os.link(bank_path, left)
    assert len(small(bank_path).snapshot()) == 1
    assert not left.exists()
    assert bank_path.stat().st_nlink == 1


def test_many_who_create_one_bank_get_one(tmp_path: Path) -> None:
    path = tmp_path / "bank.duckdb"
    barrier = threading.Barrier(6)
    found: list[MemoryBank] = []

    def create() -> None:
        barrier.wait()
        found.append(small(path))

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, bank in enumerate(found, start=1):
        assert bank.update(lessons(k)).number == k
    assert k == 6
