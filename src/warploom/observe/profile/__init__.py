"""Profiles of runs: executions and memory accesses of each instruction."""

from warploom.observe.profile.data import ROW, Profile, Tile
from warploom.observe.profile.profiler import Profiler

__all__ = ["ROW", "Profile", "Profiler", "Tile"]
