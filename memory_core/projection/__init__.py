"""Maps of memories: fitted once, laid over any revision, measured against the embedding space."""

from memory_core.projection.alignment import align
from memory_core.projection.clusters import Cluster, Clustering, clusters
from memory_core.projection.difference import (
    MAP_STATES,
    MapDifference,
    MapState,
    map_difference,
)
from memory_core.projection.fitting import Fit, Progress, fit, silent
from memory_core.projection.honesty import measure
from memory_core.projection.layout import Layout, Map, RankDistortion

__all__ = [
    "MAP_STATES",
    "Cluster",
    "Clustering",
    "Fit",
    "Layout",
    "Map",
    "MapDifference",
    "MapState",
    "Progress",
    "RankDistortion",
    "align",
    "clusters",
    "fit",
    "map_difference",
    "measure",
    "silent",
]
