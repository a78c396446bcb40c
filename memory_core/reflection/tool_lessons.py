"""Lessons about tools: how a call failed, and what was different in the one that then worked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory_core.cleaning.wording import content_stems
from memory_core.records import Evidence, ToolDetail
from memory_core.reflection.calls import Call
from memory_core.reflection.context import Run
from memory_core.reflection.differences import (
    Difference,
    differences,
    rendered,
    shown_value,
    told_difference,
    usage_of,
)
from memory_core.reflection.gists import Gist
from memory_core.reflection.lessons import Lesson, opened
from memory_core.reflection.phrases import (
    code,
    first_fitting,
    listed,
    one_line,
    quoted,
    says_what_failed,
    shape_of,
    told_by,
    word_count,
)
from memory_core.reflection.recoveries import (
    Recovery,
    recoveries,
    remark,
    second_thoughts,
)
from memory_core.reflection.setbacks import of_dead_end, of_second_thought

MOST = 3
"""Tool lessons of one run; several that say the same count as one."""
_CORRECTED = 0.6
"""Likeness from which a value is a correction of another, and not another thing."""
_MOST_ALIKE = 20
_MOST_LOOKED_AT = 200
_FORBIDS = re.compile(
    r"cannot|can['’]t|not (?:allowed|supported|valid|accepted)|invalid|must", re.I
)
_SHORT_COMMAND = 6
"""Words of a command line that is quoted whole."""


def tool_lessons(
    run: Run, calls: Sequence[Call], gist: Gist, texts: Sequence[tuple[int, str]]
) -> list[Lesson]:
    """What a run shows about its tools, the most telling first. `texts`: see `remark`."""
    kept: dict[tuple[str, ...], list[Lesson]] = {}
    for lesson in _each_lesson(run, calls, gist, texts):
        same = kept.setdefault(lesson.key, [])
        if len(same) < _MOST_ALIKE:
            same.append(lesson)
        if len(kept) > MOST:
            break
    return [lesson for same in [*kept.values()][:MOST] for lesson in same]


def _each_lesson(
    run: Run, calls: Sequence[Call], gist: Gist, texts: Sequence[tuple[int, str]]
) -> Iterator[Lesson]:
    for recovery in recoveries(calls)[:_MOST_LOOKED_AT]:
        lesson = _of_recovery(run, recovery, gist, remark(recovery, texts))
        if lesson is not None:
            yield lesson
    stuck = of_dead_end(run, calls, gist)
    if stuck is not None:
        yield stuck
    for thought in second_thoughts(calls)[:_MOST_ALIKE]:
        lesson = of_second_thought(run, thought, gist, remark(thought, texts))
        if lesson is not None:
            yield lesson


@dataclass(frozen=True, slots=True)
class _Told:
    """What a recovery teaches."""

    text: str
    why: str
    """What was different in the call that worked."""
    key: tuple[str, ...]
    weight: float = 0.0


def _of_recovery(
    run: Run, recovery: Recovery, gist: Gist, said: tuple[int, str] | None
) -> Lesson | None:
    failed, worked = recovery.failed, recovery.worked
    if not says_what_failed(failed.error):
        return None
    found = _told(recovery, gist, said[1] if said else "")
    if found is None or not found.text:
        return None
    steps = set(recovery.steps)
    attempts = [call.number for call in recovery.attempts]
    rationale = (
        f"Step{'s' * (len(attempts) > 1)} {listed(map(str, attempts))} failed with "
        f"{quoted(told_by(failed.error, words=20))}; step {worked.number} worked {found.why}."
    )
    if said and said[1] in found.text:
        steps.add(said[0])
        rationale += f" The reason is the run's own, from step {said[0]}."
    helper = recovery.preparation or recovery.lookup
    if helper:
        steps.add(helper.number)
    return Lesson(
        found.text,
        "tool",
        ToolDetail(failed.tool, usage_of(worked)),
        rationale,
        (Evidence(run.id, tuple(sorted(steps))),),
        found.key,
        weight=found.weight,
    )


def _told(recovery: Recovery, gist: Gist, said: str) -> _Told | None:
    failed, worked = recovery.failed, recovery.worked
    kind = shape_of(failed.error)
    if recovery.same_arguments:
        return _of_same_call(recovery, gist)
    if recovery.missed_in_a_search and not failed.command and (found := _of_search(recovery)):
        return found
    told = told_difference(failed, worked, told_by(failed.error, words=30))
    lookup = recovery.lookup
    if lookup and not said:
        text = opened(gist, list(_bodies_of_lookup(recovery, lookup)))
        why = f"after step {lookup.number} had told the right value"
        return _Told(text, why, (failed.tool, kind, "lookup"))
    if not said and _is_another_thing(recovery):
        return None
    levels: list[list[str]] = []
    call = _called(failed)
    if said and told:
        levels.append([f"{said}; {told} worked ({error})." for error in _errors(failed)[1:]])
    if said:
        levels.append([f"{said} ({call}: {error})." for error in _errors(failed)])
    if told:
        levels.append(list(_bodies_of_difference(recovery, told)))
    text = opened(gist, *levels)
    why = f"with {told}" if told else "after the arguments were changed"
    return _Told(text, why, (failed.tool, kind, told or said)) if text else None


def _is_another_thing(recovery: Recovery) -> bool:
    """Whether what was not there was given up, and something else asked for."""
    found = differences(recovery.failed, recovery.worked)
    if not recovery.missed_in_a_search or len(found) != 1 or recovery.failed.command:
        return False
    before, after = ((value or "")[:200].lower() for value in (found[0].before, found[0].after))
    return SequenceMatcher(None, before, after).ratio() < _CORRECTED


def _called(call: Call) -> str:
    """The tool; of a shell a short command line, or its program."""
    if not call.command:
        return code(call.tool)
    short = word_count(call.command) <= _SHORT_COMMAND and "\n" not in call.command.strip()
    return rendered(call) if short else code(call.programs[0] if call.programs else call.tool)


def _errors(call: Call) -> list[str]:
    """What an error says, quoted, from long to short."""
    return list(dict.fromkeys(quoted(told_by(call.error, words=words)) for words in (14, 10, 6)))


def _bodies_of_lookup(recovery: Recovery, lookup: Call) -> Iterator[str]:
    failed = recovery.failed
    names = [one.name for one in differences(failed, recovery.worked) if one.name]
    bearing = [name for name in names if set(content_stems(name.replace("_", " "))) & set(
        content_stems(told_by(failed.error, words=30).replace("_", " ")))]  # fmt: skip
    chosen = bearing or names
    what = code(chosen[0]) if len(chosen) == 1 else "the value"
    for error in _errors(failed):
        yield (
            f"{code(failed.tool)} answers {error} to a guess; take {what} from "
            f"{rendered(lookup, words=6)} first."
        )


def _bodies_of_difference(recovery: Recovery, told: str) -> Iterator[str]:
    """Bodies of a lesson whose call differed in few words, the fullest first."""
    failed, worked = recovery.failed, recovery.worked
    tool = code(failed.tool)
    found = differences(failed, worked)
    bearing = [one for one in found if one.bears_on(told_by(failed.error, words=30))] or found
    one = bearing[0] if bearing else None
    kinds = _kinds_of_value(one) if one and len(bearing) == 1 else None
    for error in _errors(failed):
        if failed.command and "instead of" in told:
            yield f"{told}, which answers {error}."
        elif failed.command:
            yield f"{_called(worked)} needs {told}; without, it answers {error}."
        elif failed.written:
            yield f"{rendered(worked)} works; {rendered(failed)} does not ({error})."
        elif one and kinds and _FORBIDS.search(told_by(failed.error, words=30)):
            yield f"{tool} takes {kinds[1]} as {code(one.name)}, not {kinds[0]} ({error})."
        else:
            yield f"{tool} answers {error}; it worked with {told}."


def _kinds_of_value(one: Difference) -> tuple[str, str] | None:
    """Two values as kinds of things, `a certificate` and `a credit card`; None if they are none."""
    shown = [shown_value(value or "") for value in (one.before, one.after)]
    if any(
        not value or value[0] == "`" or any(sign.isdigit() for sign in value) for value in shown
    ):
        return None
    first, second = (("an " if value[0] in "aeiou" else "a ") + value for value in shown)
    return first, second


def _of_same_call(recovery: Recovery, gist: Gist) -> _Told | None:
    failed, before = recovery.failed, recovery.preparation
    call = rendered(failed)
    key = (failed.tool, shape_of(failed.error))
    if before is not None:
        bodies = [f"{call} answers {e} until {rendered(before)} is done." for e in _errors(failed)]
        why = f"with the same arguments, after step {before.number}"
        return _Told(opened(gist, bodies), why, (*key, rendered(before)))
    times = len(recovery.attempts)
    if not recovery.is_transient and times < 2:
        return None
    bodies = [
        f"{call} may answer {error} {'once' if times == 1 else f'{times} times'} and then work "
        "unchanged; call it again before changing anything."
        for error in _errors(failed)
    ]
    return _Told(opened(gist, bodies), "with the same arguments", (*key, "again"))


def _of_search(recovery: Recovery) -> _Told | None:
    """Of a search by a name that is not there, and the name that is."""
    failed, worked = recovery.failed, recovery.worked
    sought, found = one_line(failed.only_value or ""), one_line(worked.only_value or "")
    if not sought or not found or len(found.split()) > 8 or len(sought.split()) > 12:
        return None
    tool = code(failed.tool)
    if found in failed.error:
        text = first_fitting(
            *(
                f"When {tool} answers {error}, take one of the similar names that it lists, such "
                f"as {code(found)}."
                for error in _errors(failed)
            )
        )
        weight = SequenceMatcher(None, sought.lower(), found.lower()).ratio()
        return _Told(text, "with a name that the error lists", (failed.tool, "suggested"), weight)
    described = word_count(sought) >= 3 and not sought.istitle()
    if described and found[:1].isupper() and "search" in failed.tool.lower():
        text = first_fitting(
            *(
                f"{tool} finds pages by name, not by description: {code(found)} worked after "
                f"{error}."
                for error in _errors(failed)
            )
        )
        return _Told(text, "with a name", (failed.tool, "named"))
    return None
