"""The command `winnow compress`: the plan and its price, and the commit when one says so."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from memory_core import (
    CompressionPlan,
    CompressionSettings,
    Impact,
    MemoryBank,
    Revision,
    impact,
)
from memory_core.commands.command_line import (
    SEVERAL,
    Bank,
    Json,
    app,
    note,
    open_bank,
    print_json,
    say,
)
from memory_core.counting import count_of
from memory_core.settings import Strategy

SHOWN = 20
"""Dropped memories, and queries that lose, that are printed; `--json` has them all."""
DEFAULT = CompressionSettings()


@app.command()
def compress(
    bank: Bank = None,
    strategy: Annotated[Strategy, typer.Option()] = DEFAULT.strategy,
    capacity: Annotated[
        int | None, typer.Option(help="Memories to keep at most; else the bank's own capacity.")
    ] = None,
    fraction: Annotated[float, typer.Option(help="Of importance: the share that goes.")] = (
        DEFAULT.fraction
    ),
    decay: Annotated[float, typer.Option(help="λ of temporal and hybrid.")] = DEFAULT.decay,
    minimum_weight: Annotated[
        float, typer.Option(help="Of temporal: what weighs less goes.")
    ] = DEFAULT.minimum_weight,
    merge: Annotated[
        bool, typer.Option("--merge", help="Of diversity: merge each cluster into what stays.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of diversity and random.")] = DEFAULT.seed,
    pin: Annotated[list[int] | None, typer.Option(help=f"A memory that stays. {SEVERAL}")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan only.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Commit without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Plan a compression, and commit it.

    What it would cost the saved queries is shown first. On a terminal it asks; elsewhere, and
    with --json, nothing is written without --yes.
    """
    if dry_run and yes:
        raise typer.BadParameter("--dry-run writes nothing, and --yes commits: choose one")
    opened = open_bank(bank)
    settings = CompressionSettings(
        strategy=strategy,
        capacity=opened.settings.capacity if capacity is None else capacity,
        fraction=fraction,
        decay=decay,
        minimum_weight=minimum_weight,
        merge=merge,
        seed=seed,
    )
    planned = opened.plan_compression(settings, pin=pin or ())
    cost = _cost(opened, planned)
    if not as_json:
        _print(planned, cost)
    made = None
    if planned.plan.accepted and not dry_run and (yes or (not as_json and _agreed(planned))):
        made = opened.commit(planned.plan)
    if as_json:
        print_json(_as_json(planned, cost, made))
    else:
        say(_ending(planned, made))


def _cost(bank: MemoryBank, planned: CompressionPlan) -> Impact:
    queries = bank.queries()
    vectors = bank.embed([query.task for query in queries])
    return impact(planned.before, planned.after, queries, vectors)


def _agreed(planned: CompressionPlan) -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    gone = count_of(len(planned.dropped), "memory")
    return typer.confirm(f"Commit this: {planned.settings.strategy} takes {gone} out?")


def _ending(planned: CompressionPlan, made: Revision | None) -> str:
    if made:
        return f"Revision {made.number}. `winnow undo {made.number}` takes it back."
    return "Nothing was written." + (" --yes commits it." if planned.plan.accepted else "")


def _print(planned: CompressionPlan, cost: Impact) -> None:
    say(f"{planned.plan.batch.reason}.")
    say(cost.sentence)
    for line in planned.notes:
        note(line)
    losing = cost.comparison.losing
    for one in losing[:SHOWN]:
        lost = ", ".join(str(loss.memory_id) for loss in one.lost)
        say(f"  query {one.query.id} loses {lost}: {one.query.task}")
    if len(losing) > SHOWN:
        say(f"  … and {len(losing) - SHOWN:,} more; --json has them all")
    dropped = planned.dropped.tolist()
    for memory_id in dropped[:SHOWN]:
        say(f"  − {memory_id}: {planned.before.by_id(memory_id).text}")
        say(f"      {planned.decision(memory_id).sentence}")
    if len(dropped) > SHOWN:
        say(f"  … and {len(dropped) - SHOWN:,} more; --json has them all")


def _as_json(planned: CompressionPlan, cost: Impact, made: Revision | None) -> dict[str, Any]:
    asked = cost.comparison
    return {
        "settings": planned.settings,
        "sentence": cost.sentence,
        "notes": planned.notes,
        "size": cost.size,
        "dropped": [
            {**_decision(planned, memory_id), "text": planned.before.by_id(memory_id).text}
            for memory_id in planned.dropped.tolist()
        ],
        "cost": {
            "recall": {"before": asked.before.recall.mean, "after": asked.after.recall.mean},
            "queries": len(asked.queries),
            "losing": [
                {"query": one.query.id, "task": one.query.task, "loses_best": one.loses_best,
                 "loses_only": one.loses_only, "lost": [loss.memory_id for loss in one.lost]}
                for one in asked.losing
            ],
            "similarity_of_dropped": {"mean": cost.coverage.mean, "worst": cost.coverage.worst},
            "library_tokens": cost.library_tokens,
            "injected_tokens": cost.injected_tokens,
        },
        "revision": made.number if made else None,
    }  # fmt: skip


def _decision(planned: CompressionPlan, memory_id: int) -> dict[str, Any]:
    decision = planned.decision(memory_id)
    return {
        "id": memory_id,
        "reason": decision.sentence,
        "nearest_kept": decision.nearest,
        "similarity": decision.similarity,
    }
