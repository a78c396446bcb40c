"""What the loop writes down can be read again, whatever a game says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_core import Action, EpisodeStep, Observation, Trajectory
from memory_core.text_games.commands import command_of
from memory_core.text_games.transcript import followed_in, steps_of, turns_of

words = st.text(alphabet="abI: |\nS.", max_size=24).map(str.strip)
names = st.text(alphabet="abc de", min_size=1, max_size=9).map(str.strip).filter(bool)
observations = st.builds(
    Observation,
    text=words,
    actions=st.lists(names, max_size=3).map(tuple),
    reward=st.integers(-3, 9).map(float),
    description=words,
    inventory=words,
)
endings = st.tuples(st.booleans(), st.sampled_from([True, False, None]))


@given(first=observations, rest=st.lists(st.tuples(observations, names), max_size=5), end=endings)
def test_a_transcript_reads_as_it_was_written(
    first: Observation, rest: list[tuple[Observation, str]], end: tuple[bool, bool | None]
) -> None:
    steps = tuple(
        EpisodeStep(number, Action(command, followed=(3, number)), seen)
        for number, (seen, command) in enumerate(rest, start=1)
    )
    turns = turns_of(Trajectory("a task", steps_of(first, steps)))
    assert [turn.after for turn in turns] == [step.observation for step in steps]
    befores = [first, *(step.observation for step in steps)][: len(steps)]
    assert [turn.before for turn in turns] == befores
    written = steps_of(first, steps)[1:]
    assert [followed_in(step)[1] for step in written] == [step.action.followed for step in steps]


def test_an_ending_is_told() -> None:
    for success in (True, False, None):
        last = Observation("Over.", ("look",), 2.0, done=True, success=success)
        steps = steps_of(Observation("Begin."), [EpisodeStep(1, Action("look"), last)])
        (turn,) = turns_of(Trajectory("a task", steps))
        assert turn.after == last


def test_a_run_by_another_hand_has_no_turns() -> None:
    from memory_core import Step

    run = Trajectory("a task", (Step(1, "assistant", tool="bash", observation="Score: high"),))
    assert turns_of(run) == ()


@given(st.lists(names, min_size=1, max_size=2))
def test_a_command_is_typed_as_it_was_taken_apart(things: list[str]) -> None:
    typed = " ".join(["take", *" from ".join(things).split()])
    command = command_of(typed)
    assert command.text == typed
    assert command.verb == "take"


def test_the_template_of_a_command() -> None:
    command = command_of("take red apple from kitchen shelf")
    assert (command.template, command.names) == ("take … from …", ("red apple", "kitchen shelf"))
    assert command_of("look").names == ()
