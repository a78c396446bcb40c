"""What in a text game its rewards rest on, and what lost it.

Only what a player saw is used: the commands, the answers, what was admissible, what was carried,
and the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.text_games.lessons import LessonStep
from memory_core.text_games.transcript import Turn, carries, place_of


def essential(turns: Sequence[Turn]) -> tuple[int, ...]:
    """Positions of the turns that the rewards rest on, ascending.

    Backwards from each reward: what made a command admissible for the first time, what first
    gained the things it names, and how its place was first reached.
    """
    wanted = [i for i, turn in enumerate(turns) if turn.gain > 0 or turn.after.success]
    kept: set[int] = set()
    while wanted:
        at = wanted.pop()
        if at in kept:
            continue
        kept.add(at)
        wanted += [i for i in _causes(turns, at) if i < at]
    return tuple(sorted(kept))


def _causes(turns: Sequence[Turn], at: int) -> Iterable[int]:
    command, place = turns[at].command, place_of(turns[at].before)
    earlier = range(at)
    if command.text not in turns[0].before.actions:
        yield from [i for i in earlier if command.text in turns[i].after.actions][:1]
    for name in command.names:
        if carries(turns[0].before, name):
            continue  # it was there from the first
        gained = (i for i in earlier if _gained(turns[i], name))
        yield from [next(gained, at)]
    if place != place_of(turns[0].before):
        entered = (i for i in earlier if turns[i].moved and place_of(turns[i].after) == place)
        yield from [next(entered, at)]


def _gained(turn: Turn, name: str) -> bool:
    return carries(turn.after, name) and not carries(turn.before, name)


def procedure(turns: Sequence[Turn], kept: Iterable[int]) -> tuple[LessonStep, ...]:
    """The kept turns as steps. Ways between places are left out: games have other maps."""
    steps = [
        LessonStep(turns[i].command, place_of(turns[i].before)) for i in kept if not turns[i].moved
    ]
    return tuple(dict.fromkeys(steps))


def losing(turns: Sequence[Turn]) -> tuple[LessonStep, ...]:
    """The command that lost a game, after the one by which the agent got the thing it names."""
    last = turns[-1]
    if last.after.success is not False or not last.after.done:
        return ()
    thing = next(iter(last.command.names), "")
    got = next((t for t in reversed(turns[:-1]) if _gained(t, thing)), None)
    before = [LessonStep(got.command)] if got is not None else []
    return (*before, LessonStep(last.command))
