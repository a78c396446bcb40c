"""The lexical share: BM25 over the eligible memories, divided by the query's maximum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import Memory, RetrievalSettings, Snapshot
from memory_core.lexical import lexical_scores
from memory_core.retrieval import retrieve
from tests.ranking import bm25, check
from tests.strategies import WORDS, any_text, kinds, labels, unit_vectors

HYBRID = RetrievalSettings(lexical_weight=0.2)
TEXTS = (
    "Retry the request after a timeout of 30 seconds",
    "Retries of a timed-out request need an idempotency key",
    "Rebase the branch, then push with lease",
    "To be or not to be",
    "Straße naïve λ",
)
sentences = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | any_text


def library(texts, **fields) -> Snapshot:
    lessons = [Memory(n + 1, "tool", text, "git", **fields) for n, text in enumerate(texts)]
    return Snapshot.from_memories(lessons, unit_vectors(1, len(texts)))


@settings(max_examples=100, deadline=None)
@given(st.lists(sentences, max_size=12), sentences)
def test_it_is_bm25(texts, query):
    scores = lexical_scores(library(texts), query, HYBRID)
    np.testing.assert_allclose(scores, bm25(query, texts), atol=1e-6)


def test_the_best_match_scores_one_and_no_match_scores_zero():
    scores = lexical_scores(library(TEXTS), "request timeouts", HYBRID)
    assert scores.max() == 1.0
    assert scores[[2, 3, 4]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("query", ["", "the of and to", "x", "§ — !", "kubernetes"])
def test_a_query_without_a_word_that_occurs_matches_nothing(query):
    assert not lexical_scores(library(TEXTS), query, HYBRID).any()


def test_words_match_by_their_stems_whatever_their_case():
    first = lexical_scores(library(TEXTS), "RETRYING requests", HYBRID)
    assert first[0] > 0
    assert first[1] > 0


def test_statistics_are_those_of_the_eligible():
    texts = ["rebase the branch", "rebase the index", "index the window"]
    snapshot = library(texts)
    snapshot = snapshot.edit(put=[replace(snapshot.by_id(1), domain="sql")])
    scores = lexical_scores(snapshot, "rebase index", replace(HYBRID, domains=("git",)))
    np.testing.assert_allclose(scores, [0, *bm25("rebase index", texts[1:])], atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(sentences, kinds, labels), max_size=10),
    sentences,
    st.floats(0, 1).map(lambda weight: round(weight, 3)),
    st.none() | st.lists(labels, max_size=2),
    st.none() | st.integers(1, 3),
)
def test_a_hybrid_ranking_is_the_blend(lessons, task, weight, domains, per_kind):
    memories = [Memory(n + 1, kind, text, domain) for n, (text, kind, domain) in enumerate(lessons)]
    snapshot = Snapshot.from_memories(memories, unit_vectors(3, len(memories)))
    query = unit_vectors(4, 1)[0]
    hybrid = RetrievalSettings(lexical_weight=weight, domains=domains, per_kind=per_kind)
    check(retrieve(snapshot, task, query, hybrid), query)


def test_what_was_tokenized_for_one_revision_serves_the_next():
    snapshot = library(TEXTS[:2])
    lexical_scores(snapshot, "timeout", HYBRID)
    new = Memory(-1, "tool", "Kubernetes restarts a pod after a timeout", "ops")
    grown = snapshot.edit(put=[new], vectors={new.text: unit_vectors(9, 1)[0]})
    for query in ("kubernetes timeout", "pods"):
        expected = bm25(query, grown.texts())
        np.testing.assert_allclose(lexical_scores(grown, query, HYBRID), expected, atol=1e-6)
    smaller = grown.edit(removed=[1])
    np.testing.assert_allclose(
        lexical_scores(smaller, "timeout", HYBRID), bm25("timeout", smaller.texts()), atol=1e-6
    )
