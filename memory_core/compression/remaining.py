"""How far each memory is from the nearest other, kept up to date while memories leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.neighbours import (
    NeighbourLists,
    distances,
    distinct,
    firsts,
    neighbour_lists,
)
from memory_core.scoring import slack

LISTED = 16
"""Neighbours listed for each vector; when the last of them has left, all are measured again."""
REBUILD = 0.6
"""All lists are made again when one runs out and no more than this share of the vectors is left."""

NONE = np.empty(0, dtype=np.int64)


class Remaining:
    """Memories of which some leave, one by one.

    Equal vectors form a group. A row in a group of two or more is 0 from its twin; otherwise it is
    as far as its group from the nearest other group that still has a member.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        """`vectors` (n, d), unit rows."""
        groups = distinct(vectors)
        self._vectors = np.ascontiguousarray(vectors[groups.first])
        self._slack = slack(vectors.shape[1])
        self._group = groups.group
        self._left = groups.count.copy()
        """Members that each group still has."""
        self._present = np.ones(len(vectors), dtype=bool)
        order = np.argsort(groups.group, kind="stable")
        self._members = np.split(order, np.cumsum(groups.count)[:-1])
        self._nearest = np.full(len(self._left), -1, dtype=np.int64)
        self._distance = np.full(len(self._left), np.inf)
        self._followers: list[list[int]] = [[] for _ in self._left]
        """Groups that have, or once had, this one as their nearest."""
        self._list()
        self._measure_all()

    # -- asking -------------------------------------------------------------------------------

    def distances(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """L2 distance of each row (or of some) to the nearest other; infinite for a lone one."""
        groups = self._group if rows is None else self._group[rows]
        return np.where(self._left[groups] > 1, 0.0, self._distance[groups])

    def neighbour(self, row: int) -> int:
        """The row that the distance is measured to; −1 for a lone one."""
        group = int(self._group[row])
        if self._left[group] == 1:
            group = int(self._nearest[group])
        members = self._members[group] if group >= 0 else NONE
        others = members[self._present[members] & (members != row)]
        return int(others[0]) if len(others) else -1

    # -- leaving ------------------------------------------------------------------------------

    def drop(self, row: int) -> NDArray[np.int64]:
        """Take a row out; the rows whose distance has changed by that."""
        group = int(self._group[row])
        self._present[row] = False
        self._left[group] -= 1
        if self._left[group] > 0:
            return self._lone_member(group)
        moved = [h for h in set(self._followers[group]) if self._nearest[h] == group]
        moved = [h for h in moved if self._left[h] > 0]
        for follower in sorted(moved):
            self._measure(follower)
        changed = [self._lone_member(h) for h in moved]
        return np.concatenate(changed) if changed else NONE

    def _lone_member(self, group: int) -> NDArray[np.int64]:
        """The only member left, or none where there are more: those are 0 from each other."""
        if self._left[group] != 1:
            return NONE
        members = self._members[group]
        return members[self._present[members]]

    # -- measuring ----------------------------------------------------------------------------

    def _list(self) -> None:
        self._standing = np.flatnonzero(self._left > 0)
        place = np.full(len(self._left), -1, dtype=np.int64)
        place[self._standing] = np.arange(len(self._standing))
        self._place = place
        self._lists: NeighbourLists = neighbour_lists(self._vectors[self._standing], LISTED)

    def _measure_all(self) -> None:
        lists = self._lists
        if not len(lists.columns):
            return
        sizes = np.diff(lists.starts)
        highest = np.maximum.reduceat(lists.scores, lists.starts[:-1])
        close = np.flatnonzero(lists.scores >= np.repeat(highest, sizes) - self._slack)
        rows = np.repeat(np.arange(len(sizes)), sizes)[close]
        exact = distances(self._vectors, rows, lists.columns[close])
        best = firsts(rows, exact, lists.columns[close])
        self._nearest[:] = lists.columns[close][best]
        self._distance[:] = exact[best]
        for group, nearest in enumerate(self._nearest.tolist()):
            self._followers[nearest].append(group)
        for group in np.flatnonzero(highest - self._slack <= lists.floor).tolist():
            self._measure(group)  # crowded by more close ones than are listed

    def _measure(self, group: int) -> None:
        """Find the nearest other group again."""
        near = self._from_list(group)
        if near is None and np.count_nonzero(self._left) <= REBUILD * len(self._standing):
            self._list()
            near = self._from_list(group)
        if near is None:
            near = self._from_all(group)
        if not len(near):
            self._nearest[group], self._distance[group] = -1, np.inf
            return
        exact = distances(self._vectors, np.full(len(near), group), near)
        best = int(np.lexsort((near, exact))[0])
        self._nearest[group], self._distance[group] = near[best], exact[best]
        self._followers[int(near[best])].append(group)

    def _from_list(self, group: int) -> NDArray[np.int64] | None:
        """Who can be nearest, by the list; None when someone left out of it can be, too."""
        place = self._place[group]
        run = self._lists.run(place)
        columns, scores = self._standing[self._lists.columns[run]], self._lists.scores[run]
        present = self._left[columns] > 0
        columns, scores = columns[present], scores[present]
        highest = scores.max(initial=-np.inf)
        if highest - self._slack <= self._lists.floor[place]:
            return None
        near: NDArray[np.int64] = columns[scores >= highest - self._slack]
        return near

    def _from_all(self, group: int) -> NDArray[np.int64]:
        scores = self._vectors @ self._vectors[group]
        scores[self._left == 0] = -np.inf
        scores[group] = -np.inf
        highest = scores.max()
        return np.flatnonzero(scores >= highest - self._slack) if np.isfinite(highest) else NONE
