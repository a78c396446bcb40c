"""Memories with their map: fitted once, kept, and extended as memories come in."""

from __future__ import annotations

from memory_core.judged import JudgedMemories


class MappedMemories(JudgedMemories):
    """Memories under revisions, with the maps fitted for them beside them."""
