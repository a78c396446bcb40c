"""The words that are marked in a text are those that its lexical score counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import Memory, RetrievalSettings, Snapshot, matching_words
from memory_core.lexical import lexical_scores
from memory_core.matching import STOP_WORDS
from tests.ranking import terms
from tests.strategies import WORDS, any_text

tasks = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(texts, min_size=1, max_size=5), tasks)
def test_a_text_has_marked_words_exactly_when_it_has_a_lexical_score(lessons, task):
    crowd = Snapshot.from_memories(
        [Memory(n, "tool", text, "git") for n, text in enumerate(lessons, start=1)],
        np.eye(8, dtype=np.float32)[np.arange(len(lessons)) % 8],
    )
    scores = lexical_scores(crowd, task, RetrievalSettings(lexical_weight=0.2))
    marked = matching_words(task, lessons)
    assert [bool(spans) for spans in marked] == (scores > 0).tolist()
    for text, spans in zip(lessons, marked, strict=True):
        assert all(set(terms(text[start:end])) <= set(terms(task)) for start, end in spans)


@given(any_text, any_text)
def test_marks_lie_in_the_text_in_order_and_apart(task, text):
    (spans,) = matching_words(task + " " + text[: len(text) // 2], [text])
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_stems_match_and_stop_words_do_not():
    text = "Rebasing İ the branches, then the branch."
    (spans,) = matching_words("the branch to rebase", [text])
    assert [text[start:end] for start, end in spans] == ["Rebasing", "branches", "branch"]


def test_the_stop_words_are_those_of_the_score():
    from bm25s.stopwords import STOPWORDS_EN

    assert set(STOPWORDS_EN) == STOP_WORDS
