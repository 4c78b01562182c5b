"""Special registers as functions of the launch's geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from warploom.isa.model.semantics import Array
from warploom.isa.model.special_registers import SPECIAL_REGISTERS, special
from warploom.isa.model.types import TYPES


@dataclass
class Launch:
    """Grid (4, 6, 1) of clusters (2, 3, 1), CTAs of (8, 4, 2) threads: two warps, all warps in one array."""

    lane: Array
    warp: Array
    cta: tuple[Array, Array, Array]
    thread: tuple[Array, Array, Array]
    block: tuple[int, int, int] = (8, 4, 2)
    grid: tuple[int, int, int] = (4, 6, 1)
    cluster: tuple[int, int, int] = (2, 3, 1)
    dynamic_shared: int = 512
    total_shared: int = 2048
    explicit_cluster: bool = True
    workspace: int = 0x1234_5678_9ABC_DEF0
    sm_count: int = 5
    ticks: int = (7 << 32) + 9


@pytest.fixture
def launch() -> Launch:
    warps = np.arange(48, dtype=np.uint32)[:, None]
    lane = np.arange(32, dtype=np.uint32)[None, :]
    warp, number = warps % np.uint32(2), warps // np.uint32(2)
    thread = warp * np.uint32(32) + lane
    cta = (number % np.uint32(4), number // np.uint32(4), number * np.uint32(0))
    xyz = (thread % np.uint32(8), thread // np.uint32(8) % np.uint32(4), thread // np.uint32(32))
    return Launch(lane, warp, cta, xyz)


def read(name: str, launch: Launch) -> Array:
    register = special(name)
    assert register is not None
    return np.broadcast_to(register.read(launch), (48, 32))


def test_every_register_reads_as_its_type(launch: Launch) -> None:
    for name, register in SPECIAL_REGISTERS.items():
        assert read(name, launch).dtype == TYPES[register.type].dtype


def test_cluster_coordinates_rebuild_the_cta(launch: Launch) -> None:
    for axis in "xyz":
        inside, which = read(f"%cluster_ctaid.{axis}", launch), read(f"%clusterid.{axis}", launch)
        extent = read(f"%cluster_nctaid.{axis}", launch)
        assert (which * extent + inside == read(f"%ctaid.{axis}", launch)).all()
        assert (inside < extent).all()
        assert (which < read(f"%nclusterid.{axis}", launch)).all()


def test_cluster_rank_counts_x_first(launch: Launch) -> None:
    x, y = read("%cluster_ctaid.x", launch), read("%cluster_ctaid.y", launch)
    assert (read("%cluster_ctarank", launch) == x + 2 * y).all()
    assert (read("%cluster_nctarank", launch) == 6).all()


def test_lane_masks_part_the_warp(launch: Launch) -> None:
    lower, own, upper = (read(f"%lanemask_{part}", launch) for part in ("lt", "eq", "gt"))
    assert (lower | own | upper == 0xFFFFFFFF).all()
    assert (np.bitwise_count(lower) == launch.lane).all()
    assert (np.bitwise_count(own) == 1).all()
    assert (read("%lanemask_le", launch) == lower | own).all()
    assert (read("%lanemask_ge", launch) == upper | own).all()


def test_clocks_are_dynamic_and_show_the_ticks(launch: Launch) -> None:
    assert {name for name, register in SPECIAL_REGISTERS.items() if register.dynamic} == {
        "%clock",
        "%clock_hi",
        "%clock64",
        "%globaltimer",
        "%globaltimer_lo",
        "%globaltimer_hi",
    }
    assert read("%clock", launch)[0, 0] == 9
    assert read("%clock_hi", launch)[0, 0] == 7
    assert read("%clock64", launch)[0, 0] == (7 << 32) + 9


def test_every_sm_is_used(launch: Launch) -> None:
    assert set(np.unique(read("%smid", launch))) == set(range(5))


def test_unknown_names_are_none() -> None:
    assert special("%tid") is None
    assert special("%pm8") is None
