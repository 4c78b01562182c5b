"""Order in which CTAs take the tiles of D: groups of tile rows, whose operands meet in the L2 cache."""

from __future__ import annotations

from typing import Any

from warploom.kernels.ptx import ptx


def tile_position(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any, Any]:
    """Return the tile row and tile column of tile number `tile` within its batch, and the batch.

    `group` is the number of tile rows that CTAs traverse before the next tile column.
    """
    plane = m_tiles * n_tiles
    batch = tile // plane
    return *position_in_plane(tile - batch * plane, m_tiles, n_tiles, group), batch


def position_in_plane(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any]:
    """Return row and column of a tile number: down `group` tile rows, then to the next tile column."""
    per_group = n_tiles * group
    first = tile // per_group * group
    rest, height = tile % per_group, ptx.min(m_tiles - first, group, type="u32")
    return first + rest % height, rest // height
