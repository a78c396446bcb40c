"""A run that is too long is condensed, and nothing of it disappears without a word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import Outcome, Step, Trajectory
from memory_core.reflection.condensing import Condensed, condensed
from memory_core.reflection.shortening import folded_spans, shortened

_LABEL = re.compile(r"^\[steps? (\d+)(?: to (\d+))?\]", re.MULTILINE)


def accounted(told: Condensed) -> set[int]:
    """The numbers of all steps that are shown or counted in a place."""
    found: set[int] = set()
    for piece in told.pieces:
        for match in _LABEL.finditer(piece):
            first, last = int(match[1]), int(match[2] or match[1])
            found.update(range(first, last + 1))
    return found


def shown(told: Condensed) -> set[int]:
    return {
        int(match[1]) for piece in told.pieces for match in _LABEL.finditer(piece) if not match[2]
    }


words = st.text(st.characters(codec="utf-8"), max_size=30)
texts = st.builds(lambda text, times: (text + " ") * times, words, st.integers(0, 200))


@st.composite
def runs(draw: st.DrawFn) -> Trajectory:
    steps = []
    for number in range(1, draw(st.integers(1, 60)) + 1):
        tool = draw(st.sampled_from(["", "search", "click", "run_tests"]))
        steps.append(
            Step(
                number, "assistant", draw(texts), tool, draw(texts) if tool else "",
                draw(texts) if tool else "", draw(st.sampled_from(["", "", "Error: no route"])),
            )
        )  # fmt: skip
    return Trajectory(draw(texts), tuple(steps), Outcome(draw(st.booleans()), None, draw(texts)))


@settings(max_examples=30, deadline=None)
@given(runs(), st.sampled_from([1500, 4000, 20_000]), st.sampled_from([1, 6]))
def test_every_step_is_shown_or_counted_within_the_budget(
    run: Trajectory, budget: int, most_pieces: int
) -> None:
    told = condensed(run, budget, most_pieces=most_pieces)
    assert 1 <= len(told.pieces) <= most_pieces
    for number in range(len(told.pieces)):
        assert len(told.text(number)) <= budget + 100
    assert accounted(told) == set(range(1, len(run.steps) + 1))
    assert len(run.steps) in shown(told)


def run_of(steps: list[Step]) -> Trajectory:
    return Trajectory("Mend the build", tuple(steps), Outcome(False, 0.0, "gave up"))


def calls(count: int, size: int, *, failing: dict[int, str] | None = None) -> list[Step]:
    """Steps that differ from each other, some of them with an error."""
    failing = failing or {}
    name = "abcdefghijklmnopqrstuvwxyz"
    return [
        Step(
            n, "assistant", "", f"tool_{name[n % 26]}{name[n // 26 % 26]}", "{}",
            f"{name[n * 7 % 26]}{name[n * 3 % 26]} fine " * size, failing.get(n, ""),
        )
        for n in range(1, count + 1)
    ]  # fmt: skip


def test_what_fits_is_told_word_for_word_and_without_a_note() -> None:
    run = run_of(calls(10, 5))
    told = condensed(run, 100_000)
    assert told.notes == ()
    assert len(told.pieces) == 1
    for step in run.steps:
        assert step.observation.strip() in told.text(0)


def test_steps_with_errors_and_the_end_stay_where_others_must_go() -> None:
    failing = {40: "Error: disk full", 77: "Error: port 8080 is taken", 111: "Error: bad token"}
    run = run_of(calls(200, 200, failing=failing))
    told = condensed(run, 6000)
    assert {1, 40, 77, 111, 198, 199, 200} <= shown(told)
    for error in failing.values():
        assert error in told.text(0)
    assert "left out" in told.text(0)
    assert "counted instead of shown" in " ".join(told.notes)


def test_the_errors_of_a_long_output_survive_its_shortening() -> None:
    output = "start of output\n" + "compiling a file\n" * 3000
    output += "src/main.c:12: error: unknown type name 'foo'\n" + "compiling a file\n" * 3000
    run = run_of([Step(1, "assistant", "", "make", "{}", output + "end of output"), *calls(5, 3)])
    text = condensed(run, 9000).text(0)
    for said in (
        "start of output",
        "unknown type name 'foo'",
        "end of output",
        "characters in all",
    ):
        assert said in text


def test_a_loop_is_told_once_and_counted() -> None:
    loop = [
        Step(n, "assistant", "", ("click", "look")[n % 2], "{}", f"page {n} " * 100, "")
        for n in range(1, 101)
    ]
    run = run_of([*loop, Step(101, "assistant", "I give up.")])
    told = condensed(run, 9000)
    assert accounted(told) == set(range(1, 102))
    assert "the same again" in told.text(0)
    assert len(shown(told)) < 10


def test_sub_agents_are_told_with_their_steps() -> None:
    child = Trajectory("Look it up", (Step(5, "assistant", "", "browse", "{}", "found"),))
    run = Trajectory("Ask someone", (Step(1, "user", "go"),), children=(child,))
    text = condensed(run, 10_000).text(0)
    assert "[step 5] assistant of sub-agent 1 calls browse" in text


@given(st.text(max_size=3000), st.integers(1, 1000))
def test_a_shortened_text_is_no_longer_than_it_may_be(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == text.strip() or len(text.strip()) > limit


@given(st.lists(st.sampled_from("ab"), max_size=60))
def test_folded_steps_are_repetitions_of_those_before(signatures: list[str]) -> None:
    last = 0
    for span in folded_spans(signatures):
        assert last <= span.start < span.stop <= len(signatures)
        last = span.stop
        cycles = [c for c in range(1, 5) if len(span) % c == 0 and span.start >= 2 * c]
        assert any(
            all(signatures[i] == signatures[i - c] for i in range(span.start - c, span.stop))
            for c in cycles
        )


@pytest.mark.parametrize("steps", [1, 3, 5000])
def test_even_a_huge_run_comes_down_to_its_budget(steps: int) -> None:
    failing = {n: f"Error: {n * 'x'}" for n in range(2, min(steps, 300), 2)}
    told = condensed(run_of(calls(steps, 400, failing=failing)), 3000, most_pieces=6)
    assert len(told.pieces) <= 6
    assert accounted(told) == set(range(1, steps + 1))
