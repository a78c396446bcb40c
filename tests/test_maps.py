"""Maps in a bank: kept, extended without moving anybody, refitted, laid over any revision."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memory_core import (
    Add,
    Batch,
    Delete,
    HashEmbedder,
    Map,
    MapSettings,
    MemoryBank,
    MemoryNotFoundError,
    Merge,
    Modify,
    StoreError,
    map_difference,
)

QUICK = MapSettings(epochs=20)


def lessons(count: int, *, start: int = 0) -> Batch:
    topics = ("rebase the branch", "retry the request", "open the window", "count the rows")
    return Batch(
        [
            Add(f"{topics[number % 4]} {number} {number % 7} times", "tool", topics[number % 4][:6])
            for number in range(start, start + count)
        ]
    )


@pytest.fixture
def mapped(bank: MemoryBank) -> MemoryBank:
    """Forty memories, and a map of them."""
    bank.update(lessons(40))
    bank.fit_map(QUICK)
    return bank


def the_map(bank: MemoryBank, revision: object = None) -> Map:
    found = bank.map(revision)  # type: ignore[arg-type]
    assert found is not None
    return found


# -- kept -----------------------------------------------------------------------------------------


def test_no_map_until_one_was_fitted(bank: MemoryBank) -> None:
    assert bank.map() is None
    assert bank.projections() == ()
    with pytest.raises(MemoryNotFoundError, match="add one first"):
        bank.fit_map()
    bank.update(lessons(1))
    assert bank.map() is None
    kept = bank.fit_map()
    assert (kept.method, kept.size, kept.revision) == ("single", 1, 1)
    assert the_map(bank).positions.tolist() == [[0, 0]]


def test_a_map_is_kept_whole(mapped: MemoryBank, reopen: Callable[[], MemoryBank]) -> None:
    (kept,) = mapped.projections()
    assert (kept.id, kept.revision, kept.method, kept.size) == (1, 1, "umap", 40)
    assert kept.settings == QUICK
    assert kept.actor == "tester"
    other = reopen()
    assert other.projections() == (kept,)
    one, two = the_map(mapped), the_map(other)
    assert two.projection == kept
    assert np.array_equal(one.positions, two.positions)
    assert one.placed_count == two.placed_count == 0
    assert one.snapshot.ids.tolist() == list(range(1, 41))


def test_the_same_memories_and_seed_give_the_same_map_in_another_process(
    mapped: MemoryBank, tmp_path: Path
) -> None:
    code = (
        "import sys; from memory_core import HashEmbedder, MemoryBank;"
        "from tests.test_maps import QUICK, lessons;"
        "bank = MemoryBank.open(sys.argv[1], embedder=HashEmbedder());"
        "bank.update(lessons(40)); bank.fit_map(QUICK);"
        "print(bank.map().positions.tobytes().hex())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "other.duckdb")],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout  # fmt: skip
    assert found.strip() == the_map(mapped).positions.tobytes().hex()


def test_fitting_again_gives_equal_coordinates(mapped: MemoryBank) -> None:
    before = the_map(mapped).positions
    assert mapped.fit_map(QUICK).id == 2
    assert the_map(mapped).projection.id == 2
    assert np.array_equal(the_map(mapped).positions, before)
    assert [kept.id for kept in mapped.projections()] == [1, 2]


def test_a_fit_that_is_stopped_writes_nothing(mapped: MemoryBank) -> None:
    class Stopped(Exception):
        pass

    steps: list[str] = []
    mapped.fit_map(QUICK, progress=lambda doing, share: steps.append(doing))
    before = mapped.projections()
    for last in range(0, len(steps), 4):
        heard: list[str] = []

        def stop(doing: str, share: float) -> None:
            heard.append(doing)  # noqa: B023
            if len(heard) > last:  # noqa: B023
                raise Stopped

        with pytest.raises(Stopped):
            mapped.fit_map(MapSettings(epochs=20, seed=5), progress=stop)
    assert mapped.projections() == before
    assert the_map(mapped).projection == before[-1]


def test_a_map_that_another_bank_object_fitted_is_seen(
    mapped: MemoryBank, reopen: Callable[[], MemoryBank]
) -> None:
    other = reopen()
    other.fit_map(MapSettings(epochs=20, seed=3))
    assert the_map(mapped).projection == other.projections()[-1]
    assert np.array_equal(the_map(mapped).positions, the_map(other).positions)


def test_the_same_map_object_while_nothing_changes(mapped: MemoryBank) -> None:
    assert the_map(mapped) is the_map(mapped)
    assert the_map(mapped.acting_as("someone else")) is the_map(mapped)
    first = the_map(mapped)
    mapped.save_query("a question, which moves no memory")
    assert np.array_equal(the_map(mapped).positions, first.positions)


def test_a_stranger_in_the_bank_s_place_gets_no_map_of_it(
    mapped: MemoryBank, bank_path: Path, tmp_path: Path
) -> None:
    other = MemoryBank.open(tmp_path / "other.duckdb", embedder=HashEmbedder())
    other.update(lessons(20, start=100))

    def swap(doing: str, share: float) -> None:
        if share == 1.0:
            (tmp_path / "other.duckdb").replace(bank_path)

    with pytest.raises(StoreError, match="replaced"):
        mapped.fit_map(QUICK, progress=swap)
    assert MemoryBank.open(bank_path, embedder=HashEmbedder()).projections() == ()


# -- what comes in ---------------------------------------------------------------------------


def test_nobody_moves_when_memories_come_in(mapped: MemoryBank) -> None:
    before = the_map(mapped)
    mapped.update(lessons(6, start=100))
    after = the_map(mapped)
    assert np.array_equal(after.positions[:40], before.positions)
    assert after.placed.tolist() == [False] * 40 + [True] * 6
    assert after.placed_count == 6
    vectors = mapped.snapshot().vectors[40:]
    assert np.array_equal(after.positions[40:], after.place(vectors))
    # A change of numbers or labels moves nobody; a change of the text does.
    mapped.update(Batch([Modify(1, pinned=True), Modify(2, text="count the rows of the window")]))
    moved = the_map(mapped)
    assert np.array_equal(moved.positions[0], before.positions[0])
    assert moved.placed.tolist() == [False, True] + [False] * 38 + [True] * 6
    # A text that has a place comes back to it.
    mapped.update(Batch([Delete(1)]))
    mapped.commit(mapped.plan_undo(mapped.revisions()[-1]))
    assert np.array_equal(the_map(mapped).position_of(1), before.positions[0])


def test_the_past_and_a_plan_lie_on_the_same_map(mapped: MemoryBank) -> None:
    mapped.update(Batch([Delete(3)]))
    assert np.array_equal(the_map(mapped, 1).positions, the_map(mapped, 1).layout.positions)
    assert len(the_map(mapped, 0).positions) == 0
    plan = mapped.plan(lessons(2, start=200))
    planned = the_map(mapped, plan.after)
    assert planned.snapshot is plan.after
    assert planned.placed.sum() == 2
    spot = planned.position_of(-1)
    made = mapped.commit(plan)
    assert np.array_equal(the_map(mapped).position_of(made.ids[-1]), spot)


def test_exact_copies_are_one_point(bank: MemoryBank) -> None:
    bank.update(Batch([Add("the same lesson", "tool", "git") for _ in range(5)]))
    bank.update(lessons(20))
    assert bank.fit_map(QUICK).size == 21
    positions = the_map(bank).positions
    assert len(np.unique(positions[:5], axis=0)) == 1
    assert the_map(bank).placed_count == 0


def test_a_refit_keeps_the_bearings(mapped: MemoryBank) -> None:
    mapped.update(lessons(10, start=300))
    before = the_map(mapped)
    mapped.fit_map(MapSettings(epochs=20, seed=11))
    after = the_map(mapped)
    assert after.placed_count == 0
    assert not np.array_equal(after.positions, before.positions)
    old, new = before.positions[:40], after.positions[:40]
    assert np.allclose(old.mean(axis=0), new.mean(axis=0))
    apart = ((new - old) ** 2).sum()
    centred = new - new.mean(axis=0)
    for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False)[1:]:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for flip in (np.eye(2), np.diag([1.0, -1.0])):
            turned = centred @ turn @ flip + new.mean(axis=0)
            assert apart <= ((turned - old) ** 2).sum() + 1e-9


# -- another model ---------------------------------------------------------------------------


class Turned(HashEmbedder):
    """Another model."""

    name = "turned"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return -super().embed([text[::-1] for text in texts])


def test_a_map_of_another_model_s_vectors_does_not_hold(
    mapped: MemoryBank, bank_path: Path, reopen: Callable[[], MemoryBank]
) -> None:
    before = the_map(mapped).positions
    MemoryBank.reembed(bank_path, embedder=Turned())
    other = MemoryBank.open(bank_path, embedder=Turned())
    assert other.map() is None
    assert len(other.projections()) == 1  # it is kept, and says whose it is
    kept = other.fit_map(QUICK)
    assert kept.model != other.projections()[0].model
    found = the_map(other)
    assert found.projection == kept
    # By text it still lies as the old one did.
    assert np.allclose(found.positions.mean(axis=0), before.mean(axis=0))
    MemoryBank.reembed(bank_path, embedder=HashEmbedder())
    assert np.array_equal(the_map(reopen()).positions, before)


# -- two sides ---------------------------------------------------------------------------


def test_the_two_sides_of_a_plan(mapped: MemoryBank) -> None:
    before = the_map(mapped)
    batch = Batch(
        [
            Delete(1),
            Merge((2, 3), "rebase or retry, in that order"),
            Modify(4, text="count the rows in the window"),
            Modify(5, pinned=True),
            Add("a new lesson on windows", "tool", "web"),
        ]
    )
    plan = mapped.plan(batch)
    shown = map_difference(before, plan)
    state = dict(zip(shown.ids.tolist(), shown.states, strict=True))
    into = dict(zip(shown.ids.tolist(), shown.into.tolist(), strict=True))
    heir, new = sorted((i for i in state if i < 0), reverse=True)
    assert [state[i] for i in (1, 2, 3, 4, 5, 6, heir, new)] == [
        "dropped", "merged", "merged", "changed", "changed", "kept", "added", "added",
    ]  # fmt: skip
    assert (into[1], into[2], into[3], into[new]) == (0, heir, heir, 0)
    assert shown.counts == {"kept": 35, "changed": 2, "dropped": 1, "added": 2, "merged": 2}
    assert len(shown) == 42
    # Who is there on the old side lies where it lay; who is new, where it was placed.
    assert np.array_equal(shown.positions_before[:40], before.positions)
    assert np.isnan(shown.positions_before[40:]).all()
    after = the_map(mapped, plan.after)
    for memory_id in (4, 5, 6, heir, new):
        assert np.array_equal(shown.position_of(memory_id), after.position_of(memory_id))
    for memory_id in (1, 2, 3, 6):
        assert np.array_equal(shown.position_of(memory_id), before.position_of(memory_id))
    assert not np.array_equal(shown.position_of(4), before.position_of(4))
    with pytest.raises(MemoryNotFoundError):
        shown.position_of(999)


def test_the_two_sides_of_revisions_of_two_bank_objects(
    mapped: MemoryBank, reopen: Callable[[], MemoryBank]
) -> None:
    """Snapshots that share no pool are told apart by what their memories say."""
    mapped.update(Batch([Modify(2, pinned=True), Delete(7)]))
    shown = map_difference(the_map(mapped, 1), the_map(reopen()))
    assert shown.counts == {"kept": 38, "changed": 1, "dropped": 1, "added": 0, "merged": 0}
    back = map_difference(the_map(mapped), mapped.snapshot(1))
    assert back.counts == {"kept": 38, "changed": 1, "dropped": 0, "added": 1, "merged": 0}
    same = map_difference(the_map(mapped), mapped.snapshot())
    assert set(same.states) == {"kept"}
