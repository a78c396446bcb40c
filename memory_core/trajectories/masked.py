"""Trajectories without secrets, and the list of what was taken out."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_core.masking import is_telling, mask_of, mask_secrets
from memory_core.records import Trajectory
from memory_core.trajectories.normal_form import with_texts

_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Masked:
    """Secrets of one kind that were masked in one trajectory, its sub-agents' runs included."""

    trajectory: int
    """Its position in the reading, from 0."""
    kind: str
    count: int
    steps: tuple[int, ...]
    """Numbers of the steps that held one, ascending; none where only the task did."""


@dataclass
class _Tally:
    """What was masked so far."""

    counts: dict[str, int] = field(default_factory=dict)
    steps: dict[str, set[int]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    """Secrets as they were -> their kind: they are looked for in every other text of the run."""

    def mask(self, text: str, step: int | None) -> str:
        masked, secrets = mask_secrets(text)
        for secret in secrets:
            self._note(secret.kind, 1, step)
            value = text[secret.start : secret.end]
            if is_telling(value) and len(self.values) < _MOST_REMEMBERED:
                self.values[value] = secret.kind
        return masked

    def mask_again(self, text: str, step: int | None) -> str:
        """Mask what another text has shown to be a secret."""
        for value, kind in self.values.items():
            if value in text:
                self._note(kind, text.count(value), step)
                text = text.replace(value, mask_of(kind))
        return text

    def _note(self, kind: str, count: int, step: int | None) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + count
        steps = self.steps.setdefault(kind, set())
        if step is not None:
            steps.add(step)


def mask_trajectory(
    trajectory: Trajectory, position: int = 0
) -> tuple[Trajectory, tuple[Masked, ...]]:
    """The trajectory without secrets, and what they were."""
    tally = _Tally()
    masked = with_texts(trajectory, tally.mask)
    if tally.values:
        masked = with_texts(masked, tally.mask_again)
    return masked, tuple(
        Masked(position, kind, count, tuple(sorted(tally.steps[kind])))
        for kind, count in tally.counts.items()
    )
