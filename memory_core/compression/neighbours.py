"""Moved to `memory_core.neighbours`."""

from memory_core.neighbours import *  # noqa: F403
