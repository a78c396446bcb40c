"""Confidence curves, several queries at once, and tokens: what the pages ask a bank beside hits."""

from __future__ import annotations

import pytest

from memory_core import Add, Batch, HashEmbedder, MemoryBank, MiniLMEmbedder, Modify


def test_a_curve_has_a_point_for_each_move_of_confidence(bank: MemoryBank) -> None:
    bank.commit(
        bank.plan(Batch([Add("Use uv.", "tool", "python"), Add("Use ruff.", "tool", "py")]))
    )
    for improved in (True, False, True):
        bank.start_epoch()
        bank.record_outcome(bank.retrieve("uv"), improved=improved, applied=[1])
    bank.commit(bank.plan(Batch([Modify(1, text="Use uv, not pip.")])))
    changes = [c for c in bank.history(1) if c.after]
    moves = [c for c in changes if not c.before or c.before.confidence != c.after.confidence]
    curves = bank.confidence_curves([1, 2, 1, 99])
    assert set(curves) == {1, 2}
    assert [(p.revision, p.epoch, p.confidence) for p in curves[1]] == [
        (c.revision.number, c.revision.epoch, c.after.confidence) for c in moves
    ]
    assert [p.confidence for p in curves[1]] == pytest.approx([0.5, 0.55, 0.495, 0.5455])
    assert [p.confidence for p in curves[2]] == [0.5]
    assert bank.confidence_curves([]) == {}


def test_several_queries_are_saved_together_and_none_twice(bank: MemoryBank, reopen) -> None:
    kept = bank.save_query("one", domains=["git"])
    ids = bank.save_queries(["two", "one", "three", "two"])
    assert ids[1] == kept
    assert ids[0] == ids[3]
    assert [query.task for query in reopen().queries()] == ["one", "two", "three"]
    assert bank.save_queries(["three", "two"]) == (ids[2], ids[0])
    assert len(bank.queries()) == 3


def test_of_several_queries_all_are_saved_or_none(bank: MemoryBank) -> None:
    with pytest.raises(Exception, match="U\\+0000"):
        bank.save_queries(["fine", "not\x00fine"])
    assert bank.queries() == ()


def test_tokens_are_counted_by_the_model_once_it_is_loaded(tmp_path) -> None:
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder())
    assert bank.token_count("rebase") is None
    model = MiniLMEmbedder()
    assert model.token_count("rebase") is None


@pytest.mark.long
def test_the_model_counts_long_texts_whole() -> None:
    model = MiniLMEmbedder()
    model.embed(["warm"])
    assert model.token_count("hello world") == 2
    assert model.token_count("hello world " * 400) == 800
