"""Runs, lessons and contexts for the tests of reflection by a language model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_core import (
    Add,
    Batch,
    HashEmbedder,
    MemoryBank,
    Outcome,
    ReflectionContext,
    Run,
    Step,
    Trajectory,
)
from memory_core.embedding import embed_by

EMBEDDER = HashEmbedder()


def flight_run(name: str = "run-1", *, reward: float | None = 1.0, **more: Any) -> Run:
    """Four steps: a search refused for the form of its date, and one that works."""
    steps = (
        Step(1, "user", "Find me a flight to Lisbon on May 5."),
        Step(
            2, "assistant", "Searching.", "search_flights", '{"to": "LIS", "date": "5 May"}',
            "date must be YYYY-MM-DD", "date must be YYYY-MM-DD",
        ),
        Step(
            3, "assistant", "", "search_flights", '{"to": "LIS", "date": "2026-05-05"}', "3 found",
        ),
        Step(4, "assistant", "There are three flights."),
    )  # fmt: skip
    outcome = Outcome(None if reward is None else reward > 0.5, reward)
    return Run(name, Trajectory("Find a flight to Lisbon", steps, outcome, **more))


def lesson(**changes: Any) -> dict[str, Any]:
    """A lesson that holds, as a model says it, with what a test changes."""
    return {
        "action": "add", "kind": "tool", "domain": "air travel", "ids": [], "evidence": [2, 3],
        "text": "search_flights takes its date as YYYY-MM-DD and refuses any other form.",
        "rationale": "Step 2 is refused for its date; step 3 works with another form.",
        "tool": "search_flights", "usage": "", "problem": "", "steps": [], "preconditions": [],
    } | changes  # fmt: skip


def empty_context(tmp_path: Path, **more: Any) -> ReflectionContext:
    bank = MemoryBank.open(tmp_path / "empty.duckdb", embedder=EMBEDDER)
    return context_of(bank, **more)


def context_of(bank: MemoryBank, **more: Any) -> ReflectionContext:
    return ReflectionContext(bank.snapshot(), lambda texts: embed_by(EMBEDDER, texts), **more)


def bank_with(tmp_path: Path, *texts: str, pinned: tuple[int, ...] = ()) -> MemoryBank:
    """A bank whose memories 1, 2, … have these texts."""
    bank = MemoryBank.open(tmp_path / "bank.duckdb", embedder=EMBEDDER)
    adds = [
        Add(text, "tool", "air travel", pinned=number in pinned)
        for number, text in enumerate(texts, start=1)
    ]
    bank.commit(bank.plan(Batch(tuple(adds), reason="for the test")))
    return bank


def stopping_after(calls: int) -> Callable[[str, float], None]:
    """Someone who watches, and stops the work after so many calls."""
    left = [calls]

    def progress(doing: str, share: float) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    return progress
