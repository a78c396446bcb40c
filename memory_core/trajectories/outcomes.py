"""How a run ended, by the names that sources use for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memory_core.run_records import Outcome
from memory_core.trajectories.shapes import first_string, mapping, number

_REWARDS = ("reward", "final_reward", "score")
_SUCCESSES = ("success", "is_success", "resolved", "passed", "solved", "succeeded", "correct")
_WORDS = {
    "true": True, "yes": True, "1": True, "success": True, "succeeded": True, "passed": True,
    "pass": True, "false": False, "no": False, "0": False, "failure": False, "failed": False,
    "fail": False,
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,20})?")
_REASONS = ("exit_status", "termination_reason", "reason", "stop_reason", "failure_reason")


def outcome_in(record: Mapping[str, Any]) -> Outcome:
    """What a record says of reward, success and reason; a reward of 1 or more is a success."""
    reward = next((n for name in _REWARDS if (n := _reward(record.get(name))) is not None), None)
    success = next((v for n in _SUCCESSES if (v := _success(n, record.get(n))) is not None), None)
    if success is None and reward is not None:
        success = reward >= 1
    return Outcome(success, reward, first_string(dict(record), *_REASONS))


def _success(name: str, value: Any) -> bool | None:
    """A number under a name such as `passed` may count tests, and is no verdict."""
    counts = name not in ("success", "is_success") and not isinstance(value, bool | str)
    return None if counts else verdict(value)


def verdict(value: Any) -> bool | None:
    """Whether a value says that a run succeeded, as a flag, 0 or 1, or in a word."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return bool(value) if value in (0, 1) else None


def _reward(value: Any) -> float | None:
    """A reward, also where it was written as text or as a flag."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    return float(value) if isinstance(value, bool) else number(value)


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
