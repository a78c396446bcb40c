"""What an agent's script needs: `winnow retrieve`, `winnow outcome` and `winnow reflect`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_core import (
    KINDS,
    LLMReflector,
    MemoryBank,
    RecordedRetrieval,
    Reflection,
    Reflector,
    RetrievalSettings,
    Revision,
    Trajectory,
    UnreadableTrajectoryError,
    read_trajectories,
)
from memory_core.commands.command_line import (
    FINDINGS,
    SEVERAL,
    Bank,
    Json,
    app,
    note,
    open_bank,
    operation_as_json,
    operation_in_words,
    print_json,
    say,
    show_progress,
)
from memory_core.counting import count_of


@app.command()
def retrieve(
    task: str,
    bank: Bank = None,
    limit: int = 5,
    domain: Annotated[list[str] | None, typer.Option(help=SEVERAL)] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"One of: {', '.join(KINDS)}. {SEVERAL}")
    ] = None,
    confidence_weight: float = 0.2,
    lexical_weight: float = 0.0,
    revision: Annotated[int | None, typer.Option(help="Else the latest.")] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep it in the ledger, for `winnow outcome`.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print what an agent would get for a task."""
    settings = RetrievalSettings(
        limit=limit,
        confidence_weight=confidence_weight,
        lexical_weight=lexical_weight,
        domains=tuple(domain or ()),
        kinds=tuple(kind or ()),  # type: ignore[arg-type]
    )
    found = open_bank(bank).retrieve(task, settings, revision=revision, record=record)
    if not as_json:
        say(found.injection)
        if record:
            note(f"Recorded as {found.id}.")
        return
    hits = [
        {"id": h.memory.id, "rank": h.rank, "score": h.score, "text": h.memory.text,
         "parts": asdict(h.parts)}
        for h in found.hits
    ]  # fmt: skip
    print_json({"retrieval_id": found.id, "revision": found.revision, "recorded": record,
                "hits": hits, "injection": found.injection})  # fmt: skip


# -- what became of it ----------------------------------------------------------------------------


@app.command()
def outcome(
    retrieval_id: Annotated[str, typer.Argument(help="As `winnow retrieve --record` told it.")],
    improved: Annotated[
        bool, typer.Option("--improved/--not-improved", help="Whether the session got better.")
    ],
    applied: Annotated[
        list[str] | None,
        typer.Option(help=f"What was applied: a memory's id, or G0 for the first hit. {SEVERAL}"),
    ] = None,
    reward: Annotated[float | None, typer.Option(help="As the environment gave it.")] = None,
    bank: Bank = None,
    as_json: Json = False,
) -> None:
    """Record how a session ended.

    The confidence of what it applied moves by the rule, once.
    """
    opened = open_bank(bank)
    ids = _applied(opened.retrieval(retrieval_id), applied or [])
    made = opened.record_outcome(retrieval_id, improved=improved, applied=ids, reward=reward)
    moved = _moved(opened, made, ids)
    if as_json:
        print_json({"revision": made.number, "moved": moved})
        return
    say(f"Revision {made.number} records the outcome.")
    for one in moved:
        say(f"  memory {one['id']}: confidence {one['before']:.3f} → {one['after']:.3f}")


def _applied(row: RecordedRetrieval, words: list[str]) -> list[int]:
    """Ids of memories, of which some are told by their place in the injected block."""
    by_place = {f"G{hit.rank - 1}": hit.memory_id for hit in row.hits}
    ids = []
    for word in words:
        place = word.strip("[]").upper()
        if place in by_place:
            ids.append(by_place[place])
        elif re.fullmatch(r"\d+", word):
            ids.append(int(word))
        else:
            known = ", ".join(by_place) or "none, as nothing was injected"
            raise typer.BadParameter(f"{word!r} is no memory's id and none of the places: {known}")
    return ids


def _moved(bank: MemoryBank, made: Revision, ids: list[int]) -> list[dict[str, Any]]:
    before, after = bank.snapshot(made.number - 1), bank.snapshot(made.number)
    return [
        {"id": i, "before": before.by_id(i).confidence, "after": after.by_id(i).confidence}
        for i in ids
        if i in before and i in after
    ]


# -- what is learned from it ----------------------------------------------------------------------


@app.command()
def reflect(
    files: Annotated[list[Path], typer.Argument(help="Logs of runs, in any format that is known.")],
    bank: Bank = None,
    model: Annotated[
        str,
        typer.Option(
            help="A language model, such as openai:NAME, anthropic:NAME, ollama:NAME or "
            "local:FILE.gguf; without it, rules that need none."
        ),
    ] = "",
    base_url: Annotated[str, typer.Option(help="Of a server that speaks OpenAI's protocol.")] = "",
    domain: Annotated[str, typer.Option(help="Of the lessons; else what the run tells.")] = "",
    group: Annotated[
        bool, typer.Option("--group", help="Compare the runs with each other: all of one task.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take the lessons in at once, as one revision.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Draw lessons from runs, for Review.

    Each says which steps bear it out. The runs are kept, with secrets masked. The exit code is 3
    when --accept had to leave some of them out.
    """  # fmt: skip
    opened = open_bank(bank)
    runs, format = _read(files)
    reflector: Reflector | None = LLMReflector(model, base_url=base_url) if model else None
    drafted = opened.draft_lessons(
        runs, reflector, as_group=group, domain=domain, format=format, progress=show_progress
    )
    ids = opened.keep_reflection(drafted) if drafted.operations else ()
    left: Mapping[int, str] = {}
    made = None
    if accept and ids:
        taken = opened.accept_fitting(ids)
        made, left = taken.revision, taken.left
    if as_json:
        print_json(_reflection_as_json(drafted, ids, made, left))
    else:
        _print_reflection(drafted, ids, made, left)
    if left:
        raise typer.Exit(FINDINGS)


def _read(files: list[Path]) -> tuple[list[Trajectory], str]:
    """The runs in files, and their format where it is one."""
    runs: list[Trajectory] = []
    formats = set()
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise UnreadableTrajectoryError(f"{file} cannot be read: {error.strerror}.") from error
        reading = read_trajectories(content, file.name)
        for warning in reading.warnings:
            note(f"{file}: {warning}")
        runs += reading.trajectories
        formats.add(reading.format)
    return runs, formats.pop() if len(formats) == 1 else ""


def _reflection_as_json(
    drafted: Reflection, ids: tuple[int, ...], made: Revision | None, left: Mapping[int, str]
) -> dict[str, Any]:
    return {
        "reflector": drafted.reflector,
        "trajectories": drafted.trajectory_ids,
        "lessons": [
            {"proposal": i, "operation": operation_as_json(operation), "left_out": left.get(i)}
            for i, operation in zip(ids, drafted.operations, strict=True)
        ],
        "revision": made.number if made else None,
        "refused": [{"reason": r.reason, "reply": r.reply} for r in drafted.refused],
        "notes": drafted.notes,
        "usage": drafted.usage,
    }


def _print_reflection(
    drafted: Reflection, ids: tuple[int, ...], made: Revision | None, left: Mapping[int, str]
) -> None:
    for i, operation in zip(ids, drafted.operations, strict=True):
        say(f"{i:>5}  {operation_in_words(operation)}")
        steps = ", ".join(str(step) for one in operation.evidence for step in one.steps)
        why = operation.rationale + (f" (steps {steps})" if steps else "")
        if why:
            say(f"       {why}")
        if i in left:
            say(f"       left out: {left[i]}")
    for line in drafted.notes:
        note(line)
    if drafted.refused:
        note(f"{count_of(len(drafted.refused), 'draft')} of the reflector said no lesson.")
    used = drafted.usage
    if used.requests:
        cost = "" if used.cost is None else f", ${used.cost:.4f}"
        note(f"{count_of(used.requests, 'request')}, {used.input_tokens:,} tokens in, "
             f"{used.output_tokens:,} out{cost}.")  # fmt: skip
    if not ids:
        say("No new lesson.")
    elif made:
        say(f"Revision {made.number}. `winnow undo {made.number}` takes it back.")
    if waiting := len(left) if made else len(ids):
        say(f"{count_of(waiting, 'proposal')} in Review; `winnow review` lists what waits.")
