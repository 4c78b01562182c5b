"""Kernels in Python: one call an instruction, checked as it is written."""

from __future__ import annotations

from warploom.author import ptx
from warploom.author.building import AuthorError
from warploom.author.flow import branch, forever, guarded, label, loop, otherwise, put, when, while_
from warploom.author.inline import declare
from warploom.author.instructions import new
from warploom.author.kernel import (
    Kernel,
    Pointer,
    Program,
    bounds,
    directive,
    kernel,
    parameter,
    pointer,
    special,
    tensor_map,
)
from warploom.author.memory import Shared, shared
from warploom.author.pipeline import Place, Ring, arrive, ring, wait
from warploom.author.rebuild import from_ptx
from warploom.author.roles import Barrier, barrier, cluster_rank, cluster_sync, elected, warp, warpgroup
from warploom.author.tiles import Line, Matrix, Tile, shared_tile
from warploom.author.values import Location, Register

u32, s32, b32, f32, u64, s64, b64, f64, pred = "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64", "pred"
u16, s16, b16, f16, bf16 = "u16", "s16", "b16", "f16", "bf16"

__all__ = [
    "AuthorError", "Barrier", "Kernel", "Line", "Location", "Matrix", "Place", "Pointer", "Program", "Register",
    "Ring", "Shared", "Tile", "arrive", "b16", "b32", "b64", "barrier", "bf16", "bounds", "branch",
    "cluster_rank", "cluster_sync", "declare", "directive", "elected", "f16", "f32", "f64", "forever",
    "from_ptx", "guarded", "kernel", "label", "loop", "new", "otherwise", "parameter", "pointer", "pred", "ptx",
    "put", "ring", "s16", "s32", "s64", "shared", "shared_tile", "special", "tensor_map", "u16", "u32", "u64",
    "wait", "warp", "warpgroup", "when", "while_",
]  # fmt: skip
