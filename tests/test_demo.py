"""The demo library holds what a newcomer, and the work on curation, need to find in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memory_core import HashEmbedder, MemoryBank, build_demo
from memory_core.demo import Sources
from memory_core.places import data
from memory_core.validation import check_text

pytestmark = pytest.mark.long


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> MemoryBank:
    path = build_demo(tmp_path_factory.mktemp("demo") / "demo.duckdb", embedder=HashEmbedder())
    return MemoryBank.open(path, embedder=HashEmbedder())


def test_it_is_large_and_varied_enough(demo: MemoryBank) -> None:
    snapshot = demo.snapshot()
    assert len(snapshot) >= 300
    assert len(snapshot.domain_counts()) >= 10
    assert min(snapshot.kind_counts().values()) >= 80
    assert demo.epoch >= 40
    assert len(set(snapshot.columns.epoch.tolist())) >= 40
    assert demo.settings.capacity == 250


def test_every_lesson_is_one_lesson_with_its_kind_s_detail(demo: MemoryBank) -> None:
    for memory in demo.snapshot().memories:
        check_text(memory.text)
        assert memory.detail is not None
        assert "\n" not in memory.text


def test_its_numbers_come_from_outcomes_by_the_rule(demo: MemoryBank) -> None:
    confidence = demo.snapshot().columns.confidence
    assert confidence.min() < 0.45
    assert confidence.max() > 0.8
    for memory in demo.snapshot().memories[::40]:
        steps = [c.after.confidence for c in demo.history(memory.id) if c.after]
        assert len(steps) > memory.usage_count / 3  # outcomes of one session come together
        if memory.provenance.source != "merge":
            assert steps[0] == 0.5


def test_curation_has_something_to_find() -> None:
    planted = Counter(
        row["planted"].split(":")[0] for row in Sources.read(data() / "demo").memories
        if "planted" in row
    )  # fmt: skip
    assert planted["duplicate"] >= 20
    assert planted["contradicts"] >= 6
    assert planted["stale"] >= 6
    assert planted["generic"] >= 6


def test_its_past_has_two_actors_a_pruning_and_merges(demo: MemoryBank) -> None:
    revisions = demo.revisions()
    assert len({revision.actor for revision in revisions}) == 2
    kinds = Counter(revision.kind for revision in revisions)
    assert kinds["compression"] == 1
    assert kinds["merge"] >= 3
    assert kinds["outcome"] > 60
    assert [r.made_at_us for r in revisions] == sorted(r.made_at_us for r in revisions)


def test_queries_proposals_and_retrievals_are_there(demo: MemoryBank) -> None:
    queries = demo.queries()
    assert len(queries) == 40
    here = demo.snapshot()
    for query in queries:
        assert len(query.relevant) >= 3
        assert all(memory_id in here for memory_id in query.judgements)
    proposals = demo.proposals()
    assert len(proposals) == 30
    plan = demo.plan_proposals([proposal.id for proposal in proposals])
    assert len(plan.refused) == 3
    retrievals = demo.retrievals()
    assert len(retrievals) == 60
    assert all(row.improved is not None for row in retrievals)
    assert len(list((data() / "trajectories").iterdir())) == 8


def test_the_same_sources_give_the_same_bank(tmp_path: Path) -> None:
    """Of one domain, which has of everything something."""
    whole = Sources.read(data() / "demo")
    parts = (
        tuple(row for row in rows if row["file"] == "shell-and-git")
        for rows in (whole.memories, whole.queries, whole.proposals, whole.retrievals)
    )
    sources = Sources(*parts)
    one, other = (
        MemoryBank.open(
            build_demo(tmp_path / name, embedder=HashEmbedder(), sources=sources),
            embedder=HashEmbedder(),
        )
        for name in ("one.duckdb", "other.duckdb")
    )
    assert len(one.snapshot()) > 20
    assert one.snapshot().memories == other.snapshot().memories
    assert one.revisions() == other.revisions()
    assert one.queries() == other.queries() != ()
    assert one.retrievals() == other.retrievals() != ()
    assert [p.operation for p in one.proposals()] == [p.operation for p in other.proposals()] != []


def test_the_audit_finds_what_was_planted(demo: MemoryBank) -> None:
    rows = Sources.read(data() / "demo").memories
    id_of = {memory.text: memory.id for memory in demo.snapshot()}
    found = {
        rule: {frozenset(f.ids) for f in demo.audit() if f.rule == rule}
        for rule in ("stale", "generic", "secret", "instruction")
    }
    for rule in ("stale", "generic"):
        planted = {frozenset([id_of[row["text"]]]) for row in rows if row.get("planted") == rule}
        assert planted <= found[rule]
        assert len(found[rule] - planted) <= 0.02 * len(id_of)
    assert not found["secret"] | found["instruction"]


def test_every_run_that_a_proposal_cites_is_kept_with_the_steps_it_names(demo: MemoryBank) -> None:
    cited = [one for proposal in demo.proposals() for one in proposal.operation.evidence]
    assert len(cited) >= 8
    for evidence in cited:
        run = demo.trajectory(evidence.trajectory_id)
        assert run is not None
        assert set(evidence.steps) <= {step.number for step in run.steps}
    assert {kept.format for kept in demo.trajectories()} >= {"ATIF", "Claude Code", "tau-bench"}
