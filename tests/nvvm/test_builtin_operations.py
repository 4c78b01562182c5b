"""Builtins lowered to operations of the nvvm dialect: verified, parsed again, and lowered to the same PTX."""

from __future__ import annotations

import re

import pytest

from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.availability import read_target
from warploom.nvvm import LowerError, lower
from warploom.nvvm.builtins import BUILTINS, Builtin
from warploom.nvvm.builtins.lowering import translate
from warploom.ptx import Instruction, parse
from warploom_lab.nvcc.compiler import kernel
from warploom_lab.nvcc.record import Case, calls_of, lowered

SM_90A = read_target("sm_90a")
OWN = ("wmma", "wgmma")


def binding_of(ptx: str) -> Binding:
    """Return the bound multiplication, load or store of a module."""
    functions = parse(ptx).functions.values()
    found = [
        instruction
        for function in functions
        for instruction in function.body.instructions()
        if isinstance(instruction, Instruction) and re.match("wmma|wgmma.mma", instruction.opcode)
    ]
    assert len(found) == 1
    binding = bind(found[0])
    assert isinstance(binding, Binding)
    return binding


@pytest.mark.parametrize("builtin", BUILTINS, ids=lambda builtin: builtin.name)
def test_every_builtin_lowers_to_an_operation(builtin: Builtin) -> None:
    call = next(call for call in calls_of(builtin) if lowered(Case("sm_90a", call)).instruction)
    text = kernel(call)
    operations = lower(text, source="builtin", to="nvvm")
    ptx = lower(text, source="builtin")
    assert lower(operations, source="nvvm") == ptx
    found, choice = binding_of(ptx), translate(text, SM_90A).calls[0].selection
    assert found.form is choice.form
    # LLVM prints no rounding, which the manual leaves out.
    words = {slot: word for slot, word in choice.words.items() if slot != "rnd"}
    assert words.items() <= found.slots.items()


def test_warpgroup_call_lowers_to_four_operations() -> None:
    text = lower("__wgmma_mma_async_tf32(64, 8, 8, 1, 0, 1, d, a, b);", source="builtin", to="nvvm")
    names = re.findall(r"nvvm\.wgmma\.\w+", text)
    assert [name.rpartition(".")[2] for name in names] == ["fence", "mma_async", "commit", "wait"]
    assert "D[<f32>, <one>], A[<tf32>, <neg>, <row>], B[<tf32>, <one>, <col>]" in text


# Calls in MLIR text and in Python ---------------------------------------------------------------------------------

LOAD = """
llvm.func @__hmma_m16n16k16_ld_a(!llvm.ptr, !llvm.ptr<{space}>, i32, i32)
llvm.func @load(%d: !llvm.ptr, %s: !llvm.ptr<{space}>, %ldm: i32) attributes {{nvvm.kernel}} {{
  %layout = llvm.mlir.constant({layout} : i32) : i32
  llvm.call @__hmma_m16n16k16_ld_a(%d, %s, %ldm, %layout) : (!llvm.ptr, !llvm.ptr<{space}>, i32, i32) -> ()
  llvm.return
}}
"""


@pytest.mark.parametrize(("space", "word"), [(0, ".global"), (1, ".global"), (3, ".shared")])
def test_call_from_mlir_text(space: int, word: str) -> None:
    text = LOAD.format(space=space, layout=1).replace("<0>", "")
    ptx = lower(text, source="builtin")
    assert f"ld.a.sync.aligned.col.m16n16k16{word}.f16" in ptx.replace("load", "ld")
    assert ".entry load(" in ptx


def test_error_in_mlir_text_has_a_position() -> None:
    with pytest.raises(LowerError) as refused:
        lower(LOAD.format(space=1, layout=2), source="builtin", name="load.mlir")
    (found,) = refused.value.diagnostics
    assert found.message == "'rowcol' operand can be 0 or 1 only"
    assert found.place.startswith("load.mlir:4:")


WIDE = """
llvm.func @__wgmma_mma_async_tf32(i32, i128, i32, i1, i1, i1, !llvm.ptr, i64, i64)
llvm.func @multiply(%d: !llvm.ptr, %a: i64, %b: i64) {
  %m = llvm.mlir.constant(64 : i32) : i32
  %n = llvm.mlir.constant(1180591620717411303424 : i128) : i128
  %k = llvm.mlir.constant(8 : i32) : i32
  %0 = llvm.mlir.constant(0 : i1) : i1
  llvm.call @__wgmma_mma_async_tf32(%m, %n, %k, %0, %0, %0, %d, %a, %b)
    : (i32, i128, i32, i1, i1, i1, !llvm.ptr, i64, i64) -> ()
  llvm.return
}
"""


def test_constant_of_more_than_64_bits_overflows() -> None:
    with pytest.raises(LowerError, match="unexpected constant overflow in __wgmma_mma_async operand"):
        lower(WIDE, source="builtin")
