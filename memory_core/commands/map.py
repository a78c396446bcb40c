"""The command `winnow map`: fit the map, say how far it can be trusted, give its positions."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import Clustering, InterchangeError, Map, MapSettings
from memory_core.commands.command_line import (
    Bank,
    Json,
    app,
    note,
    open_bank,
    print_json,
    say,
    show_progress,
    write_out,
)
from memory_core.counting import count_of

SHOWN = 12
"""Clusters that are printed; `--json` has them all."""
COLUMNS = ("id", "x", "y", "placed", "cluster", "label", "kind", "domain", "text")


@app.command("map")
def lay_out(
    bank: Bank = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit it anew where there is one already.")
    ] = False,
    neighbours: Annotated[
        int | None, typer.Option(help="With a fit: how many the layout looks at of each memory.")
    ] = None,
    seed: Annotated[int, typer.Option(help="With a fit.")] = 0,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write the positions to a file; - for the output.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit the map, and say how far to trust it.

    A map that is there is extended, not fitted again: memories keep their places.
    """
    if as_json and csv_file is not None:
        raise typer.BadParameter("--json prints the positions, too: leave out --csv")
    opened = open_bank(bank)
    found = None if refit else opened.map()
    fitted = found is None
    if found is None:
        chosen = {} if neighbours is None else {"neighbours": neighbours}
        opened.fit_map(MapSettings(seed=seed, **chosen), progress=show_progress)
        found = opened.map()
        assert found is not None  # it has just been kept
    clustering = opened.clusters()
    if as_json:
        print_json(_as_json(found, clustering, fitted))
    elif csv_file is not None and str(csv_file) == "-":
        write_out(_csv(found, clustering))
    else:
        _print(found, clustering)
        if csv_file is not None:
            _write(csv_file, _csv(found, clustering))
            note(f"{count_of(len(found.snapshot), 'position')} in {csv_file}.")


def _print(found: Map, clustering: Clustering) -> None:
    made = found.projection
    say(f"Map {made.id}: {count_of(made.size, 'text')} laid out by {made.method} on revision "
        f"{made.revision}; {count_of(found.placed_count, 'memory')} placed since.")  # fmt: skip
    say(made.honesty.sentence)
    for cluster in clustering.clusters[:SHOWN]:
        say(f"  {len(cluster):>5}  {cluster.label}")
    if len(clustering.clusters) > SHOWN:
        say(f"  … and {count_of(len(clustering.clusters) - SHOWN, 'more cluster')}")
    if clustering.left_out:
        say(f"  {clustering.left_out:>5}  in no cluster")


def _points(found: Map, clustering: Clustering) -> list[dict[str, Any]]:
    """A row for each memory, by ascending id."""
    labels = {cluster.number: cluster.label for cluster in clustering.clusters}
    rows = zip(
        found.snapshot.memories, found.positions.tolist(), found.placed.tolist(),
        clustering.labels.tolist(), strict=True,
    )  # fmt: skip
    return [
        {"id": memory.id, "x": x, "y": y, "placed": placed,
         "cluster": None if number < 0 else number, "label": labels.get(number, ""),
         "kind": memory.kind, "domain": memory.domain, "text": memory.text}
        for memory, (x, y), placed, number in rows
    ]  # fmt: skip


def _as_json(found: Map, clustering: Clustering, fitted: bool) -> dict[str, Any]:
    made = found.projection
    return {
        "map": made.id,
        "fitted": fitted,
        "method": made.method,
        "revision": made.revision,
        "settings": made.settings,
        "honesty": {"sentence": made.honesty.sentence, "record": made.honesty},
        "clusters": [
            {"number": c.number, "label": c.label, "words": c.words, "ids": c.ids}
            for c in clustering.clusters
        ],
        "points": _points(found, clustering),
    }


def _csv(found: Map, clustering: Clustering) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_points(found, clustering))
    return text.getvalue()


def _write(file: Path, content: str) -> None:
    try:
        file.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise InterchangeError(f"{file} cannot be written: {error.strerror}.") from error
