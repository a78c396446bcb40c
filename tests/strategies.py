"""What property tests draw: lessons, batches of operations, snapshots with random vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from memory_core import (
    KINDS,
    Add,
    Adjust,
    Delete,
    Evidence,
    Kind,
    Memory,
    Merge,
    Modify,
    Operation,
    ProceduralDetail,
    Provenance,
    Snapshot,
    StrategicDetail,
    ToolDetail,
)

WORDS = (
    "rebase", "branch", "the", "of", "retry", "timeout", "index", "window", "λ", "refund",
    "retries", "indexes", "7", "x", "naïve", "Straße", "🧭", "`git`", "[G1]", "order",
)  # fmt: skip
DOMAINS = ("git", "sql", "web", "customer service")

any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
"""Whatever a store can hold."""

lesson_texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join) | (
    any_text.filter(lambda text: 1 <= len(text.split()) <= 32)
)
"""Valid texts. Few words, so that exact copies and shared words are frequent."""

kinds = st.sampled_from(KINDS)
labels = st.sampled_from(DOMAINS)
confidences = st.floats(0.05, 0.95) | st.sampled_from([0.05, 0.5, 0.95])
even_confidences = st.integers(50, 950).map(lambda thousandths: thousandths / 1000)
"""So that two scores are either equal or told apart by any way of summing."""
tags = st.lists(st.sampled_from(["slow", "policy", "ünï"]), unique=True, max_size=3).map(tuple)
evidence = st.lists(
    st.builds(Evidence, any_text, st.lists(st.integers(1, 99), max_size=3).map(tuple)), max_size=2
).map(tuple)
counts = st.integers(0, 50).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def details(kind: Kind) -> st.SearchStrategy[Any]:
    """None, or the detail that belongs to a kind."""
    texts = st.lists(any_text, max_size=3).map(tuple)
    of_kind = {
        "strategic": st.builds(StrategicDetail, any_text),
        "procedural": st.builds(ProceduralDetail, texts, texts),
        "tool": st.builds(ToolDetail, any_text, any_text),
    }
    return st.none() | of_kind[kind]


@st.composite
def memories(draw: st.DrawFn, memory_id: int = 1) -> Memory:
    kind = draw(kinds)
    usage, success = draw(counts)
    return Memory(
        memory_id,
        kind,
        draw(lesson_texts),
        draw(labels),
        draw(details(kind)),
        draw(confidences),
        usage,
        success,
        draw(st.integers(0, 60)),
        draw(tags),
        draw(st.booleans()),
        Provenance(
            draw(st.sampled_from(["manual", "import", "reflection"])),
            draw(evidence),
            note=draw(any_text),
        ),
    )


@st.composite
def adds(draw: st.DrawFn) -> Add:
    kind = draw(kinds)
    usage, success = draw(counts)
    return Add(
        draw(lesson_texts),
        kind,
        draw(labels),
        draw(details(kind)),
        draw(confidences),
        usage,
        success,
        draw(tags),
        draw(st.booleans()),
        draw(st.none() | st.integers(0, 9)),
        rationale=draw(any_text),
        evidence=draw(evidence),
    )


@st.composite
def operation_lists(
    draw: st.DrawFn, ids: Sequence[int], *, max_size: int = 8
) -> tuple[Operation, ...]:
    """Valid and invalid operations on `ids`, on ids that are nowhere, and on each other's new ones.

    Some hit a memory that an operation before them removed.
    """
    operations: list[Operation] = []
    known = [*ids]
    created = 0
    for _ in range(draw(st.integers(0, max_size))):
        some = st.sampled_from([*known, 999]) if known else st.just(999)
        sort = draw(st.sampled_from(["add", "modify", "delete", "merge", "adjust"]))
        if sort == "add":
            operations.append(draw(adds()))
        elif sort == "modify":
            operations.append(
                Modify(
                    draw(some),
                    text=draw(st.none() | lesson_texts),
                    detail=draw(st.none() | kinds.flatmap(details)),
                    domain=draw(st.none() | labels),
                    tags=draw(st.none() | tags),
                    pinned=draw(st.none() | st.booleans()),
                )
            )
        elif sort == "delete":
            operations.append(Delete(draw(some), rationale=draw(any_text)))
        elif sort == "merge":
            sources = draw(st.lists(some, min_size=1, max_size=3))
            kind = draw(st.none() | kinds)
            operations.append(Merge(tuple(sources), draw(lesson_texts), kind=kind))
        else:
            usage, success = draw(counts)
            operations.append(Adjust(draw(some), draw(confidences), usage, success))
        if sort in ("add", "merge"):
            created += 1
            known.append(-created)
    return tuple(operations)


def unit_vectors(seed: int, count: int, dimension: int = 384) -> np.ndarray:
    """(count, dimension) float32 random unit rows."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@st.composite
def crowds(draw: st.DrawFn, *, max_size: int = 40) -> Snapshot:
    """Snapshots with many exact copies, equal confidences, and some ids that are only planned."""
    size = draw(st.integers(0, max_size))
    distinct = draw(st.integers(1, max(size, 1)))
    vectors = unit_vectors(
        draw(st.integers(0, 2**32 - 1)), distinct, draw(st.sampled_from([8, 384]))
    )
    which = [draw(st.integers(0, distinct - 1)) for _ in range(size)]
    steps = [draw(st.integers(1, 3)) for _ in range(size)]
    ids = np.cumsum(steps).tolist()
    planned = draw(st.integers(0, min(size, 5)))
    ids[size - planned :] = [-k for k in range(1, planned + 1)]
    crowd = [
        Memory(
            memory_id,
            draw(kinds),
            f"{WORDS[text % len(WORDS)]} lesson {text}",
            draw(labels),
            confidence=draw(st.sampled_from([0.05, 0.5, 0.95]) | even_confidences),
        )
        for memory_id, text in zip(ids, which, strict=True)
    ]
    return Snapshot.from_memories(crowd, vectors[which])
