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
from warploom.isa.instructions import approximate, convert, floating, half, integer
from warploom.isa.model.form import Form, forms
from warploom.numerics.tracing.values import TraceError

LANE_WISE = [form for form in forms() if form.lane_function is not None]
MASKS = np.array([0xFFFFFFFF, 0, 1, 0x80000000, 0x0000FFFF, 0xAAAAAAAA, 0x12345678, 0xFFFFFFFF], np.uint32)


def _compare(form: Form, chosen: list[Words]) -> None:
    random = np.random.default_rng(1)
    for execution in compiled(form, chosen):
        execution.files.fill(random)
        assert execution.differences(MASKS) == []


@pytest.mark.parametrize("form", LANE_WISE, ids=lambda form: form.name)
def test_some_variants_of_a_form(form: Form) -> None:
    _compare(form, spread(form, 6))


@pytest.mark.parametrize("form", LANE_WISE, ids=lambda form: form.name)
def test_all_variants_of_a_form(form: Form) -> None:
    chosen = variants(form)
    for first in range(0, len(chosen), 64):
        _compare(form, chosen[first : first + 64])


RANDOM: list[tuple[Form, Words]] = [
    (floating.ADD, {"op": "add", "rnd": "rn", "ftz": "", "sat": "", "type": "f32"}),
]


@cache
def _execution(number: int) -> Execution:
    form, words = RANDOM[number]
    return compiled(form, [words])[0]


@given(st.integers(0, len(RANDOM) - 1), st.binary(min_size=64, max_size=64))
def test_random_bits(number: int, bits: bytes) -> None:
    execution = _execution(number)
    for file in execution.files.arrays:
        pattern = np.resize(np.frombuffer(bits, np.uint8), file.nbytes)
        file[...] = pattern.view(file.dtype).reshape(file.shape) if file.dtype != np.bool_ else 0
    assert execution.differences(np.full(WARPS, 0xFFFFFFFF, np.uint32)) == []


def _is_translated(form: Form) -> bool:
    for words in spread(form, 3):
        try:
            translate(ir.Module(), "f", form, OperandTable.of(operands(form, words, RegisterFiles())).names, ARCH)
        except (TraceError, UnsupportedOperand):
            return False
    return True


def test_every_lane_wise_form_is_translated() -> None:
    assert [form.name for form in LANE_WISE if not _is_translated(form)] == []
