"""The commands of who looks after a bank: `winnow add`, `winnow review` and `winnow audit`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import typer

from memory_core import (
    AUDIT_RULES,
    Add,
    Batch,
    InvalidBatchError,
    Kind,
    MemoryBank,
    MemoryNotFoundError,
    ProceduralDetail,
    Proposal,
    Revision,
    StrategicDetail,
    ToolDetail,
)
from memory_core.commands.command_line import (
    FINDINGS,
    SEVERAL,
    Bank,
    Json,
    Reason,
    app,
    note,
    open_bank,
    operation_as_json,
    operation_in_words,
    plan_as_json,
    print_json,
    say,
)
from memory_core.counting import count_of

Texts = Annotated[list[str] | None, typer.Option(help=SEVERAL)]


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="The lesson, in at most 32 words.")],
    kind: Annotated[Kind, typer.Option()],
    domain: Annotated[str, typer.Option(help="A label, such as git.")],
    bank: Bank = None,
    problem: Annotated[str, typer.Option(help="Of a strategic lesson.")] = "",
    step: Annotated[
        list[str] | None, typer.Option(help=f"Of a procedural lesson, in order. {SEVERAL}")
    ] = None,
    precondition: Annotated[
        list[str] | None, typer.Option(help=f"Of a procedural lesson. {SEVERAL}")
    ] = None,
    tool: Annotated[str, typer.Option(help="Of a tool lesson: its name.")] = "",
    usage: Annotated[str, typer.Option(help="Of a tool lesson: an example.")] = "",
    tag: Texts = None,
    pin: Annotated[bool, typer.Option("--pin", help="It survives every compression.")] = False,
    reason: Reason = "",
    propose: Annotated[bool, typer.Option("--propose", help="Send it to Review instead.")] = False,
    as_json: Json = False,
) -> None:
    """Add a lesson, as one revision.

    Doubts about it are told, and do not stop it.
    """
    details: dict[str, StrategicDetail | ProceduralDetail | ToolDetail | None] = {
        "strategic": StrategicDetail(problem) if problem else None,
        "procedural": ProceduralDetail(tuple(step or ()), tuple(precondition or ()))
        if step or precondition
        else None,
        "tool": ToolDetail(tool, usage) if tool or usage else None,
    }
    if strange := [name for name, one in details.items() if one is not None and name != kind]:
        raise typer.BadParameter(f"a {kind} lesson has no details of a {strange[0]} one")
    operation = Add(text, kind, domain, details[kind], tags=tuple(tag or ()), pinned=pin)
    batch = Batch((operation,), reason)
    opened = open_bank(bank)
    plan = opened.plan(batch)
    done: dict[str, Any]
    if propose:
        done = {"proposal": opened.propose(batch, source="agent")[0]}
        sentence = f"Proposal {done['proposal']} waits in Review."
    else:
        made = opened.commit(plan)
        done = {"id": made.ids[-1], "revision": made.number}
        sentence = f"Memory {done['id']}, in revision {made.number}."
    if as_json:
        print_json({**done, "doubts": plan_as_json(plan)["doubts"]})
        return
    say(sentence)
    for doubt in plan.lints:
        note(f"doubt: {doubt.message}")


# -- proposals ------------------------------------------------------------------------------------

State = Literal["pending", "accepted", "rejected", "all"]
ACTIONS = ("accept", "reject", "put_back")


@app.command()
def review(
    ids: Annotated[list[int] | None, typer.Argument(help="Of proposals; none for all.")] = None,
    bank: Bank = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take them in, as one revision.")
    ] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Turn them down.")] = False,
    put_back: Annotated[
        bool, typer.Option("--put-back", help="Have rejected ones wait again.")
    ] = False,
    group: Annotated[
        bool, typer.Option("--group", help="And all that were proposed together with them.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Decide on all that wait.")] = False,
    skip_refused: Annotated[
        bool, typer.Option("--skip-refused", help="With --accept: leave out what cannot be.")
    ] = False,
    state: Annotated[State, typer.Option(help="Which to list.")] = "pending",
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """List what waits for a person, or decide on it.

    The exit code is 3 when --skip-refused left some out.
    """
    chosen = [name for name, one in zip(ACTIONS, (accept, reject, put_back), strict=True) if one]
    if len(chosen) > 1:
        raise typer.BadParameter("one decision at a time, please")
    opened = open_bank(bank)
    if not chosen:
        wanted = None if ids else state
        _list(opened, _named(opened, ids or [], group=group, state=wanted), as_json)
        return
    if not ids and not every:
        raise typer.BadParameter("name the proposals, or say --all")
    found = _named(opened, ids or [], group=group, state="pending" if every else None)
    if not found:
        raise InvalidBatchError("No proposal waits.")
    made = _decide(opened, chosen[0], found, reason, skip_refused)
    _tell(chosen[0], made, as_json)
    if made.left:
        raise typer.Exit(FINDINGS)


def _named(
    bank: MemoryBank, ids: list[int], *, group: bool, state: State | None
) -> tuple[Proposal, ...]:
    """Proposals by id, with the others of their groups that wait; all in a state without ids."""
    if not ids:
        return bank.proposals(None if state == "all" else state)
    every = {proposal.id: proposal for proposal in bank.proposals(None)}
    if strange := [i for i in ids if i not in every]:
        raise MemoryNotFoundError(f"There is no proposal {strange[0]}; `winnow review` lists them.")
    groups = {every[i].group for i in ids} if group else set()
    return tuple(
        p for p in every.values() if p.id in ids or (p.group in groups and p.state == "pending")
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    """What was decided, and what was left as it is, and why."""

    ids: tuple[int, ...]
    revision: Revision | None
    left: dict[int, str]


def _decide(
    bank: MemoryBank, action: str, found: tuple[Proposal, ...], reason: str, skip_refused: bool
) -> _Decided:
    ids = [proposal.id for proposal in found]
    if action == "put_back":
        bank.reopen(ids)
        return _Decided(tuple(ids), None, {})
    if action == "reject":
        bank.decide(ids, accept=False, reason=reason)
        return _Decided(tuple(ids), None, {})
    left: dict[int, str] = {}
    if skip_refused:
        # Alone, and then together: what one of them takes away, another cannot change any more.
        refused = bank.refused_proposals(None)
        left = {i: refused[i] for i in ids if i in refused}
        ids = [i for i in ids if i not in left]
        together = bank.plan_proposals(ids).refused if ids else ()
        left |= {ids[r.index]: r.reason for r in together}
        ids = [i for i in ids if i not in left]
    made = bank.decide(ids, accept=True, reason=reason) if ids else None
    return _Decided(tuple(ids), made, left)


def _tell(action: str, made: _Decided, as_json: bool) -> None:
    number = made.revision.number if made.revision else None
    if as_json:
        left = [{"id": i, "reason": why} for i, why in made.left.items()]
        print_json({"decision": action, "ids": made.ids, "revision": number, "left": left})
        return
    said = {"accept": "accepted", "reject": "rejected", "put_back": "put back"}[action]
    ending = f" as revision {number}. `winnow undo {number}` takes it back." if number else "."
    say(f"{count_of(len(made.ids), 'proposal')} {said}{ending}")
    for i, why in made.left.items():
        say(f"  {i} stays as it is: {why}")


def _list(bank: MemoryBank, found: tuple[Proposal, ...], as_json: bool) -> None:
    refused = bank.refused_proposals(None)
    if as_json:
        print_json([
            {**asdict(p), "operation": operation_as_json(p.operation),
             "refused": refused.get(p.id) if p.state == "pending" else None}
            for p in found
        ])  # fmt: skip
        return
    for p in found:
        state = "" if p.state == "pending" else f" [{p.state}]"
        say(f"{p.id:>5}{state}  {operation_in_words(p.operation)}")
        about = " · ".join(filter(None, [p.source, p.actor, p.reason, p.operation.rationale]))
        say(f"       {about}")
        if p.state == "pending" and p.id in refused:
            say(f"       cannot be accepted as it is: {refused[p.id]}")
    groups = len({p.group for p in found})
    say(f"{count_of(len(found), 'proposal')} of {count_of(groups, 'group')}." if found
        else "There is none.")  # fmt: skip


# -- the audit ------------------------------------------------------------------------------------


@app.command()
def audit(
    bank: Bank = None,
    rule: Annotated[
        list[str] | None, typer.Option(help=f"One of: {', '.join(AUDIT_RULES)}. {SEVERAL}")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what a curator should look at, the gravest first.

    The exit code is 0 when there is nothing, 3 when there are findings, 1 when the bank cannot be
    read.
    """
    if unknown := set(rule or ()) - set(AUDIT_RULES):
        raise typer.BadParameter(f"no rule {min(unknown)!r}; known: {', '.join(AUDIT_RULES)}")
    found = [f for f in open_bank(bank).audit() if not rule or f.rule in rule]
    if as_json:
        print_json([{**asdict(f), "severity": f.severity} for f in found])
    else:
        for finding in found:
            say(f"{finding.severity:<6}  {finding.rule:<15}  {finding.sentence}")
        say(f"{count_of(len(found), 'finding')}." if found else "Nothing to look at.")
    if found:
        raise typer.Exit(FINDINGS)
