"""Lessons from text games: what they rest on, how two become one, and that agents can read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core import (
    Action,
    Batch,
    EpisodeStep,
    MemoryBank,
    Modify,
    Observation,
    Outcome,
    ProceduralDetail,
    Trajectory,
)
from memory_core.records import Memory
from memory_core.reflection.game_slicing import essential
from memory_core.reflection.text_games import TextGameReflector
from memory_core.text_games.commands import command_of
from memory_core.text_games.lessons import (
    LessonStep,
    Verbs,
    in_common,
    is_any,
    never_detail,
    never_in,
    same_shape,
    step_of,
    steps_in,
    verbs_detail,
    verbs_in,
)
from memory_core.text_games.transcript import steps_of, turns_of

ALWAYS = ("look", "inventory")


class House:
    """A key in the hall opens a box in the den, with a coin in it. Eating the key loses."""

    def __init__(self, thing: str = "coin", key: str = "key") -> None:
        self.thing, self.key = thing, key
        self.place, self.held, self.open, self.score = "hall", list[str](), False, 0.0

    def seen(self, text: str = "", *, done: bool = False, won: bool = False) -> Observation:
        actions = [*ALWAYS, f"go {'den' if self.place == 'hall' else 'hall'}"]
        if self.key in self.held:
            actions += [f"eat {self.key}"]
        elif self.place == "hall":
            actions += [f"take {self.key}"]
        if self.place == "den" and self.key in self.held and not self.open:
            actions += [f"unlock box with {self.key}"]
        if self.place == "den" and self.open and self.thing not in self.held:
            actions += [f"take {self.thing} from box"]
        carried = f"You are carrying: a {' and a '.join(self.held)}." if self.held else "Nothing."
        state = "open" if self.open else "shut"
        around = f"-= {self.place.title()} =-\nA box is {state}." if self.place == "den" else (
            f"-= {self.place.title()} =-\nA hall."
        )  # fmt: skip
        return Observation(
            text or "Well.", tuple(sorted(actions)), self.score, done, won if done else None,
            around, carried,
        )  # fmt: skip

    def do(self, command: str) -> Observation:
        if command.startswith("go "):
            self.place = command.removeprefix("go ")
        elif command == f"take {self.key}":
            self.held.append(self.key)
        elif command.startswith("unlock"):
            self.open = True
        elif command.endswith("from box"):
            self.held.append(self.thing)
            self.score = 1.0
            return self.seen("You have it.", done=True, won=True)
        elif command.startswith("eat"):
            return self.seen("You choke.", done=True)
        return self.seen()


def played(commands: list[str], task: str = "", **things: str) -> Trajectory:
    house = House(**things)
    first, steps, reward = house.seen(), [], 0.0
    for number, command in enumerate(commands, start=1):
        seen = house.do(command)
        steps.append(EpisodeStep(number, Action(command), seen, seen.reward - reward))
    won = steps[-1].observation.success
    task = task or f"Hello. Get the {house.thing} out of the box."
    return Trajectory(task, steps_of(first, steps), Outcome(won, house.score))


WIN = ["take key", "go den", "unlock box with key", "take coin from box"]
DETOURS = [
    "look", "go den", "look", "go hall", "inventory", "take key", "look", "go den", "inventory",
    "go hall", "go den", "unlock box with key", "look", "take coin from box",
]  # fmt: skip


def test_only_what_the_reward_rests_on_is_kept() -> None:
    turns = turns_of(played(DETOURS))
    kept = [turns[at].command.text for at in essential(turns)]
    # The first way into the den, and the one by which the box could first be unlocked.
    assert kept == ["go den", "take key", "go den", "unlock box with key", "take coin from box"]


def test_a_win_becomes_a_procedure_and_advice_on_verbs(bank: MemoryBank) -> None:
    bank.update(bank.reflect([played(DETOURS)], TextGameReflector(), domain="houses"))
    procedure, verbs = bank.snapshot()
    assert steps_in(procedure) == tuple(
        map(step_of, ["in hall: take key", "in den: unlock box with key",
                      "in den: take coin from box"])
    )  # fmt: skip
    assert "Get the coin out of the box" in procedure.text
    assert (procedure.usage_count, procedure.success_count) == (1, 1)
    assert set(verbs_in(verbs).use) == {"take", "go", "unlock"}
    cited = procedure.provenance.evidence[0]
    run = bank.trajectory(cited.trajectory_id)
    assert run is not None
    assert {run.steps[number - 1].arguments for number in cited.steps} <= set(DETOURS)


def test_two_wins_become_what_they_have_in_common(bank: MemoryBank) -> None:
    reflector = TextGameReflector()
    bank.update(bank.reflect([played(WIN)], reflector, domain="houses"))
    other = ["take rod", "go den", "unlock box with rod", "take gem from box"]
    bank.update(bank.reflect([played(other, thing="gem", key="rod")], reflector, domain="houses"))
    procedure = bank.snapshot().memories[0]
    assert isinstance(procedure.detail, ProceduralDetail)
    assert procedure.detail.steps == (
        "in hall: take X", "in den: unlock box with X", "in den: take Y from box",
    )  # fmt: skip
    assert "Get the Y out of the box" in procedure.text
    assert len(bank.snapshot()) == 2


def test_a_loss_becomes_a_warning_that_names_how_the_thing_was_got(bank: MemoryBank) -> None:
    reflector = TextGameReflector()
    bank.update(bank.reflect([played(["take key", "eat key"])], reflector, domain="houses"))
    lost = played(["take rod", "look", "eat rod"], key="rod")
    bank.update(bank.reflect([lost], reflector, domain="houses"))
    (warning,) = bank.snapshot()
    assert never_in(warning) == ((step_of("take X"), step_of("eat X")),)
    assert "never eat X" in warning.text


def test_a_run_that_gained_nothing_teaches_nothing_and_says_so(bank: MemoryBank) -> None:
    drafted = bank.draft_lessons([played(["look", "go den"])], TextGameReflector())
    assert drafted.operations == ()
    assert "nothing to learn" in drafted.notes[0]
    pasted = Trajectory("a task", ())
    drafted = bank.draft_lessons([pasted], TextGameReflector())
    assert (drafted.operations, len(drafted.notes)) == ((), 1)


def test_the_same_win_again_changes_no_procedure(bank: MemoryBank) -> None:
    reflector = TextGameReflector()
    bank.update(bank.reflect([played(WIN)], reflector, domain="houses"))
    before = bank.snapshot().memories[0]
    drafted = bank.draft_lessons([played(WIN)], reflector, domain="houses")
    assert all(getattr(op, "id", None) != before.id for op in drafted.operations)


def test_words_that_a_person_has_put_otherwise_stay(bank: MemoryBank) -> None:
    reflector = TextGameReflector()
    bank.update(bank.reflect([played(WIN)], reflector, domain="houses"))
    words = "In houses, unlock the box with the key from the hall."
    bank.update(Batch([Modify(1, text=words)]))
    other = ["take rod", "go den", "unlock box with rod", "take gem from box"]
    bank.update(bank.reflect([played(other, thing="gem", key="rod")], reflector, domain="houses"))
    assert bank.snapshot().by_id(1).text == words
    assert str(steps_in(bank.snapshot().by_id(1))[0]) == "in hall: take X"


def test_lessons_of_another_domain_are_left_alone(bank: MemoryBank) -> None:
    reflector = TextGameReflector()
    bank.update(bank.reflect([played(WIN)], reflector, domain="houses"))
    drafted = bank.draft_lessons([played(WIN)], reflector, domain="castles")
    assert all(getattr(op, "id", None) is None for op in drafted.operations)


@pytest.mark.parametrize("words", [10, 60])
def test_every_lesson_has_at_most_32_words(bank: MemoryBank, words: int) -> None:
    task = "Please, " + "get it out of there " * words
    runs = [played(WIN, task), played(["take key", "eat key"], task)]
    drafted = bank.draft_lessons(runs, TextGameReflector(), domain="houses")
    assert drafted.operations
    bank.update(drafted.batch)


# -- the form of lessons --------------------------------------------------------------------------

nouns = st.sampled_from(["key", "red apple", "box", "type G chest", "X", "Y2"])
commands = st.builds(
    lambda verb, one, other: command_of(f"{verb} {one}" + (f" from {other}" if other else "")),
    st.sampled_from(["take", "open", "look"]), nouns, st.none() | nouns,
)  # fmt: skip
lesson_steps = st.builds(LessonStep, commands, st.sampled_from(["", "kitchen", "dusty hall"]))


@given(lesson_steps)
def test_a_step_reads_as_it_is_written(step: LessonStep) -> None:
    assert step_of(str(step)) == step


@given(st.lists(st.lists(lesson_steps, min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_warning_reads_as_it_is_written(ways: list[list[LessonStep]]) -> None:
    memory = Memory(1, "tool", "text", "games", never_detail(ways))
    assert never_in(memory) == tuple(map(tuple, ways))
    assert steps_in(memory) == ()
    assert verbs_in(memory) == Verbs()


def test_advice_on_verbs_reads_as_it_is_written() -> None:
    for verbs in (Verbs(("take", "go"), ("look",)), Verbs(("take",)), Verbs((), ("look",))):
        memory = Memory(1, "tool", "text", "games", verbs_detail(verbs, "take 1/2"))
        assert verbs_in(memory) == verbs
        assert never_in(memory) == ()


@given(st.lists(lesson_steps, min_size=1, max_size=5), st.data())
def test_what_two_procedures_share_fits_both(one: list[LessonStep], data: st.DataObject) -> None:
    """Every name that both have stays; equal pairs get equal letters, others different ones."""
    other = [
        LessonStep(
            type(s.command)(s.command.template, tuple(data.draw(nouns) for _ in s.command.names)),
            s.place,
        )
        for s in one
    ]
    assert same_shape(one, other)
    shared = in_common(one, other).steps
    pairs: dict[tuple[str, str], str] = {}
    for a, b, c in zip(one, other, shared, strict=True):
        assert a.command.template == c.command.template
        names = zip(a.command.names, b.command.names, c.command.names, strict=True)
        for mine, its, theirs in names:
            if mine == its and not is_any(mine):
                assert theirs == mine
            else:
                assert is_any(theirs)
                assert pairs.setdefault((mine, its), theirs) == theirs
    assert len(set(pairs.values())) == len(pairs)
