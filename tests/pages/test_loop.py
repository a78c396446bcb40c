"""Loop: games are played beside the page and stopped at any time; what a bank keeps of them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    Action,
    Add,
    Batch,
    Drafts,
    Episode,
    Evidence,
    HashEmbedder,
    Hit,
    MemoryBank,
    Observation,
    ReflectionContext,
    Run,
    Task,
    read_episodes,
    read_experiment,
    run_episode,
)
from pages.components import loop_curve, loop_games, loop_playing
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
HOSTILE = "![x](http://evil.test/a.png) **bold** :streamlit:"


class Corridor:
    """Three rooms in a row; whoever has gone north twice has won."""

    def reset(self, task: Task) -> Observation:
        self.room = 0
        return self._seen()

    def step(self, action: str) -> Observation:
        self.room += action == "go north"
        return self._seen()

    def close(self) -> None:
        pass

    def _seen(self) -> Observation:
        won = self.room == 2
        return Observation(
            f"Room {self.room}. {HOSTILE}", ("go north", "wait"), float(self.room), won,
            True if won else None, f"-= Room {self.room} =-", "nothing",
        )  # fmt: skip


class Walker:
    """Waits so many times, then goes north, by what it was given."""

    name = "walker"

    def __init__(self, waits: int = 0) -> None:
        self.waits = waits

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        self.ids = tuple(hit.memory.id for hit in hits)
        self.done = 0

    def act(self, observation: Observation) -> Action:
        self.done += 1
        if self.done <= self.waits:
            return Action("wait", "I look around.")
        return Action("go north", followed=self.ids[:1])


LESSONS = (
    "Leave every room by its north door.",
    "Two moves end a corridor.",
    "Never wait where nothing changes.",
    "Count rooms while walking through houses.",
)


class OneLesson:
    """Draws one lesson from a run, another from each."""

    name = "one lesson"

    def __init__(self, number: int) -> None:
        self.number = number

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        evidence = (Evidence(runs[0].id, (2, 3)),)
        lesson = Add(LESSONS[self.number], "procedural", "corridors", evidence=evidence)
        return Drafts((lesson,))

    compare = reflect


def play(bank: MemoryBank, number: int, *, memory: bool, waits: int = 0, accept: bool = False,
         max_steps: int = 20) -> None:  # fmt: skip
    task = Task("Go through the corridor.", f"cooking/train/{number}")
    events = run_episode(
        Walker(waits), Corridor(), task, bank, reflector=OneLesson(number + memory),
        memory=memory, accept=accept, max_steps=max_steps,
    )  # fmt: skip
    for _ in events:
        pass


@pytest.fixture
def library(bank: MemoryBank) -> MemoryBank:
    return taught(bank)


def taught(bank: MemoryBank) -> MemoryBank:
    bank.commit(bank.plan(Batch([
        Add(f"Go through the corridor by the north door. {HOSTILE}", "procedural", "corridors"),
        Add("Count the rows before and after a join.", "tool", "sql"),
    ], "two lessons")))  # fmt: skip
    return bank


@pytest.fixture(scope="module")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four games: a won one with and without memory, one out of steps, one whose lesson waits."""
    path = tmp_path_factory.mktemp("played") / "bank.duckdb"
    bank = taught(MemoryBank.open(path, embedder=HashEmbedder(), actor="tester"))
    play(bank, 0, memory=False, waits=3)
    play(bank, 0, memory=True, accept=True)
    play(bank, 1, memory=True, waits=9, max_steps=5)
    play(bank, 2, memory=True, waits=1)
    return path


@pytest.fixture
def played(played_once: Path, bank_path: Path) -> MemoryBank:
    shutil.copy(played_once, bank_path)
    return MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")


def games_of(open_app: Open, bank: MemoryBank, **address: str) -> AppTest:
    address = {"loop": "Games played", "place": "Kept in the open bank", **address}
    app = open_app(bank, "loop", **address)
    assert not app.exception
    return app


def table(app: AppTest, column: str):  # type: ignore[no-untyped-def]
    return next(one.value for one in app.dataframe if column in one.value.columns)


# -- what a bank keeps ----------------------------------------------------------------------------


def test_the_games_of_a_bank_are_there_after_a_reload(open_app: Open, played: MemoryBank) -> None:
    kept = read_episodes(played)
    listed = table(games_of(open_app, played), "played at")
    assert listed["game"].tolist() == [game.task.name for game in reversed(kept)]
    assert listed["memory"].tolist() == ["with", "with", "with", "without"]
    assert listed["ended"].tolist() == ["won", "out of steps", "won", "won"]
    assert listed["steps"].tolist() == [3, 5, 2, 5]
    assert listed["lessons"].tolist() == [1, 1, 1, 1]


def test_a_game_is_opened_by_the_address_with_its_steps_and_what_it_followed(
    open_app: Open, played: MemoryBank
) -> None:
    last = read_episodes(played)[-1]
    app = games_of(open_app, played, episode=last.trajectory_id)
    steps = table(app, "follows")
    assert steps["action"].tolist() == ["wait", "go north", "go north"]
    assert steps["follows"].tolist()[0] == ""
    assert steps["follows"].tolist()[1] == "G0"
    assert steps["gain"].tolist() == ["", "+1", "+1"]
    said = everything(app)
    assert "followed] in steps 2, 3" in said.replace("\\", "")
    assert "not followed" in said
    assert "improved · revision" in said
    assert "waits in Review" in said


def test_from_a_game_to_its_outcome_and_its_lessons(open_app: Open, played: MemoryBank) -> None:
    last = read_episodes(played)[-1]
    for button, page in (("loop-to-Ledger", "ledger"), ("loop-to-Review", "review")):
        app = games_of(open_app, played, episode=last.trajectory_id)
        app.button(button).click().run()
        assert not app.exception
        if page == "ledger":
            assert app.query_params["retrieval"] == last.retrieval_id
        else:
            assert app.query_params["proposal"] == str(last.proposal_ids[0])


def test_an_accepted_lesson_leads_to_its_revision(open_app: Open, played: MemoryBank) -> None:
    won = read_episodes(played)[1]
    assert won.revision is not None
    app = games_of(open_app, played, episode=won.trajectory_id)
    assert f"accepted in revision {won.revision}" in everything(app)
    app.button("loop-to-History").click().run()
    assert app.query_params["opened"] == str(won.revision)


def test_a_link_opens_the_bank_of_the_games(
    open_app: Open, home: Path, library: MemoryBank
) -> None:
    home.mkdir()
    own = MemoryBank.open(home / "loop.duckdb", embedder=HashEmbedder(), actor="tester")
    play(own, 0, memory=True)
    (game,) = read_episodes(own)
    app = open_app(library, "loop", loop="Games played", episode=game.trajectory_id)
    assert "1 game in loop.duckdb" in everything(app)
    button = app.button("loop-to-Review")
    assert "loop" in button.label
    button.click().run()
    assert app.session_state["_bank"] == str(home / "loop.duckdb")


def test_a_game_that_is_not_there_is_said(open_app: Open, played: MemoryBank) -> None:
    said = everything(games_of(open_app, played, episode="episode-none"))
    assert "not among these" in said


def test_the_past_shows_the_games_of_then(open_app: Open, played: MemoryBank) -> None:
    until = read_episodes(played)[1]
    app = games_of(open_app, played, revision=str(until.outcome_revision))
    assert len(table(app, "played at")) == 2


def test_a_bank_without_games_says_where_to_begin(open_app: Open, library: MemoryBank) -> None:
    said = everything(games_of(open_app, library))
    assert "No games yet" in said
    assert "Play" in said


def test_a_hostile_text_is_seen_as_it_is(open_app: Open, played: MemoryBank) -> None:
    last = read_episodes(played)[-1]
    app = games_of(open_app, played, episode=last.trajectory_id)
    for element in (*app.markdown, *app.caption):
        assert "![x]" not in element.value
        assert ":streamlit:" not in element.value


# -- curves ---------------------------------------------------------------------------------------


def test_a_line_is_the_mean_of_the_last_games(open_app: Open, played: MemoryBank) -> None:
    app = games_of(open_app, played)
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    lines = {one["name"]: one for one in drawn["data"] if one.get("mode") == "lines"}
    assert set(lines) == {"with memory", "without memory"}
    with_memory = lines["with memory"]["y"]
    # One that was not won counts as the limit of steps that it reached.
    assert with_memory == pytest.approx([2, (2 + 5) / 2, (2 + 5 + 3) / 3])
    assert lines["without memory"]["y"] == pytest.approx([5])


def test_a_running_mean_begins_with_what_there_is() -> None:
    assert loop_curve.running_mean([4, 2, 6, 0, 3, 9], window=3) == pytest.approx(
        [4, 3, 4, 8 / 3, 3, 4]
    )


def test_what_was_not_won_costs_the_limit() -> None:
    task = Task("", "cooking/train/1")
    short = Episode(task, "explorer", True, 1, "failure", False)
    assert loop_games.costs([short]) == (60,)


# -- the recorded experiment ----------------------------------------------------------------------


def test_without_the_games_the_experiment_stands_first_and_how_to_install_them(
    open_app: Open, library: MemoryBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)  # as Python marks what is not there
    app = open_app(library, "loop")
    assert not app.exception
    assert app.segmented_control("loop").value == "Recorded experiment"
    app.segmented_control("loop").set_value("Play").run()
    assert not app.exception
    assert 'pip install "winnow-memory[textworld]"' in everything(app)
    assert not [button for button in app.button if button.key == "loop-play"]


def test_the_experiment_is_shown_with_its_numbers_and_its_command(
    open_app: Open, library: MemoryBank
) -> None:
    app = open_app(library, "loop", loop="Recorded experiment")
    assert not app.exception
    found = read_experiment()
    if found is None:
        assert "came without a record" in everything(app)
        return
    family = found.families[0]
    arms = table(app, "off / this")
    assert arms["arm"].tolist() == [arm.title for arm in family.arms]
    for shown, arm in zip(arms["won"], family.arms, strict=True):
        assert shown.startswith(f"{arm.success.mean:.0%}")
    said = everything(app)
    assert found.command.replace("\\", "") in said
    assert f"{family.training} training games" in said
    games = table(app, "worth a look")
    assert games["steps"].tolist() == [len(one.steps) for one in family.episodes]
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    by_arm = {one["name"]: one for one in drawn["data"] if one.get("name")}
    points = sorted((p for p in family.curve if p.arm == "on"), key=lambda p: p.games)
    assert by_arm["with memory"]["y"] == pytest.approx([p.steps.mean for p in points])


# -- playing --------------------------------------------------------------------------------------


@pytest.mark.long
def test_games_are_played_in_a_bank_of_their_own(
    open_app: Open, home: Path, library: MemoryBank
) -> None:
    pytest.importorskip("textworld")
    before = library.snapshot().revision
    app = open_app(library, "loop", loop="Play", games="2", arms="Both", steps="12")
    app.button("loop-play").click().run()
    assert not app.exception
    job, playing = loop_playing.find(home / "loop.duckdb")  # type: ignore[misc]
    assert job.done.wait(120)
    assert not job.failure
    app.run()
    assert not app.exception
    assert "4 games played of 4" in everything(app)
    own = MemoryBank.open(home / "loop.duckdb", embedder=HashEmbedder())
    kept = read_episodes(own)
    assert [(game.task.name, game.memory) for game in kept] == [
        ("cooking/train/0", False), ("cooking/train/0", True),
        ("cooking/train/1", False), ("cooking/train/1", True),
    ]  # fmt: skip
    assert [len(one.steps) for one in playing.episodes] == [game.step_count for game in kept]
    without = {game.trajectory_id for game in kept if not game.memory}
    cited = {e.trajectory_id for p in own.proposals(None) for e in p.operation.evidence}
    assert not without & cited  # nothing is learned from what is there to compare with
    assert library.snapshot().revision == before
    # The next games are new ones.
    assert loop_games.number_after(kept, "cooking") == 2


@pytest.mark.long
def test_a_stop_keeps_the_game_as_far_as_it_has_come(
    open_app: Open, home: Path, library: MemoryBank
) -> None:
    pytest.importorskip("textworld")
    app = open_app(library, "loop", loop="Play", place="Kept in the open bank", games="3")
    app.button("loop-play").click().run()
    job, playing = loop_playing.find(Path(library.path))  # type: ignore[misc]
    playing.pace = 0.5
    while not (playing.now and playing.now.steps) and not job.done.wait(0.05):
        pass
    app.run()
    assert "Playing" in " ".join(one.proto.text for one in app.get("progress"))
    assert app.selectbox("family").disabled
    app.button("stop-loop").click().run()
    assert job.done.wait(60)
    app.run()
    assert "Stopped" in everything(app)
    game = read_episodes(library)[-1]
    assert (game.ending, game.success, game.improved) == ("stopped", None, None)
    assert 1 <= game.step_count < 60
    assert not library.proposals(None)
    app.button("loop-dismiss").click().run()
    assert "Stopped" not in everything(app)


def test_the_past_is_not_played_in(open_app: Open, played: MemoryBank) -> None:
    pytest.importorskip("textworld")
    app = open_app(played, "loop", loop="Play", place="Kept in the open bank", revision="1")
    assert app.button("loop-play").disabled
