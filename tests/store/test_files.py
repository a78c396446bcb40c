"""Files that are no bank, not this one, or gone: refused by name and left as they were."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from children import (
    DIMENSION,
    hold_duckdb,
    leave_log,
    lessons,
    small,
    started,
)
from damage import contents, refused

from memory_core import (
    EncodingDriftError,
    HashEmbedder,
    MemoryBank,
    NewerStoreError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can become someone else"
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


@posix
def test_a_stranger_in_the_same_place_is_not_overwritten(bank_path: Path) -> None:
    """A program holds DuckDB's lock on a file of its own where the bank was to be."""
    _other_duckdb(bank_path)
    with started(hold_duckdb, bank_path, False) as stranger:
        stranger.receive()
        refused(bank_path, StoreBusyError)


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
