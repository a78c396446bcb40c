"""What distinguishes two snapshots of one bank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.records import Change, Diff
from memory_core.snapshot import Snapshot


def diff(old: Snapshot, new: Snapshot) -> Diff:
    """The memories that came, left and changed from one snapshot to the other."""
    shared = np.intersect1d(old.ids, new.ids, assume_unique=True)
    pairs = ((old.by_id(int(i)), new.by_id(int(i))) for i in differing_ids(old, new, shared))
    return Diff(
        old=old.revision,
        new=new.revision,
        added=tuple(new.at(int(row)) for row in np.flatnonzero(~np.isin(new.ids, shared))),
        removed=tuple(old.at(int(row)) for row in np.flatnonzero(~np.isin(old.ids, shared))),
        changed=tuple(Change(b.id, "changed", b, a) for b, a in pairs if b != a),
    )


def differing_ids(old: Snapshot, new: Snapshot, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of ids that both have, those whose columns differ; codes compare within one pool only."""
    if old.pool is not new.pool or not len(ids):
        return ids
    before = old.columns.take(np.isin(old.ids, ids))
    after = new.columns.take(np.isin(new.ids, ids))
    differs = np.zeros(len(before), dtype=bool)
    for one, other in zip(before, after, strict=True):
        differs |= one != other
    return before.ids[differs]
