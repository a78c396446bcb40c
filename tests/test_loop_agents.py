"""The two agents of the loop: what they do with their memories, and with a model's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Explorer,
    LLMAgent,
    LoopError,
    MemoryBank,
    Observation,
    ProceduralDetail,
    ReflectionError,
    Task,
    ToolDetail,
    run_episode,
)
from memory_core.agents.llm import read_reply
from memory_core.loop import last_episode
from tests.model_servers import Reply, failure, serving
from tests.toy_worlds import Corridor, Scripted

WALK = Task("Walk to the east end of the corridor.", "corridor/1", "corridors")


def teach(bank: MemoryBank, *adds: Add) -> MemoryBank:
    bank.update(Batch(adds))
    return bank


def steps_of(bank: MemoryBank, *, memory: bool, seeds: int = 20, length: int = 3) -> list[int]:
    """Steps to the end of a corridor that nobody falls out of, for several seeds."""
    found = []
    for seed in range(seeds):
        world = Corridor(length)
        events = run_episode(
            Explorer(seed=seed), world, WALK, bank, memory=memory, learn=False, max_steps=60
        )
        episode = last_episode(events)
        found.append(len(episode.steps) if episode.success else 60)
    return found


def test_the_explorer_needs_to_know_what_is_admissible() -> None:
    with pytest.raises(LoopError, match="admissible"):
        Explorer().act(Observation("a room"))


def test_the_explorer_repeats_itself_for_the_same_seed_and_task(bank: MemoryBank) -> None:
    runs = [
        last_episode(run_episode(Explorer(seed=3), Corridor(), WALK, bank, learn=False))
        for _ in range(2)
    ]
    assert [s.action for s in runs[0].steps] == [s.action for s in runs[1].steps]


def test_memories_that_fit_shorten_the_way_and_are_named(bank: MemoryBank) -> None:
    without = steps_of(bank, memory=True)
    teach(
        bank,
        Add(
            "Walk to the east end → go east", "procedural", "corridors",
            ProceduralDetail(("go east",)), confidence=0.9,
        ),
        Add(
            "Never go west in a corridor: it lost the game.", "tool", "corridors",
            ToolDetail("losing commands", "never: go west"), confidence=0.9,
        ),
    )  # fmt: skip
    assert steps_of(bank, memory=False) == without
    assert sum(steps_of(bank, memory=True)) < 0.6 * sum(without)
    events = run_episode(Explorer(), Corridor(), WALK, bank, learn=False, max_steps=60)
    assert set(last_episode(events).followed) == {1, 2}


def test_lessons_in_plain_words_do_not_disturb_the_explorer(bank: MemoryBank) -> None:
    without = steps_of(bank, memory=False, seeds=5)
    teach(bank, Add("Prefer `git rebase` to a merge.", "tool", "git", ToolDetail("git", "git x")))
    assert steps_of(bank, memory=True, seeds=5) == without


# -- language models ------------------------------------------------------------------------------

ADMISSIBLE = ("go east", "go west", "take red apple from shelf", "take red apple")


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("Thought: east it is.\nGuidelines: G0\nAction: go east", "go east"),
        ("**Action:** `Go East`.", "go east"),
        ("I would go west, I think.", "go west"),
        ("Action: take red apple from shelf", "take red apple from shelf"),
        ("<think>Action: go west</think>\nAction: go east", "go east"),
        ("Action: go west\nOn second thought\nAction: go east", "go east"),
        ("Action: dance", "dance"),
        ("", ""),
    ],
)
def test_an_action_is_found_in_a_models_words(said: str, action: str) -> None:
    assert read_reply(said, ADMISSIBLE, {}).text == action


def test_only_guidelines_that_were_given_are_followed() -> None:
    reply = "Guidelines: G1, G7, [G0]\nAction: go east"
    assert read_reply(reply, ADMISSIBLE, {0: 40, 1: 41}).followed == (41, 40)
    assert read_reply("Guidelines: none\nAction: go east", ADMISSIBLE, {0: 40}).followed == ()


@given(st.text(max_size=80))
def test_any_words_make_some_action(said: str) -> None:
    assert isinstance(read_reply(said, ADMISSIBLE, {0: 1}).text, str)


def test_a_model_plays_with_the_memories_at_the_head_of_its_prompt(
    bank: MemoryBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    lesson = "In corridors go east until the end."
    teach(bank, Add(lesson, "strategic", "corridors"))
    said = Reply(text="Thought: east.\nGuidelines: G0\nAction: go east")
    with serving(said) as server:
        agent = LLMAgent("openai:test", base_url=server.url)
        episode = last_episode(run_episode(agent, Corridor(3), WALK, bank))
        agent.close()
    assert (episode.success, episode.followed, episode.improved) == (True, (1,), True)
    assert len(server.requests) == 3
    assert server.requests[0].text.strip().startswith(f"[G0] {lesson}")
    assert "- go west" in server.requests[0].user
    assert "> go east" in server.requests[2].user
    assert agent.usage.requests == 3
    assert bank.snapshot().by_id(1).success_count == 1


def test_a_model_that_cannot_be_asked_ends_the_session_and_no_more(
    bank: MemoryBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with serving(Reply(text="Action: go east"), failure(401, "bad key")) as server:
        agent = LLMAgent("openai:test", base_url=server.url)
        episode = last_episode(run_episode(agent, Corridor(9), WALK, bank))
        agent.close()
    assert (episode.ending, len(episode.steps)) == ("error", 1)
    assert "OPENAI_API_KEY" in episode.error
    assert "sk-test" not in episode.error
    assert bank.trajectory(episode.trajectory_id) is not None


def test_a_wrong_name_of_a_model_is_told_at_once() -> None:
    with pytest.raises(ReflectionError, match="provider"):
        LLMAgent("gpt")


def test_a_scripted_agent_is_an_agent(bank: MemoryBank) -> None:
    assert last_episode(run_episode(Scripted(), Corridor(), WALK, bank)).agent == "scripted"
