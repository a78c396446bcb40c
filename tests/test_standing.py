"""Hits and near misses about the cut, the sweep over λ, and two settings beside each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Retrieval,
    RetrievalSettings,
    contrast,
    near_misses,
    overlap_at,
    rank_biased_overlap,
    standings,
    sweep,
)
from memory_core.retrieval import retrieve
from tests.ranking import Scored, chosen, scored
from tests.strategies import crowds, even_confidences, kinds, labels, unit_vectors

TASK = "rebase the branch before a timeout"
asked = st.builds(
    RetrievalSettings,
    limit=st.integers(1, 6),
    confidence_weight=st.sampled_from([0.0, 0.2, 0.5, 1.0]) | even_confidences,
    lexical_weight=st.sampled_from([0.0, 0.2]),
    domains=st.none() | st.lists(labels, max_size=2),
    kinds=st.none() | st.lists(kinds, max_size=2),
    per_kind=st.none() | st.none() | st.integers(1, 3),
)


@st.composite
def retrievals(draw: st.DrawFn) -> Retrieval:
    crowd = draw(crowds(max_size=20))
    query = unit_vectors(draw(st.integers(0, 2**16)), 1, crowd.vectors.shape[1])[0]
    return retrieve(crowd, TASK, query, draw(asked))


def ranking(found: Retrieval, **changed) -> list[Scored]:
    """All eligible memories, computed once more and differently."""
    return scored(
        found.snapshot, found.scoring.vector, found.task, replace(found.settings, **changed)
    )


def competitors(found: Retrieval, ranked: list[Scored], memory) -> list[Scored]:
    return [o for o in ranked if not found.settings.per_kind or o.memory.kind == memory.kind]


def places(ranked: list[Scored]) -> dict[int, int]:
    return {one.memory.id: place for place, one in enumerate(ranked, start=1)}


@settings(max_examples=120, deadline=None)
@given(retrievals(), st.integers(1, 6))
def test_hits_and_near_misses_are_the_ranking_about_the_cut(found, limit):
    ranked = ranking(found)
    plain = ranking(found, confidence_weight=0.0, lexical_weight=0.0)
    hits = {one.memory.id for one in chosen(ranked, found.settings)}
    above, below = standings(found), near_misses(found, limit)
    assert [s.hit.memory for s in above] == [hit.memory for hit in found.hits]
    assert all(s.is_in for s in above)
    assert not any(s.is_in for s in below)
    rest = [one for one in ranked if one.memory.id not in hits]
    if found.settings.per_kind is None:
        assert [s.hit.memory for s in below] == [one.memory for one in rest[:limit]]
    assert len(below) == min(limit, len(rest))
    for standing in (*above, *below):
        memory = standing.hit.memory
        rivals = competitors(found, ranked, memory)
        last = [one for one in rivals if one.memory.id in hits][-1]
        score = next(one.score for one in rivals if one.memory == memory)
        assert standing.hit.rank == places(rivals)[memory.id]
        assert standing.rank_by_similarity == places(competitors(found, plain, memory))[memory.id]
        assert standing.margin == pytest.approx(score - last.score, abs=1e-6)
        assert standing.hit.score == pytest.approx(score, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(retrievals())
def test_no_near_miss_is_nearer_than_one_that_is_told(found):
    told = near_misses(found, 3)
    everyone = near_misses(found, 99)
    assert {s.hit.memory.id for s in (*standings(found), *everyone)} == {
        one.memory.id for one in ranking(found)
    }
    assert list(told) == list(everyone[:3])


@settings(max_examples=80, deadline=None)
@given(retrievals(), st.floats(0, 1))
def test_the_courses_are_the_scores_at_every_weight(found, weight):
    ids = [one.memory.id for one in ranking(found)][:8]
    swept = sweep(found, ids)
    expected = {o.memory.id: o.score for o in ranking(found, confidence_weight=weight)}
    assert [course.memory_id for course in swept.courses] == ids
    for course in swept.courses:
        assert course.at(weight) == pytest.approx(expected[course.memory_id], abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(retrievals())
def test_the_crossings_are_all_that_happens_between_the_weights(found):
    ids = [one.memory.id for one in ranking(found)][:8]
    swept = sweep(found, ids)
    crossings = [(c.overtaking, c.overtaken, c.weight) for c in swept.crossings]
    assert [weight for *_, weight in crossings] == sorted(weight for *_, weight in crossings)
    lines = {course.memory_id: course for course in swept.courses}
    for c in swept.crossings:
        assert 0 < c.weight < 1
        assert lines[c.overtaking].at(c.weight) == pytest.approx(c.score, abs=1e-9)
        assert lines[c.overtaken].at(c.weight) == pytest.approx(c.score, abs=1e-9)
    before = [one.memory.id for one in ranking(found, confidence_weight=0.0)]
    after = [one.memory.id for one in ranking(found, confidence_weight=1.0)]
    scores = [{o.memory.id: round(o.score, 9) for o in ranking(found, confidence_weight=w)}
              for w in (0.0, 1.0)]  # fmt: skip
    swapped = {
        (up, down)
        for up in ids
        for down in ids
        if scores[0][up] < scores[0][down] and scores[1][up] > scores[1][down]
    }
    assert {(up, down) for up, down, _ in crossings} == swapped
    assert len(before) == len(after)


@settings(max_examples=40, deadline=None)
@given(retrievals(), st.integers(0, 4))
def test_the_cut_is_the_score_of_the_last_hit(found, step):
    cuts = {cut.kind: cut for cut in sweep(found, [], steps=4).cuts}
    ranked = ranking(found, confidence_weight=step / 4)
    if not found.settings.per_kind:
        hits = chosen(ranked, found.settings)
        assert set(cuts) == ({None} if hits else set())
        last = {None: hits[-1]} if hits else {}
    else:
        last = {one.memory.kind: one for one in chosen(ranked, found.settings)}
    assert set(cuts) == set(last)
    for kind, one in last.items():
        assert cuts[kind].weights[step] == step / 4
        assert cuts[kind].scores[step] == pytest.approx(one.score, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(retrievals(), asked)
def test_a_contrast_is_the_two_rankings_beside_each_other(found, other):
    again = retrieve(found.snapshot, TASK, found.scoring.vector, other)
    told = contrast(found, again)
    sides = [(found, places(ranking(found))), (again, places(ranking(again)))]
    ids = [[hit.memory.id for hit in side.hits] for side, _ in sides]
    assert {move.memory.id for move in told.moves} == {*ids[0], *ids[1]}
    for move in told.moves:
        for place, (_, ranks), hits in zip((move.one, move.other), sides, ids, strict=True):
            assert (place.rank if place else None) == ranks.get(move.memory.id)
            assert (place is not None and place.is_hit) == (move.memory.id in hits)
        if move.one and move.other:
            assert move.steps == move.one.rank - move.other.rank
        else:
            assert move.steps is None
    longest = max(map(len, ids))
    assert told.limit == longest
    assert told.overlap == overlap_at(ids[0], ids[1], longest)
    whole = [list(ranks)[:50] for _, ranks in sides]
    assert told.rank_biased_overlap == pytest.approx(rank_biased_overlap(*whole))


def test_a_contrast_with_itself_moves_nothing():
    from memory_core import Memory, Snapshot

    crowd = Snapshot.from_memories(
        [Memory(n, "tool", f"lesson {n}", "git") for n in range(1, 9)], unit_vectors(1, 8)
    )
    found = retrieve(crowd, "", unit_vectors(2, 1)[0], RetrievalSettings(limit=3))
    told = contrast(found, found)
    assert told.overlap == 1
    assert told.rank_biased_overlap == pytest.approx(1)
    assert [move.steps for move in told.moves] == [0, 0, 0]
    assert np.all([move.one.is_hit for move in told.moves])
