"""One unit of work at a time: who waits, who gives up, and what nobody can break from outside."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from children import (
    PATIENCE,
    hold_duckdb,
    hold_lock,
    lessons,
    small,
    started,
    wait_until_interrupted,
)

from memory_core import HashEmbedder, MemoryBank, StoreBusyError, StoreError
from memory_core.store import Store
from memory_core.store.lock import hold

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, links and names of POSIX")


def until_someone_waits(path: Path) -> None:
    """Until the system lists one who waits for the lock; a second, where it lists none."""
    number = str(path.stat().st_ino)
    listed = Path("/proc/locks")
    for _ in range(50):
        lines = listed.read_text().splitlines() if listed.exists() else []
        if any("->" in line and f":{number} " in line for line in lines):
            return
        time.sleep(0.02)


def test_the_error_for_a_bank_that_is_held_names_the_holder_and_what_it_does(
    bank_path: Path,
) -> None:
    bank, patient = small(bank_path, timeout=0.3), small(bank_path)
    with started(hold_lock, bank_path, "compacting all") as holder:
        pid = holder.receive()
        for verb in (bank.revisions, lambda: bank.update(lessons(1)), lambda: bank.settings):
            with pytest.raises(StoreBusyError) as refused:
                verb()
            assert f"process {pid} (compacting all)" in str(refused.value)
            assert str(bank_path) in str(refused.value)
        with pytest.raises(StoreBusyError):
            small(bank_path, timeout=0.3)
    # The holder was killed, and a dead process holds nothing.
    assert patient.update(lessons(1)).number == 1


def test_a_unit_that_waits_gets_its_turn_when_the_holder_ends(bank_path: Path) -> None:
    bank = small(bank_path)
    with started(hold_lock, bank_path, "thinking") as holder:
        holder.receive()
        threading.Timer(0.3, holder.pipe.send, ["go on"]).start()
        assert bank.update(lessons(1)).number == 1


def test_opening_and_closing_the_lock_file_frees_nothing(bank_path: Path) -> None:
    bank = small(bank_path, timeout=0.3)
    lock = bank_path.with_name(bank_path.name + ".lock")
    with started(hold_lock, bank_path, "thinking") as holder:
        holder.receive()
        for _ in range(3):
            lock.read_bytes()
            lock.open("r+b").close()
        with pytest.raises(StoreBusyError):
            bank.revisions()


@posix
def test_a_deleted_lock_file_is_not_waited_on(bank_path: Path) -> None:
    """Someone deletes the lock file while it is held; those after must not run two at once."""
    small(bank_path)
    running, most = 0, 0

    def unit(verb: str, inside: threading.Event, leave: threading.Event) -> None:
        nonlocal running, most
        with hold(bank_path, verb, PATIENCE):
            running += 1
            most = max(most, running)
            inside.set()
            leave.wait(PATIENCE)
            running -= 1

    events = {name: (threading.Event(), threading.Event()) for name in ("old", "waiting", "new")}
    threads = {n: threading.Thread(target=unit, args=(n, *e)) for n, e in events.items()}
    threads["old"].start()
    events["old"][0].wait(PATIENCE)
    threads["waiting"].start()
    lock = bank_path.with_name(bank_path.name + ".lock")
    until_someone_waits(lock)  # on the file that is about to go
    lock.unlink()
    running = 0  # the old holder has lost its file, as nothing can prevent
    threads["new"].start()
    assert events["new"][0].wait(PATIENCE)
    events["old"][1].set()
    threads["old"].join()
    running = 1
    assert not events["waiting"][0].wait(0.3)
    events["new"][1].set()
    assert events["waiting"][0].wait(PATIENCE)
    events["waiting"][1].set()
    for thread in threads.values():
        thread.join()
    assert most == 1


@posix
def test_ctrl_c_while_waiting_leaves_the_bank_to_others(bank_path: Path) -> None:
    bank = small(bank_path)
    with started(wait_until_interrupted, bank_path) as child:
        with hold(bank_path, "thinking", PATIENCE):
            assert child.receive() == "waiting"
            until_someone_waits(bank_path.with_name(bank_path.name + ".lock"))
            os.kill(child.process.pid or 0, signal.SIGINT)
            assert child.receive() == "interrupted"
        # It lives on, and had its place in the queue.
        assert bank.update(lessons(1)).number == 1
        child.end()


def test_a_time_out_of_zero_means_not_to_wait(bank_path: Path) -> None:
    bank = small(bank_path, timeout=0)
    assert bank.update(lessons(1)).number == 1
    with started(hold_lock, bank_path, "thinking") as holder:
        holder.receive()
        with pytest.raises(StoreBusyError):
            bank.revisions()


@posix
@pytest.mark.parametrize("write", [False, True], ids=["looks", "writes"])
def test_a_program_that_knows_no_lock_of_ours_is_waited_for(bank_path: Path, write: bool) -> None:
    bank = small(bank_path, timeout=0.5)
    small(bank_path).update(lessons(1))
    with started(hold_duckdb, bank_path, write) as stranger:
        pid = stranger.receive()
        with pytest.raises(StoreBusyError, match="does not share") as refused:
            bank.revisions()
        assert write or str(pid) in str(refused.value)
        assert str(bank_path) in str(refused.value)
        threading.Timer(0.2, stranger.pipe.send, ["go on"]).start()
        assert small(bank_path).update(lessons(2)).number == 2
        stranger.process.join(PATIENCE)
    assert [r.number for r in small(bank_path).revisions()] == [1, 2]


def _names(bank_path: Path) -> dict[str, Path]:
    folder = bank_path.parent
    linked = folder / "link.duckdb"
    linked.symlink_to(bank_path.name)
    again = folder / "again.duckdb"
    again.symlink_to(linked)
    (folder / "folder").symlink_to(folder)
    return {
        "link": linked,
        "link to a link": again,
        "folder's link": folder / "folder" / bank_path.name,
        "dots": folder / "folder" / ".." / folder.name / bank_path.name,
        "relative": Path(os.path.relpath(bank_path)),
    }


@posix
def test_all_names_of_a_bank_share_one_lock_and_one_log(bank_path: Path) -> None:
    bank = small(bank_path)
    names = _names(bank_path)
    with started(hold_lock, bank_path, "thinking") as holder:
        holder.receive()
        for path in names.values():
            with pytest.raises(StoreBusyError):
                small(path, timeout=0.1)
    for k, path in enumerate(names.values(), start=1):
        assert small(path).update(lessons(k)).number == k
        assert len(bank.snapshot()) == k
    left = {path.name for path in bank_path.parent.iterdir()}
    assert left == {"bank.duckdb", "bank.duckdb.lock", "link.duckdb", "again.duckdb", "folder"}


@posix
def test_a_link_to_nothing_creates_the_bank_where_it_points(bank_path: Path) -> None:
    link = bank_path.with_name("link.duckdb")
    link.symlink_to(bank_path.name)
    small(link).update(lessons(1))
    assert bank_path.is_file()
    assert len(small(bank_path).snapshot()) == 1


def test_reading_changes_nothing_that_others_look_at(bank: MemoryBank, bank_path: Path) -> None:
    bank.update(lessons(1, 2))
    before = bank.signature(), bank_path.read_bytes()
    bank.revisions(), bank.settings, bank.queries(), bank.history(1), bank.snapshot(0)
    MemoryBank.open(bank_path, embedder=HashEmbedder())
    assert (bank.signature(), bank_path.read_bytes()) == before
    bank.update(lessons(3))
    assert bank.signature() != before[0]


def test_a_unit_that_reads_cannot_write(bank_path: Path) -> None:
    small(bank_path).update(lessons(1))
    before = bank_path.read_bytes()
    with pytest.raises(StoreError), Store(bank_path).reading("look") as connection:
        connection.execute("delete from memory")
    assert bank_path.read_bytes() == before
