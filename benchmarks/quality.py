"""How well the library ranks: on data from outside, and on the demo's saved queries.

    WINNOW_DATASETS=folder python benchmarks/quality.py        all of it, some minutes
    python benchmarks/quality.py locomo metatool --limit 300   two parts, 300 questions of each
    python benchmarks/quality.py metatool --limit 3000         3,000 of MetaTool's 20,614 queries

    sts       STS-B test: Spearman between cosine and the score that people gave
    locomo    LoCoMo: a question's evidence among the turns of its conversation
    metatool  MetaTool: the tool that a query was written for, among the 199 described ones
    domains   the domain inferred from a task: of the demo's queries, and of MetaTool's, there with
              each tool as a domain, whose memories are 27 other queries that it serves

The folder must hold `retrieval/`; without it, only the demo is measured. Texts are cut at 32 words,
as memories are. Nobody knows a confidence for them: all have 0.5, so λ adds the same to every
score, changes no rank, and is 0 here. Every second question, from the first on, is the training
half on which the lexical weight μ is tuned; figures in brackets are those of the other half.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_core import (
    MAX_WORDS,
    PRESETS,
    Memory,
    MemoryBank,
    MiniLMEmbedder,
    RetrievalSettings,
    Snapshot,
    build_demo,
)
from memory_core.lexical import lexical_scores
from memory_core.metrics import hit_at, recall_at, reciprocal_rank
from memory_core.retrieval import infer_domains, retrieve
from memory_core.scoring import Scoring

WEIGHTS = tuple(round(0.05 * step, 2) for step in range(21))
QUERIES = 3_000
"""Whose domain is inferred, of MetaTool's 20,614; the domains' memories are others."""
A_DOMAIN = 27
"""Memories of a tool's domain: as many as a domain of the demo has."""
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Question:
    """A task with what it should find, and the bank to find it in."""

    snapshot: Snapshot
    task: str
    vector: Vector
    grades: Mapping[int, int]
    depth: int
    """Ranks that its figures need."""


@dataclass(frozen=True)
class Figure:
    """A column of a table: a measure of one ranking, and how its mean is written."""

    name: str
    of: Callable[[Sequence[int], Mapping[int, int]], float]
    show: Callable[[float], str]


def recall(k: int) -> Figure:
    return Figure(f"recall@{k}", lambda ids, grades: recall_at(ids, grades, k), "{:.1%}".format)


def hit(k: int) -> Figure:
    return Figure(f"hit@{k}", lambda ids, grades: hit_at(ids, grades, k), "{:.3f}".format)


MRR = Figure("MRR", reciprocal_rank, "{:.3f}".format)


@cache
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def short(text: str) -> str:
    return " ".join(text.split()[:MAX_WORDS])


def bank(texts: Sequence[str], domains: Sequence[str] | None = None) -> Snapshot:
    """A snapshot of texts as memories: the first has id 1."""
    memories = [
        Memory(number, "tool", short(text), domains[number - 1] if domains else "outside")
        for number, text in enumerate(texts, start=1)
    ]
    return Snapshot.from_memories(memories, embedder().embed([m.text for m in memories]))


# -- similarity -----------------------------------------------------------------------------------


def sts(folder: Path, limit: int | None) -> None:
    from scipy.stats import spearmanr

    with (folder / "stsbenchmark" / "sts-test.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[:limit]
    first, second = (embedder().embed([row[place] for row in rows]) for place in (5, 6))
    found = spearmanr((first * second).sum(axis=1), [float(row[4]) for row in rows]).statistic
    print(f"\nSTS-B test, {len(rows):,} pairs: Spearman {found:.4f} (published 0.82032)")


# -- rankings -------------------------------------------------------------------------------------


def locomo(folder: Path, limit: int | None) -> None:
    figures = [recall(k) for k in (5, 10, 25, 50)]
    questions = list(conversations(folder / "locomo" / "locomo10.json"))
    if limit is not None and limit < len(questions):  # spread over the conversations
        places = np.linspace(0, len(questions) - 1, limit).round().astype(int)
        questions = [questions[place] for place in places]
    report("LoCoMo, turns of dialog", questions, figures, tuned_by=0)


def conversations(path: Path) -> Iterator[Question]:
    """LoCoMo's questions whose evidence is all there; each conversation is a bank of turns."""
    for talk in json.loads(path.read_text(encoding="utf-8")):
        turns: dict[str, str] = {}
        sessions = [
            name for name in talk["conversation"] if name.removeprefix("session_").isdigit()
        ]
        for name in sorted(sessions, key=lambda name: int(name.removeprefix("session_"))):
            for turn in talk["conversation"][name]:
                shared = turn.get("blip_caption")
                said = f"{turn['speaker']}: {turn['text']}"
                turns[turn["dia_id"]] = said + (f" [shares {shared}]" if shared else "")
        snapshot = bank(list(turns.values()))
        ids = {turn: number for number, turn in enumerate(turns, start=1)}
        asked = [qa for qa in talk["qa"] if qa.get("evidence") and {*qa["evidence"]} <= {*turns}]
        vectors = embedder().embed([qa["question"] for qa in asked])
        for qa, vector in zip(asked, vectors, strict=True):
            grades = {ids[turn]: 1 for turn in qa["evidence"]}
            yield Question(snapshot, qa["question"], vector, grades, depth=50)


def metatool(folder: Path, limit: int | None) -> None:
    described = json.loads((folder / "metatool" / "plugin_des.json").read_text(encoding="utf-8"))
    snapshot = bank([f"{name}: {text}" for name, text in described.items()])
    ids = {name: number for number, name in enumerate(described, start=1)}
    rows = tool_queries(folder)[:limit]
    vectors = embedder().embed([task for task, _ in rows])
    questions = [
        Question(snapshot, task, vector, {ids[tool]: 1}, depth=len(snapshot))
        for (task, tool), vector in zip(rows, vectors, strict=True)
    ]
    report("MetaTool, 199 tools", questions, [hit(1), hit(5), MRR], tuned_by=1)


def tool_queries(folder: Path) -> list[tuple[str, str]]:
    """MetaTool's (query, tool) in a fixed random order."""
    path = folder / "metatool" / "all_clean_data.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [(row["Query"], row["Tool"]) for row in csv.DictReader(lines)]
    return [rows[place] for place in np.random.default_rng(0).permutation(len(rows)).tolist()]


def report(
    title: str, questions: Sequence[Question], figures: Sequence[Figure], *, tuned_by: int
) -> None:
    """The table of one set: the presets, then μ as tuned on the training half by one figure."""
    print(f"\n{title}: {len(questions):,} questions; all of them (the held-out half)\n")
    print(f"{'':<18}" + "".join(f"{figure.name:>18}" for figure in figures))
    for name, preset in PRESETS.items():
        line(name, np.array([by_preset(q, preset, figures) for q in questions]), figures)
    by_weight = np.array([by_weights(question, figures) for question in questions])
    best = int(by_weight[0::2, :, tuned_by].mean(axis=0).argmax())
    line(f"tuned, μ = {WEIGHTS[best]:.2f}", by_weight[:, best], figures)
    figure = figures[tuned_by]
    print(f"\n{figure.name} by μ")
    for place in range(0, len(WEIGHTS), 2):
        line(f"{WEIGHTS[place]:6.1f}", by_weight[:, place, [tuned_by]], [figure])


def by_preset(
    question: Question, preset: RetrievalSettings, figures: Sequence[Figure]
) -> list[float]:
    """The figures of one question, as anyone who asks would get them."""
    settings = replace(preset, confidence_weight=0.0, limit=question.depth)
    found = retrieve(question.snapshot, question.task, question.vector, settings)
    ids = [hit.memory.id for hit in found.hits]
    return [figure.of(ids, question.grades) for figure in figures]


def by_weights(question: Question, figures: Sequence[Figure]) -> list[list[float]]:
    """The figures of one question for each of WEIGHTS; its words are looked up once."""
    words = lexical_scores(question.snapshot, question.task, PRESETS["hybrid"])
    values = []
    for mu in WEIGHTS:
        settings = RetrievalSettings(confidence_weight=0.0, lexical_weight=mu)
        rows = Scoring(question.snapshot, question.vector, settings, words).best(question.depth)
        ids = question.snapshot.ids[rows].tolist()
        values.append([figure.of(ids, question.grades) for figure in figures])
    return values


def line(name: str, values: NDArray[np.float64], figures: Sequence[Figure]) -> None:
    """`values` (questions, figures): their means, and in brackets those of the held-out half."""
    cells = (
        f"{figure.show(every)} ({figure.show(held_out)})"
        for figure, every, held_out in zip(
            figures, values.mean(axis=0), values[1::2].mean(axis=0), strict=True
        )
    )
    print(f"{name:<18}" + "".join(f"{cell:>18}" for cell in cells))


# -- domains --------------------------------------------------------------------------------------


def domains(folder: Path | None, limit: int | None) -> None:
    print("\nThe domain inferred from a task\n")
    print(f"{'':<26}" + "".join(f"{head:>11}" for head in ("tasks", *TOLD)))
    with tempfile.TemporaryDirectory() as temporary:
        path = build_demo(Path(temporary, "demo.duckdb"), embedder=embedder())
        demo = MemoryBank.open(path, embedder=embedder())
        snapshot, queries = demo.snapshot(), demo.queries()
    vectors = embedder().embed([query.task for query in queries])
    cases = list(zip(vectors, [query.domains for query in queries], strict=True))
    tell("demo, of one domain", snapshot, [case for case in cases if case[1]])
    tell("demo, of no one domain", snapshot, [case for case in cases if not case[1]])
    if folder is None:
        return
    queries_of: dict[str, list[str]] = {}
    everything = tool_queries(folder)
    for task, tool in everything[QUERIES:]:
        queries_of.setdefault(tool.lower(), []).append(task)
    lessons = [(task, tool) for tool in queries_of for task in queries_of[tool][:A_DOMAIN]]
    snapshot = bank([task for task, _ in lessons], [tool for _, tool in lessons])
    asked = everything[: min(limit or QUERIES, QUERIES)]
    vectors = embedder().embed([task for task, _ in asked])
    cases = list(zip(vectors, [(tool.lower(),) for _, tool in asked], strict=True))
    tell(f"MetaTool, {len(queries_of)} tools", snapshot, cases)
    tell("  held-out half", snapshot, cases[1::2])


TOLD = ("right", "wrong", "none", "precision")


def tell(name: str, snapshot: Snapshot, cases: Sequence[tuple[Vector, tuple[str, ...]]]) -> None:
    """How often a domain is inferred and is the label, is not, or none is: shares of all tasks.

    Precision: of the tasks for which a domain is inferred, those for which it is right.
    """
    inferred = [infer_domains(snapshot, vector) for vector, _ in cases]
    right = sum(found == label for found, (_, label) in zip(inferred, cases, strict=True) if found)
    none = sum(not found for found in inferred)
    told = len(cases) - none
    shares = [right / len(cases), (told - right) / len(cases), none / len(cases)]
    precision = f"{right / told:.3f}" if told else "-"
    print(
        f"{name:<26}{len(cases):>11,}" + "".join(f"{s:>11.3f}" for s in shares) + f"{precision:>11}"
    )


PARTS = ("sts", "locomo", "metatool", "domains")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--limit", type=int, help="so many questions of each set")
    given = parser.parse_args()
    if unknown := {*given.parts} - {*PARTS}:
        parser.error(f"unknown part {unknown.pop()!r}; known: {', '.join(PARTS)}")
    if given.limit is not None and given.limit < 2:
        parser.error("--limit must be 2 or more: there are two halves")
    chosen = given.parts or PARTS
    named = os.environ.get("WINNOW_DATASETS", "")
    folder = Path(named, "retrieval") if named else None
    if folder is None or not folder.is_dir():
        folder = None
        print("WINNOW_DATASETS names no folder with `retrieval/` in it: only the demo is measured.")
    for name, part in (("sts", sts), ("locomo", locomo), ("metatool", metatool)):
        if name in chosen and folder is not None:
            part(folder, given.limit)
    if "domains" in chosen:
        domains(folder, given.limit)


if __name__ == "__main__":
    main()
