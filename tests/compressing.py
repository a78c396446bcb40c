"""The rules of compression once more, from their formulas: plain NumPy float64, all pairs at once.

And the libraries that they are tried on: with pins, ties, exact copies and near copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import floor

import numpy as np
from hypothesis import strategies as st

from memory_core import CompressionSettings, Memory, Snapshot
from tests.strategies import kinds, labels, unit_vectors

K_NOW = 60


@st.composite
def libraries(draw: st.DrawFn, *, min_size: int = 0, max_size: int = 40) -> Snapshot:
    """Snapshots with pins, equal confidences, equal ages, exact copies and close ones."""
    size = draw(st.integers(min_size, max_size))
    dimension = draw(st.sampled_from([3, 8, 384]))
    distinct = draw(st.integers(1, max(size, 1)))
    seed = draw(st.integers(0, 2**32 - 1))
    vectors = unit_vectors(seed, distinct, dimension)
    for row in range(1, distinct, 5):  # some hardly differ from the one before
        near = vectors[row - 1] + 1e-4 * unit_vectors(seed + row, 1, dimension)[0]
        vectors[row] = near / np.linalg.norm(near)
    which = [draw(st.integers(0, distinct - 1)) for _ in range(size)]
    pins = draw(st.sampled_from([0.0, 0.0, 0.2, 1.0]))
    random = np.random.default_rng(seed)
    lessons = []
    for number, text in enumerate(which, start=1):
        usage = draw(st.integers(0, 2))
        lessons.append(
            Memory(
                number * 3,
                draw(kinds),
                f"lesson {text}",
                draw(labels),
                confidence=draw(st.sampled_from([0.05, 0.5, 0.5, 0.95]) | st.floats(0.05, 0.95)),
                usage_count=usage,
                success_count=draw(st.integers(0, usage)),
                epoch=draw(st.sampled_from([0, 30, K_NOW]) | st.integers(0, K_NOW)),
                pinned=bool(random.random() < pins),
            )
        )
    return Snapshot.from_memories(lessons, vectors[which], epoch=K_NOW)


def library(
    size: int, *, seed: int = 0, clusters: int = 0, spread: float = 0.2, dimension: int = 32
) -> Snapshot:
    """Many memories with random numbers; in tight clusters where `clusters` is given."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((size, dimension))
    if clusters:
        centres = unit_vectors(seed, clusters, dimension)
        vectors = centres[random.integers(0, clusters, size)] + spread * vectors
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lessons = [
        Memory(
            number + 1,
            ("strategic", "procedural", "tool")[random.integers(3)],
            f"lesson {number}",
            ("git", "sql", "web")[random.integers(3)],
            confidence=float(random.uniform(0.05, 0.95)),
            usage_count=int(random.integers(0, 9)),
            epoch=int(random.integers(0, K_NOW + 1)),
            pinned=bool(random.random() < 0.02),
        )
        for number in range(size)
    ]
    return Snapshot.from_memories(lessons, vectors, epoch=K_NOW)


def worth(memory: Memory) -> tuple[float, int, int, int]:
    """Of equals by a rule, the more confident, more used, newer and first one is worth more."""
    return memory.confidence, memory.usage_count, memory.epoch, -memory.id


def by_importance(lessons: Sequence[Memory], p: float) -> set[int]:
    """Ids that go."""
    count = floor(Decimal(str(p)) * len(lessons))
    return {m.id for m in sorted((m for m in lessons if not m.pinned), key=worth)[:count]}


def by_age(lessons: Sequence[Memory], settings: CompressionSettings) -> set[int]:
    return {
        m.id
        for m in lessons
        if not m.pinned and np.exp(-settings.decay * (K_NOW - m.epoch)) < settings.minimum_weight
    }


def all_distances(vectors: np.ndarray) -> np.ndarray:
    """(n, n) L2 distances in float64, infinite to itself."""
    wide = vectors.astype(np.float64)
    apart = np.stack([np.linalg.norm(wide - row, axis=1) for row in wide])
    np.fill_diagonal(apart, np.inf)
    return apart


def utilities(
    lessons: Sequence[Memory], nearest: np.ndarray, settings: CompressionSettings
) -> np.ndarray:
    """U = α·c^β·w^γ·d^δ."""
    confidence = np.array([m.confidence for m in lessons])
    weight = np.exp(-settings.decay * (K_NOW - np.array([m.epoch for m in lessons])))
    s = settings
    return s.alpha * confidence**s.beta * weight**s.gamma * nearest**s.delta


def by_utility(snapshot: Snapshot, settings: CompressionSettings) -> list[int]:
    """Ids that go, in order. Twelve digits, so that true ties are ties and no others."""
    lessons = snapshot.memories
    count = max(len(lessons) - settings.capacity, 0)
    apart = all_distances(snapshot.vectors) if lessons else np.empty((0, 0))
    gone: list[int] = []
    left = [row for row, memory in enumerate(lessons) if not memory.pinned]
    utility = utilities(lessons, apart.min(axis=1, initial=np.inf), settings)
    while len(gone) < count:
        row = min(left, key=lambda r: (float(f"{utility[r]:.11e}"), worth(lessons[r])))
        left.remove(row)
        gone.append(lessons[row].id)
        if settings.rescore:
            apart[row, :] = apart[:, row] = np.inf
            utility = utilities(lessons, apart.min(axis=1), settings)
    return gone
