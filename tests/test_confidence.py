"""The online rule: γ = 0.1 towards 1 or 0, within [0.05, 0.95]; counts beside it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core import InvalidBatchError, Memory, RecordedHit, RecordedRetrieval
from memory_core.confidence import adjustment, after_outcome, applied_hits, updated
from tests.strategies import confidences

RETRIEVAL = RecordedRetrieval(
    "id", "task", 1, 0, {}, (RecordedHit(4, 1, 0.9), RecordedHit(7, 2, 0.8)), "[G0] …", "me", 0
)


def exactly(confidence: Fraction, signs: list[bool]) -> Fraction:
    """The rule in exact arithmetic, as a step of a tenth towards an end, then held in bounds."""
    for improved in signs:
        confidence += (int(improved) - confidence) / 10
        confidence = min(max(confidence, Fraction(5, 100)), Fraction(95, 100))
    return confidence


@given(confidences, st.lists(st.booleans(), max_size=60))
def test_it_follows_the_rule_and_stays_in_bounds(start, signs):
    confidence = start
    for improved in signs:
        confidence = updated(confidence, improved=improved)
        assert 0.05 <= confidence <= 0.95
    assert math.isclose(confidence, exactly(Fraction(start), signs), rel_tol=1e-12)


@given(confidences, st.booleans())
def test_success_never_lowers_it_and_failure_never_raises_it(confidence, improved):
    after = updated(confidence, improved=improved)
    assert after >= confidence if improved else after <= confidence


def test_published_figures():
    assert updated(0.5, improved=True) == pytest.approx(0.55)
    assert updated(0.5, improved=False) == pytest.approx(0.45)
    assert updated(0.95, improved=True) == 0.95
    assert updated(0.05, improved=False) == 0.05


@given(st.lists(st.booleans(), max_size=20))
def test_counts_tell_how_often_it_was_applied_and_helped(signs):
    memory = Memory(1, "tool", "Use uv.", "python")
    for improved in signs:
        memory = after_outcome(memory, improved=improved)
    assert (memory.usage_count, memory.success_count) == (len(signs), sum(signs))


def test_the_operation_for_an_outcome_holds_what_the_memory_becomes():
    memory = Memory(9, "tool", "Use uv.", "python", confidence=0.3, usage_count=4, success_count=1)
    operation = adjustment(memory, improved=True)
    assert (operation.id, operation.usage_count, operation.success_count) == (9, 5, 2)
    assert operation.confidence == pytest.approx(0.37)


def test_only_hits_can_have_been_applied():
    assert [hit.applied for hit in applied_hits(RETRIEVAL, [7])] == [False, True]
    with pytest.raises(InvalidBatchError, match="Memory 5 was not among the hits"):
        applied_hits(RETRIEVAL, [7, 5])
