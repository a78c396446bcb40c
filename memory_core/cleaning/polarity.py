"""Whether two lessons about the same thing advise the opposite.

Signs are looked for in the words: one situation with two answers, an order that is turned round,
words of opposite meaning, what one tells to do and the other not to. They are signs, not proof, and
of English only; a contradiction that shares no words is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from memory_core.cleaning.wording import NUMBER_WORDS, content_stems, stem_of

_OPPOSITES = """
always/never accept/reject accept/refuse accept/decline allow/forbid allow/deny allow/block
approve/reject grant/deny keep/drop keep/discard keep/delete keep/remove keep/reject keep/overwrite
retain/discard add/remove append/prepend insert/delete include/exclude include/omit enable/disable
increase/decrease increase/reduce raise/lower maximize/minimize more/less more/fewer most/least
larger/smaller longer/shorter higher/lower faster/slower early/late earlier/later first/last
start/stop begin/end open/close show/hide lock/unlock attach/detach mount/unmount
connect/disconnect subscribe/unsubscribe prefer/avoid use/avoid trust/distrust trust/mistrust
trust/verify required/optional required/default mandatory/optional explicit/implicit static/dynamic
live/static live/pasted live/frozen formulas/values sync/async synchronous/asynchronous
serial/parallel sequential/parallel eager/lazy strict/lenient strict/loose public/private
local/global local/remote manual/automatic manually/automatically ascending/descending
newest/oldest latest/earliest latest/oldest newer/older together/separately one/several
single/multiple single/many single/batch individually/together once/repeatedly commit/rollback
merge/rebase encrypt/decrypt compress/decompress positive/negative
true/false on/off with/without left/right top/bottom inside/outside horizontal/vertical ask/guess
ask/assume ask/infer wait/hurry immediately/later now/later upfront/later escape/unescape
retry/abort retry/quarantine continue/abort continue/stop safe/unsafe safe/dangerous fast/slow
cheap/expensive mutable/immutable online/offline relative/absolute
"""
_DENIED = re.compile(
    r"""(?:^|[,;:.]\s+|\bthen\s+)(?:do\s+not|don['’]t|never|avoid|stop|refuse\s+to|refrain\s+from)\s+
        (?:ever\s+|again\s+|to\s+)?(\w+)
      | \b(?:instead\s+of|rather\s+than)\s+(\w+)
      | --no-(\w+)""",
    re.IGNORECASE | re.VERBOSE,
)
_FORBIDS = re.compile(r"\s*(?:do\s+not|don['’]t|never|avoid)\b", re.IGNORECASE)
_WARNED = re.compile(r"[,;:.]\s+(?:\w+\s)?(\w{3,}ing)\s+((?:\S+\s+){0,4})", re.IGNORECASE)
_CONDITION = re.compile(
    r"\s*((?:when|whenever|if|given|after|before|for|during|while|once|unless|as\s+soon\s+as|in|on|with)"
    r"\b[^,;:]*)[,;:](.*)",
    re.IGNORECASE | re.DOTALL,
)
_ORDER = re.compile(r"\b(before|after|rather\s+than|instead\s+of|over)\b", re.IGNORECASE)
_PREFERS = re.compile(r"\b(?:prefer|choose|favou?r)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:.!?]\s|[;!?]$")
_SAME_SITUATION = 0.6
"""Least share of the words of two conditions that both have, if they are the same condition."""
_OTHER_ANSWER = 0.45
"""Most share of the words of two answers that both have, if they are not the same answer."""
_VERY_SIMILAR = 0.7


@dataclass(frozen=True, slots=True)
class _Advice:
    """What can be compared of a text. All words are stems."""

    words: frozenset[str]
    verb: str
    """The first word of what it tells to do."""
    verb_as_written: str
    head: frozenset[str]
    """The first clause of that."""
    numbers: Mapping[str, tuple[str, str]]
    """In it: what is counted, and the number and the word as they are written."""
    situation: frozenset[str]
    """The condition that it begins with."""
    answer: frozenset[str]
    """All that follows, but for the words of the condition."""
    denied: frozenset[str]
    """What it tells not to do."""
    warned: frozenset[tuple[str, str]]
    """What it says turned out badly: a verb, and one of its objects."""
    sooner: frozenset[str]
    """What it says is to be done before `later`, or rather than that."""
    later: frozenset[str]
    opening: tuple[str, ...]
    """The first eight words, not as stems."""
    forbids: bool
    """Whether it begins by telling what not to do."""


@lru_cache(maxsize=16_384)
def _advice(text: str) -> _Advice:
    condition = _CONDITION.match(text)
    told = condition[2] if condition else text
    situation = frozenset(content_stems(condition[1])) if condition else frozenset()
    head = _CLAUSE_END.split(told.strip(), maxsplit=1)[0]
    sooner, later = _order(text)
    words = frozenset(content_stems(text))
    return _Advice(
        words,
        next(iter(content_stems(head)), ""),
        next((word for word in re.findall(r"\w+", head) if content_stems(word)), ""),
        frozenset(content_stems(head)) | _kept(head),
        _numbers(head),
        situation,
        (frozenset(content_stems(told)) if condition else words) - situation,
        frozenset(stem_of(w.lower()) for found in _DENIED.findall(text) for w in found if w),
        frozenset(
            (stem_of(verb.lower()), thing)
            for verb, rest in _WARNED.findall(text)
            for thing in content_stems(rest)
        ),
        sooner,
        later,
        tuple(re.findall(r"\w+", text.lower())[:8]),
        bool(_FORBIDS.match(told)),
    )


def _order(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What comes first and what second, where a clause puts one before, or above, another."""
    for clause in _CLAUSE_END.split(text):
        parts = _ORDER.split(clause)
        if len(parts) != 3 or (parts[1].lower() == "over" and not _PREFERS.search(clause)):
            continue
        one, other = (frozenset(content_stems(part)) for part in (parts[0], parts[2]))
        one, other = one - other, other - one
        return (other, one) if parts[1].lower() == "after" else (one, other)
    return frozenset(), frozenset()


def _numbers(clause: str) -> dict[str, tuple[str, str]]:
    words = re.findall(r"\w+", clause.lower())
    return {
        stem_of(after): (word, after)
        for word, after in pairwise(words)
        if word in NUMBER_WORDS or word == "one" or word.isdigit()
    }


def _kept(clause: str) -> frozenset[str]:
    """Function words that have opposites."""
    return frozenset(w for w in re.findall(r"\w+", clause.lower()) if w in _opposites())


@cache
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = pair.split("/")
        for word, opposite in ((one, other), (other, one)):
            for form in (word, stem_of(word)):
                table.setdefault(form, set()).update((opposite, stem_of(opposite)))
    return {word: frozenset(opposites) for word, opposites in table.items()}


# -- the signs ------------------------------------------------------------------------------------


def opposed(one: str, other: str, *, similarity: float = 0.0) -> str | None:
    """How two texts about the same thing seem to contradict each other; None if they do not.

    `similarity` is their cosine, where it is known.
    """
    a, b = _advice(one), _advice(other)
    for sign in _SIGNS:
        found = sign(a, b)
        if found:
            return found
    if similarity >= _VERY_SIMILAR and a.forbids != b.forbids and _share(a.head, b.head) >= 0.25:
        return "one tells what not to do, the other what to do"
    return None


def _turned_round(a: _Advice, b: _Advice) -> str | None:
    turned = a.sooner & b.later and a.later & b.sooner
    return "what one puts first, the other puts second" if turned else None


def _other_answer(a: _Advice, b: _Advice) -> str | None:
    same = a.situation and b.situation and _share(a.situation, b.situation) >= _SAME_SITUATION
    if same and _share(a.answer, b.answer) <= _OTHER_ANSWER:
        return "they give different answers to one situation"
    opening = 0
    for mine, yours in zip(a.opening, b.opening, strict=False):
        if mine != yours:
            break
        opening += 1
    if opening >= 4 and _share(a.words, b.words) <= _OTHER_ANSWER:
        return "they begin alike and go on differently"
    for x, y in ((a, b), (b, a)):
        rest = y.words - x.situation
        if len(x.situation) >= 4 and x.situation <= y.words and _share(x.answer, rest) <= 0.2:
            return "they give different answers to one situation"
    return None


def _told_and_denied(a: _Advice, b: _Advice) -> str | None:
    for x, y in ((a, b), (b, a)):
        same = _share(x.head, y.head) >= 0.3 if x.verb == y.verb else True
        if y.verb in x.denied and y.verb not in y.denied and same:
            return f"one tells to do what the other tells not to do (“{y.verb_as_written} …”)"
        if y.verb != x.verb and any(v == y.verb and thing in y.head for v, thing in x.warned):
            return f"one tells to do what the other says went badly (“{y.verb_as_written} …”)"
    return None


def _words_opposed(a: _Advice, b: _Advice) -> str | None:
    table = _opposites()
    for word in sorted(a.head - b.words):
        for opposite in sorted(table.get(word, frozenset()) & (b.head - a.words)):
            if _share(a.head - {word}, b.head - {opposite}) >= 0.3:
                return f"“{word}” against “{opposite}”"
    return None


def _other_number(a: _Advice, b: _Advice) -> str | None:
    if a.verb != b.verb:
        return None
    for counted in sorted(a.numbers.keys() & b.numbers.keys()):
        mine, yours = a.numbers[counted], b.numbers[counted]
        if mine[0] != yours[0]:
            return f"“{' '.join(mine)}” against “{' '.join(yours)}”"
    return None


_SIGNS: tuple[Callable[[_Advice, _Advice], str | None], ...] = (
    _turned_round,
    _other_answer,
    _words_opposed,
    _told_and_denied,
    _other_number,
)


def _share(one: Iterable[str], other: Iterable[str]) -> float:
    """The words that both have, of those that one has."""
    mine, yours = set(one), set(other)
    return len(mine & yours) / max(len(mine | yours), 1)
