"""Real text games: what an agent is told, that games are always the same, and a whole session."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("textworld")

from memory_core import Explorer, LoopError, MemoryBank, TextWorldEnvironment, run_episode
from memory_core.environments.textworld import ASKED
from memory_core.loop import last_episode

# Of the library below TextWorld, about every game that it has not heard of.
pytestmark = pytest.mark.filterwarnings("ignore:Game .* is not fully supported")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("games")


def test_nothing_that_gives_the_solution_away_is_asked_for(
    games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import textworld

    asked: list[list[str]] = []

    class Noted(textworld.EnvInfos):
        def __init__(self, **wanted: bool) -> None:
            super().__init__(**wanted)
            asked.append(sorted([*self.basics, *self.extras]))

    monkeypatch.setattr(textworld, "EnvInfos", Noted)
    environment = TextWorldEnvironment(games)
    environment.reset(environment.task("custom", 1))
    environment.close()
    allowed = [
        "admissible_commands", "description", "inventory", "lost", "objective", "score", "won",
    ]  # fmt: skip
    assert asked[0] == allowed == sorted(ASKED)


def test_a_game_is_told_as_a_player_sees_it(games: Path) -> None:
    with TextWorldEnvironment(games) as environment:
        task = environment.task("custom", 1)
        first = environment.reset(task)
        assert task.text.split()[0] == first.text.split()[0]
        assert "$$" not in first.text
        assert first.actions
        assert (first.done, first.success, first.reward) == (False, None, 0.0)
        seen = environment.step("inventory")
        assert ">" not in seen.text
        assert seen.inventory in seen.text
        with pytest.raises(LoopError):
            TextWorldEnvironment(games).step("look")


def test_the_same_name_is_the_same_game(games: Path, tmp_path: Path) -> None:
    one, other = TextWorldEnvironment(games), TextWorldEnvironment(tmp_path)
    assert one.task("custom", 1) == other.task("custom", 1)
    assert one.reset(one.task("custom", 1)) == other.reset(other.task("custom", 1))
    assert one.solution_mark(one.task("custom", 1)) == other.solution_mark(other.task("custom", 1))
    assert one.task("custom", 1) != one.task("custom", 1, split="test")


def test_a_game_that_lost_its_other_half_is_made_anew(games: Path, tmp_path: Path) -> None:
    environment = TextWorldEnvironment(tmp_path)
    task = environment.task("custom", 1)
    before = environment.reset(task)
    environment.close()
    for file in tmp_path.glob("*.json"):
        file.unlink()
    assert environment.reset(task) == before


@pytest.mark.parametrize("name", ["chess/train/1", "custom/spring/1", "custom/train/x", "", "x"])
def test_unknown_games_are_told(games: Path, name: str) -> None:
    from memory_core import Task

    with pytest.raises(LoopError, match="Unknown game"):
        TextWorldEnvironment(games).reset(Task("", name))


@pytest.mark.long
def test_threads_take_turns(games: Path) -> None:
    found: dict[int, float] = {}
    errors: list[Exception] = []

    def play(number: int) -> None:
        try:
            with TextWorldEnvironment(games) as environment:
                environment.reset(environment.task("custom", number))
                for _ in range(20):
                    found[number] = environment.step("look").reward
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=play, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(found) == [1, 2, 3]


@pytest.mark.long
def test_cooking_is_learned_on_the_job(games: Path, bank: MemoryBank) -> None:
    """A whole session on real games. The effect itself is measured by benchmarks/learning.py."""
    with TextWorldEnvironment(games) as environment:
        tasks = [environment.task("cooking", seed) for seed in range(4)]
        for task in tasks:
            episode = last_episode(
                run_episode(Explorer(seed=2), environment, task, bank, max_steps=60, accept=True)
            )
            assert episode.error == ""
            assert bank.trajectory(episode.trajectory_id) is not None
        unseen = environment.task("cooking", 0, split="test")
        assert unseen.text == tasks[0].text
        assert environment.solution_mark(unseen) not in map(environment.solution_mark, tasks)
        episode = last_episode(
            run_episode(Explorer(seed=2), environment, unseen, bank, learn=False, max_steps=60)
        )
        assert episode.injected
        assert episode.followed
    assert {memory.domain for memory in bank.snapshot()} == {"cooking games"}


def test_without_the_extra_it_says_how_to_install_it() -> None:
    program = (
        "import sys\n"
        "sys.modules['textworld'] = None\n"
        "from memory_core import MissingDependencyError, TextWorldEnvironment\n"
        "try:\n"
        "    TextWorldEnvironment()\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'winnow-memory[textworld]'" in run.stdout


def test_neither_the_games_nor_what_they_pull_in_are_imported_eagerly() -> None:
    program = (
        "import sys, memory_core, memory_core.environments.textworld, memory_core.loop\n"
        "print([name for name in ('textworld', 'spacy', 'jericho') if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
