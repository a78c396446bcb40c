"""Banks that were cut or flipped are refused; good ones, of whatever shape, never are."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from children import (
    lessons,
    small,
)
from damage import HEADER, contents, flipped, refused, with_storage_version

from memory_core import (
    Add,
    Batch,
    Delete,
    MemoryBank,
    NewerStoreError,
    StoreCorruptError,
    ToolDetail,
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


# -- another format -----------------------------------------------------------------------------


def test_a_bank_of_a_newer_duckdb_is_refused(bank_path: Path, sound: bytes) -> None:
    bank_path.write_bytes(sound)
    small(bank_path)
    bank_path.write_bytes(with_storage_version(sound, 999))
    assert "newer" in refused(bank_path, NewerStoreError)


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
