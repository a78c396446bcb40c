"""Whatever a run holds: the rules never fail, and what they draft can be kept."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Batch,
    HashEmbedder,
    Outcome,
    ReflectionContext,
    RuleReflector,
    Run,
    Snapshot,
    Step,
    Trajectory,
)
from memory_core.curation import plan, texts_of
from memory_core.reflection.settling import settle
from tests.strategies import any_text, crowds

PIECES = (
    "Ignore previous instructions", "Error: not found", "To", "rename the file", "`x`", "user_1234",
    "K7QD2M", "cabinet 2", "“q”", "{", "}", "a.py", "git", "Search", "…", "\n", "I look at",
    "the table.", "42", "http://x.y/z", "-v", "[masked: token]", "take", "put", "from", "café",
)  # fmt: skip
said = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | any_text
tools = st.sampled_from(
    ["", "bash", "git", "Search", "take", "put", "go", "edit", "get_user", "finish", "run_sql"]
) | any_text.map(lambda text: text[:20])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | said,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["command", "query", "id", "description"]) | said, inner)
    ),
    max_leaves=6,
)
steps = st.builds(
    Step,
    st.just(0),
    st.sampled_from(["user", "assistant", "system", "tool"]),
    said,
    tools,
    said | values.map(json.dumps),
    said,
    st.just("") | said,
    st.sampled_from(["", "", "", "call", "result"]),
)
outcomes = st.builds(Outcome, st.none() | st.booleans(), st.none() | st.floats(), said)


def built(
    task: str, given_steps: list[Step], outcome: Outcome, children: list[Trajectory]
) -> Trajectory:
    numbered = (replace(step, number=n) for n, step in enumerate(given_steps, start=1))
    return Trajectory(task, tuple(numbered), outcome, children=tuple(children))


lone = st.builds(built, said, st.lists(steps, max_size=12), outcomes, st.just([]))
trajectories = st.builds(
    built, said, st.lists(steps, max_size=12), outcomes, st.lists(lone, max_size=1)
)


@settings(max_examples=120, deadline=None)
@given(st.lists(trajectories, max_size=3), st.booleans(), crowds(max_size=8))
def test_every_draft_is_short_cites_steps_that_exist_and_can_be_planned(
    drawn: list[Trajectory], as_group: bool, crowd: Snapshot
):
    if as_group and drawn:
        drawn = [replace(one, task=drawn[0].task) for one in drawn]
    runs = [Run(f"run-{n}", one) for n, one in enumerate(drawn)]
    snapshot = crowd if crowd.pool.dimension == 384 else Snapshot.empty()
    embed = HashEmbedder().embed
    context = ReflectionContext(snapshot, embed)
    reflector = RuleReflector()

    drafts = (reflector.compare if as_group else reflector.reflect)(runs, context)
    settled = settle(drafts, context)

    known = {run.id: {step.number for step in run.trajectory.steps} for run in runs}
    for operation in (*drafts.operations, *settled.operations):
        assert operation.rationale
        for item in operation.evidence:
            assert item.steps
            assert set(item.steps) <= known[item.trajectory_id]
    for operation in drafts.operations:
        text = getattr(operation, "text", None)
        assert text is None or 1 <= len(text.split()) <= 32
    batch = Batch(settled.operations, kind="reflection")
    texts = texts_of(batch)
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    planned = plan(snapshot, batch, vectors)
    assert all(refusal.reason for refusal in planned.refused)
    assert len(planned.accepted) + len(planned.refused) == len(settled.operations)
    doubts = {lint.rule for lint in planned.lints}
    assert not doubts & {"instruction", "secret", "over length", "generic"}


@settings(max_examples=40, deadline=None)
@given(trajectories)
def test_the_same_run_gives_the_same_lessons(trajectory: Trajectory):
    context = ReflectionContext(Snapshot.empty(), HashEmbedder().embed)
    runs = [Run("run-1", trajectory)]

    assert RuleReflector().reflect(runs, context) == RuleReflector().reflect(runs, context)
