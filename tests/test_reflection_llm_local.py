"""A real model over a real wire. It is tiny and understands little: a fine adversary.

What it says is never looked at here, only what becomes of it: whatever it answers, the bank stays
whole, and each draft is one that the bank would take.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core import Batch, LLMReflector
from memory_core.language_models.local import stop_local_servers
from memory_core.records import MAX_WORDS
from memory_core.reflection.telling import step_numbers
from tests.reflecting import bank_with, context_of, flight_run
from tests.small_model import small_model

pytestmark = [pytest.mark.long, pytest.mark.timeout(280)]


@pytest.fixture(scope="module", autouse=True)
def _stopped() -> object:
    yield
    stop_local_servers()


def reflector(reply_tokens: int) -> LLMReflector:
    return LLMReflector(
        f"local:{small_model()}", context_tokens=2600, reply_tokens=reply_tokens, timeout=240
    )


def test_whatever_a_tiny_model_says_the_bank_stays_whole(tmp_path: Path) -> None:
    reply_tokens = 110  # room for an entry, or for repetitions
    bank = bank_with(tmp_path, "search_flights takes any form of date.", "Cook rice with water.")
    before = list(bank.snapshot())
    run = flight_run()

    reflection = bank.draft_lessons([run.trajectory], reflector(reply_tokens))

    numbers = step_numbers(run.trajectory)
    for operation in reflection.operations:
        assert operation.evidence
        assert {step for one in operation.evidence for step in one.steps} <= numbers
        text = getattr(operation, "text", None)
        assert text is None or 1 <= len(text.split()) <= MAX_WORDS
    assert all(refused.reason for refused in reflection.refused)
    assert reflection.operations or reflection.refused or reflection.notes
    assert 1 <= reflection.usage.requests <= 3
    assert reflection.usage.output_tokens <= reply_tokens * reflection.usage.requests
    assert not bank.plan(reflection.batch).refused
    bank.keep_reflection(reflection)
    assert list(bank.snapshot()) == before


def test_a_tiny_model_that_is_cut_off_in_every_reply_ends_in_words(tmp_path: Path) -> None:
    bank = bank_with(tmp_path, "search_flights takes any form of date.")
    runs = [flight_run("run-1", reward=1.0), flight_run("run-2", reward=0.0)]
    drafts = reflector(24).compare(runs, context_of(bank))
    cited = {one.trajectory_id for o in drafts.operations for one in o.evidence}
    assert cited <= {"run-1", "run-2"}
    assert not bank.plan(Batch(drafts.operations, kind="reflection")).refused
    assert drafts.operations or drafts.refused or drafts.notes
