"""Retrieval: the published formula, ties by id, the numbers that explain it, and nothing else."""

from __future__ import annotations

import uuid
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    InvalidBatchError,
    Memory,
    MemoryNotFoundError,
    RetrievalSettings,
    Snapshot,
    nearest,
    read_injection,
)
from memory_core.retrieval import domain_shares, infer_domains, retrieve
from memory_core.scoring import slack
from tests.ranking import check, scored
from tests.strategies import DOMAINS, crowds, kinds, labels, unit_vectors

weights = st.sampled_from([0.0, 0.2, 1.0]) | st.integers(0, 1000).map(lambda n: n / 1000)
asked = st.builds(
    RetrievalSettings,
    limit=st.integers(1, 50),
    confidence_weight=weights,
    domains=st.none() | st.lists(labels | st.just("nowhere"), max_size=3),
    kinds=st.none() | st.lists(kinds, max_size=2),
    per_kind=st.none() | st.integers(1, 4),
)


def crowd_of(vectors: np.ndarray, **fields) -> Snapshot:
    lessons = [Memory(n + 1, "tool", f"lesson {n}", "git", **fields) for n in range(len(vectors))]
    return Snapshot.from_memories(lessons, vectors)


@settings(max_examples=120, deadline=None)
@given(crowds(), asked, st.integers(0, 2**32 - 1))
def test_it_is_the_published_formula(crowd, settings, seed):
    query = unit_vectors(seed, 1, crowd.vectors.shape[1])[0]
    check(retrieve(crowd, "a task", query, settings), query)


@settings(max_examples=40, deadline=None)
@given(crowds(), asked, st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_the_length_of_the_query_does_not_matter(crowd, settings, seed, length):
    query = unit_vectors(seed, 1, crowd.vectors.shape[1])[0]
    check(retrieve(crowd, "a task", query * length, settings), query)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_so_for_many_memories_and_filters(seed):
    random = np.random.default_rng(seed)
    vectors = unit_vectors(seed, 1500)[random.integers(0, 1500, 1500)]
    lessons = [
        Memory(
            n + 1,
            ("strategic", "procedural", "tool")[random.integers(3)],
            f"lesson {n}",
            DOMAINS[random.integers(4)],
            confidence=random.uniform(0.05, 0.95),
        )
        for n in range(1500)
    ]
    crowd, query = Snapshot.from_memories(lessons, vectors), unit_vectors(99 + seed, 1)[0]
    for chosen in (
        RetrievalSettings(),
        RetrievalSettings(50, 0.7, domains=("git", "web")),
        RetrievalSettings(per_kind=3, kinds=("tool",)),
        RetrievalSettings(per_kind=3),
    ):
        check(retrieve(crowd, "a task", query, chosen), query)


def test_memories_closer_than_float32_can_tell_apart_are_ranked_all_the_same():
    """Their scores differ by less than a float32 product may be off, which would misrank them."""
    base, noise = unit_vectors(1, 1), unit_vectors(2, 3000)
    crowd = crowd_of(base + 2e-6 * noise)
    query = unit_vectors(1, 1)[0] * 0.6 + unit_vectors(3, 1)[0] * 0.8
    query /= np.linalg.norm(query)
    wide = crowd.vectors.astype(np.float64)
    cosines = wide @ query.astype(np.float64) / np.linalg.norm(wide, axis=1)
    best = np.sort(cosines)[::-1][:20]
    assert best[0] - best[-1] < slack(384)
    found = retrieve(crowd, "", query, RetrievalSettings(20, confidence_weight=0))
    rows = [hit.memory.id - 1 for hit in found.hits]
    np.testing.assert_allclose(cosines[rows], best, rtol=0, atol=1e-12)
    assert set(rows) != set(np.argsort(-(crowd.vectors @ query), kind="stable")[:20])


def test_exact_copies_go_by_id_however_many():
    crowd = crowd_of(np.repeat(unit_vectors(5, 1), 500, axis=0))
    found = retrieve(crowd, "", unit_vectors(6, 1)[0], RetrievalSettings(limit=7))
    assert [hit.memory.id for hit in found.hits] == [1, 2, 3, 4, 5, 6, 7]
    assert len({hit.score for hit in found.hits}) == 1


def test_planned_memories_rank_behind_their_equals():
    crowd = crowd_of(np.repeat(unit_vectors(5, 1), 3, axis=0))
    planned = [replace(crowd.by_id(1), id=-k) for k in (1, 2)]
    crowd = crowd.edit(put=planned, vectors={"lesson 0": unit_vectors(5, 1)[0]})
    found = retrieve(crowd, "", unit_vectors(6, 1)[0])
    assert [hit.memory.id for hit in found.hits] == [1, 2, 3, -1, -2]
    assert found.revision is None


def test_a_memory_outside_the_domains_is_excluded_however_near():
    crowd = crowd_of(unit_vectors(1, 5))
    query = crowd.vector_of(1)
    assert retrieve(crowd, "", query, RetrievalSettings(domains=["sql"])).hits == ()
    assert len(retrieve(crowd, "", query, RetrievalSettings(domains=[" GIT "])).hits) == 5


def test_nothing_is_found_in_an_empty_bank():
    found = retrieve(Snapshot.empty(), "", unit_vectors(1, 1)[0], RetrievalSettings(per_kind=2))
    assert found.hits == ()
    assert "no relevant experience" in found.injection


def test_a_query_without_direction_ranks_by_confidence():
    crowd = crowd_of(unit_vectors(1, 5)).edit(removed=[2])
    found = retrieve(crowd, "", np.zeros(384))
    assert [hit.memory.id for hit in found.hits] == [1, 3, 4, 5]


def test_the_block_holds_the_texts_of_the_hits_in_order():
    crowd = crowd_of(unit_vectors(1, 9))
    found = retrieve(crowd, "", unit_vectors(2, 1)[0])
    assert read_injection(found.injection) == tuple(hit.memory.text for hit in found.hits)
    assert found.injection.startswith("[G0] ")


def test_each_retrieval_has_a_uuid_and_keeps_what_was_asked():
    crowd = crowd_of(unit_vectors(1, 9))
    chosen = RetrievalSettings(limit=2)
    one, other = (retrieve(crowd, "task", unit_vectors(2, 1)[0], chosen) for _ in range(2))
    assert uuid.UUID(one.id) != uuid.UUID(other.id)
    assert (one.task, one.settings, one.snapshot) == ("task", chosen, crowd)


def test_what_ran_on_a_plan_is_not_for_the_ledger():
    planned = crowd_of(unit_vectors(1, 3)).edit(removed=[1])
    with pytest.raises(InvalidBatchError, match="on a plan"):
        retrieve(planned, "", unit_vectors(2, 1)[0]).as_recorded(actor="me", made_at_us=0)


# -- neighbours and domains -----------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(crowds(), st.integers(1, 12), st.data())
def test_the_nearest_memories_are_those_of_highest_cosine(crowd, limit, data):
    if not len(crowd):
        return
    own = data.draw(st.sampled_from(crowd.memories))
    neighbours = nearest(crowd, own.id, limit=limit)
    plain = RetrievalSettings(confidence_weight=0)
    expected = [one for one in scored(crowd, crowd.vector_of(own.id), "", plain)
                if one.memory.id != own.id][:limit]  # fmt: skip
    assert [n.memory.id for n in neighbours] == [one.memory.id for one in expected]
    np.testing.assert_allclose(
        [n.similarity for n in neighbours], [one.cosine for one in expected], atol=1e-6
    )


def test_nothing_is_near_a_memory_that_is_not_there():
    with pytest.raises(MemoryNotFoundError):
        nearest(crowd_of(unit_vectors(1, 3)), 9)


def around(query: np.ndarray, closeness: list[tuple[str, float]]) -> Snapshot:
    """One memory for each (domain, cosine to the query)."""
    vectors = []
    for place, (_, cosine) in enumerate(closeness):
        other = unit_vectors(100 + place, 1)[0].astype(np.float64)
        other -= (other @ query) * query
        other /= np.linalg.norm(other)
        vectors.append(cosine * query + np.sqrt(1 - cosine**2) * other)
    lessons = [
        Memory(n + 1, "tool", f"lesson {n}", domain) for n, (domain, _) in enumerate(closeness)
    ]
    return Snapshot.from_memories(lessons, np.array(vectors))


QUERY = unit_vectors(7, 1)[0].astype(np.float64)


def test_a_task_is_of_the_domain_that_most_of_its_neighbours_are_of():
    bank = around(QUERY, [("git", 0.8), ("git", 0.7), ("sql", 0.4), ("web", 0.1)])
    shares = domain_shares(bank, QUERY)
    assert list(shares) == ["git", "sql"]
    assert shares["git"] == pytest.approx(1.5 / 1.9, abs=1e-6)
    assert infer_domains(bank, QUERY) == ("git",)


@pytest.mark.parametrize(
    "closeness",
    [
        [],
        [("git", 0.2), ("git", 0.1)],
        [("git", 0.6), ("sql", 0.6)],
        [("git", 0.5), ("git", 0.5), ("sql", 0.9), ("web", 0.4)],
    ],
)
def test_an_ambiguous_task_is_of_none(closeness):
    assert infer_domains(around(QUERY, closeness), QUERY) == ()


def test_retrieval_filters_only_by_what_it_was_asked():
    bank = around(QUERY, [("git", 0.8), ("git", 0.7), ("sql", 0.4)])
    assert infer_domains(bank, QUERY) == ("git",)
    assert len(retrieve(bank, "", QUERY).hits) == 3
