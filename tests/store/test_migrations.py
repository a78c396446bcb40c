"""A bank of an earlier version: opened, brought up, and nothing of it lost."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from children import DIMENSION, assert_equal, lessons, small

from memory_core import Batch, Delete, HashEmbedder, MemoryBank
from memory_core.store import schema
from memory_core.store.unit import CONFIGURATION


def tables(path: Path) -> set[str]:
    connection = duckdb.connect(str(path), config=CONFIGURATION)
    found = connection.execute("select table_name from information_schema.tables").fetchall()
    connection.close()
    return {name for (name,) in found}


def first_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryBank:
    """A bank by the Winnow of the first version, with all that one can hold."""
    with monkeypatch.context() as past:
        past.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        bank = small(path)
        bank.update(lessons(*range(20)))
        bank.update(lessons("later"))
        bank.save_query("how do I check an exit code", judgements={1: 3})
        bank.propose(lessons("proposed"))
    # Today's verbs know a column more of this table, so the row is written as it was then.
    connection = duckdb.connect(str(path), config=CONFIGURATION)
    connection.execute(
        "insert into retrieval values ('r', 1, 2, 0, '{}', '[]', 'none', 'them', 5, true, 0.5, 2)"
    )
    connection.close()
    return bank


def test_a_bank_of_the_first_version_keeps_everything_and_gains_the_tables(
    bank_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = first_version(bank_path, monkeypatch)
    new_tables = {"projection", "point", "cluster_name", "distinct_pair"}
    assert not new_tables & tables(bank_path)
    with monkeypatch.context() as past:
        past.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        before = [old.snapshot(number) for number in range(3)]
        told = old.revisions(), old.queries(), old.proposals(), old.settings
    new = small(bank_path)
    assert new_tables <= tables(bank_path)
    for number, snapshot in enumerate(before):
        assert_equal(new.snapshot(number), snapshot)
    assert (new.revisions(), new.queries(), new.proposals(), new.settings) == told
    (row,) = new.retrievals()
    assert (row.id, row.revision, row.actor, row.improved, row.reward) == (
        "r",
        2,
        "them",
        True,
        0.5,
    )
    assert row.outcome_revision == 2
    assert new.update(lessons("newer")).number == 3  # a bank like any other now
    assert new.map() is None
    pytest.importorskip("scipy")  # which the map needs, and the store does not
    few = [Delete(memory_id) for memory_id in range(1, 11)]
    new.commit(new.plan(Batch(few)))
    assert new.fit_map().size == 12
    again = MemoryBank.open(bank_path, embedder=HashEmbedder(DIMENSION))
    found = again.map()
    assert found is not None
    assert np.isfinite(found.positions).all()


def test_opening_twice_brings_it_up_once(bank_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_version(bank_path, monkeypatch)
    small(bank_path)
    content = bank_path.read_bytes()
    small(bank_path)
    assert bank_path.read_bytes() == content


def test_a_new_bank_has_the_tables_of_one_that_was_brought_up(
    bank_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_version(bank_path, monkeypatch)
    small(bank_path)
    small(tmp_path / "new.duckdb")
    assert tables(tmp_path / "new.duckdb") == tables(bank_path)
