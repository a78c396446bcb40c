"""Runs become lessons through the bank: kept as evidence, proposed, listed, decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory_core import (
    Add,
    Drafts,
    Evidence,
    HashEmbedder,
    MemoryBank,
    Outcome,
    ReflectionContext,
    ReflectionError,
    RefusedDraft,
    Run,
    Step,
    TokenUsage,
    Trajectory,
    UnreadableTrajectoryError,
)

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
RUN = Trajectory(
    "Restore the deleted branch topic",
    (
        Step(1, "user", "Restore the deleted branch topic"),
        Step(2, "assistant", tool="shell", arguments="git reflog", observation=f"token {TOKEN}"),
    ),
    Outcome(success=True),
)


@dataclass
class Told:
    """A reflector that says what the test tells it, and keeps what it was given."""

    drafts: Drafts
    name: str = "told"
    seen: list[tuple[str, Sequence[Run], ReflectionContext]] = field(default_factory=list)

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        self.seen.append(("reflect", runs, context))
        return self.drafts

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        self.seen.append(("compare", runs, context))
        return self.drafts


def lesson(text: str, run_id: str = "") -> Add:
    return Add(text, "tool", "git", rationale="it worked", evidence=(Evidence(run_id, (2,)),))


@pytest.fixture
def bank(tmp_path: Path) -> MemoryBank:
    return MemoryBank.open(tmp_path / "bank.duckdb", embedder=HashEmbedder())


def test_the_reflector_sees_runs_without_secrets_as_the_bank_keeps_them(bank: MemoryBank) -> None:
    reflector = Told(Drafts())
    reflection = bank.draft_lessons([RUN, RUN], reflector, domain=" Git ")
    (verb, runs, context) = reflector.seen[0]
    assert verb == "reflect"
    assert context.domain == "git"
    assert [run.trajectory for run in runs] == [bank.trajectory(runs[0].id)]
    assert TOKEN not in repr(runs)
    assert reflection.trajectory_ids == (runs[0].id,)
    assert context.embed(["a", "b", "a"]).shape == (3, 384)
    assert context.embed([]).shape == (0, 384)


def test_a_group_is_compared(bank: MemoryBank) -> None:
    reflector = Told(Drafts())
    bank.draft_lessons([RUN], reflector, as_group=True)
    assert reflector.seen[0][0] == "compare"


def test_a_reflection_waits_as_proposals_and_is_listed_with_what_became_of_them(
    bank: MemoryBank,
) -> None:
    (run_id,) = bank.keep_trajectories([RUN])
    wanted = lesson("Find a deleted branch's last commit with `git reflog`.", run_id)
    refused = RefusedDraft("over 32 words", f"raw reply with {TOKEN}", lesson("long " * 40, run_id))
    reflector = Told(
        Drafts((wanted,), (refused,), ("One step was cut.",), TokenUsage(2, 900, 80, 0.01))
    )
    reflection = bank.draft_lessons([RUN], reflector)
    assert not bank.proposals()
    assert not bank.reflections()

    ids = bank.keep_reflection(reflection)
    assert bank.keep_reflection(reflection) == ids
    (listed,) = bank.reflections()
    assert listed.proposal_ids == ids
    assert listed.reflector == "told"
    assert listed.trajectory_ids == (run_id,)
    assert "Restore the deleted branch topic" in listed.reason
    assert listed.notes == ("One step was cut.",)
    assert listed.usage == TokenUsage(2, 900, 80, 0.01)
    assert listed.refused[0].operation == refused.operation
    assert TOKEN not in listed.refused[0].reply

    (proposal,) = bank.proposals()
    assert (proposal.source, proposal.group) == ("reflection", listed.key)
    bank.decide(ids, accept=True)
    (memory,) = bank.snapshot().memories
    assert memory.text == wanted.text
    assert memory.provenance.source == "reflection"
    assert memory.provenance.evidence == (Evidence(run_id, (2,)),)


def test_the_batch_of_a_reflection_can_be_committed_at_once(bank: MemoryBank) -> None:
    batch = bank.reflect([RUN], Told(Drafts((lesson("Use `git reflog` first."),))))
    assert bank.commit(bank.plan(batch)).kind == "reflection"


def test_a_reflection_without_lessons_is_listed_too(bank: MemoryBank) -> None:
    reflection = bank.draft_lessons([RUN], Told(Drafts(notes=("Nothing to learn.",))))
    assert bank.keep_reflection(reflection) == ()
    assert [r.proposal_ids for r in bank.reflections()] == [()]


def test_where_the_reflector_fails_the_runs_stay_and_nothing_else(bank: MemoryBank) -> None:
    class Failing(Told):
        def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
            raise ReflectionError("The model did not answer.")

    with pytest.raises(ReflectionError, match="did not answer"):
        bank.draft_lessons([RUN], Failing(Drafts()))
    assert len(bank.trajectories()) == 1
    assert not bank.reflections()
    assert bank.snapshot().revision == 0


def test_no_run_is_told(bank: MemoryBank) -> None:
    with pytest.raises(UnreadableTrajectoryError, match="no run"):
        bank.draft_lessons([])
