"""Memories with what was learned from runs: reflections, and the proposals that they became."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import UnreadableTrajectoryError
from memory_core.masking import mask_secrets
from memory_core.operations import Add, Batch, Operation
from memory_core.records import Provenance
from memory_core.reflection.context import (
    Progress,
    ReflectionContext,
    Reflector,
    Run,
    silent,
)
from memory_core.reflection.rules import RuleReflector
from memory_core.reflection.settling import settle
from memory_core.reflection_records import Reflection, ReflectionSummary, RefusedDraft
from memory_core.reviewed import ReviewedMemories
from memory_core.run_records import Trajectory
from memory_core.store import reflections
from memory_core.trajectories.masked import mask_trajectories
from memory_core.trajectories.normal_form import clean, clean_trajectory


class ReflectiveMemories(ReviewedMemories):
    """Memories under revisions, with the reflections that lessons come from beside them."""

    def draft_lessons(
        self,
        trajectories: Iterable[Trajectory],
        reflector: Reflector | None = None,
        *,
        as_group: bool = False,
        domain: str = "",
        format: str = "",
        ids: Sequence[str] | None = None,
        progress: Progress = silent,
    ) -> Reflection:
        """Lessons from runs, by a reflector; None for the rules, which need no model.

        The runs are kept first, without secrets, so that the lessons can cite them (`format` and
        `ids` as with `keep_trajectories`). `as_group` takes them as rollouts of one task and asks
        what the better ones did. `progress` hears what is being done and the share in [0, 1]
        behind; what it raises ends the reflection. Raises UnreadableTrajectoryError where there
        is no run, ReflectionError where the reflector fails.
        """
        cleaned, _ = mask_trajectories([clean_trajectory(run) for run in trajectories])
        if not cleaned:
            raise UnreadableTrajectoryError("There is no run to reflect on; read one first.")
        names = self._keep_masked(cleaned, format, ids)
        runs = tuple(Run(*pair) for pair in dict(zip(names, cleaned, strict=True)).items())
        reflector = RuleReflector() if reflector is None else reflector
        snapshot = self.snapshot()
        context = ReflectionContext(snapshot, self._rows_of, domain.strip().lower(), progress)
        reflect = reflector.compare if as_group else reflector.reflect
        drafts = settle(reflect(runs, context), context)
        return Reflection(
            operations=tuple(_reflected(operation) for operation in drafts.operations),
            trajectory_ids=tuple(run.id for run in runs),
            reflector=reflector.name,
            reason=_reason(runs, as_group),
            refused=tuple(map(_safe, drafts.refused)),
            notes=tuple(clean(note) for note in drafts.notes),
            usage=drafts.usage,
            base_revision=int(snapshot.revision or 0),
        )

    def reflect(
        self,
        trajectories: Iterable[Trajectory],
        reflector: Reflector | None = None,
        *,
        as_group: bool = False,
        domain: str = "",
    ) -> Batch:
        """The batch of `draft_lessons`: to plan, to commit or to propose."""
        return self.draft_lessons(trajectories, reflector, as_group=as_group, domain=domain).batch

    def keep_reflection(self, reflection: Reflection) -> tuple[int, ...]:
        """List a reflection and lay its operations before a person; the ids of the proposals.

        Keeping it again returns the same ids.
        """

        def listed(connection: Any, made_at_us: int) -> None:
            reflections.put_reflection(
                connection, reflection, actor=self.actor, made_at_us=made_at_us
            )

        return self._propose(reflection.batch, "", listed)

    def reflections(self) -> tuple[ReflectionSummary, ...]:
        """The reflections that are listed, oldest first."""
        with self._store.reading("reflections") as connection:
            return reflections.read_reflections(connection)

    def _rows_of(self, asked: Sequence[str]) -> NDArray[np.float32]:
        """The unit vector of each text, as rows."""
        vectors = self._vectors.of(list(asked))
        if not asked:
            return np.empty((0, self._dimension), dtype=np.float32)
        return np.stack([vectors[text] for text in asked])


def _reason(runs: Sequence[Run], as_group: bool) -> str:
    task = " ".join(runs[0].trajectory.task.split())
    task = task if len(task) <= 80 else task[:79] + "…"
    if len(runs) == 1:
        return f"Reflection on: {task}" if task else "Reflection on a run"
    what = "rollouts compared" if as_group else "runs"
    return (
        f"Reflection on {len(runs)} {what}: {task}" if task else f"Reflection on {len(runs)} {what}"
    )


def _reflected(operation: Operation) -> Operation:
    """An Add says where it comes from."""
    if isinstance(operation, Add) and operation.provenance == Provenance():
        evidence = tuple(operation.evidence)
        return replace(operation, provenance=Provenance("reflection", evidence))
    return operation


def _safe(draft: RefusedDraft) -> RefusedDraft:
    """A refused draft without secrets: a reply may repeat what nobody should read."""
    reply, _ = mask_secrets(clean(draft.reply))
    return replace(draft, reply=reply, reason=clean(draft.reason))
