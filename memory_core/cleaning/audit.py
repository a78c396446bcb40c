"""The audit: what a curator should look at, finding by finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from memory_core.cleaning.duplicates import FLOOR, DuplicateGroup, NearPairs, near_pairs
from memory_core.cleaning.likeness import NEAR
from memory_core.cleaning.lints import lint_memory
from memory_core.cleaning.polarity import opposed
from memory_core.counting import count_of
from memory_core.ledger_report import OFTEN, MemoryUse
from memory_core.neighbours import distinct as distinct_rows
from memory_core.neighbours import nearest_several
from memory_core.records import Memory
from memory_core.snapshot import Snapshot

Severity: TypeAlias = Literal["high", "medium", "low"]
AUDIT_RULES: Mapping[str, Severity] = {
    "secret": "high",
    "instruction": "high",
    "contradiction": "medium",
    "exact copy": "medium",
    "never helpful": "medium",
    "near copy": "low",
    "stale": "low",
    "generic": "low",
    "over length": "low",
    "never retrieved": "low",
}
"""Of each rule, in the order in which findings are told."""
STALE_AFTER = 20
"""Sessions without use after which a memory is called stale."""
SETTLED_AFTER = 5
"""Sessions that a memory is given before it is told that nobody retrieved it."""
ALIKE = 0.5
"""Cosine from which two memories may be about the same thing, so that their words are compared."""
_SAME = 0.7
"""Cosine from which their outcomes are compared."""
_OUTCOMES_APART = 0.5
_NEIGHBOURS = 5
"""Nearest others of each memory that it is compared with."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at."""

    rule: str
    """One of AUDIT_RULES."""
    ids: tuple[int, ...]
    """The memories that it concerns."""
    sentence: str
    set_aside_by: str = ""
    """Who said that it is none; empty where nobody did."""

    @property
    def severity(self) -> Severity:
        return AUDIT_RULES[self.rule]


def audit(
    snapshot: Snapshot,
    *,
    uses: Iterable[MemoryUse] = (),
    last_applied: Mapping[int, int] | None = None,
    pairs: NearPairs | None = None,
    distinct: Iterable[tuple[int, int]] = (),
) -> tuple[Finding, ...]:
    """All findings about a snapshot, the gravest rules first.

    `uses` is what the ledger says (`memory_uses`); without any, nothing is said about retrieval.
    `last_applied` is the session in which each memory was applied last; without any, nothing is
    called stale. `pairs` are those of this snapshot where they are known already, from a floor of
    0.9 or less; else `distinct` names the pairs of ids that are no duplicates.
    """
    pairs = near_pairs(snapshot, FLOOR, distinct=distinct) if pairs is None else pairs
    used = {use.memory_id: use for use in uses}
    found = [
        *_wording(snapshot),
        *_copies(snapshot, pairs),
        *_contradictions(snapshot),
        *_unused(snapshot, used),
        *_unhelpful(snapshot, used),
        *_stale(snapshot, last_applied or {}),
    ]
    order = {rule: place for place, rule in enumerate(AUDIT_RULES)}
    found.sort(key=lambda finding: order[finding.rule])
    return tuple(found)


def _wording(snapshot: Snapshot) -> Iterator[Finding]:
    for memory in snapshot:
        for lint in lint_memory(memory):
            yield Finding(lint.rule, (memory.id,), f"Memory {memory.id}: {lint.message}")


def _copies(snapshot: Snapshot, pairs: NearPairs) -> Iterator[Finding]:
    exact: dict[str, list[int]] = {}
    for memory_id, text in zip(snapshot.ids.tolist(), snapshot.texts(), strict=True):
        exact.setdefault(text, []).append(memory_id)
    told = set(pairs.distinct)
    for ids in exact.values():
        if any(pair not in told for pair in combinations(ids, 2)):
            yield Finding("exact copy", tuple(ids), f"{_named(ids)} have the same text.")
    for group in pairs.groups(NEAR):
        if len({snapshot.by_id(memory_id).text for memory_id in group.ids}) > 1:
            yield Finding("near copy", group.ids, _near_sentence(group))


def _near_sentence(group: DuplicateGroup) -> str:
    tight, loose = group.tightest.similarity, group.loosest.similarity
    alike = f"{tight:.2f}" if len(group) == 2 else f"from {loose:.2f} to {tight:.2f}"
    return f"{_named(group.ids)} say almost the same (similarity {alike})."


def _named(ids: Iterable[int]) -> str:
    names = [str(memory_id) for memory_id in ids]
    if len(names) > 10:
        return f"Memories {', '.join(names[:10])} and {len(names) - 10:,} more"
    return f"Memories {', '.join(names[:-1])} and {names[-1]}"


def _contradictions(snapshot: Snapshot) -> Iterator[Finding]:
    """Pairs about the same thing whose words, or whose outcomes, are opposed."""
    rows = distinct_rows(snapshot.vectors).first
    if len(rows) < 2:
        return
    vectors = snapshot.vectors[rows]
    nearest = nearest_several(vectors, vectors, _NEIGHBOURS, within=True)
    near, place = np.nonzero(nearest.similarity >= ALIKE)
    pairs = np.sort(np.column_stack([rows[near], rows[nearest.rows[near, place]]]), axis=1)
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    texts = snapshot.texts()
    for (a, b), similarity in zip(
        pairs.tolist(), nearest.similarity[near, place][first].tolist(), strict=True
    ):
        why = opposed(texts[a], texts[b], similarity=similarity)
        if why is None and similarity >= _SAME:
            why = _outcomes_opposed(snapshot.at(a), snapshot.at(b))
        ids = (int(snapshot.ids[a]), int(snapshot.ids[b]))
        if why:
            yield Finding(
                "contradiction", ids,
                f"Memories {ids[0]} and {ids[1]} are about the same (similarity {similarity:.2f}) "
                f"and may contradict each other: {why}.",
            )  # fmt: skip


def _outcomes_opposed(one: Memory, other: Memory) -> str | None:
    if min(one.usage_count, other.usage_count) < OFTEN:
        return None
    better, worse = sorted((one, other), key=lambda m: -(m.success_rate or 0))
    if (better.success_rate or 0) - (worse.success_rate or 0) < _OUTCOMES_APART:
        return None
    return (
        f"memory {better.id} helped in {better.success_count} of {better.usage_count} sessions, "
        f"memory {worse.id} in {worse.success_count} of {worse.usage_count}"
    )


def _unused(snapshot: Snapshot, used: Mapping[int, MemoryUse]) -> Iterator[Finding]:
    if not used:
        return
    columns = snapshot.columns
    old = snapshot.epoch - columns.epoch >= SETTLED_AFTER
    for row in np.flatnonzero(old & (columns.usage_count == 0) & ~columns.pinned).tolist():
        memory_id = int(columns.ids[row])
        if memory_id not in used:
            age = snapshot.epoch - int(columns.epoch[row])
            yield Finding(
                "never retrieved", (memory_id,),
                f"Memory {memory_id} has been there for {count_of(age, 'session')}, and no "
                "recorded retrieval found it.",
            )  # fmt: skip


def _unhelpful(snapshot: Snapshot, used: Mapping[int, MemoryUse]) -> Iterator[Finding]:
    for memory_id, use in used.items():
        if use.rides_along and memory_id in snapshot:
            yield Finding(
                "never helpful", (memory_id,),
                f"Memory {memory_id} was retrieved {count_of(use.retrieved, 'time')}, "
                f"{use.with_outcome} of them with a known outcome, and never helped.",
            )  # fmt: skip


def _stale(snapshot: Snapshot, last_applied: Mapping[int, int]) -> Iterator[Finding]:
    if not last_applied:
        return
    columns = snapshot.columns
    for row in np.flatnonzero(~columns.pinned).tolist():
        memory_id, born = int(columns.ids[row]), int(columns.epoch[row])
        last = last_applied.get(memory_id)
        idle = snapshot.epoch - max(born, born if last is None else last)
        if idle >= STALE_AFTER:
            since = f"last in session {last}" if last is not None else "never so far"
            yield Finding(
                "stale", (memory_id,),
                f"Memory {memory_id} has not been applied for {idle} sessions ({since}).",
            )  # fmt: skip
