"""Commands of text games: a template and the names in its places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

BLANK = "…"
"""Stands for a name in a template."""
JOINTS = frozenset({"from", "with", "into", "on", "in", "to", "onto", "under", "at"})
"""Words between two names."""


@dataclass(frozen=True, slots=True)
class Command:
    """`take red apple from shelf` is `take … from …` of `red apple` and `shelf`."""

    template: str
    names: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        """The first word."""
        return self.template.split(" ", 1)[0]

    @property
    def text(self) -> str:
        """As it is typed."""
        names = iter(self.names)
        return " ".join(
            next(names, BLANK) if word == BLANK else word for word in self.template.split(" ")
        )


@lru_cache(maxsize=65_536)
def command_of(text: str) -> Command:
    """A command as it is typed, taken apart: the verb, then names with joints between them."""
    words = text.split()
    shape, names, name = words[:1], list[str](), list[str]()
    for word in words[1:]:
        if word.lower() in JOINTS and name:
            shape += [BLANK, word]
            names.append(" ".join(name))
            name = []
        else:
            name.append(word)
    if name:
        shape.append(BLANK)
        names.append(" ".join(name))
    return Command(" ".join(shape), tuple(names))
