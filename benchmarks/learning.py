"""Does an agent get better on the job? The loop on TextWorld, without a language model.

An explorer that knows no game plays training games; what it learns goes through the bank as it
would for any agent: runs are kept, lessons reflected and accepted, memories retrieved and
injected, outcomes move confidence. Then the bank is frozen, and the same explorer, with the same
chances, plays games that it has never seen: with that bank, without memory, with a bank from
another family of games, and with its own bank in which the verbs have changed places.

    python benchmarks/learning.py --json learning.json --record data/experiment

Needs `pip install 'winnow-memory[textworld]'`. Games are compiled once and kept in WINNOW_HOME.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes are what runs side by side

import argparse
import json
import multiprocessing
import platform
import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from learning_results import family_of, report
from learning_runs import Design, begin

from memory_core import Experiment, ExperimentFamily, Task, write_experiment
from memory_core.environments.textworld import FAMILIES, TextWorldEnvironment

ABOUT = {
    "cooking": "Find the kitchen and the one ingredient, prepare the meal and eat it, in a house "
    "of six rooms with closed doors. Ingredients of the held-out games never occur in training.",
    "custom": "Reach a goal that takes six commands, in four rooms with ten things; the goal is "
    "told, the way is not. No held-out game shares its solution with a training game.",
}


POOL = 2
"""Training games are drawn, for each run, from so many times as many."""


def designs(options: argparse.Namespace) -> dict[str, Design]:
    o = options
    known = {
        "cooking": Design(
            "cooking", 60, o.seeds, o.training, o.held_out, o.on_curve, longer=o.longer,
            lenders={"unrelated": "treasure"},
        ),
        "custom": Design(
            "custom", 80, o.custom_seeds, o.training, o.custom_held_out, o.on_curve,
            lenders={"unrelated": "treasure", "transfer": "cooking"},
        ),
    }  # fmt: skip
    return {name: known[name] for name in o.families.split(",")}


def games(
    environment: TextWorldEnvironment, family: str, split: str, count: int, *,
    first: int = 0, apart: Iterable[str] = (),
) -> list[Task]:  # fmt: skip
    """So many games, none of which shares its solution with another or with those `apart`."""
    seen, found = set(apart), list[Task]()
    for seed in range(first, first + 20 * count):
        task = environment.task(family, seed, split=split)
        if (mark := environment.solution_mark(task)) not in seen:
            seen.add(mark)
            found.append(task)
        if len(found) == count:
            return found
    raise RuntimeError(f"{family}: only {len(found)} of {count} different games were found.")


def jobs(design: Design) -> list[tuple[Any, ...]]:
    """What each run is given. Held-out games are the same for all; training games are drawn."""
    with TextWorldEnvironment() as environment:
        pools = {
            family: games(environment, family, "train", POOL * design.training)
            for family in (design.family, *(design.lenders or {}).values())
        }
        marks = map(environment.solution_mark, pools[design.family])
        held_out = games(environment, design.family, "test", design.held_out, apart=marks)
    return [
        (
            design, seed, drawn(pools[design.family], design.training, seed), held_out,
            {arm: drawn(pools[family], design.training, seed)
             for arm, family in (design.lenders or {}).items()},
        )
        for seed in range(design.seeds)
    ]  # fmt: skip


def drawn(pool: Sequence[Task], count: int, seed: int) -> list[Task]:
    return random.Random(seed).sample(list(pool), count)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--families", default="cooking,custom")
    parser.add_argument("--seeds", type=int, default=5, help="runs on cooking games")
    parser.add_argument("--custom-seeds", type=int, default=3, help="runs on custom games")
    parser.add_argument("--training", type=int, default=24, help="games a run trains on")
    parser.add_argument("--held-out", type=int, default=30, help="games it is measured on")
    parser.add_argument("--custom-held-out", type=int, default=20)
    parser.add_argument("--on-curve", type=int, default=10, help="of these, for the curve")
    parser.add_argument("--longer", type=int, default=120, help="another limit; 0 for none")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write every game's result here")
    parser.add_argument("--record", type=Path, help="write what the page Loop shows here")
    options = parser.parse_args()
    begun = time.monotonic()
    chosen = designs(options)
    work = [job for design in chosen.values() for job in jobs(design)]
    print(f"games ready after {time.monotonic() - begun:.0f} s; {len(work)} runs", flush=True)
    # A process for each run: TextWorld does not bear threads.
    with multiprocessing.get_context("spawn").Pool(options.processes, maxtasksperchild=1) as pool:
        outcomes = []
        for outcome in pool.imap_unordered(begin, work, chunksize=1):
            outcomes.append(outcome)
            print(
                f"{outcome['family']}, seed {outcome['seed']}: {outcome['seconds']} s", flush=True
            )
    seconds = time.monotonic() - begun
    families = [
        family_of(design, FAMILIES[name].title, ABOUT[name],
                  [outcome for outcome in outcomes if outcome["family"] == name])
        for name, design in chosen.items()
    ]  # fmt: skip
    for family in families:
        report(family.title, family.arms, family.curve)
    longest = max(outcome["seconds"] for outcome in outcomes)
    print(f"\n{seconds:.0f} s in all with {options.processes} process(es); "
          f"the longest run took {longest:.0f} s")  # fmt: skip
    command = " ".join(["python", "benchmarks/learning.py", *sys.argv[1:]])
    if options.json:
        write_json(options.json, command, seconds, families, outcomes)
    if options.record:
        write_experiment(record(command, seconds, families), options.record)


def write_json(
    file: Path, command: str, seconds: float, families: Sequence[ExperimentFamily],
    outcomes: Sequence[dict[str, Any]],
) -> None:  # fmt: skip
    plain = {
        "command": command,
        "seconds": round(seconds, 1),
        "arms": {f.name: [asdict(arm) for arm in f.arms] for f in families},
        "curve": {f.name: [asdict(point) for point in f.curve] for f in families},
        "runs": [{k: v for k, v in out.items() if k != "episodes"} for out in outcomes],
    }
    file.write_text(json.dumps(plain, indent=1))


def record(command: str, seconds: float, families: Sequence[ExperimentFamily]) -> Experiment:
    return Experiment(
        command=command,
        made_at=datetime.now(UTC).date().isoformat(),
        machine=f"{platform.machine()}, Python {platform.python_version()}, "
        f"{seconds / 60:.0f} minutes",
        families=tuple(families),
        notes=(
            "The agent is an explorer without a language model, the same in all arms, with the "
            "same chances; evaluation is on a frozen bank.",
            "Three memories of each kind are retrieved, so that procedures do not crowd out the "
            "one lesson on verbs and the one warning.",
            "Intervals are 95 % bootstraps over the held-out games, each played once a seed.",
        ),
    )


if __name__ == "__main__":
    main()
