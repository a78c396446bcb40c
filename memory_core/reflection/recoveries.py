"""Failed calls, and the later call of the same tool that worked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_core.cleaning.instructions import instruction_in
from memory_core.cleaning.wording import content_stems
from memory_core.reflection.calls import LOOKED_AT, Call, likeness
from memory_core.reflection.differences import new_names
from memory_core.reflection.phrases import sentences, shape_of, told_by, word_count
from memory_core.reflection.slicing import is_text_world

FARTHEST = 12
"""Calls after a failure in which one that worked is sought."""
_ALIKE = 0.3
_TRANSIENT = re.compile(
    r"time[d-]?\s?out|rate.?limit|too many requests|\b429\b|temporar|try again|unavailable"
    r"|\b50[234]\b|connection (?:reset|refused)|overloaded",
    re.IGNORECASE,
)
_THING = re.compile(r"\b[a-z]{2,} \d{1,3}\b")
_WRONG_VALUE = re.compile(
    r"not found|no such|unknown|invalid|not exist|0 occurrences|cannot find|could not find|no match"
    r"|ambiguous|not recogni[sz]ed|did not match",
    re.IGNORECASE,
)
_SEARCH_MISS = re.compile(
    r"could not find|no (?:results|matches|page|such)|not found|0 results", re.I
)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A call that failed, and the one that then worked."""

    failed: Call
    worked: Call
    between: tuple[Call, ...]
    """Calls between the two that did not fail."""
    attempts: tuple[Call, ...]
    """All that failed for the same thing, the first of them first."""

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(call.number for call in (*self.attempts, self.worked))

    @property
    def same_arguments(self) -> bool:
        return dict(self.failed.values) == dict(self.worked.values)

    @property
    def is_transient(self) -> bool:
        """Whether the error says that it passes by itself."""
        return bool(_TRANSIENT.search(told_by(self.failed.error, words=30)))

    @property
    def missed_in_a_search(self) -> bool:
        return bool(_SEARCH_MISS.search(told_by(self.failed.error, words=30)))

    @property
    def lookup(self) -> Call | None:
        """The call between that told what the failed call had wrong."""
        if not _WRONG_VALUE.search(told_by(self.failed.error, words=30)):
            return None
        sought = new_names(self.failed, self.worked)
        for call in self.between:
            seen = call.observation[:LOOKED_AT]
            if call.tool != self.failed.tool and any(name in seen for name in sought):
                return call
        return None

    @property
    def preparation(self) -> Call | None:
        """The last call between that changed something, where the same call then worked."""
        if not self.same_arguments:
            return None
        changing = [call for call in self.between if not call.only_reads]
        return changing[-1] if changing else None


def recoveries(calls: Sequence[Call]) -> list[Recovery]:
    """The failures that were mended, one for each kind of error and call that then worked."""
    found: dict[tuple[int, str], Recovery] = {}
    for place, failed in enumerate(calls):
        if not failed.failed or failed.refused_by_user or not failed.complete:
            continue
        later = calls[place + 1 : place + 1 + FARTHEST]
        for distance, call in enumerate(later):
            if call.failed or not _same_pursuit(failed, call, distance):
                continue
            key = (call.number, shape_of(failed.error))
            before = found.get(key)
            between = tuple(one for one in later[:distance] if not one.failed)
            attempts = (*(before.attempts if before else ()), failed)
            found[key] = Recovery(failed, call, between, attempts)
            break
    return list(found.values())


def second_thoughts(calls: Sequence[Call]) -> list[Recovery]:
    """Changes that did nothing, and the like change in their place that did.

    That nothing changed is told by a call that answered the same before and after.
    """
    found = []
    doing = [call for call in calls if not call.failed and call.complete]
    for place, first in enumerate(doing):
        if first.only_reads or first.command or is_text_world([first]):
            continue
        later = doing[place + 1 : place + 1 + FARTHEST]
        for distance, second in enumerate(later):
            if not _is_like_change(first, second):
                continue
            before = {one.observation.strip() for one in doing[max(0, place - FARTHEST) : place]}
            idle = [one for one in later[:distance] if one.observation.strip() in before - {""}]
            after = [one.observation.strip() for one in later[distance + 1 :][:3]]
            if idle and after and idle[0].observation.strip() not in after:
                found.append(Recovery(first, second, (idle[0],), (first,)))
            break
    return found


def _is_like_change(first: Call, second: Call) -> bool:
    """Whether a change is another go at the same place."""
    if first.tool != second.tool or dict(first.values) == dict(second.values) or second.only_reads:
        return False
    if first.written and second.written:
        heads = [" ".join((call.only_value or "").split()[:2]) for call in (first, second)]
        return heads[0] == heads[1] and likeness(first, second) >= 0.5
    same = [name for name, value in first.values.items() if second.values.get(name) == value]
    return bool(same) and likeness(first, second) >= 0.5


def unmended(calls: Sequence[Call]) -> list[Call]:
    """Failures after which no call of the same tool worked."""
    mended = {call.number for one in recoveries(calls) for call in one.attempts}
    return [
        call
        for call in calls
        if call.failed and not call.refused_by_user and call.complete and call.number not in mended
    ]


def _same_pursuit(failed: Call, later: Call, distance: int) -> bool:
    """Whether a later call goes for what an earlier one failed at."""
    if failed.tool != later.tool and not (failed.command and later.command):
        return False
    if failed.command and later.command:
        shared = set(failed.programs) & set(later.programs)
        nested = any(" " in program for program in shared)
        return bool(shared) and (nested or likeness(failed, later) >= _ALIKE)
    if failed.written != later.written:
        return False
    if failed.written and failed.only_value != later.only_value:
        # The same order about other things: not mended, but done to something else.
        plain = (_THING.sub("•", call.only_value or "") for call in (failed, later))
        if len(set(plain)) == 1:
            return False
    lone = failed.only_value is not None and later.only_value is not None
    if lone and not failed.written and word_count(failed.only_value or "") > 12:
        # Code and queries: nearly any two are calls of the same tool.
        return distance == 0 or likeness(failed, later) >= _ALIKE
    return (lone and distance <= 1) or likeness(failed, later) >= _ALIKE


# -- what the run itself said ----------------------------------------------------------------------

_PERSONAL = re.compile(
    r"\b(?:I|I'm|I'll|I've|I'd|me|my|mine|we|we'll|our|us|let's|you|your|sorry|user|she|he)\b", re.I
)
_RULE = re.compile(
    r"\b(?:cannot|can['’]t|must|only|needs?|requires?|wants?|has to|have to|does(?:n['’]t| not)"
    r"|do(?:n['’]t| not)|keeps?|deletes?|makes?|because|since|so that|when|if|until|unless|instead"
    r"|takes?|(?:is|are) not|expects?|hono[u]?rs?|always|never|every|merely|before|after)\b",
    re.IGNORECASE,
)
_PARTICULAR = re.compile(r"(?<![\d:])\d{2,}(?![\d:])|[\w.]+@|\$\d")
_WEAK_START = re.compile(
    r"(?:now|ok|okay|great|perfect|done|next|first|here|let|looking|it (?:seems|looks|appears)"
    r"|thanks?|sure|hmm|oh|well|so|good|still|perhaps|maybe|this|that|these|those|there|no|yes|not|both|twice"
    r"|a last|last|then|action|need|trying|attempt|going|preparing|running"
    r"|checking|thought|the (?:code|file|error|task|page) (?:is|was|has been|shows))\b",
    re.IGNORECASE,
)


def remark(recovery: Recovery, texts: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """The sentence in which the run says why: the number of its step, and its words.

    `texts` are what the agent said, by step. A sentence counts if it is about the call, speaks of
    no person, and tells the model nothing to do.
    """
    topic = set(content_stems(recovery.failed.error[:2_000].replace("_", " ")))
    for call in (recovery.failed, recovery.worked):
        topic |= set(content_stems(" ".join(call.values.values())[:2_000].replace("_", " ")))
        topic |= set(content_stems(call.tool.replace("_", " ")))
    first, last = recovery.failed.number, recovery.worked.number
    begin, end = (bisect_right(texts, place, key=lambda one: one[0]) for place in (first, last))
    for number, text in reversed(texts[begin:end]):
        for sentence in sentences(text)[:12]:
            for clause in _clauses(sentence):
                if _explains(clause, topic):
                    return number, clause.rstrip(".")
    return None


def _clauses(sentence: str) -> Iterator[str]:
    """A sentence without what the run then did about it, and its parts."""
    general = re.split(r",\s+(?:and|so|but|then)\s+(?:I|we)\b", sentence)[0]
    general = re.sub(r"^(?:\S+\s){0,3}\S+:\s+", "", general)  # `That settles it: …`
    yield general
    yield from re.split(r";\s|,\s+which\b", general)


def _explains(sentence: str, topic: set[str]) -> bool:
    return (
        5 <= word_count(sentence) <= 18
        and sentence[-1:] not in ":?!…"
        and bool(_RULE.search(sentence))
        and not _PARTICULAR.search(sentence)
        and not _PERSONAL.search(sentence)
        and not _WEAK_START.match(sentence)
        and len(topic & set(content_stems(sentence.replace("_", " ")))) >= 1
        and not instruction_in(sentence)
        and "[masked" not in sentence
    )
