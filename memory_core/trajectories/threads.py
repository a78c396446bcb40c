"""Records that name their parent: the thread that was followed to its end, and those given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a log in which each names the one before it."""

    id: str
    parent: str
    turn: str
    """Records that belong to one turn share it, and may lie side by side without a fork."""
    content: Any


def threads(records: Sequence[Record]) -> tuple[list[Record], list[list[Record]]]:
    """The thread that was followed to its end, and the ones that were given up before.

    There is a fork where turns of two names have one parent: somebody went back and asked, or
    answered, anew. The later one counts.
    """
    first_turn: dict[str, str] = {}
    given_up: dict[str, str] = {}
    last_turn: dict[str, str] = {}
    for record in records:
        if record.turn and record.parent:
            first_turn.setdefault(record.parent, record.turn)
            last_turn[record.parent] = record.turn
    if first_turn == last_turn:
        return list(records), []
    main: list[Record] = []
    branches: dict[str, list[Record]] = {}
    for record in records:
        fork = given_up.get(record.parent, "")
        if not fork and record.turn and last_turn.get(record.parent, record.turn) != record.turn:
            fork = record.id
        if fork:
            given_up[record.id] = fork
            branches.setdefault(fork, []).append(record)
        else:
            main.append(record)
    return main, list(branches.values())
