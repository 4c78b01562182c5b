"""Public CUDA programs: sources, compiler options, kernels and inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from warploom_lab.programs import cases
from warploom_lab.programs.cases import Case


@dataclass(frozen=True, slots=True)
class Program:
    """Program that nvcc compiles from public sources.

    `source` is a path in the folder of sources, or the name of a test program in `drivers/`. `includes` are folders in
    the folder of sources. `kernels` are words in the names of the kernels that run with the sanitizer. A program with
    `options` has a `main`, which verifies its own results. A test program has a `case` instead.
    """

    name: str
    source: str
    includes: tuple[str, ...]
    kernels: tuple[str, ...]
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    case: Callable[[], Case] | None = None


_CUTLASS = ("cutlass/include", "cutlass/tools/util/include", "cutlass/examples/common", "curand/nvidia/cu13/include")
_DEEPGEMM = ("DeepGEMM/deep_gemm/include", "cutlass/include")
_KITTENS = ("ThunderKittens/include", "ThunderKittens/prototype")
_FLASH = ("flash-attention/hopper", "cutlass/include")
_MLA = ("FlashMLA/csrc", "FlashMLA/csrc/sm90", "FlashMLA/csrc/kerutils/include", "cutlass/include")


def _example(number: int, name: str, *options: str) -> Program:
    source = f"cutlass/examples/{number}_hopper_{name}/{number}_hopper_{name}.cu"
    return Program(f"cutlass-{number}", source, _CUTLASS, ("GemmUniversal",), options=(*options, "--iterations=0"))


def _attention(name: str, element: str, dimension: int, causal: bool, cluster: int) -> Program:
    flags = (
        f"-DELEMENT={element}", f"-DDIMENSION={dimension}", f"-DIS_CAUSAL={str(causal).lower()}",
        f"-DCLUSTER={cluster}", "--use_fast_math",
    )  # fmt: skip
    return Program(
        f"flash-attention-{name}", "flash_attention.cu", _FLASH, ("FlashAttnFwd",), flags,
        case=partial(cases.flash_attention, element, dimension, causal),
    )  # fmt: skip


def _kittens_attention(dimension: int, causal: bool) -> Program:
    flags = (
        f"-DDIMENSION={dimension}", f"-DIS_CAUSAL={str(causal).lower()}", "-DKITTENS_HOPPER", "--use_fast_math",
    )  # fmt: skip
    return Program(
        f"thunderkittens-attention-{dimension}", "thunderkittens_attention.cu",
        (*_KITTENS, "ThunderKittens/kernels/attention/mha_h100"), ("fwd_attend_ker",), flags,
        case=partial(cases.kittens_attention, dimension, causal),
    )  # fmt: skip


PROGRAMS: tuple[Program, ...] = (
    _example(48, "warp_specialized_gemm", "--m=512", "--n=256", "--k=352"),
    _example(54, "fp8_warp_specialized_gemm", "--m=256", "--n=256", "--k=1152"),
    _example(57, "grouped_gemm", "--m=128", "--n=128", "--k=896", "--groups=1"),
    _example(62, "sparse_gemm", "--m=256", "--n=128", "--k=1152"),
    Program("deepgemm-bf16", "deepgemm_bf16.cu", _DEEPGEMM, ("sm90_bf16",), case=cases.gemm_nt),
    Program("deepgemm-fp8", "deepgemm_fp8.cu", _DEEPGEMM, ("sm90_fp8",), case=cases.scaled_gemm),
    Program(
        "thunderkittens-gemm", "thunderkittens_gemm.cu", (*_KITTENS, "ThunderKittens/kernels/gemm/bf16_h100"),
        ("lcf",), ("-DKITTENS_HOPPER", "--use_fast_math"), case=cases.gemm_nn,
    ),
    _kittens_attention(64, causal=True),
    _kittens_attention(128, causal=False),
    _attention("64-causal", "cutlass::bfloat16_t", 64, causal=True, cluster=1),
    _attention("128", "cutlass::bfloat16_t", 128, causal=False, cluster=2),
    _attention("128-fp8", "cutlass::float_e4m3_t", 128, causal=False, cluster=1),
    Program("flashmla-dense", "flashmla_dense.cu", _MLA, ("mla",), ("--use_fast_math",), case=cases.mla_decoding),
    Program("flashmla-sparse", "flashmla_sparse.cu", _MLA, ("sparse",), ("--use_fast_math",), case=cases.mla_sparse),
)  # fmt: skip
