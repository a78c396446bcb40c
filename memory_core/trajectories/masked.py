"""Trajectories without secrets, and the list of what was taken out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from memory_core.masking import find_secrets, is_telling, mask_of, mask_secrets
from memory_core.run_records import Trajectory
from memory_core.trajectories.normal_form import texts_of, with_texts

_MOST_REMEMBERED = 64
_LOOKED_AT_TOGETHER = 200_000
_BETWEEN = "\n\x1e\n"


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


def mask_trajectories(
    trajectories: Sequence[Trajectory],
) -> tuple[tuple[Trajectory, ...], tuple[Masked, ...]]:
    """The trajectories without secrets, and what these were."""
    suspects = _suspects(text for one in trajectories for text in texts_of(one))
    if not suspects:
        return tuple(trajectories), ()
    kept, found = [], []
    for position, trajectory in enumerate(trajectories):
        if not suspects.isdisjoint(texts_of(trajectory)):
            trajectory, tally = _masked(trajectory, suspects)
            found += [
                Masked(position, kind, count, tuple(sorted(tally.steps[kind])))
                for kind, count in tally.counts.items()
            ]
        kept.append(trajectory)
    return tuple(kept), tuple(found)


def _masked(trajectory: Trajectory, suspects: set[str]) -> tuple[Trajectory, _Tally]:
    tally = _Tally()
    masked = with_texts(
        trajectory, lambda text, step: tally.mask(text, step) if text in suspects else text
    )
    return with_texts(masked, tally.mask_again) if tally.values else masked, tally


def _suspects(texts: Iterable[str]) -> set[str]:
    """The texts that may hold a secret. Many are looked at in one go: most hold none."""
    suspects: set[str] = set()
    together: list[str] = []
    size = 0
    for text in texts:
        if text:
            together.append(text)
            size += len(text)
        if size > _LOOKED_AT_TOGETHER:
            suspects.update(_with_secret(together))
            together, size = [], 0
    suspects.update(_with_secret(together))
    return suspects


def _with_secret(texts: list[str]) -> Iterator[str]:
    """Those in which a secret begins or ends, or that it covers."""
    ends = list(accumulate(len(text) + len(_BETWEEN) for text in texts))
    for secret in find_secrets(_BETWEEN.join(texts)):
        first, last = bisect_right(ends, secret.start), bisect_right(ends, secret.end - 1)
        yield from texts[first : last + 1]
