"""What the runs of learning.py amount to: arms with intervals, curves, and the record of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from learning_runs import CHECKED, Design, Played
from numpy.typing import NDArray

from memory_core import ArmResult, CurvePoint, Episode, Estimate, ExperimentFamily
from memory_core.experiment import LessonCourse, LessonPoint, episode_from_dict
from memory_core.serialization import memory_from_dict

RESAMPLES = 10_000
SHORT = 20
"""The loop's own limit of steps, for language models."""
TITLES = {
    "on": "with memory",
    "off": "without memory",
    "unrelated": "a bank from treasure hunts",
    "scrambled": "its own bank, verbs scrambled",
    "transfer": "a bank from cooking games",
}
Value = Callable[[Played], float]


def per_game(rows: Sequence[Played], value: Value) -> NDArray[np.float64]:
    """The mean of a value over the seeds, for each game, in the order of their names."""
    games: dict[str, list[float]] = {}
    for row in rows:
        games.setdefault(row.game, []).append(float(value(row)))
    return np.array([np.mean(games[game]) for game in sorted(games)])


def interval(statistic: Callable[..., Any], *samples: NDArray[np.float64]) -> Estimate:
    """A statistic of the means of paired samples (a value for each game), bootstrapped."""
    count = len(samples[0])
    drawn = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
    low, high = np.quantile(statistic(*(s[drawn].mean(axis=1) for s in samples)), [0.025, 0.975])
    mean = float(statistic(*(s.mean() for s in samples)))
    return Estimate(round(mean, 4), round(float(low), 4), round(float(high), 4), count)


def _same(values: Any) -> Any:
    return values


def arm_result(design: Design, rows: Sequence[Played], arm: str, limit: int) -> ArmResult:
    """One arm against that without memory, on the same games and seeds."""
    mine = [r for r in rows if (r.arm, r.limit) == (arm, limit)]
    base = [r for r in rows if (r.arm, r.limit) == ("off", limit)]
    won, steps = per_game(mine, lambda r: r.won), per_game(mine, lambda r: r.cost)
    apart = {}
    if arm != "off":
        apart = {
            "ratio": interval(lambda a, b: b / a, steps, per_game(base, lambda r: r.cost)),
            "gain": interval(lambda a, b: a - b, won, per_game(base, lambda r: r.won)),
        }
    other = limit != design.limit
    return ArmResult(
        name=f"{arm}-{limit}" if other else arm,
        title=TITLES[arm] + (f", {limit} steps" if other else ""),
        games=len(mine),
        success=interval(_same, won),
        steps=interval(_same, steps),
        within_20=interval(_same, per_game(mine, lambda r: r.won and r.taken <= SHORT)),
        lost=interval(_same, per_game(mine, lambda r: r.lost)),
        limit=limit if other else 0,
        **apart,
    )


def arms_of(design: Design, rows: Sequence[Played]) -> tuple[ArmResult, ...]:
    kinds = {(r.limit != design.limit, list(TITLES).index(r.arm), r.arm, r.limit)
             for r in rows if r.arm in TITLES}  # fmt: skip
    return tuple(arm_result(design, rows, arm, limit) for *_, arm, limit in sorted(kinds))


def curve_of(design: Design, rows: Sequence[Played]) -> tuple[CurvePoint, ...]:
    """The bank after so many training games, on some of the held-out ones; and without it."""
    few = {r.game for r in rows if r.arm.startswith("after ")}
    stages = {0: "off", **{n: f"after {n}" for n in CHECKED}, design.training: "on"}
    found = {
        number: [r for r in rows if (r.arm, r.limit) == (arm, design.limit) and r.game in few]
        for number, arm in stages.items()
    }
    points = [
        CurvePoint("on", number, interval(_same, per_game(mine, lambda r: r.cost)),
                   interval(_same, per_game(mine, lambda r: r.won)))
        for number, mine in sorted(found.items()) if mine
    ]  # fmt: skip
    if not points:
        return ()
    flat = points[0]
    ends = (0, design.training)
    return (*points, *(CurvePoint("off", at, flat.steps, flat.success) for at in ends))


def report(name: str, arms: Sequence[ArmResult], curve: Sequence[CurvePoint]) -> None:
    print(f"\n{name}\n{'arm':32} {'won':>18} {'lost':>5} {'≤20':>5} {'steps':>18} "
          f"{'off/arm':>18} {'won − off':>21}")  # fmt: skip
    for a in arms:
        lost, within = (f"{e.mean:5.2f}" if e else "" for e in (a.lost, a.within_20))
        print(
            f"{a.title:32} {shown(a.success):>18} {lost} {within} {shown(a.steps, 1):>18} "
            f"{shown(a.ratio):>18} {shown(a.gain):>21}"
        )
    for p in curve:
        print(f"{p.arm:3} after {p.games:2}: won {shown(p.success)}, steps {shown(p.steps, 1)}")


def shown(value: Estimate | None, digits: int = 2) -> str:
    if value is None:
        return ""
    return f"{value.mean:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


# -- the record -----------------------------------------------------------------------------------


def family_of(
    design: Design, title: str, about: str, outcomes: Sequence[Mapping[str, Any]]
) -> ExperimentFamily:
    """The record of a family; its episodes and lessons are those of the first run."""
    rows = [Played(**row) for outcome in outcomes for row in outcome["rows"]]
    first = min(outcomes, key=lambda outcome: int(outcome["seed"]))
    chosen = telling(first["episodes"])
    return ExperimentFamily(
        name=design.family,
        title=title,
        about=about,
        limit=design.limit,
        training=design.training,
        held_out=design.held_out,
        seeds=len(outcomes),
        arms=arms_of(design, rows),
        curve=curve_of(design, rows),
        episodes=tuple(episode for _, episode in chosen),
        captions=tuple(caption for caption, _ in chosen),
        lessons=tuple(memory_from_dict(plain) for plain in first["lessons"]),
        courses=tuple(
            LessonCourse(int(memory_id), tuple(LessonPoint(**point) for point in points))
            for memory_id, points in first["courses"].items()
        ),
    )


def telling(plain: Sequence[Mapping[str, Any]]) -> list[tuple[str, Episode]]:
    """A dozen episodes that show how it went: learning, then the same games with and without."""
    training = [row for row in plain if row["phase"] == "training"]
    picked = [
        ("Training: the first game, on an empty bank", training[0]),
        *_first("Training: the first that was lost", training, "failure"),
        *_first("Training: the first that was won", training, "success"),
        ("Training: the last game", training[-1]),
    ]
    held: dict[int, dict[str, Mapping[str, Any]]] = {}
    for row in plain:
        if row["phase"] == "held out":
            held.setdefault(row["number"], {})[row["arm"]] = row
    games = sorted(held.values(), key=lambda arms: _length(arms["on"]) - _length(arms["off"]))
    for arms, told in (
        (games[0], "memory helped most"),
        (games[len(games) // 2], "a middling game"),
        (games[-1], "memory helped least"),
    ):
        picked += [
            (f"Held out, {told}: {words}", arms[arm])
            for arm, words in (("on", "with"), ("off", "without"))
        ]
    picked.append(("Held out, memory helped most: verbs scrambled", games[0]["scrambled"]))
    seen: set[int] = set()
    fresh = [(t, row) for t, row in picked if not (id(row) in seen or seen.add(id(row)))]
    return [(caption, episode_from_dict(row["episode"])) for caption, row in fresh]


def _first(
    caption: str, rows: Sequence[Mapping[str, Any]], ending: str
) -> list[tuple[str, Mapping[str, Any]]]:
    return [(caption, row) for row in rows if row["episode"]["ending"] == ending][:1]


def _length(row: Mapping[str, Any]) -> int:
    """Steps to the win; more than any game has where there was none."""
    won = row["episode"].get("success")
    return len(row["episode"].get("steps", ())) if won else 1_000
