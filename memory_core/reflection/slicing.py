"""The calls of a run that its result rests on: loops, dead ends and unused results left out.

Backwards from the end: a call stays where it acts on something that a later call that stays acts
on, where its result names something that such a call was given, or where it changed something and
nothing tells what. What failed, was tried again unchanged, or was refused by the user goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.reflection.calls import LOOKED_AT, Call
from memory_core.reflection.phrases import words_of

MOST_CALLS = 400
"""Calls of a run that are looked at, the last ones."""
_MOST_WANTED = 150
"""Names whose origin is sought at one time, so that a long run takes no longer for each call."""
_TELLING_LENGTH = 40
"""Letters of a result from which it is no coincidence that another is the same: not `ok`."""
_NAMES_OF_CALL = 40
_THING = re.compile(r"\b[a-z]{2,} \d{1,3}\b")
"""A thing in a text world, such as `cabinet 2`."""
_NAME = re.compile(r"[\w@./#:+-]{3,}")
_NOT_FOR_THEMSELVES = words_of("go open close")
"""What one does in a text world for the sake of what comes next."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A call that stays."""

    call: Call
    matters: bool
    """Whether it changed something, or told what a later call was given; not merely read."""


def needed(calls: Sequence[Call], ending: str = "", given: str = "") -> tuple[Needed, ...]:
    """The calls that stay, in order.

    `ending` is what the run said at its end; `given` what stood in the task.
    """
    usable = [
        call
        for call in calls[-MOST_CALLS:]
        if not (call.failed or call.ends_the_run or call.only_thinks) and call.complete
    ]
    if usable and is_text_world(usable):
        return tuple(Needed(call, True) for call in _in_text_world(_without_undone(usable), given))
    usable = _without_idle(usable)
    return _slice(_last_of_each(usable), ending[-3_000:], given)


def _slice(usable: Sequence[Call], ending: str, given: str) -> tuple[Needed, ...]:
    wanted: dict[str, None] = {}
    kept: list[Needed] = []
    for call in reversed(usable):
        names = names_in(call)
        seen = call.observation[:LOOKED_AT]
        told = {name for name in wanted if name not in given and name in seen}
        matters = bool(told) or not call.only_reads
        if not kept or matters or names & wanted.keys() or any(n in ending for n in names):
            kept.append(Needed(call, matters))
            sought = dict.fromkeys((*wanted, *sorted(names)))
            wanted = dict.fromkeys([name for name in sought if name not in told][-_MOST_WANTED:])
    return tuple(reversed(kept))


def _without_idle(calls: Sequence[Call]) -> list[Call]:
    """Without a change after which a tool shows what it showed before."""
    shown: dict[str, str] = {}
    kept = []
    for call in calls:
        seen = call.observation.strip()
        idle = len(seen) >= _TELLING_LENGTH and shown.get(call.tool) == seen
        if not idle or call.only_reads:
            kept.append(call)
        shown[call.tool] = seen
    return kept


def _last_of_each(calls: Sequence[Call]) -> list[Call]:
    """Without a call that was made again unchanged before anything had changed."""
    kept: list[Call] = []
    since_change: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for call in reversed(calls):
        key = (call.tool, tuple(call.values.items()))
        if not call.only_reads and key not in since_change:
            since_change = set()
        if key not in since_change:
            kept.append(call)
        since_change.add(key)
    return kept[::-1]


# -- text worlds -----------------------------------------------------------------------------------


def is_text_world(calls: Sequence[Call]) -> bool:
    """Whether most calls are orders in words about numbered things: `open fridge 1`."""
    about = sum(call.written and bool(_THING.search(_object(call)[:200])) for call in calls)
    return 2 * about > len(calls)


def _object(call: Call) -> str:
    """Written arguments without the order that they begin with, as in `edit 8:8`."""
    return (call.only_value or "").removeprefix(call.tool)


def _in_text_world(calls: Sequence[Call], given: str) -> list[Call]:
    """Without the places that were looked at for nothing."""
    wanted: set[str] = set()
    kept: list[Call] = []
    task = given[:400].lower()
    for call in reversed(calls):
        names = names_in(call)
        for_next = bool(kept) and bool(names & names_in(kept[-1]))
        asked_for = any(name.rsplit(" ", 1)[0] in task for name in names)
        acts = call.tool not in _NOT_FOR_THEMSELVES and (bool(names & wanted) or asked_for)
        shows = bool(kept) and any(name in call.observation for name in names_in(kept[-1]) - names)
        if not kept or for_next or acts or shows:
            kept.append(call)
            wanted |= names
    return kept[::-1]


def _without_undone(calls: Sequence[Call]) -> list[Call]:
    """Without what was put somewhere and taken out again, and what was done there meanwhile."""
    kept: list[Call] = []
    for call in calls:
        names = names_in(call)
        if call.tool == "take" and len(names) == 2:
            put = next(
                (
                    place
                    for place in range(len(kept) - 1, -1, -1)
                    if kept[place].tool == "put" and names_in(kept[place]) == names
                ),
                None,
            )
            if put is not None and all(names_in(one) <= names for one in kept[put:]):
                del kept[put:]
                continue
        kept.append(call)
    return kept


# -- names -----------------------------------------------------------------------------------------


def names_in(call: Call) -> set[str]:
    """What a call's arguments name: things, files, identifiers, names."""
    found: set[str] = set()
    for value in list(call.values.values())[:_NAMES_OF_CALL]:
        text = value[:4_000].strip()
        if call.written and not call.command:
            things = _THING.findall(text.removeprefix(call.tool))
            found.update(things)
            if things:
                continue
            if 3 <= len(text) <= 60:
                found.add(text)
        elif len(text) <= 60 and is_particular(text):
            found.add(text)
        found.update(n for n in _NAME.findall(text)[:_NAMES_OF_CALL] if is_particular(n))
    return found


def is_particular(name: str) -> bool:
    """Whether a word names one thing: it has a digit, a sign within, or capitals."""
    if len(name) < 3 or (name.isdigit() and len(name) < 5) or "\n" in name:
        return False
    return (
        any(sign.isdigit() for sign in name)
        or bool(re.search(r"\w[_./@#-]\w", name))
        or (name.isalpha() and not name.islower() and not name.istitle())
    )
