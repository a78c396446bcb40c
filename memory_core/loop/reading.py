"""The sessions of the loop that a bank keeps, read from its runs, its ledger and its proposals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory_core.bank import MemoryBank
from memory_core.ledger_records import RecordedRetrieval
from memory_core.loop.episode import RUN_FORMAT, RUN_PREFIX
from memory_core.loop_records import Action, Ending, Episode, EpisodeStep, Injected, Task
from memory_core.operations import Proposal
from memory_core.records import Memory
from memory_core.run_records import Outcome, Trajectory, TrajectorySummary
from memory_core.snapshot import Snapshot
from memory_core.text_games.transcript import followed_in, turns_of

_ENDINGS: Mapping[str, Ending] = {
    "success": "success",
    "failure": "failure",
    "done": "done",
    "out of steps": "steps",
    "out of time": "time",
    "stopped": "stopped",
}


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """A session that a bank keeps, without its steps."""

    task: Task
    """Its text up to its first 2,000 characters."""
    agent: str
    memory: bool
    ending: Ending
    step_count: int
    success: bool | None
    reward: float
    trajectory_id: str
    made_at_us: int
    """When the run was kept, in microseconds since 1970-01-01 UTC."""
    epoch: int | None = None
    """None where nothing was retrieved."""
    retrieval_id: str = ""
    improved: bool | None = None
    """None where no outcome is recorded, or where it was taken back."""
    outcome_revision: int | None = None
    applied: tuple[int, ...] = ()
    """Ids of the injected memories that were followed."""
    proposal_ids: tuple[int, ...] = ()
    revision: int | None = None
    """The last revision that accepted one of them."""
    error: str = ""


def read_episodes(bank: MemoryBank) -> tuple[EpisodeSummary, ...]:
    """All sessions of the loop that a bank keeps, oldest first."""
    rows = {row.id: row for row in bank.retrievals()}
    lessons = _by_run(bank.proposals(None))
    return tuple(
        _summary(run, rows.get(run.id.removeprefix(RUN_PREFIX)), lessons.get(run.id, ()))
        for run in bank.trajectories()
        if run.format == RUN_FORMAT
    )


def read_episode(bank: MemoryBank, trajectory_id: str) -> Episode | None:
    """One of them, whole; None where the bank keeps no run of this id."""
    run = bank.trajectory(trajectory_id)
    if run is None:
        return None
    wanted = trajectory_id.removeprefix(RUN_PREFIX)
    row = next((row for row in bank.retrievals() if row.id == wanted), None)
    lessons = _by_run(bank.proposals(None)).get(trajectory_id, ())
    ending, error = _ending(run.outcome)
    return Episode(
        task=Task(run.task, run.name),
        agent=run.agent,
        memory=row is not None,
        epoch=row.epoch if row else 0,
        ending=ending,
        success=run.outcome.success,
        reward=run.outcome.reward or 0.0,
        first=next((turn.before for turn in turns_of(run)), None),
        steps=_steps(run),
        injected=_injected(row, bank.snapshot(row.revision)) if row else (),
        injection=row.injection if row else "",
        retrieval_id=row.id if row else "",
        trajectory_id=trajectory_id,
        improved=row.improved if row and row.has_outcome else None,
        outcome_revision=row.outcome_revision if row and row.has_outcome else None,
        proposal_ids=tuple(lesson.id for lesson in lessons),
        lessons=tuple(filter(None, (_text(lesson) for lesson in lessons))),
        revision=_accepted_in(lessons),
        error=error,
    )


def _summary(
    run: TrajectorySummary, row: RecordedRetrieval | None, lessons: tuple[Proposal, ...]
) -> EpisodeSummary:
    ending, error = _ending(run.outcome)
    stands = row is not None and row.has_outcome
    return EpisodeSummary(
        task=Task(run.task, run.name),
        agent=run.agent,
        memory=row is not None,
        ending=ending,
        step_count=max(run.step_count - 1, 0),  # the first tells what the agent saw before
        success=run.outcome.success,
        reward=run.outcome.reward or 0.0,
        trajectory_id=run.id,
        made_at_us=run.made_at_us,
        epoch=row.epoch if row else None,
        retrieval_id=row.id if row else "",
        improved=row.improved if row and stands else None,
        outcome_revision=row.outcome_revision if row and stands else None,
        applied=tuple(hit.memory_id for hit in row.hits if hit.applied) if row else (),
        proposal_ids=tuple(lesson.id for lesson in lessons),
        revision=_accepted_in(lessons),
        error=error,
    )


def _ending(outcome: Outcome) -> tuple[Ending, str]:
    """How it ended, and what failed."""
    known = _ENDINGS.get(outcome.reason)
    return (known, "") if known is not None else ("error", outcome.reason)


def _by_run(proposals: Iterable[Proposal]) -> dict[str, tuple[Proposal, ...]]:
    """The proposals that cite each run, in the order in which they came."""
    found: dict[str, dict[int, Proposal]] = {}
    for proposal in proposals:
        for item in proposal.operation.evidence:
            found.setdefault(item.trajectory_id, {})[proposal.id] = proposal
    return {run: tuple(some.values()) for run, some in found.items()}


def _accepted_in(lessons: Iterable[Proposal]) -> int | None:
    made = [p.revision for p in lessons if p.state == "accepted" and p.revision is not None]
    return max(made, default=None)


def _text(proposal: Proposal) -> str:
    text = getattr(proposal.operation, "text", None)
    return text if isinstance(text, str) else ""


def _steps(run: Trajectory) -> tuple[EpisodeStep, ...]:
    written = {step.number: step for step in run.steps}
    steps = []
    for number, turn in enumerate(turns_of(run), start=1):
        step = written[turn.number]
        thought, followed = followed_in(step)
        action = Action(step.arguments, thought, followed)
        steps.append(EpisodeStep(number, action, turn.after, turn.gain))
    return tuple(steps)


def _injected(row: RecordedRetrieval, then: Snapshot) -> tuple[Injected, ...]:
    held: list[tuple[int, float, Memory]] = [
        (hit.rank, hit.score, then.by_id(hit.memory_id))
        for hit in row.hits
        if hit.memory_id in then
    ]
    return tuple(
        Injected(memory.id, rank, score, memory.kind, memory.text, memory.confidence)
        for rank, score, memory in held
    )
