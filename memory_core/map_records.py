"""What is kept of a map: how it was made, how far it can be trusted, and what people named on it.

Trustworthiness and neighbourhood preservation, of n fitted texts and k neighbours of each:

    T = 1 − 2 / (n·k·(2n − 3k − 1)) · Σᵢ Σⱼ (r(i, j) − k)

over those j among i's k nearest on the map that are not among its k nearest in the embedding
space, r(i, j) being j's rank there (Venna and Kaski, 2001: "Neighborhood preservation in nonlinear
projection methods"); and the mean share of the k nearest on the map that are among the k nearest
in the embedding space.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from memory_core.settings import MapSettings


@dataclass(frozen=True, slots=True)
class Honesty:
    """How much of what lies side by side on a map belongs together."""

    trustworthiness: float
    """In [0, 1]: 1 when nothing on the map is near that is not near."""
    neighbourhood_preservation: float
    """In [0, 1]: the share of the nearest on the map that are the nearest indeed."""
    neighbours: int
    """k: 15, or less than half the size; 0 when there are too few to ask."""
    reach: int
    """Nine of ten nearest on the map are among so many nearest in the embedding space."""
    size: int
    """n, the texts that were measured against."""
    measured: int
    """Of those, how many were asked for their neighbours: a sample when there are many."""

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.neighbours:
            return "There are too few memories on the map for it to mislead."
        k = self.neighbours
        kept = round(self.neighbourhood_preservation * k)
        are, its = ("are", f"{k} nearest") if kept != 1 else ("is", f"{k} nearest")
        said = f"Of a memory's {k} nearest on the map, {kept} {are} among its {its} in meaning"
        if self.reach <= k:
            said += ", and the others are hardly farther"
        else:
            said += f"; nine in ten are among its {self.reach:,} nearest of {self.size - 1:,}"
        if self.measured < self.size:
            said += f" (measured on {self.measured:,} of {self.size:,})"
        return said + "."


Method: TypeAlias = Literal["umap", "pca", "single"]


@dataclass(frozen=True, slots=True)
class Projection:
    """A map that was fitted and kept. Its coordinates are stored by text."""

    id: int
    revision: int
    """On whose memories it was fitted."""
    model: str
    """By which their vectors were made; those of another cannot be placed on it."""
    method: Method
    """pca below 15 different vectors, single for one."""
    settings: MapSettings
    honesty: Honesty
    actor: str
    made_at_us: int
    size: int
    """Texts on it."""

    @property
    def made_at(self) -> datetime:
        return datetime.fromtimestamp(self.made_at_us / 1e6, tz=UTC)


@dataclass(frozen=True, slots=True)
class ClusterName:
    """What a person called some memories."""

    name: str
    ids: tuple[int, ...]
    """The memories that were in the cluster when it was named."""
    actor: str
    made_at_us: int
