"""Why not: a memory's standing, and advice that holds when it is followed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import Memory, MemoryNotFoundError, Retrieval, RetrievalSettings, Snapshot
from memory_core.retrieval import retrieve
from tests.ranking import chosen, scored
from tests.strategies import WORDS, crowds, even_confidences, kinds, labels, unit_vectors

TASK = "rebase the branch before a timeout"

asked = st.builds(
    RetrievalSettings,
    limit=st.integers(1, 8),
    confidence_weight=st.sampled_from([0.0, 0.2, 0.5, 1.0]) | even_confidences,
    lexical_weight=st.sampled_from([0.0, 0.0, 0.2]),
    domains=st.none() | st.lists(labels, max_size=2),
    kinds=st.none() | st.lists(kinds, max_size=2),
    per_kind=st.none() | st.none() | st.integers(1, 3),
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Retrieval, Memory]:
    """A retrieval, and a memory of its snapshot to ask about."""
    crowd = draw(crowds(max_size=25).filter(len))
    query = unit_vectors(draw(st.integers(0, 2**16)), 1, crowd.vectors.shape[1])[0]
    return retrieve(crowd, TASK, query, draw(asked)), draw(st.sampled_from(crowd.memories))


def again(found: Retrieval, **changed) -> list[Memory]:
    settings = replace(found.settings, **changed)
    return hits(retrieve(found.snapshot, found.task, found.scoring.vector, settings))


def hits(found: Retrieval) -> list[Memory]:
    return [hit.memory for hit in found.hits]


@settings(max_examples=70, deadline=None)
@given(questions())
def test_the_standing_is_exact(question):
    found, memory = question
    answer = found.why_not(memory.id)
    ranking = scored(found.snapshot, found.scoring.vector, found.task, found.settings)
    rivals = [one for one in ranking if not found.settings.per_kind or
              one.memory.kind == memory.kind]  # fmt: skip
    own = [place for place, one in enumerate(rivals) if one.memory == memory]
    assert answer.memory_id == memory.id
    assert (answer.verdict == "in") == (memory in hits(found))
    if not own:
        domains, kinds = found.settings.domains, found.settings.kinds
        wrong_domain = bool(domains) and memory.domain not in domains
        assert answer.verdict == ("excluded by domain" if wrong_domain else "excluded by kind")
        assert wrong_domain or (kinds and memory.kind not in kinds)
        assert answer.rank is answer.gap is answer.confidence_needed is None
        assert answer.weight_intervals == ()
        return
    assert answer.rank == own[0] + 1
    last = chosen(rivals, found.settings)[-1]
    assert answer.gap == pytest.approx(last.score - rivals[own[0]].score, abs=1e-6)
    total = sum(
        part.share
        for part in (answer.parts.similarity, answer.parts.lexical, answer.parts.confidence)
    )
    assert total == pytest.approx(rivals[own[0]].score, abs=1e-6)


@settings(max_examples=70, deadline=None)
@given(questions())
def test_the_confidence_that_it_needs_is_enough_and_less_is_not(question):
    found, memory = question
    answer = found.why_not(memory.id)
    if answer.verdict != "outranked":
        assert answer.confidence_needed is None
        return

    def is_in(confidence: float) -> bool:
        risen = found.snapshot.edit(put=[replace(memory, confidence=confidence)])
        result = retrieve(risen, found.task, found.scoring.vector, found.settings)
        return memory.id in [hit.memory.id for hit in result.hits]

    needed = answer.confidence_needed
    if needed is None:
        assert not is_in(0.95)
    else:
        assert needed <= 0.95
        assert is_in(needed)
        assert not is_in(round(needed - 2e-4, 4))


@settings(max_examples=50, deadline=None)
@given(questions())
def test_with_the_weights_that_it_names_the_memory_is_in(question):
    found, memory = question
    answer = found.why_not(memory.id)
    for low, high in answer.weight_intervals:
        assert 0 <= low <= high <= 1
        for weight in (low, (low + high) / 2, high):
            assert memory in again(found, confidence_weight=weight)
    ends = [end for interval in answer.weight_intervals for end in interval]
    assert ends == sorted(ends)
    if answer.rank is None:
        return
    for weight in np.linspace(0.01, 0.99, 15):
        around = [weight - 4e-3, weight, weight + 4e-3]
        told = [any(low <= w <= high for low, high in answer.weight_intervals) for w in around]
        found_in = [memory in again(found, confidence_weight=w) for w in around]
        if all(found_in):  # not on the edge of an interval
            assert told[1]
        if not any(found_in):
            assert not told[1]


@settings(max_examples=50, deadline=None)
@given(questions())
def test_asking_within_the_domain_that_it_names_brings_it_in(question):
    found, memory = question
    answer = found.why_not(memory.id)
    if answer.domain_lift is not None:
        assert answer.domain_lift == memory.domain
        assert memory in again(found, domains=(answer.domain_lift,))
    elif answer.verdict != "in":
        assert memory not in again(found, domains=(memory.domain,))


@settings(max_examples=30, deadline=None)
@given(questions())
def test_the_sentence_gives_the_reason(question):
    found, memory = question
    answer = found.why_not(memory.id)
    words = {"in": "It is in", "outranked": f"rank {answer.rank}, "}
    assert words.get(answer.verdict, "not among those asked for") in answer.sentence


def test_the_costliest_part_is_the_one_it_loses_the_most_by():
    lessons = [Memory(n, "tool", f"{WORDS[n]} lesson", "git", confidence=c)
               for n, c in ((1, 0.9), (2, 0.1))]  # fmt: skip
    crowd = Snapshot.from_memories(lessons, np.repeat(unit_vectors(1, 1), 2, axis=0))
    found = retrieve(crowd, "", unit_vectors(2, 1)[0], RetrievalSettings(limit=1))
    assert found.why_not(2).costliest == "confidence"
    assert found.why_not(2).gap == pytest.approx(0.2 * 0.8)
    near = Snapshot.from_memories(lessons, unit_vectors(1, 2))
    found = retrieve(near, "", near.vector_of(2), RetrievalSettings(limit=1, confidence_weight=0))
    assert found.why_not(1).costliest == "similarity"


def test_in_a_large_bank_the_rank_is_exact_and_the_advice_holds():
    random, size = np.random.default_rng(1), 20_000
    lessons = [
        Memory(n + 1, ("strategic", "procedural", "tool")[n % 3], f"lesson {n % 900}", "git",
               confidence=float(random.uniform(0.05, 0.95)))
        for n in range(size)
    ]  # fmt: skip
    vectors = unit_vectors(2, 900)[np.arange(size) % 900]
    crowd, query = Snapshot.from_memories(lessons, vectors), unit_vectors(3, 1)[0]
    wide = vectors.astype(np.float64)
    cosines = (wide @ query.astype(np.float64)) / np.linalg.norm(wide, axis=1)
    scores = 0.8 * cosines + 0.2 * np.array([memory.confidence for memory in lessons])
    found = retrieve(crowd, "", query)
    for place in (0, 77, 12_345):
        answer = found.why_not(place + 1)
        assert answer.rank == int(np.count_nonzero(scores > scores[place])) + 1
        for low, high in answer.weight_intervals:
            assert lessons[place] in again(found, confidence_weight=low)
            assert lessons[place] in again(found, confidence_weight=high)


def test_there_is_no_answer_about_a_memory_that_is_not_there():
    crowd = Snapshot.from_memories([Memory(1, "tool", "a", "b")], unit_vectors(1, 1))
    with pytest.raises(MemoryNotFoundError):
        retrieve(crowd, "", unit_vectors(2, 1)[0]).why_not(2)
