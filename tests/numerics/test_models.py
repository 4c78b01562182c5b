"""The table of matrix units."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from warploom.numerics import fused, models
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import Sum


@pytest.mark.parametrize(
    ("arch", "engine", "types", "length", "fraction", "result"),
    [
        ("sm_70", "warp", "f16 f16 f32", 4, 23, "f32"),
        ("sm_75", "warp", "f16 f16 f16", 8, 24, "f16"),
        ("sm_86", "warp", "tf32 tf32 f32", 4, 24, "f32"),
        ("sm_89", "warp", "e4m3 e5m2 f32", 16, 13, "e8m13"),
        ("sm_90a", "warpgroup", "bf16 bf16 f32", 16, 25, "f32"),
        ("sm_90a", "warpgroup", "e4m3 e5m2 f32", 32, 13, "e8m13"),
        ("sm_90", "warp", "tf32 tf32 f32", 8, 25, "f32"),
        ("sm_90", "warp tiles", "tf32 tf32 f32", 4, 25, "f32"),
        ("sm_100a", "tensor memory", "e2m1 e4m3 f32", 32, 25, "f32"),
    ],
)
def test_a_row_of_the_table(
    arch: str, engine: models.UnitKind, types: str, length: int, fraction: int, result: str
) -> None:
    model = models.select(arch, engine, *types.split())
    assert (model.sum, model.length, model.fraction, model.result) == (Sum.T_FDPA, length, fraction, result)


def test_what_has_a_sum_of_its_own() -> None:
    assert models.select("sm_90", "warp", "e4m3", "e4m3", "f16").sum is Sum.T_FDPA_SPLIT
    assert models.select("sm_100a", "warp", "e4m3", "e4m3", "f32").sum is Sum.T_FDPA_SPLIT
    assert models.select("sm_90", "warp", "f16", "f16", "f32", k=4).sum is Sum.FMA_CHAIN_PLUS_ADDEND
    assert models.select("sm_75", "warp", "f16", "f16", "f32", k=4).sum is Sum.T_FDPA
    assert models.select("sm_120a", "warp", "e2m1", "e2m1", "f32", scaling=("mxf4", "ue8m0")).sum is Sum.T_FDPA_GROUPED
    assert (
        models.select("sm_120a", "warp", "e2m1", "e2m1", "f32", scaling=("mxf8f6f4", "ue8m0")).sum is Sum.T_FDPA_SCALED
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sm_80", "warpgroup", "f16", "f16", "f32"), "sm_80 has no warpgroup matrix unit; sm_90a has one"),
        (("sm_90a", "tensor memory", "f16", "f16", "f32"), "sm_90a has no tensor memory matrix unit; sm_100a has one"),
        (
            ("sm_75", "warp", "bf16", "bf16", "f32"),
            "Turing matrix units have no sum of bf16 by bf16; their float types are f16",
        ),
        (
            ("sm_80", "warp", "e4m3", "e5m2", "f32"),
            "Ampere matrix units have no sum of e4m3 by e5m2; their float types are f16, bf16, tf32",
        ),
    ],
)
def test_what_is_not_there_is_named(arguments: tuple[str, models.UnitKind, str, str, str], sentence: str) -> None:
    with pytest.raises(models.NoModelError) as told:
        models.select(*arguments)
    assert str(told.value) == sentence


def test_unknown_architecture_lists_the_known() -> None:
    with pytest.raises(
        models.NoModelError, match=r"^no matrix arithmetic is known for architecture 'sm_50'; known: sm_70, "
    ):
        models.generation("sm_50")


def test_the_table_imports_without_the_compiler() -> None:
    code = "import warploom.numerics.models, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _sum(model: models.Model, a: list[int], b: list[int], c: int, dtype: str) -> int:
    left, right = (np.array([[row]], STORAGE[name]) for row, name in ((a, model.a_type), (b, model.b_type)))
    addend = np.array([[[c]]], np.uint32 if model.c_type == "f32" else np.uint16).view(STORAGE[model.c_type])
    return int(fused.multiply(left, right, addend, model).view(dtype)[0, 0, 0])


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_m8n8k4_runs_in_software_from_ampere_on(arch: str) -> None:
    model = models.select(arch, "warp", "f16", "f16", "f32", k=4)
    assert _sum(model, [0xB278, 0, 0, 0], [0xB19A, 0, 0, 0], 0xC0AF2F7F, "u4") == 0xC0AE0D9E


@pytest.mark.parametrize("arch", ["sm_70", "sm_75"])
def test_a_subnormal_f16_addend_keeps_its_exponent(arch: str) -> None:
    model = models.select(arch, "warp", "f16", "f16", "f32", c_type="f16", k=4)
    assert _sum(model, [0, 0x0BDE, 0x70, 0], [0x1E3, 0x8A79, 0, 0x8A51], 0x31, "u4") == 0x3640D160


def test_the_least_exponent_truncates_small_terms() -> None:
    """2**-25 is a tie between 0 and the least subnormal of f16, which a smaller term breaks if the unit keeps it."""
    ampere = models.select("sm_80", "warp", "f16", "f16", "f16")
    assert _sum(ampere, [0x0200, 0x0001], [0x1400, 0x0010], 0, "u2") == 1  # 2**-25 + 2**-44
    assert _sum(ampere, [0x0200, 0x0001], [0x1400, 0x0008], 0, "u2") == 0  # 2**-25 + 2**-45


def test_a_group_that_cancels_aligns_the_step() -> None:
    model = models.select("sm_120a", "warp", "e2m1", "e2m1", "f32", scaling=("mxf4", "ue8m0"))
    a, b = np.zeros((1, 1, 64), np.uint8), np.zeros((1, 1, 64), np.uint8)
    a[..., :2], b[..., :2] = (2, 2), (2, 10)  # 1 * 1 + 1 * -1
    c = np.full((1, 1, 1), 0x3F800000, np.uint32)
    scales = np.array([[[127 + 40, 127]]], np.uint8), np.full((1, 1, 2), 127, np.uint8)
    d = fused.multiply(a, b, c.view(STORAGE["f32"]), model, scale_a=scales[0], scale_b=scales[1])
    assert d.view(np.uint32)[0, 0, 0] == 0
