"""Native functions of lane-wise instructions compute the bits of the interpreter."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from emulator.native.lanewise import ARCH, WARPS, Execution, RegisterFiles, Words, compiled, operands, spread, variants
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir

from warploom.emulator.native.functions import translate
from warploom.emulator.native.operands import OperandTable, UnsupportedOperand
from warploom.emulator.native.wanted import Wanted
from warploom.isa.instructions import approximate, bits, convert, floating, half, integer, memory, warp
from warploom.isa.model.form import Form, forms
from warploom.numerics.tracing.values import TraceError

LANE_WISE = [form for form in forms() if form.lane_function is not None]
OF_A_WARP = [
    warp.SHFL, warp.SHFL_SYNC, warp.VOTE, warp.VOTE_SYNC, warp.ACTIVEMASK, warp.MATCH_ANY, warp.MATCH_ALL, warp.REDUX,
    warp.REDUX_FLOAT, warp.ELECT, memory.MAPA, memory.GETCTARANK,
]  # fmt: skip
MASKS = np.array([0xFFFFFFFF, 0, 1, 0x80000000, 0x0000FFFF, 0xAAAAAAAA, 0x12345678, 0xFFFFFFFF], np.uint32)


def _compare(form: Form, chosen: list[Words]) -> None:
    random = np.random.default_rng(1)
    for execution in compiled(form, chosen):
        execution.files.fill(random)
        assert execution.differences(MASKS) == []


@pytest.mark.parametrize("form", LANE_WISE + OF_A_WARP, ids=lambda form: form.name)
def test_some_variants_of_a_form(form: Form) -> None:
    _compare(form, spread(form, 6))


@pytest.mark.parametrize("form", LANE_WISE + OF_A_WARP, ids=lambda form: form.name)
def test_more_variants_of_a_form(form: Form) -> None:
    _compare(form, spread(form, 160))


RANDOM: list[tuple[Form, str]] = [
    *((floating.ADD, words) for words in ("add f32", "add ftz f32", "mul ftz f32", "add rz f64")),
    *((floating.FMA, words) for words in ("fma rn f32", "fma rm f32", "fma rn f64", "fma rp f64")),
    *((half.FMA, words) for words in ("f16x2", "bf16x2")),
    *((approximate.FUNCTION, words) for words in ("ex2 f32", "rcp f32", "sin f32", "lg2 f32")),
    *((convert.CVT, words) for words in ("rn f32 s64", "rni s32 f32", "rz f32 f64", "rp f16 s64")),
    *((convert.NARROW, words) for words in ("rn satfinite e4m3x2", "rn satfinite e2m1x2")),
    *((integer.MUL, words) for words in ("hi s32", "hi u64")),
    (bits.BREV, "b32"),
    (bits.PRMT, ""),
    (integer.DP4A, "s32 u32"),
]
"""Variants by their words, for tests with random bits."""


def _chosen(form: Form, text: str) -> Words:
    return next(words for words in variants(form) if [word for word in words.values() if word] == text.split())


@cache
def _execution(number: int) -> Execution:
    form, text = RANDOM[number]
    return compiled(form, [_chosen(form, text)])[0]


@given(st.integers(0, len(RANDOM) - 1), st.binary(min_size=64, max_size=64))
def test_random_bits(number: int, pattern: bytes) -> None:
    execution = _execution(number)
    for file in execution.files.arrays:
        octets = np.resize(np.frombuffer(pattern, np.uint8), file.nbytes)
        file[...] = octets.view(file.dtype).reshape(file.shape) if file.dtype != np.bool_ else 0
    assert execution.differences(np.full(WARPS, 0xFFFFFFFF, np.uint32)) == []


def _is_translated(form: Form) -> bool:
    for words in spread(form, 3):
        try:
            names = OperandTable.of(operands(form, words, RegisterFiles())).names
            translate(ir.Module(), Wanted("f", form, names, ARCH))
        except (TraceError, UnsupportedOperand):
            return False
    return True


def test_every_lane_wise_form_is_translated() -> None:
    assert [form.name for form in LANE_WISE if not _is_translated(form)] == []
