"""The table of matrix units."""

from __future__ import annotations

import subprocess
import sys

import pytest

from warploom.numerics import models
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
    assert models.select("sm_120a", "warp", "e2m1", "e2m1", "f32", scale_type="ue8m0").sum is Sum.T_FDPA_GROUPED
    assert models.select("sm_120a", "warp", "e2m1", "e4m3", "f32", scale_type="ue8m0").sum is Sum.T_FDPA_SCALED


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
