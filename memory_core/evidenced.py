"""Memories with the runs that they came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.curated import CuratedMemories
from memory_core.errors import InvalidBatchError
from memory_core.run_records import Trajectory, TrajectorySummary
from memory_core.store import runs
from memory_core.trajectories.masked import mask_trajectories
from memory_core.trajectories.normal_form import clean_trajectory, trajectory_id
from memory_core.validation import check_string


class EvidencedMemories(CuratedMemories):
    """Memories under revisions, with the trajectories that bear them out beside them."""

    def keep_trajectories(
        self,
        trajectories: Iterable[Trajectory],
        *,
        format: str = "",
        ids: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Keep runs, so that evidence can cite them; the id of each.

        Secrets are masked first. An id is made from the content unless `ids` gives one for each,
        so that a run that is kept already is not kept twice. Raises InvalidBatchError where a
        given id belongs to another run.
        """
        kept, _ = mask_trajectories([clean_trajectory(run) for run in trajectories])
        return self._keep_masked(kept, format, ids)

    def _keep_masked(
        self, kept: Sequence[Trajectory], format: str, ids: Sequence[str] | None
    ) -> tuple[str, ...]:
        names = [trajectory_id(run) for run in kept] if ids is None else list(ids)
        if len(names) != len(kept):
            raise InvalidBatchError(
                f"There are {len(kept)} trajectories and {len(names)} ids; give one for each."
            )
        for name in (*names, format):
            check_string(name, "trajectory's id or format")
        with self._store.writing("keep trajectories") as connection:
            for name, run in zip(names, kept, strict=True):
                there = runs.find_trajectory(connection, name)
                if there is None:
                    runs.put_trajectory(
                        connection, name, run,
                        format=format, actor=self.actor, made_at_us=self._clock(),
                    )  # fmt: skip
                elif there != run:
                    raise InvalidBatchError(
                        f"Another trajectory is kept as {name!r} already, and lessons may cite it. "
                        "Choose another id, or leave the choice to the bank."
                    )
        return tuple(names)

    def trajectory(self, trajectory_id: str) -> Trajectory | None:
        """A run that is kept; None where there is none of this id."""
        check_string(trajectory_id, "trajectory's id")
        with self._store.reading("trajectory") as connection:
            return runs.find_trajectory(connection, trajectory_id)

    def trajectories(self) -> tuple[TrajectorySummary, ...]:
        """The runs that are kept, without their steps, oldest first."""
        with self._store.reading("trajectories") as connection:
            return runs.read_summaries(connection)
