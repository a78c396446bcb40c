"""How a run ended, by the names that sources use for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.run_records import Outcome
from memory_core.trajectories.shapes import first_string, mapping, number

_REWARDS = ("reward", "final_reward", "score")
_SUCCESSES = ("success", "is_success", "resolved", "passed", "solved", "succeeded", "correct")
_REASONS = ("exit_status", "termination_reason", "reason", "stop_reason", "failure_reason")


def outcome_in(record: Mapping[str, Any]) -> Outcome:
    """What a record says of reward, success and reason; a reward of 1 or more is a success."""
    reward = next((n for name in _REWARDS if (n := number(record.get(name))) is not None), None)
    success = next((record[n] for n in _SUCCESSES if isinstance(record.get(n), bool)), None)
    if success is None and reward is not None:
        success = reward >= 1
    return Outcome(success, reward, first_string(dict(record), *_REASONS))


def of_exit(status: str) -> Outcome:
    """The exit status of the SWE agents: a submission is no success yet, all else is a failure."""
    if not status:
        return Outcome()
    return Outcome(None if "submitted" in status.lower() else False, None, status)


def outcome_of(document: Mapping[str, Any]) -> Outcome:
    """The first outcome that a document tells, in itself or in one of the usual fields."""
    names = ("outcome", "result", "info", "extra", "metadata", "verifier_result", "reward_info",
             "final_metrics", "test_result", "report")  # fmt: skip
    for holder in (document, *(mapping(document.get(name)) for name in names)):
        outcome = outcome_in(holder)
        if outcome.success is not None or outcome.reward is not None:
            return outcome
    return outcome_in(document)
