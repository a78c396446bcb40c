"""Plan, execute, reflect, memorize: an agent at work on the bank."""

from memory_core.loop.calls import Agent, Environment
from memory_core.loop.episode import AboveRunningMean, last_episode, run_episode, succeeded
from memory_core.loop.reading import EpisodeSummary, read_episode, read_episodes

__all__ = [
    "AboveRunningMean",
    "Agent",
    "Environment",
    "EpisodeSummary",
    "last_episode",
    "read_episode",
    "read_episodes",
    "run_episode",
    "succeeded",
]
