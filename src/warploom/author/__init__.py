"""Kernels written in Python: one checked function call per PTX instruction."""

from warploom.author import ptx
from warploom.author.control_flow import branch, forever, guarded, label, loop, otherwise, put, when, while_
from warploom.author.errors import AuthorError
from warploom.author.inline import declare
from warploom.author.instructions import new
from warploom.author.kernel import Kernel, Pointer, Program, bounds, directive, kernel, parameter, pointer, tensor_map
from warploom.author.pipeline import Ring, RingState, arrive, ring, wait
from warploom.author.python_source import from_ptx
from warploom.author.roles import Barrier, barrier, cluster_rank, cluster_sync, elected, special, warp, warpgroup
from warploom.author.tensor_memory import (
    Accumulator,
    SharedScales,
    TensorMemory,
    TensorOperand,
    TensorScales,
    shared_scales,
    tensor_memory,
)
from warploom.author.tiles import Shared, Tile, TileDescriptor, TileRow, shared, shared_tile
from warploom.author.values import Location, Register

u32, s32, b32, f32, u64, s64, b64, f64, pred = "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64", "pred"
u16, s16, b16, f16, bf16 = "u16", "s16", "b16", "f16", "bf16"

__all__ = [
    "Accumulator", "AuthorError", "Barrier", "Kernel", "Location", "Pointer", "Program", "Register", "Ring",
    "RingState", "Shared", "SharedScales", "TensorMemory", "TensorOperand", "TensorScales", "Tile", "TileDescriptor",
    "TileRow", "arrive", "b16", "b32", "b64", "barrier", "bf16", "bounds", "branch", "cluster_rank", "cluster_sync",
    "declare", "directive", "elected", "f16", "f32", "f64", "forever", "from_ptx", "guarded", "kernel", "label", "loop",
    "new", "otherwise", "parameter", "pointer", "pred", "ptx", "put", "ring", "s16", "s32", "s64", "shared",
    "shared_scales", "shared_tile", "special", "tensor_map", "tensor_memory", "u16", "u32", "u64", "wait", "warp",
    "warpgroup", "when", "while_",
]  # fmt: skip
