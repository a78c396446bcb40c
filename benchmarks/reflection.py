"""What the rules draft from runs, how fast, and whether a run's task finds its lessons again.

    python benchmarks/reflection.py [FOLDER …]

Without a folder, the sample runs of the project, and those of the folder that WINNOW_DATASETS
names. Each file is one reflection; all its drafts are accepted. hit@5 is told over the drafts: is
a lesson among the five first for the task of a run that bears it out? It is asked in a bank of
these drafts alone, and in one that holds the demo library beside them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_core import (
    MemoryBank,
    MemoryCoreError,
    Operation,
    RuleReflector,
    Trajectory,
    read_trajectories,
)
from memory_core.demo import build_demo

HERE = Path(__file__).resolve().parent.parent
AT = 5
LOG = 50_000_000
"""Bytes of observations in the long run."""


@dataclass(frozen=True)
class Drafted:
    """The drafts of one file."""

    file: Path
    runs: int
    operations: tuple[Operation, ...]
    refused: int
    notes: int
    seconds: float


def folders() -> list[Path]:
    named = [Path(name) for name in sys.argv[1:]]
    outside = os.environ.get("WINNOW_DATASETS")
    found = named or [HERE / "data" / "trajectories"]
    return [*found, Path(outside) / "trajectories"] if outside and not named else found


def readings() -> Iterator[tuple[Path, tuple[Trajectory, ...], str]]:
    for folder in folders():
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            if file.suffix == ".md":
                continue
            try:
                reading = read_trajectories(file.read_bytes(), file.name)
            except MemoryCoreError as error:
                print(f"{file.name}: {error}")
                continue
            yield file, reading.trajectories, reading.format


def drafted(bank: MemoryBank) -> Iterator[Drafted]:
    """The drafts of each file, accepted in the bank; each is a reflection on what is there then."""
    for file, runs, form in readings():
        start = time.perf_counter()
        reflection = bank.draft_lessons(runs, RuleReflector(), format=form)
        seconds = time.perf_counter() - start
        plan = bank.plan(reflection.batch)
        if plan.refused:
            print(f"{file.name}: refused: {plan.refused[0].reason}")
        if plan.accepted:
            bank.commit(plan.accepted_only())
        operations = tuple(planned.operation for planned in plan.accepted)
        counts = (len(reflection.refused), len(reflection.notes))
        yield Drafted(file, len(runs), operations, *counts, seconds)


def hits(bank: MemoryBank, operations: list[Operation]) -> tuple[int, int, int, int]:
    """Lessons found by a task of theirs, all lessons, pairs of both that are found, all pairs."""
    tasks = {run.id: run.task for run in bank.trajectories()}
    found = {
        task: {hit.memory.text for hit in bank.retrieve(task).hits[:AT]}
        for task in set(tasks.values())
        if task.strip()
    }
    lessons = pairs = asked = asked_pairs = 0
    for operation in operations:
        text = getattr(operation, "text", None)
        own = [tasks[item.trajectory_id] for item in operation.evidence]
        told = [text in found[task] for task in own if task in found]
        if text and told:
            asked, asked_pairs = asked + 1, asked_pairs + len(told)
            lessons, pairs = lessons + any(told), pairs + sum(told)
            if not any(told):
                print(f"    not found by its task: {text}")
    return lessons, asked, pairs, asked_pairs


def in_a_bank(path: Path, *, demo: bool) -> None:
    bank = MemoryBank.open(build_demo(path) if demo else path)
    before = len(bank.snapshot())
    all_drafts = list(drafted(bank))
    operations = [operation for one in all_drafts for operation in one.operations]
    lessons, asked, pairs, asked_pairs = hits(bank, operations)
    print(f"\nIn a bank of {before} memories before, {len(bank.snapshot())} after:")
    print(f"  hit@{AT} of the lessons by a task of theirs: {lessons}/{asked}", end="")
    print(f" = {lessons / max(asked, 1):.3f}; of pairs of lesson and task: {pairs}/{asked_pairs}")
    if not demo:
        tell(all_drafts)


def tell(all_drafts: list[Drafted]) -> None:
    kinds = Counter(
        f"{type(op).__name__} {getattr(op, 'kind', '') or ''}".strip()
        for one in all_drafts
        for op in one.operations
    )
    runs = sum(one.runs for one in all_drafts)
    drafts = sum(len(one.operations) for one in all_drafts)
    silent = sum(not one.operations for one in all_drafts)
    print(
        f"  {drafts} drafts from {runs} runs in {len(all_drafts)} files: {drafts / runs:.2f} a run"
    )
    print(f"  by kind: {dict(kinds)}; files without a draft: {silent}")
    slowest = max(all_drafts, key=lambda one: one.seconds)
    print(f"  slowest file: {slowest.file.name}, {slowest.seconds:.2f} s, embedding included")


def long_run() -> None:
    """A run of 50 MB, by the rules alone."""
    from memory_core import HashEmbedder, Snapshot, Step
    from memory_core.reflection.context import ReflectionContext, Run

    words = " ".join(f"row_{n} holds value {n * 7}" for n in range(400))
    steps = tuple(
        Step(
            n,
            "assistant",
            f"Let me read page {n} of the report.",
            tool="fetch_page" if n % 3 else "save_page",
            arguments=f'{{"page": {n}, "token": "tok_{n:06d}"}}',
            observation=f"tok_{n + 1:06d} {words}",
            error="Error: page not found" if n % 11 == 0 else "",
        )
        for n in range(1, LOG // len(words) + 1)
    )
    run = Run("run-long", Trajectory("Fetch every page of the yearly report and save it.", steps))
    context = ReflectionContext(Snapshot.empty(), HashEmbedder().embed)
    start = time.perf_counter()
    drafts = RuleReflector().reflect([run], context)
    seconds = time.perf_counter() - start
    size = sum(len(step.observation) for step in steps) / 1e6
    told = f"{seconds:.2f} s, {len(drafts.operations)} drafts"
    print(f"\nA run of {len(steps)} calls, {size:.0f} MB: {told}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        in_a_bank(Path(folder) / "drafts.duckdb", demo=False)
        in_a_bank(Path(folder) / "demo.duckdb", demo=True)
    long_run()


if __name__ == "__main__":
    main()
