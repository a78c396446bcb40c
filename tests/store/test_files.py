"""Files that are no bank, or no longer one: each is refused by name and left as it was."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from children import (
    DIMENSION,
    as_nobody,
    create_until_killed,
    hold_duckdb,
    leave_log,
    lessons,
    small,
    started,
)
from damage import HEADER, contents, flipped, refused, with_storage_version

from memory_core import (
    Add,
    Batch,
    Delete,
    EncodingDriftError,
    HashEmbedder,
    MemoryBank,
    NewerStoreError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    ToolDetail,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can become someone else"
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a bank with a few hundred memories and some history."""
    path = tmp_path_factory.mktemp("sound") / "bank.duckdb"
    bank = small(path)
    for k in range(2):
        detail = ToolDetail("git", f"{k}" * 200)
        bank.update(
            Batch(
                [
                    Add(f"Lesson {k} {i} about exit codes", "tool", "git", detail=detail)
                    for i in range(160)
                ]
            )
        )
    bank.update(Batch([Delete(i) for i in range(10, 40)]))
    bank.save_query("which exit code", judgements={1: 3})
    return path.read_bytes()


def everything(path: Path) -> tuple[object, ...]:
    """All that can be read from a bank."""
    bank = small(path, timeout=1)
    snapshots = [bank.snapshot(revision.number) for revision in bank.revisions()]
    return (
        bank.revisions(),
        [(s.memories, s.vectors.tobytes()) for s in snapshots],
        bank.queries(),
        bank.settings,
    )


# -- no bank at all -----------------------------------------------------------------------------


def _text(path: Path) -> None:
    path.write_text("Remember the milk.\n" * 2000)


def _empty(path: Path) -> None:
    path.touch()


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table memory (id integer, text varchar)")
        connection.execute("insert into memory values (1, 'theirs')")
    connection.close()


def _empty_sqlite(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + bytes(4080))


def _other_duckdb(path: Path) -> None:
    connection = duckdb.connect(str(path))
    connection.execute("create table setting (colour varchar); create table cats (name varchar)")
    connection.execute("insert into cats values ('Mia')")
    connection.close()


def _bare_duckdb(path: Path) -> None:
    duckdb.connect(str(path)).close()


@pytest.mark.parametrize(
    "make",
    [_text, _empty, _sqlite, _empty_sqlite, _other_duckdb, _bare_duckdb, Path.mkdir],
    ids=lambda make: make.__name__.strip("_"),
)
def test_what_is_no_bank_is_refused_and_left_alone(
    bank_path: Path, make: Callable[[Path], None]
) -> None:
    make(bank_path)
    message = refused(bank_path, StoreCorruptError)
    assert "give another path" in message
    # Not even a lock file is left beside a stranger's file.
    assert [path.name for path in bank_path.parent.iterdir()] == [bank_path.name]


@posix
def test_a_pipe_is_refused_without_waiting_for_someone_to_write(bank_path: Path) -> None:
    os.mkfifo(bank_path)
    refused(bank_path, StoreCorruptError)


def test_a_missing_bank_is_not_created_unasked(bank_path: Path) -> None:
    refused(bank_path, StoreError, lambda path: small(path, create=False))
    assert not list(bank_path.parent.iterdir())


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path / "none" / "bank.duckdb", StoreError, lambda path: small(path))
    assert "does not exist" in message
    assert not list(tmp_path.iterdir())


def test_a_file_for_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    path = tmp_path / "notes.txt" / "bank.duckdb"
    with pytest.raises(StoreError, match=r"notes\.txt"):
        small(path)


@posix
def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bank.duckdb"
    path.symlink_to(path)
    with pytest.raises(StoreError, match=r"bank\.duckdb"):
        small(path)


# -- cut short ----------------------------------------------------------------------------------


def _cuts(size: int) -> list[int]:
    block = 262_144
    inside = [HEADER * k + extra for k in range(3) for extra in (0, 1, HEADER // 2)][1:]
    ends = [3 * HEADER, size // 2, size - block, size - block // 2, size - 1]
    return sorted({*inside, *ends, *range(3 * HEADER + block, size, block)})


@pytest.mark.parametrize("lock", ["with its lock file", "as a copy"])
def test_a_bank_that_was_cut_anywhere_is_refused(bank_path: Path, sound: bytes, lock: str) -> None:
    """Blocks are read when they are asked for: a copy without its end may open, and be written."""
    bank_path.write_bytes(sound)
    small(bank_path)
    assert _cuts(len(sound))
    for size in _cuts(len(sound)):
        bank_path.write_bytes(sound[:size])
        if lock == "as a copy":
            bank_path.with_name(bank_path.name + ".lock").unlink(missing_ok=True)
        refused(bank_path, StoreCorruptError)
        refused(bank_path, StoreCorruptError, lambda path: MemoryBank.reembed(path))


def test_a_bank_that_is_cut_while_it_is_open_is_refused(bank_path: Path, sound: bytes) -> None:
    bank_path.write_bytes(sound)
    bank = small(bank_path)
    plan = bank.plan(lessons(1))
    bank_path.write_bytes(sound[: len(sound) // 2])
    for verb in (lambda _: bank.commit(plan), lambda _: bank.snapshot(), lambda _: bank.queries()):
        message = refused(bank_path, StoreCorruptError, verb)
        assert "restore a copy" in message


# -- flipped bytes ------------------------------------------------------------------------------


@pytest.mark.long
def test_a_flipped_bit_is_refused_or_lies_where_nothing_is(bank_path: Path, sound: bytes) -> None:
    bank_path.write_bytes(sound)
    good = everything(bank_path)
    chance = random.Random(7)
    positions = [chance.randrange(3 * HEADER) for _ in range(8)]
    positions += [chance.randrange(3 * HEADER, len(sound)) for _ in range(24)]
    found = 0
    for position in positions:
        bank_path.write_bytes(flipped(sound, position, chance.randrange(8)))
        before = contents(bank_path.parent)
        try:
            read = everything(bank_path)
        except StoreCorruptError as error:
            found += str(bank_path) in str(error)
        else:
            assert read == good, position
        assert contents(bank_path.parent) == before
    assert found > len(positions) // 2


# -- newer, and of another model ----------------------------------------------------------------


def test_a_bank_with_newer_tables_is_refused_when_opened_and_when_open(bank_path: Path) -> None:
    bank = small(bank_path)
    bank.update(lessons(1))
    plan = bank.plan(lessons(2))
    connection = duckdb.connect(str(bank_path))
    connection.execute("update setting set value = '99' where name = 'schema_version'")
    connection.close()
    assert "99" in refused(bank_path, NewerStoreError)
    refused(bank_path, NewerStoreError, lambda _: bank.commit(plan))
    refused(bank_path, NewerStoreError, lambda _: bank.snapshot())
    refused(bank_path, NewerStoreError, lambda path: MemoryBank.reembed(path))


def test_a_bank_of_a_newer_duckdb_is_refused(bank_path: Path, sound: bytes) -> None:
    bank_path.write_bytes(sound)
    small(bank_path)
    bank_path.write_bytes(with_storage_version(sound, 999))
    assert "newer" in refused(bank_path, NewerStoreError)


class Renamed(HashEmbedder):
    """The same vectors under another name, as another model would come."""

    name = "other"


@pytest.mark.parametrize("embedder", [Renamed(DIMENSION), HashEmbedder(64)], ids=["name", "size"])
def test_a_bank_of_another_model_is_refused(bank_path: Path, embedder: HashEmbedder) -> None:
    small(bank_path).update(lessons(1))
    before = contents(bank_path.parent)
    with pytest.raises(EncodingDriftError, match="reembed") as told:
        MemoryBank.open(bank_path, embedder=embedder)
    assert str(bank_path) in str(told.value)
    assert contents(bank_path.parent) == before


# -- a log from elsewhere -----------------------------------------------------------------------


@posix
def test_a_foreign_log_beside_a_clean_bank_is_refused(bank_path: Path, tmp_path: Path) -> None:
    small(bank_path).update(lessons("mine"))
    other = tmp_path / "other" / "bank.duckdb"
    other.parent.mkdir()
    small(other).update(lessons("mine"))
    with started(leave_log, other, 2) as child:
        child.process.join(30)
    log = bank_path.with_name(bank_path.name + ".wal")
    shutil.copy(other.with_name(other.name + ".wal"), log)
    bank = None
    for _ in range(2):
        message = refused(bank_path, StoreCorruptError)
        assert str(log) in message
    log.unlink()
    bank = small(bank_path)
    assert [m.text for m in bank.snapshot().memories] == ["Lesson mine: check the exit code"]


@posix
def test_a_log_where_a_new_bank_would_have_its_own_is_refused(bank_path: Path) -> None:
    log = bank_path.with_name(bank_path.name + ".wal")
    log.write_bytes(b"something")
    assert "Move it away" in refused(bank_path, StoreCorruptError)


# -- gone, replaced -----------------------------------------------------------------------------


def test_a_bank_that_was_deleted_while_open_is_told(bank_path: Path) -> None:
    bank = small(bank_path)
    plan = bank.plan(lessons(1))
    bank_path.unlink()
    for verb in (lambda _: bank.commit(plan), lambda _: bank.snapshot()):
        assert "is gone" in refused(bank_path, StoreError, verb)
    assert not bank_path.exists()


def test_a_folder_that_was_deleted_while_a_bank_is_open_is_told(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "bank.duckdb"
    path.parent.mkdir()
    bank = small(path)
    shutil.rmtree(path.parent)
    with pytest.raises(StoreError, match="does not exist"):
        bank.update(lessons(1))


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


# -- good banks ---------------------------------------------------------------------------------


@pytest.mark.long
def test_a_good_bank_is_never_refused(bank_path: Path) -> None:
    """Banks of many shapes, each looked at as left, as a copy, and in another's place."""
    chance = random.Random(3)
    bank = small(bank_path)
    copy = bank_path.with_name("copy.duckdb")
    for k in range(20):
        size = chance.choice([1, 2, 30, 400])
        usage = "x" * chance.choice([0, 10, 3000])
        kept = bank.snapshot().ids.tolist()
        gone = chance.sample(kept, chance.choice([0, len(kept) // 2, len(kept)]))
        detail = ToolDetail("git", usage)
        added = [Add(f"Lesson {k} {i}", "tool", "git", detail=detail) for i in range(size)]
        revision = bank.update(Batch([*(Delete(i) for i in gone), *added]))
        assert revision.size == len(kept) - len(gone) + size
        if k % 4 == 3:
            shutil.copy(bank_path, copy)  # over another bank, whose lock file stays
            assert small(copy).snapshot().memories == bank.snapshot().memories
            copy.with_name(copy.name + ".lock").unlink()
            assert small(copy).revisions() == bank.revisions()
    # The longest way down: all of it gone, and the file shrinks.
    bank.update(Batch([Delete(i) for i in bank.snapshot().ids.tolist()]))
    for k in range(3):
        assert small(bank_path).update(lessons(k)).size == k + 1


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


@posix
def test_a_stranger_in_the_same_place_is_not_overwritten(bank_path: Path) -> None:
    """A program holds DuckDB's lock on a file of its own where the bank was to be."""
    _other_duckdb(bank_path)
    with started(hold_duckdb, bank_path, False) as stranger:
        stranger.receive()
        refused(bank_path, StoreBusyError)
