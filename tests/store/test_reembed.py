"""Another model for a whole bank: all at once for those who look, in parts for those who wait."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from children import DIMENSION, lessons, small

from memory_core import (
    Add,
    Batch,
    Delete,
    EncodingDriftError,
    HashEmbedder,
    MemoryBank,
    Modify,
    StoreError,
)


class Turned(HashEmbedder):
    """Another model: other vectors, and as many numbers as wanted."""

    name = "turned"

    def __init__(self, dimension: int = DIMENSION) -> None:
        super().__init__(dimension)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return -super().embed([text[::-1] for text in texts])


class Failing(Turned):
    """The same model, which breaks down after so many texts."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.left < len(texts):
            raise RuntimeError("the model broke down")
        self.left -= len(texts)
        self.embedded += texts
        return super().embed(texts)


def with_history(path: Path, size: int = 3) -> MemoryBank:
    """A bank with a past: some texts are no longer anyone's."""
    bank = small(path)
    bank.update(Batch([Add(f"lesson {i}", "tool", "git") for i in range(size)]))
    bank.update(Batch([Modify(1, text="lesson one anew"), Delete(2)]))
    bank.save_query("a question about lessons")
    return bank


@pytest.mark.parametrize("dimension", [DIMENSION, 48])
def test_all_revisions_speak_the_new_model(bank_path: Path, dimension: int) -> None:
    bank = with_history(bank_path)
    before = [bank.snapshot(number).memories for number in range(3)]
    with pytest.raises(EncodingDriftError):
        MemoryBank.open(bank_path, embedder=Turned(dimension))
    told: list[tuple[int, int]] = []
    done = MemoryBank.reembed(
        bank_path, embedder=Turned(dimension), progress=lambda *step: told.append(step)
    )
    assert done == 5  # three lessons, one reworded, one query
    assert told[-1] == (5, 5)
    new = MemoryBank.open(bank_path, embedder=Turned(dimension))
    for number, memories in enumerate(before):
        snapshot = new.snapshot(number)
        assert snapshot.memories == memories
        expected = Turned(dimension).embed([m.text for m in memories])
        assert np.allclose(snapshot.vectors, expected.reshape(-1, dimension), atol=1e-6)
    assert new.retrieve("lesson one anew").hits[0].memory.id == 1
    assert new.update(lessons("more")).number == 3
    # Those who had it open are told, whatever they do next, and so is who opens it as before.
    for verb in (bank.snapshot, lambda: bank.update(lessons(1)), lambda: bank.save_query("x")):
        with pytest.raises(EncodingDriftError):
            verb()
    with pytest.raises(EncodingDriftError):
        small(bank_path)
    assert [q.task for q in new.queries()] == ["a question about lessons"]
    assert new.revisions()[-1].number == 3


def test_a_plan_from_before_is_not_committed_after(bank_path: Path) -> None:
    bank = with_history(bank_path)
    plan = bank.plan(lessons("planned"))
    MemoryBank.reembed(bank_path, embedder=Turned())
    with pytest.raises(EncodingDriftError):
        bank.commit(plan)
    assert len(MemoryBank.open(bank_path, embedder=Turned()).revisions()) == 2


def test_embedding_anew_by_the_same_model_does_nothing(bank_path: Path) -> None:
    bank = with_history(bank_path)
    content = bank_path.read_bytes()
    assert MemoryBank.reembed(bank_path, embedder=HashEmbedder(DIMENSION)) == 0
    assert bank_path.read_bytes() == content
    assert len(bank.snapshot()) == 2


def test_what_was_interrupted_goes_on_and_the_bank_is_usable_meanwhile(bank_path: Path) -> None:
    bank = with_history(bank_path, 700)
    with pytest.raises(RuntimeError, match="broke down"):
        MemoryBank.reembed(bank_path, embedder=Failing(600))
    # It still speaks the old model, and goes on changing.
    assert bank.retrieve("lesson 5").hits[0].memory.text == "lesson 5"
    bank.update(Batch([Add("added meanwhile", "tool", "git")]))
    assert len(small(bank_path).snapshot()) == 700
    rest = Failing(10_000)
    assert MemoryBank.reembed(bank_path, embedder=rest) == 703
    assert len(rest.embedded) == 703 - 512
    new = MemoryBank.open(bank_path, embedder=Turned())
    texts = new.snapshot().texts()
    assert "added meanwhile" in texts
    assert np.allclose(new.snapshot().vectors, Turned().embed(texts), atol=1e-6)


def test_and_back_again_without_the_model(bank_path: Path) -> None:
    """The old vectors are still there: only what came since is embedded."""
    with_history(bank_path)
    MemoryBank.reembed(bank_path, embedder=Turned())
    MemoryBank.open(bank_path, embedder=Turned()).update(lessons("since"))

    class Counted(HashEmbedder):
        asked: list[str] = []  # noqa: RUF012

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            self.asked.extend(texts)
            return super().embed(texts)

    MemoryBank.reembed(bank_path, embedder=Counted(DIMENSION))
    assert Counted.asked == ["Lesson since: check the exit code"]
    bank = small(bank_path)
    assert np.allclose(
        bank.snapshot().vectors, HashEmbedder(DIMENSION).embed(bank.snapshot().texts()), atol=1e-6
    )


class Meeting(Turned):
    """Waits, at its first texts, until another one has come as far."""

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__()
        self._barrier = barrier
        self._met = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if not self._met:
            self._met = True
            self._barrier.wait(30)
        return super().embed(texts)


def test_two_who_embed_anew_at_once_store_each_vector_once(bank_path: Path) -> None:
    with_history(bank_path)
    barrier = threading.Barrier(2)
    done: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: done.append(MemoryBank.reembed(bank_path, embedder=Meeting(barrier)))
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [5, 5]
    new = MemoryBank.open(bank_path, embedder=Turned())
    assert new.snapshot().texts() == ["lesson one anew", "lesson 2"]
    assert new.update(Batch([Modify(1, text="lesson 0")])).number == 3
    assert len(MemoryBank.open(bank_path, embedder=Turned()).snapshot(1)) == 3


def test_there_is_nothing_to_embed_where_no_bank_is(bank_path: Path) -> None:
    with pytest.raises(StoreError, match="gone"):
        MemoryBank.reembed(bank_path, embedder=Turned())
    assert not list(bank_path.parent.iterdir())
