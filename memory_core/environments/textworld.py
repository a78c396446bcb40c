"""Games of Microsoft's TextWorld: made from a family's settings and a seed, compiled offline.

An agent is told what a player sees, and which commands the game would take. What would give the
solution away is never asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from memory_core.errors import LoopError, MissingDependencyError
from memory_core.loop_records import Observation, Task
from memory_core.places import home

ASKED = (
    "admissible_commands",
    "objective",
    "description",
    "inventory",
    "score",
    "won",
    "lost",
)
"""All that is asked of a game."""

_ONE_AT_A_TIME = threading.RLock()
"""TextWorld makes, starts and plays games with state that threads would share."""
_BANNER = re.compile(r"^[\s$\\/|_]+$")
_PROMPT = re.compile(r"^>\s.*$|^>$", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")
_VERSION = 1
"""Of what the families' settings make; a game cached under another is made anew."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of game. Its settings and a seed make a game, always the same."""

    name: str
    title: str
    domain: str
    """Of lessons from it."""
    make: Callable[[int, str], Any]
    """Seed and split -> a game that is not compiled yet."""
    splits: tuple[str, ...] = ("train", "test")


def _options(seed: int) -> Any:
    from textworld import GameOptions

    options = GameOptions()
    options.seeds = seed
    return options


def _cooking(seed: int, split: str) -> Any:
    from textworld.challenges.tw_cooking.cooking import FOODS_SPLITS, make

    settings = {
        "recipe": 1, "take": 1, "open": True, "cook": False, "cut": False, "drop": False,
        "go": 6, "recipe_seed": 0, "split": split,
    }  # fmt: skip
    # The game's split `test` draws from the foods of `train`, too: draw until it did not.
    familiar = set() if split == "train" else set(FOODS_SPLITS["train"])
    for attempt in range(1_000):
        game = make(settings, _options(seed + 1_000_003 * attempt))
        if familiar.isdisjoint(name for name, *_ in game.metadata["ingredients"]):
            return game
    raise LoopError(f"No cooking game of seed {seed} has only new foods; choose another seed.")


def _custom(seed: int, split: str) -> Any:
    from textworld.generator import make_game

    options = _options(_apart(seed, split))
    options.nb_rooms, options.nb_objects, options.quest_length = 4, 10, 6
    options.grammar.only_last_action = True  # the objective names the goal, not the way
    return make_game(options)


def _treasure(seed: int, split: str) -> Any:
    from textworld.challenges.tw_treasure_hunter.treasure_hunter import make

    options = _options(_apart(seed, split))
    options.grammar.only_last_action = True
    return make({"level": 13}, options)


def _apart(seed: int, split: str) -> int:
    """Seeds of the two splits are different ones."""
    return 2 * seed + (split == "test")


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("cooking", "Cook one meal: six rooms, closed doors", "cooking games", _cooking),
        Family("custom", "A quest of six steps: four rooms, ten objects", "text quests", _custom),
        Family("treasure", "Find the treasure: ten rooms", "treasure hunts", _treasure),
    )
}
"""By name; what `task` knows."""


def task_name(family: str, split: str, seed: int) -> str:
    """By which a game is known, such as `cooking/test/7`."""
    return f"{family}/{split}/{seed}"


class TextWorldEnvironment:
    """Plays TextWorld games, one after the other.

    Games are compiled when first asked for, in one to three seconds, and kept in `folder`, which
    is by default in the folder of WINNOW_HOME.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Raises MissingDependencyError without the extra `textworld`."""
        _require()
        self.folder = home() / "games" if folder is None else folder
        self._game: Any = None

    def task(self, family: str, seed: int, *, split: str = "train") -> Task:
        """A game as a task; it is compiled where it was not yet.

        Raises LoopError for a family or split that there is none of.
        """
        return _task(task_name(family, split, seed), self._made(task_name(family, split, seed)))

    def tasks(self, family: str, seeds: Iterable[int], *, split: str = "train",
              distinct: bool = True) -> Iterator[Task]:  # fmt: skip
        """Games of several seeds; of those that share a solution, the first, if `distinct`."""
        seen: set[str] = set()
        for seed in seeds:
            name = task_name(family, split, seed)
            sheet = self._made(name)
            if not distinct or sheet["solution"] not in seen:
                seen.add(sheet["solution"])
                yield _task(name, sheet)

    def solution_mark(self, task: Task) -> str:
        """The same for two games that are won by the same commands; it tells nothing else."""
        return self._made(task.name)["solution"]

    def reset(self, task: Task) -> Observation:
        """Begin a game. Raises LoopError."""
        self.close()
        self._made(task.name)
        with _ONE_AT_A_TIME:
            import textworld

            asked = textworld.EnvInfos(**dict.fromkeys(ASKED, True))
            self._game = textworld.start(str(self._file(task.name)), asked)
            return _observation(self._game.reset(), done=False)

    def step(self, action: str) -> Observation:
        """Type a command. Raises LoopError where no game is on."""
        if self._game is None:
            raise LoopError("No game is on; reset the environment to a task first.")
        with _ONE_AT_A_TIME:
            state, _, done = self._game.step(" ".join(action.split()))
            return _observation(state, done=bool(done))

    def close(self) -> None:
        """End the game that is on."""
        if self._game is not None:
            with _ONE_AT_A_TIME:
                self._game.close()
                self._game = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- making games -------------------------------------------------------------------------

    def _file(self, name: str) -> Path:
        return self.folder / f"{name.replace('/', '-')}-v{_VERSION}.z8"

    def _made(self, name: str) -> dict[str, str]:
        """What is known of a game without playing it; it is made where it is not there."""
        family, split, seed = _parsed(name)
        file = self._file(name)
        sheet = file.with_suffix(".task.json")
        # Without its .json beside it, a game would tell no admissible commands, and not say so.
        if not (file.is_file() and sheet.is_file() and file.with_suffix(".json").is_file()):
            with _ONE_AT_A_TIME:
                self._make(family, split, seed, file)
        known: dict[str, str] = json.loads(sheet.read_text(encoding="utf-8"))
        return known

    def _make(self, family: Family, split: str, seed: int, file: Path) -> None:
        from textworld.generator import compile_game

        self.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self.folder) as name:
            built = Path(name) / file.name
            game = family.make(seed, split)
            options = _options(seed)
            options.path = str(built)
            compile_game(game, options)
            steps = game.metadata.get("walkthrough") or [q.commands for q in game.quests]
            sheet = {
                "objective": game.objective,
                "domain": family.domain,
                "solution": hashlib.sha256(json.dumps(steps, default=list).encode()).hexdigest(),
            }
            built.with_suffix(".task.json").write_text(json.dumps(sheet), encoding="utf-8")
            for suffix in (".json", ".task.json", ".z8"):
                built.with_suffix(suffix).replace(file.with_suffix(suffix))


def _require() -> None:
    try:
        import textworld  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "Playing text games needs TextWorld: pip install 'winnow-memory[textworld]' (Linux or "
            "macOS, with a C compiler and make, as its interpreter is built from source)"
        ) from error


def _parsed(name: str) -> tuple[Family, str, int]:
    family, _, rest = name.partition("/")
    split, _, seed = rest.partition("/")
    if family not in FAMILIES:
        raise LoopError(f"Unknown game {name!r}; known families: {', '.join(FAMILIES)}.")
    splits = FAMILIES[family].splits
    if split not in splits or not seed.isdecimal():
        raise LoopError(
            f"Unknown game {name!r}; say {family}/SPLIT/SEED with a split of {', '.join(splits)} "
            "and a whole number."
        )
    return FAMILIES[family], split, int(seed)


def _task(name: str, sheet: Mapping[str, str]) -> Task:
    return Task(" ".join(sheet["objective"].split()), name, sheet["domain"])


def _observation(state: Any, *, done: bool) -> Observation:
    done = done or bool(state["won"] or state["lost"])
    commands = state["admissible_commands"]
    if commands is None:
        raise LoopError("The game tells no admissible commands; delete its files to make it anew.")
    return Observation(
        text=_read(state["feedback"], state["objective"]),
        actions=tuple(commands),
        reward=float(state["score"] or 0),
        done=done,
        success=bool(state["won"]) if done else None,
        description=_read(state["description"]),
        inventory=_read(state["inventory"]),
    )


def _read(text: str | None, objective: str = "") -> str:
    """A game's text without banner, prompt and status line."""
    lines = [line.rstrip() for line in (text or "").splitlines() if not _BANNER.match(line)]
    plain = _PROMPT.sub("", "\n".join(lines))
    begin = plain.find(objective) if objective else -1
    return _GAPS.sub("\n\n", plain[max(begin, 0) :]).strip()
