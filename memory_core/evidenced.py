"""Memories with the runs that they came from."""

from __future__ import annotations

from memory_core.curated import CuratedMemories


class EvidencedMemories(CuratedMemories):
    """Memories under revisions, with the trajectories that bear them out beside them."""
