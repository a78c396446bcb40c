"""Names that people gave to clusters, carried over to the clusters of another day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.map_records import ClusterName

ENOUGH = 0.5
"""Jaccard overlap from which a cluster is the one that was named."""


def overlap(one: Iterable[int], other: Iterable[int]) -> float:
    """|A ∩ B| / |A ∪ B|, in [0, 1]; 0 for two empty sets."""
    a, b = set(one), set(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def carried_over(
    clusters: Sequence[Sequence[int]], names: Sequence[ClusterName], living: Iterable[int]
) -> list[str]:
    """The name of each cluster, given as ids; empty where it has none.

    A cluster has the name whose memories, as far as they are `living` still, overlap with it
    most, from ENOUGH on: the greatest overlap chooses first, of equals the later name, and a name
    is given once.
    """
    alive = set(living)
    pairs = sorted(
        (
            (-overlap(members, alive.intersection(name.ids)), -place, number)
            for place, name in enumerate(names)
            for number, members in enumerate(clusters)
        ),
    )
    given = [""] * len(clusters)
    used: set[int] = set()
    for negative, place, number in pairs:
        if -negative < ENOUGH:
            break
        if not given[number] and -place not in used:
            given[number] = names[-place].name
            used.add(-place)
    return given


def renamed(
    names: Sequence[ClusterName], ids: Iterable[int], living: Iterable[int]
) -> tuple[ClusterName, ...]:
    """The names that a new one for these memories takes the place of."""
    members, alive = set(ids), set(living)
    return tuple(name for name in names if overlap(alive.intersection(name.ids), members) >= ENOUGH)
