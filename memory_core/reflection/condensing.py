"""A run as text that a model can read within its context.

What does not fit is condensed, never cut off: long texts keep their beginning, their end and the
lines that tell of an error; repetitions are folded into one line; then the run is told in several
pieces; and only when even those are too many are uneventful steps left out, each counted in its
place. Steps with errors and the end stay, and every step keeps its number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory_core.reflection.shortening import folded_spans, shortened
from memory_core.reflection.telling import Told, head_of, told_step, told_steps
from memory_core.run_records import Trajectory

_LIMITS = (4000, 2000, 1000, 600)
"""Characters that each text of a step may have, tried one after another, to tell a run at once."""
_LIMITS_OF_PIECES = (1000, 400, 200, 120)
_SHORTEST = 120
_END = 3
"""Steps at the end that are given more room, as those with an error are."""
_OF_ONE_ERROR = 3
"""Steps with the same error that stay where steps must be left out."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """A run as text."""

    head: str
    """Task, outcome, agent; stands before each piece."""
    pieces: tuple[str, ...]
    """The steps in order; one piece where all fits into it."""
    notes: tuple[str, ...] = ()
    """What is not told in full, in sentences; none where all is."""

    def text(self, number: int) -> str:
        """One piece with all that goes before it, by its position from 0."""
        if len(self.pieces) == 1:
            return f"{self.head}\n{self.pieces[0]}"
        part = f"Part {number + 1} of {len(self.pieces)} of the run's steps:"
        return f"{self.head}\n{part}\n{self.pieces[number]}"


@dataclass(frozen=True, slots=True)
class _Lines:
    """Steps as told, or what stands in the place of some."""

    text: str
    steps: tuple[Told, ...]
    folded: bool = False


def condensed(trajectory: Trajectory, budget: int, *, most_pieces: int = 1) -> Condensed:
    """A run in at most `most_pieces` pieces of at most `budget` characters, head included."""
    head = head_of(trajectory, budget // 3)
    room = max(200, budget - len(head) - 60)
    steps = told_steps(trajectory)
    whole = [_Lines(told_step(step), (step,)) for step in steps]
    if _length(whole) <= room:
        return Condensed(head, (_joined(whole),))
    for limit in _LIMITS:
        lines = _lines(steps, limit)
        if _length(lines) <= room:
            return Condensed(head, (_joined(lines),), _notes(steps, lines))
    limits = _LIMITS_OF_PIECES if most_pieces > 1 else (300, 200, 120)
    for limit in limits:
        lines = _lines(steps, limit, longest=room)
        pieces = _parted(lines, room)
        if len(pieces) <= most_pieces:
            return Condensed(head, tuple(map(_joined, pieces)), _notes(steps, lines))
    lines = _thinned(_lines(steps, _SHORTEST, longest=room // 3), room, most_pieces)
    pieces = _parted(lines, room)
    return Condensed(head, tuple(map(_joined, pieces)), _notes(steps, lines))


def _lines(steps: Sequence[Told], limit: int, *, longest: int | None = None) -> list[_Lines]:
    """The steps with texts of at most `limit` characters and repetitions folded."""
    lines: list[_Lines] = []
    at = 0
    repeated = folded_spans([step.signature for step in steps])
    spans = [range(span.start, min(span.stop, len(steps) - _END)) for span in repeated]
    spans = [span for span in spans if span]
    for span in [*spans, range(len(steps), len(steps))]:
        for place in range(at, span.start):
            lines.append(_line(steps[place], limit, longest, last=len(steps) - place <= _END))
        at = span.stop
        if span:
            lines.append(_repetition(steps, span))
    return lines


def _line(step: Told, limit: int, longest: int | None, *, last: bool) -> _Lines:
    limit = limit * 2 if step.failed or last else limit
    text = told_step(step, limit)
    while longest is not None and len(text) > longest and limit > 20:
        limit //= 2
        text = told_step(step, limit)
    if longest is not None and len(text) > longest:
        text = f"{text.partition(chr(10))[0]}\n  (too long to be shown)"
    return _Lines(text, (step,))


def _repetition(steps: Sequence[Told], span: range) -> _Lines:
    inside = tuple(steps[place] for place in span)
    before = steps[span.start - 1]
    text = (
        f"[steps {inside[0].label} to {inside[-1].label}] the same again, {len(inside)} steps "
        f"like those up to step {before.label}: {_tools(inside)}"
    )
    return _Lines(text, inside, folded=True)


def _tools(steps: Iterable[Told]) -> str:
    counts = Counter(step.step.tool or step.step.role for step in steps)
    shown = [f"{shortened(name, 60)} ×{count}" for name, count in counts.most_common(5)]
    return ", ".join(shown) + (", …" if len(counts) > 5 else "")


def _parted(lines: Sequence[_Lines], room: int) -> list[list[_Lines]]:
    """The lines in order, in as few pieces of at most `room` characters as they need."""
    pieces: list[list[_Lines]] = [[]]
    length = 0
    for line in lines:
        if pieces[-1] and length + len(line.text) + 1 > room:
            pieces.append([])
            length = 0
        pieces[-1].append(line)
        length += len(line.text) + 1
    return pieces


def _thinned(lines: Sequence[_Lines], room: int, most_pieces: int) -> list[_Lines]:
    """The lines without uneventful steps, so that the pieces are few enough."""
    share = 0.9 * room * most_pieces  # pieces do not fill up to the last character
    kept = _needed(lines)
    while True:
        told = _with_gaps(lines, kept.__contains__)
        if len(_parted(told, room)) <= most_pieces and _length(told) <= max(share, room):
            break
        if len(kept) == 1:
            return told
        # Even the errors are too many: every other one goes, the last step never.
        ordered = sorted(kept)
        kept = {*ordered[1::2], ordered[-1]}
    return _filled(lines, kept, share, lambda told: len(_parted(told, room)) <= most_pieces)


def _filled(
    lines: Sequence[_Lines],
    kept: set[int],
    share: float,
    fits: Callable[[Sequence[_Lines]], bool],
) -> list[_Lines]:
    """As many of the other steps as there is room for, evenly spread."""
    others = [place for place in range(len(lines)) if place not in kept]
    few, many = 0, len(others)
    best = _with_gaps(lines, lambda place: place in kept)
    while few < many:
        middle = (few + many + 1) // 2
        spread = {others[i * len(others) // middle] for i in range(middle)}
        told = _with_gaps(lines, lambda place, more=spread: place in kept or place in more)  # type: ignore[misc]
        if _length(told) <= share and fits(told):
            few, best = middle, told
        else:
            many = middle - 1
    return best


def _needed(lines: Sequence[_Lines]) -> set[int]:
    """Places of what must stay if it can: the beginning, the end, and steps with errors."""
    kept = {0, 1, *range(max(0, len(lines) - _END), len(lines))} & set(range(len(lines)))
    seen: Counter[str] = Counter()
    for place, line in enumerate(lines):
        step = line.steps[0]
        if step.failed and not line.folded:
            seen[step.failure] += 1
            if seen[step.failure] <= _OF_ONE_ERROR:
                kept.add(place)
    return kept


def _with_gaps(lines: Sequence[_Lines], kept: Callable[[int], bool]) -> list[_Lines]:
    told: list[_Lines] = []
    gap: list[Told] = []
    for place, line in enumerate(lines):
        if kept(place):
            if gap:
                told.append(_gap(gap))
                gap = []
            told.append(line)
        else:
            gap += line.steps
    return [*told, _gap(gap)] if gap else told


def _gap(steps: Sequence[Told]) -> _Lines:
    failed = sum(step.failed for step in steps)
    text = (
        f"[steps {steps[0].label} to {steps[-1].label}] {len(steps)} steps left out, "
        f"{failed or 'none'} with an error: {_tools(steps)}"
    )
    return _Lines(text, tuple(steps), folded=True)


def _joined(lines: Iterable[_Lines]) -> str:
    return "\n".join(line.text for line in lines)


def _length(lines: Sequence[_Lines]) -> int:
    return sum(len(line.text) + 1 for line in lines)


def _notes(steps: Sequence[Told], lines: Sequence[_Lines]) -> tuple[str, ...]:
    """What of a run's steps was not told in full."""
    gone = sum(len(line.steps) for line in lines if line.folded)
    short = sum(
        not line.folded and line.text != told_step(line.steps[0]) for line in lines if line.steps
    )
    told = []
    if short:
        told.append(f"{short:,} long steps were shortened to their beginning, end and errors")
    if gone:
        told.append(f"{gone:,} repeated or uneventful steps were counted instead of shown")
    if not told:
        return ()
    return (f"Of {len(steps):,} steps, {' and '.join(told)}.",)
