"""Many at once on one bank: threads, processes, and those who only look on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from children import Child, commit_many, lessons, look_on, read_and_commit, small

from memory_core import Add, Batch, MemoryBank, Modify, Revision, StalePlanError


def _assert_all_there(path: Path, made: list[Revision]) -> None:
    bank = small(path)
    assert sorted(made, key=lambda r: r.number) == list(bank.revisions())
    assert [r.number for r in bank.revisions()] == list(range(1, len(made) + 1))
    ids = [memory_id for revision in made for memory_id in revision.ids.values()]
    assert len(ids) == len(set(ids)) == len(bank.snapshot())
    assert set(ids) == set(bank.snapshot().ids.tolist())
    texts = [memory.text for memory in bank.snapshot().memories]
    assert len(set(texts)) == len(texts)


def _together(children: list[Child]) -> None:
    for child in children:
        assert child.receive() == "ready"
    for child in children:
        child.pipe.send("go on")


@pytest.mark.long
def test_four_processes_commit_at_once(bank_path: Path) -> None:
    small(bank_path)
    children = [Child(commit_many, bank_path, f"p{k}", 25) for k in range(4)]
    try:
        _together(children)
        said = [child.receive(280) for child in children]
    finally:
        for child in children:
            child.kill()
    _assert_all_there(bank_path, [revision for made in said for revision in made])


@pytest.mark.long
def test_two_processes_of_eight_threads_and_one_that_looks_on(bank_path: Path) -> None:
    small(bank_path)
    watcher = Child(look_on, bank_path)
    children = [Child(read_and_commit, bank_path, f"p{k}", 8, 3) for k in range(2)]
    try:
        assert watcher.receive() == "ready"
        _together(children)
        said = [child.receive(280) for child in children]
        watcher.pipe.send("go on")
        assert watcher.receive() > 0
    finally:
        for child in (*children, watcher):
            child.kill()
    assert not [fault for _, faults in said for fault in faults]
    _assert_all_there(bank_path, [revision for made, _ in said for revision in made])
    assert len(small(bank_path).revisions()) == 2 * 8 * 3


def test_a_batch_makes_one_revision_however_often_it_is_committed(bank_path: Path) -> None:
    bank = small(bank_path)
    batch = lessons(1, 2)
    plan = bank.plan(batch)
    first = bank.commit(plan)
    assert bank.commit(plan) == first
    assert bank.update(batch) == first
    assert small(bank_path).update(batch) == first
    bank.update(lessons(3))
    assert small(bank_path).commit(plan) == first
    assert bank.find_revision(batch.key) == first
    assert bank.find_revision("never") is None
    assert [r.size for r in bank.revisions()] == [2, 3]


def test_a_batch_committed_by_four_at_once_makes_one_revision(bank_path: Path) -> None:
    banks = [small(bank_path) for _ in range(4)]
    batch = lessons("the only one")
    barrier = threading.Barrier(4)
    made: list[Revision] = []

    def commit(bank: MemoryBank) -> None:
        plan = bank.plan(batch)
        barrier.wait()
        made.append(bank.commit(plan))

    threads = [threading.Thread(target=commit, args=(bank,)) for bank in banks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert len(set(map(repr, made))) == 1
    assert len(small(bank_path).snapshot()) == 1


def test_plans_that_touch_different_memories_all_commit(bank_path: Path) -> None:
    one, other = small(bank_path), small(bank_path)
    one.update(lessons(1, 2))
    first = one.plan(Batch([Modify(1, text="first anew"), Add("extra", "tool", "git")]))
    second = other.plan(Batch([Modify(2, text="second anew"), Add("further", "tool", "git")]))
    assert one.commit(first).number == 2
    assert other.commit(second).number == 3
    texts = {m.id: m.text for m in one.snapshot().memories}
    assert texts == {1: "first anew", 2: "second anew", 3: "extra", 4: "further"}


def test_a_plan_is_stale_once_what_it_touches_has_changed(bank_path: Path) -> None:
    one, other = small(bank_path), small(bank_path)
    one.update(lessons(1, 2))
    plan = one.plan(Batch([Modify(1, text="mine"), Modify(2, text="mine too")]))
    other.update(Batch([Modify(2, tags=("theirs",))]))
    with pytest.raises(StalePlanError, match="2"):
        one.commit(plan)
    assert len(one.revisions()) == 2
    assert [m.tags for m in one.snapshot().memories] == [(), ("theirs",)]
