"""Runs that a bank keeps, so that lessons can cite them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import InvalidBatchError, MemoryBank, Outcome, Step, Trajectory, read_trajectories
from memory_core.trajectories.normal_form import trajectory_from_dict, trajectory_to_dict
from tests.test_masking import SECRETS

RUN = Trajectory(
    "Set the port.",
    (
        Step(1, "user", "Set the port."),
        Step(2, "assistant", "I look.", "read", '{"path": "a"}', "", "no such file", "call"),
        Step(3, "tool", observation="late", unmatched="result"),
    ),
    Outcome(False, 0.25, "gave up"),
    "maker",
    "model-1",
    (Trajectory("a part of it", (Step(1, "assistant", "done"),)),),
    "session 7",
)


def test_a_run_comes_back_as_it_was(bank: MemoryBank, reopen: Callable[[], MemoryBank]) -> None:
    (name,) = bank.keep_trajectories([RUN], format="ATIF")
    assert reopen().trajectory(name) == RUN
    assert bank.trajectory("another") is None


def test_the_same_run_is_kept_once_under_one_id(
    bank: MemoryBank, reopen: Callable[[], MemoryBank]
) -> None:
    first = bank.keep_trajectories([RUN])
    assert reopen().keep_trajectories([RUN, RUN]) == first * 2
    assert len(bank.trajectories()) == 1
    assert bank.keep_trajectories([replace(RUN, task="Another.")]) != first


def test_given_ids_are_used_and_never_change_their_run(bank: MemoryBank) -> None:
    assert bank.keep_trajectories([RUN], ids=["mine"]) == ("mine",)
    assert bank.keep_trajectories([RUN], ids=["mine"]) == ("mine",)
    with pytest.raises(InvalidBatchError, match="mine"):
        bank.keep_trajectories([replace(RUN, task="Another.")], ids=["mine"])
    with pytest.raises(InvalidBatchError, match="2 ids"):
        bank.keep_trajectories([RUN], ids=["a", "b"])
    assert bank.trajectory("mine") == RUN


def test_the_list_tells_what_a_run_was(bank: MemoryBank) -> None:
    (name,) = bank.keep_trajectories([RUN], format="ATIF")
    (kept,) = bank.trajectories()
    assert (kept.id, kept.task, kept.step_count, kept.format) == (name, RUN.task, 3, "ATIF")
    assert (kept.outcome, kept.agent, kept.model, kept.name) == (
        RUN.outcome,
        "maker",
        "model-1",
        "session 7",
    )
    assert kept.actor == bank.actor
    assert kept.made_at_us > 1e15


def test_all_or_none_are_kept(bank: MemoryBank) -> None:
    bank.keep_trajectories([RUN], ids=["mine"])
    with pytest.raises(InvalidBatchError):
        bank.keep_trajectories(
            [replace(RUN, task="x"), replace(RUN, task="y")], ids=["new", "mine"]
        )
    assert bank.trajectory("new") is None


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
steps = st.builds(
    Step,
    number=st.integers(1, 9),
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    text=texts,
    tool=texts,
    arguments=texts,
    observation=texts,
    error=texts,
    unmatched=st.sampled_from(["", "call", "result"]),
)
outcomes = st.builds(
    Outcome, success=st.none() | st.booleans(), reward=st.none() | st.floats(-2, 2), reason=texts
)
runs = st.recursive(
    st.builds(
        Trajectory,
        task=texts,
        steps=st.lists(steps, max_size=3),
        outcome=outcomes,
        agent=texts,
        name=texts,
    ),
    lambda inner: st.builds(Trajectory, task=texts, children=st.lists(inner, max_size=2)),
    max_leaves=3,
)


@settings(max_examples=60, deadline=None)
@given(run=runs)
def test_any_run_survives_being_written_down(run: Trajectory) -> None:
    assert trajectory_from_dict(json.loads(json.dumps(trajectory_to_dict(run)))) == run


def test_no_secret_is_in_any_stored_byte(bank: MemoryBank, bank_path: Path) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": SECRETS["e-mail address"][0]}]
    for number, (text, _) in enumerate(SECRETS.values()):
        function = {"name": "run", "arguments": json.dumps({"command": text})}
        messages.append(
            {
                "role": "assistant",
                "content": text,
                "tool_calls": [{"id": str(number), "function": function}],
            }
        )
        messages.append(
            {"role": "tool", "tool_call_id": str(number), "content": f"I saw:\n{text}\n"}
        )
    reading = read_trajectories(json.dumps(messages))
    assert reading.format == "OpenAI chat"
    bank.keep_trajectories(reading.trajectories)
    stored = bank_path.read_bytes() + b"".join(
        p.read_bytes() for p in bank_path.parent.glob("*.wal")
    )
    for name, (_, secret) in SECRETS.items():
        for line in secret.split("\n"):
            if len(line) > 6 and not line.startswith("-----"):
                assert line.encode() not in stored, name
    assert len({masked.kind for masked in reading.masked}) >= 20
    assert all(masked.count >= 1 for masked in reading.masked)


def test_what_is_kept_is_masked_even_if_nobody_did_before(bank: MemoryBank) -> None:
    text, secret = SECRETS["GitHub token"]
    (name,) = bank.keep_trajectories([replace(RUN, task=text)])
    kept = bank.trajectory(name)
    assert kept is not None
    assert secret not in kept.task


def test_a_reading_lists_what_it_masked_and_where() -> None:
    text, secret = SECRETS["password, assigned"]
    messages = [
        {"role": "user", "content": "log in"},
        {"role": "assistant", "content": text},
        {"role": "user", "content": f"it is {secret}, is it not?"},
    ]
    reading = read_trajectories(json.dumps(messages))
    (masked,) = reading.masked
    assert (masked.kind, masked.count, masked.steps, masked.trajectory) == (
        "password",
        2,
        (2, 3),
        0,
    )
