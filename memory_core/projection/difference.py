"""Two revisions, or a plan and what it starts from, on the same coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_core.difference import differing_ids
from memory_core.errors import MemoryNotFoundError
from memory_core.plans import Plan
from memory_core.projection.layout import Map
from memory_core.snapshot import Snapshot

MapState: TypeAlias = Literal["kept", "changed", "dropped", "added", "merged"]
MAP_STATES: tuple[MapState, ...] = MapState.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True, eq=False)
class MapDifference:
    """The memories of both sides, each once: those of before in their order, then the new."""

    before: Map
    after: Map
    ids: NDArray[np.int64]
    """(u,)."""
    states: tuple[MapState, ...]
    """kept: the same; changed: another text, number or label; dropped: left; merged: left, and
    another memory says that it took its place; added: new, merged ones' heirs among them."""
    positions: NDArray[np.float64]
    """(u, 2) where it lies: after for those that are still there, before for the others."""
    positions_before: NDArray[np.float64]
    """(u, 2) where it lay; the same as `positions` but for changed texts, NaN for the added."""
    into: NDArray[np.int64]
    """(u,) of the merged, the id of the memory that took its place; 0 for all others."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> dict[MapState, int]:
        """Memories in each state."""
        return {state: self.states.count(state) for state in MAP_STATES}

    def position_of(self, memory_id: int) -> NDArray[np.float64]:
        """(2,) where a memory of either side lies. Raises MemoryNotFoundError."""
        found = np.flatnonzero(self.ids == memory_id)
        if not len(found):
            raise MemoryNotFoundError(f"There is no memory {memory_id} on either side.")
        position: NDArray[np.float64] = self.positions[found[0]]
        return position


def map_difference(before: Map, after: Map | Snapshot | Plan) -> MapDifference:
    """Which memories of `before` are kept, changed, dropped or merged in `after`, which are new.

    All lie on the coordinates of `before`'s map. Memories that were merged into one that was
    merged on in a later revision count as dropped, unless that one stands in `before`.
    """
    snapshot = after.after if isinstance(after, Plan) else after
    snapshot = snapshot.snapshot if isinstance(snapshot, Map) else snapshot
    later = before.over(snapshot)
    old, new = before.snapshot, later.snapshot
    fresh = ~np.isin(new.ids, old.ids)
    ids = np.concatenate([old.ids, new.ids[fresh]])
    was = np.concatenate([before.positions, np.full((int(fresh.sum()), 2), np.nan)])
    positions = np.concatenate([before.positions, later.positions[fresh]])
    stays = np.isin(old.ids, new.ids)
    rows_after = np.array([new.row_of(i) for i in old.ids[stays].tolist()], dtype=np.int64)
    positions[: len(old)][stays] = later.positions[rows_after]
    heirs = _heirs(new)
    into = np.array(
        [0 if stay else heirs.get(i, 0) for i, stay in zip(old.ids.tolist(), stays, strict=True)]
        + [0] * int(fresh.sum()),
        dtype=np.int64,
    )
    states = np.array(["dropped"] * len(old) + ["added"] * int(fresh.sum()), dtype=object)
    states[: len(old)][stays] = "kept"
    maybe = differing_ids(old, new, old.ids[stays]).tolist()
    changed = [i for i in maybe if old.by_id(i) != new.by_id(i)]
    states[: len(old)][np.isin(old.ids, changed) & stays] = "changed"
    states[into != 0] = "merged"
    return MapDifference(before, later, ids, tuple(states.tolist()), positions, was, into)


def _heirs(snapshot: Snapshot) -> dict[int, int]:
    """Of ids that a memory here was merged from: that memory's id."""
    heirs: dict[int, int] = {}
    codes = snapshot.columns.provenance
    merged = {
        int(code): snapshot.pool.provenances.value(int(code)).merged_from
        for code in np.unique(codes)
    }
    for row in np.flatnonzero(np.isin(codes, [c for c, ids in merged.items() if ids])).tolist():
        for memory_id in merged[int(codes[row])]:
            heirs[memory_id] = int(snapshot.ids[row])
    return heirs
