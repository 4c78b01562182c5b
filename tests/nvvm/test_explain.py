"""`warploom explain` for names of intrinsics, builtins, and their numbers."""

from __future__ import annotations

import pytest

from warploom.cli import main


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("llvm.nvvm.mma.m16n8k16.row.col.f32.f32", ["An intrinsic of LLVM: `mma.half`", "`.dtype` is `f32`", "sm_80"]),
        ("llvm.nvvm.wgmma.fence.sync.aligned", ["`wgmma.fence`.", "PTX 8.0; sm_90a"]),
        (
            "llvm.nvvm.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
            ["An intrinsic of NVIDIA's own compiler, not LLVM"],
        ),
        ("__hmma_m8n32k16_ld_c_f16", ["builtin 700", "(c of f16), from sm_70 on", "const int * src"]),
        ("__wgmma_mma_async_f16", ["builtin 7", "then A and B"]),
        ("700", ["`__hmma_m8n32k16_ld_c_f16`", "# 0x2bc"]),
        ("745", ["builtin 745 (0x2e9)", "from sm_80 on"]),
        ("769", ["builtin 769 is a warpgroup barrier, which a program cannot call by name", "sub_127FC40"]),
        ("0x302", ["builtin 770 is a warpgroup barrier"]),
        ("__imma_m8n8k32_*", ["732: `__imma_m8n8k32_ld_a_s4`, from sm_75 on", "739: "]),
        ("5332", ["an intrinsic of NVIDIA's compiler", "warpgroup n=16", "# 0x14d4"]),
        ("sm_73", ["there is no SM 73"]),
        ("llvm.nvvm.mapa", ["where `.type` is `u64`", "The section below describes every variant"]),
        ("nvvm.mapa", ["%result = nvvm.mapa $a, $b attr-dict : type($a) -> type($res)"]),
        ("nvvm.convert.f32x2.to.f4x2", ["nvvm.convert.f32x2.to.f4x2 $a, $b attr-dict : type($dst) `(` $dstTy `)`"]),
        ("4905", ["intrinsic 4905 is one of the 36 tcgen05 multiplications"]),
    ],
)
def test_explain(subject: str, said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", subject]) == 0
    page = capsys.readouterr().out
    assert not [each for each in said if each not in page], page


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("mma:-1", "expected a number from 0 to 2^64 - 1, got -1"),
        ("-0x5", "expected a number from 0 to 2^64 - 1, got -0x5"),
        ("llvm.nvvm.mma.m9n9k9", "unknown intrinsic 'llvm.nvvm.mma.m9n9k9'"),
        ("__hmma_m16n16k16_ld_q", "unknown builtin '__hmma_m16n16k16_ld_q'"),
    ],
)
def test_unknown_subjects_are_errors(subject: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--", subject]) == 2
    assert said in capsys.readouterr().err
