"""Order in which CTAs take the tiles of D: in groups of tile rows, which share operands in L2."""

from __future__ import annotations

from typing import Any

from warploom.kernels.ptx import ptx


def tile_position(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any, Any]:
    """Return the tile row and tile column of a tile number in its batch, and the batch."""
    plane = m_tiles * n_tiles
    batch = tile // plane
    return *position_in_plane(tile - batch * plane, m_tiles, n_tiles, group), batch


def position_in_plane(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any]:
    """Return the tile row and column of a number: down `group` tile rows, then to the next column."""
    per_group = n_tiles * group
    first = tile // per_group * group
    rest, height = tile % per_group, ptx.min(m_tiles - first, group, type="u32")
    return first + rest % height, rest // height
