"""Runs of agents, read from what their tools write."""

from memory_core.trajectories.joining import Reading
from memory_core.trajectories.masked import Masked
from memory_core.trajectories.reading import TRAJECTORY_FORMATS, read_files, read_trajectories

__all__ = ["TRAJECTORY_FORMATS", "Masked", "Reading", "read_files", "read_trajectories"]
