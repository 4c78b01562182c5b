"""Profiles: executions of each instruction, and the cost of its accesses to shared and global memory."""

from warploom.observe.profile.data import ROW, Profile, Tile
from warploom.observe.profile.profiler import Profiler, sectors, wavefronts

__all__ = ["ROW", "Profile", "Profiler", "Tile", "sectors", "wavefronts"]
