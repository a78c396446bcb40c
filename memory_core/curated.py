"""Memories under care: near duplicates, what people said of them, and the audit."""

from __future__ import annotations

from memory_core.mapped import MappedMemories


class CuratedMemories(MappedMemories):
    """Memories under revisions, with what a curator found out about them beside them."""
