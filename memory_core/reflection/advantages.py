"""What the better rollouts of a task did that the worse did not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from memory_core.records import Detail, Evidence, Kind, StrategicDetail, ToolDetail
from memory_core.reflection.calls import LOOKED_AT, Call
from memory_core.reflection.differences import Difference, differences, usage_of
from memory_core.reflection.lessons import Lesson
from memory_core.reflection.phrases import code, first_fitting, quoted, shape_of, told_by
from memory_core.reflection.rollouts import Group, Rollout

_NEARLY_ALL, _HARDLY_ANY = 0.8, 0.2
"""Shares of the better and of the worse runs, where there are five or more of each."""
_MANY = 5


def advantages(group: Group) -> list[Lesson]:
    """What goes with the better ending, the most particular first."""
    return [
        *_of_arguments(group),
        *_of_calls(group),
        *_of_errors(group),
        *_of_order(group),
    ]


def _goes_with(better: Sequence[bool], worse: Sequence[bool]) -> bool:
    """Whether something is so in the better runs, and not in the worse."""
    if len(better) >= _MANY and len(worse) >= _MANY:
        return sum(better) >= _NEARLY_ALL * len(better) and sum(worse) <= _HARDLY_ANY * len(worse)
    return all(better) and not any(worse)


def _tools(rollouts: Iterable[Rollout]) -> list[str]:
    return list(dict.fromkeys(call.tool for one in rollouts for call in one.working))


def _of_arguments(group: Group) -> Iterator[Lesson]:
    """Arguments of the last call of a tool, in which the better agree and the worse differ."""
    for tool in _tools(group.better):
        better = [one.last(tool) for one in group.better]
        worse = [one.last(tool) for one in group.worse]
        good = [call for call in better if call is not None]
        bad = [call for call in worse if call is not None]
        if len(good) < len(better) or not bad or good[0].written or good[0].command:
            continue
        for difference in _shared_differences(good, bad):
            if (lesson := _of_argument(group, tool, good, bad, difference)) is not None:
                yield lesson


def _shared_differences(good: Sequence[Call], bad: Sequence[Call]) -> list[Difference]:
    """In what all of some calls differ from all of others, said alike."""
    common: list[Difference] | None = None
    for one in good:
        for other in bad:
            found = differences(other, one)
            common = found if common is None else [d for d in common if _is_in(d, found)]
    return common or []


def _is_in(difference: Difference, found: Sequence[Difference]) -> bool:
    return any(one.name == difference.name and one.after == difference.after for one in found)


def _of_argument(
    group: Group, tool: str, good: Sequence[Call], bad: Sequence[Call], difference: Difference
) -> Lesson | None:
    phrase = difference.phrase()
    if not phrase or not difference.name:
        return None
    name = code(difference.name)
    n, m = len(group.better), len(group.worse)
    told = _entries(difference.after), _entries(difference.before)
    if told[0] and told[1]:
        shown_by = _shown_by(group.better[0], good[0], bad[0])
        also = f", with those that {code(shown_by)} shows" if shown_by else ""
        send = f"send {difference.after} in {name} of {code(tool)}"
        bodies = [
            f"{send}{also}; {_which(m, 'that failed')} sent {told[1]}.",
            f"{send}, not {told[1]}{also}.",
            f"{send}, not {told[1]}.",
        ]
    else:
        bodies = [
            f"call {code(tool)} with {phrase}, as {_which(n, 'that succeeded')}.",
            f"call {code(tool)} with {phrase}.",
        ]
    why = f"The last {code(tool)} had {phrase} in every better run and in none of the worse."
    return _lesson(
        group,
        bodies,
        "tool",
        ToolDetail(tool, usage_of(good[0])),
        why,
        _evidence(group, lambda one: one.last(tool)),
    )


def _entries(value: str | None) -> int:
    found = re.fullmatch(r"(\d+) entr(?:y|ies)", value or "")
    return int(found[1]) if found else 0


def _shown_by(better: Rollout, good: Call, bad: Call) -> str:
    """The tool whose result lists what the good call has beyond the bad one; "" where none does."""
    extra = {v for v in good.values.values() if len(v) >= 4} - set(bad.values.values())
    for call in better.working:
        if call.number >= good.number:
            break
        if extra and call.only_reads and all(v in call.observation[:LOOKED_AT] for v in extra):
            return call.tool
    return ""


def _which(count: int, what: str) -> str:
    return f"the run {what}" if count == 1 else f"the {count} runs {what}"


def _of_calls(group: Group) -> Iterator[Lesson]:
    """Tools that the better called and the worse did not, and the other way round."""
    for tool in _tools((*group.better, *group.worse)):
        better = [one.last(tool) is not None for one in group.better]
        worse = [one.last(tool) is not None for one in group.worse]
        evidence = _evidence(group, lambda one, tool=tool: one.last(tool))  # type: ignore[misc]
        if _goes_with(better, worse):
            before = _what_follows(group.better, tool)
            failed = _which(len(group.worse), "that failed")
            bodies = [f"call {code(tool)}{before}; {failed} did not."]
            why = f"Every better run called {code(tool)}, and no worse one did."
        elif _goes_with(worse, better):
            failed = _which(len(group.worse), "that failed")
            bodies = [f"do without {code(tool)}; only {failed} called it."]
            why = f"Every worse run called {code(tool)}, and no better one did."
        else:
            continue
        lesson = _lesson(
            group, bodies, "strategic", StrategicDetail(group.gist.text), why, evidence
        )
        if lesson is not None:
            yield lesson


def _what_follows(rollouts: Sequence[Rollout], tool: str) -> str:
    """` before x` where every run's next changing call is x; otherwise empty."""
    following = set()
    for one in rollouts:
        call = one.last(tool)
        later = [
            c.tool for c in one.working if call and c.number > call.number and not c.only_reads
        ]
        following.add(next((name for name in later if name != tool), ""))
    only = following.pop() if len(following) == 1 else ""
    return f" before {code(only)}" if only else ""


def _of_errors(group: Group) -> Iterator[Lesson]:
    """Errors that only the worse met."""
    met: dict[tuple[str, str], list[Call]] = {}
    for one in group.worse:
        for call in one.calls:
            if call.failed and not call.refused_by_user:
                met.setdefault((call.tool, shape_of(call.error)), []).append(call)
    spared = {(c.tool, shape_of(c.error)) for one in group.better for c in one.calls if c.failed}
    for (tool, shape), calls in met.items():
        hit = [
            any(c.failed and (c.tool, shape_of(c.error)) == (tool, shape) for c in one.calls)
            for one in group.worse
        ]
        if (tool, shape) in spared or not _goes_with(hit, [False] * len(group.better)):
            continue
        error = quoted(told_by(calls[0].error))
        instead = next((c for one in group.better if (c := one.last(tool)) is not None), None)
        failed = _which(len(group.worse), "that failed")
        bodies = [
            f"{code(tool)} that answers {error} is a sign to turn back; only {failed} met it."
        ]
        yield from filter(
            None,
            [
                _lesson(
                    group,
                    bodies,
                    "tool",
                    ToolDetail(tool, usage_of(instead) if instead else ""),
                    f"Every worse run met {error}, and no better one did.",
                    _evidence(
                        group,
                        lambda one, tool=tool, shape=shape: next(  # type: ignore[misc]
                            (
                                c
                                for c in one.calls
                                if c.failed and (c.tool, shape_of(c.error)) == (tool, shape)
                            ),
                            None,
                        ),
                    ),
                )
            ],
        )


def _of_order(group: Group) -> Iterator[Lesson]:
    """Two tools that the better called in one order, and the worse in the other."""
    rollouts = (*group.better, *group.worse)
    shared = [tool for tool in _tools(rollouts) if all(one.first(tool) for one in rollouts)]
    for place, one in enumerate(shared):
        for other in shared[place + 1 :]:
            for first, second in ((one, other), (other, one)):
                better = [_comes_first(rollout, first, second) for rollout in group.better]
                worse = [_comes_first(rollout, first, second) for rollout in group.worse]
                if not _goes_with(better, worse):
                    continue
                lesson = _lesson(
                    group,
                    [
                        f"call {code(first)} before {code(second)}; "
                        f"{_which(len(group.worse), 'that failed')} did it the other way round."
                    ],
                    "strategic",
                    StrategicDetail(group.gist.text),
                    f"Every better run called {code(first)} before {code(second)}, every worse one "
                    "after it.",
                    _evidence(group, lambda r, first=first: r.first(first)),  # type: ignore[misc]
                )
                if lesson is not None:
                    yield lesson


def _comes_first(rollout: Rollout, first: str, second: str) -> bool:
    a, b = rollout.first(first), rollout.first(second)
    return a is not None and b is not None and a.number < b.number


def _evidence(group: Group, chosen: Callable[[Rollout], Call | None]) -> tuple[Evidence, ...]:
    """The chosen call of each run that has it; of the others their calls' last."""
    found = []
    for one in (*group.better, *group.worse):
        call = chosen(one) or (one.calls[-1] if one.calls else None)
        if call is not None:
            found.append(Evidence(one.run.id, (call.number,)))
    return tuple(found)


def _lesson(
    group: Group,
    bodies: Sequence[str],
    kind: Kind,
    detail: Detail,
    why: str,
    evidence: tuple[Evidence, ...],
) -> Lesson | None:
    starts = [start for words in (12, 10, 8, 6, 5) if (start := group.gist.opening(words))]
    texts = [start + body for body in bodies for start in starts]
    texts += [body[:1].upper() + body[1:] for body in bodies]
    text = first_fitting(*texts)
    return Lesson(text, kind, detail, f"{group.told}. {why}", evidence) if text else None
