"""Public CUDA programs: repositories, sources, compiler options, arguments and the text of success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Repository:
    """Public repository at a commit. `name` is its folder among the sources, and `owner` its account on GitHub."""

    owner: str
    name: str
    commit: str

    @property
    def url(self) -> str:
        """Address for `git fetch`."""
        return f"https://github.com/{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Program:
    """Program that nvcc compiles from the unchanged sources of a repository.

    `sources` are paths in the folder of the repository. If `driver` is set, the only source is a file of `drivers/`
    instead, whose `main` calls the repository's kernels and compares their results with a reference. `includes` are
    folders in the folder of all sources. `line_info` is False if nvcc takes too long with line information.

    nvcc compiles for `compute_` and `target`. `device` is the device of `warploom exec`, or "" for its default.

    The program succeeds if it exits with `status` and prints a match of the regular expression `success`. `assessments`
    has a letter of `docs/programs.md` for each rule of which the sanitizer has findings.
    """

    name: str
    repository: str
    sources: tuple[str, ...]
    includes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    success: str = "PASSED"
    status: int = 0
    driver: bool = False
    line_info: bool = True
    target: str = "90a"
    device: str = ""
    assessments: Mapping[str, str] = field(default_factory=dict[str, str])


REPOSITORIES = (
    Repository("NVIDIA", "cutlass", "7107b05535f8977f5ecb9d01ee203205b1fd9bc4"),
    Repository("NVIDIA", "cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420"),
    Repository("Dao-AILab", "flash-attention", "0251105a2fb19d2957484b7f023cd8c115286ced"),
    Repository("deepseek-ai", "FlashMLA", "9241ae3ef9bac614dd25e45e507e089f888280e0"),
    Repository("deepseek-ai", "DeepGEMM", "54e22612409371d6364144b69086735beb54e98b"),
    Repository("HazyResearch", "ThunderKittens", "0b55588d2769dde0c7a9a606ffc015b0ca7a9551"),
    Repository("pranjalssh", "fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b"),
    Repository("flashinfer-ai", "flashinfer", "fb28d7242b3506a2348265962041acc1fb56cca4"),
    Repository("siboehm", "SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8"),
    Repository("karpathy", "llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a"),
    Repository("Bruce-Lee-LY", "cuda_hgemm", "0d26c2e4415ab0d0af5a6bfae301275c608d46b4"),
    Repository("CoffeeBeforeArch", "cuda_programming", "8711be08e2060680820304594f3691cc0016edd1"),
)

_LIBRARIES = "nvidia/cu13/include"  # headers of nvidia-curand, nvidia-cublas and nvidia-cuda-cccl
_CUTLASS = ("cutlass/include", "cutlass/tools/util/include", "cutlass/examples/common", _LIBRARIES)
_RELAXED = ("--expt-relaxed-constexpr", "--expt-extended-lambda")
_MODERN = ("-std=c++20", "-DNDEBUG", *_RELAXED, "-lcuda")
_FAST = (*_MODERN, "--use_fast_math")


def _example(
    folder: str, file: str = "", *arguments: str, name: str = "", success: str = "Disposition: Passed",
    assessments: Mapping[str, str] | None = None, line_info: bool = True, target: str = "90a", device: str = "",
) -> Program:  # fmt: skip
    number = folder.split("_", 1)[0]
    file = file or folder
    return Program(
        f"cutlass-{name or number}", "cutlass", (f"examples/{folder}/{file}.cu",),
        (*_CUTLASS, f"cutlass/examples/{folder}"), ("-DNDEBUG", *_RELAXED, "-lcuda"), arguments, success,
        line_info=line_info, target=target, device=device, assessments=assessments or {},
    )  # fmt: skip


def _blackwell(
    folder: str, file: str, name: str, *arguments: str, success: str = "Disposition: Passed",
    assessments: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    target, device = ("120a", "rtx5090") if folder.startswith("79") else ("100a", "b200")
    return _example(
        folder, file, *arguments, name=name, success=success, assessments=assessments, target=target, device=device
    )


_ONCE = "--iterations=0"
_STORES = {"sanitize.copy/exit": "B"}
_PAIRS = _STORES | {"sanitize.mbarrier/init": "V"}
_OVERLAPPED = _PAIRS | {"sanitize.tensor/load-wait": "S"}
_SQUARE = ("--m=256", "--n=256", "--k=256")
_SMALL = ("--m=128", "--n=128", "--k=256")
_BLOCKWISE = "hopper_fp8_warp_specialized_gemm_with_blockwise_scaling"
_GROUPED_BLOCKWISE = "68_hopper_fp8_warp_specialized_grouped_gemm_with_blockwise_scaling"
_NARROW = "72_blackwell_narrow_precision_gemm"
_MIXED, _GROUPED_MIXED = "55_hopper_mixed_dtype_gemm", "69_hopper_mixed_dtype_grouped_gemm"
_CUTLASS_EXAMPLES = (
    _example("48_hopper_warp_specialized_gemm", "", "--m=512", "--n=256", "--k=352", _ONCE),
    _example("49_hopper_gemm_with_collective_builder", "49_collective_builder", "--m=256", "--n=256", "--k=256",
             "--l=1", success=r"(?s)(Passed.*){7}"),
    _example("50_hopper_gemm_with_epilogue_swizzle", "", "--m=256", "--n=256", "--k=256", success="(?i)passed"),
    _example("51_hopper_gett", "", "--modeC=m,n,l", "--modeA=m,k,l", "--modeB=k,n,l",
             "--extents=m:128,n:128,k:128,l:2", success="GETT verification passed"),
    _example("53_hopper_gemm_permute", "", "--m=128", "--n=256", "--k=512", "--batch_size=8", "--check",
             "--iterations=1", success=r"(?s)(Passed validation.*){7}"),
    _example("54_hopper_fp8_warp_specialized_gemm", "", "--m=256", "--n=256", "--k=1152", _ONCE,
             line_info=False),
    _example(_MIXED, "", "--m=256", "--n=256", "--k=512", "--g=128", "--mode=2", "--warmup=0", _ONCE, name="55-fp8",
             line_info=False, assessments={"sanitize.proxy/refill": "A"}),
    _example(_MIXED, "55_hopper_int4_bf16_gemm", "--m=256", "--n=256", "--k=512", "--g=128", "--mode=1", "--warmup=0",
             _ONCE, name="55-int4-bf16"),
    _example(_MIXED, "55_hopper_int4_fp8_gemm", "--m=256", "--n=256", "--k=512", "--g=128", "--mode=1", "--warmup=0",
             _ONCE, name="55-int4-fp8"),
    _example("56_hopper_ptr_array_batched_gemm", "", "--m=128", "--n=128", "--k=256", "--l=2", _ONCE),
    _example("57_hopper_grouped_gemm", "", "--m=128", "--n=128", "--k=896", "--groups=1", _ONCE),
    _example("62_hopper_sparse_gemm", "", "--m=256", "--n=128", "--k=1152", "--warmup=0", _ONCE,
             assessments={"sanitize.proxy/refill": "A"}),
    _example("63_hopper_gemm_with_weight_prefetch", "", "--m=128", "--n=128", "--k=512", _ONCE,
             assessments={"sanitize.copy/destination": "O"}),
    _example(f"67_{_BLOCKWISE}", "", "--m=256", "--n=256", "--k=512", "--warmup=0", _ONCE, name="67-blockwise"),
    _example(f"67_{_BLOCKWISE}", "67_hopper_fp8_warp_specialized_gemm_with_groupwise_scaling", "--m=256", "--n=256",
             "--k=512", "--warmup=0", _ONCE, name="67-groupwise", assessments={"sanitize.proxy/refill": "A"}),
    _example(_GROUPED_BLOCKWISE, "", "--m=256", "--n=256", "--k=512", "--groups=2", "--warmup=0", _ONCE,
             line_info=False),
    _example(_GROUPED_MIXED, "", "--m=128", "--n=128", "--k=512", "--groups=2", "--mode=1", "--warmup=0", _ONCE,
             name="69-fp8"),
    _example(_GROUPED_MIXED, "69_hopper_int4_bf16_grouped_gemm", "--m=128", "--n=128", "--k=512", "--groups=2",
             "--mode=1", "--warmup=0", _ONCE, name="69-int4-bf16"),
    _example("14_ampere_tf32_tensorop_gemm", "ampere_tf32_tensorop_gemm", "--m=128", "--n=256", "--k=64",
             "--iterations=1", success="Passed"),
    _example("15_ampere_sparse_tensorop_gemm", "ampere_sparse_tensorop_gemm", success="Passed"),
    _example("16_ampere_tensorop_conv2dfprop", "ampere_tensorop_conv2dfprop", "--n=1", "--h=16", "--w=16", "--c=32",
             "--k=32", "--r=3", "--s=3", "--ref-check", "--iterations=1", success=r"Passed\."),
    _example("18_ampere_fp64_tensorop_affine2_gemm", "ampere_fp64_tensorop_affine2_gemm", success="Passed"),
    _example("24_gemm_grouped", "gemm_grouped", "--groups=3", "--m=128", "--n=128", "--k=64", "--iterations=1",
             success="Passed"),
    _example("27_ampere_3xtf32_fast_accurate_tensorop_gemm", "", "--m=128", "--n=128", "--k=64", "--iterations=1",
             "--rand_mode=uniform", success="(?i)3xTF32"),
    _example("35_gemm_softmax", "gemm_softmax", "--m=128", "--n=128", "--k=64", "--batch_count=2", "--iterations=1",
             success="(?i)passed", assessments={"sanitize.unwritten/shared": "M"}),
    _example("41_fused_multi_head_attention", "fused_multihead_attention_fixed_seqlen", "--seq_length=128",
             "--seq_length_kv=128", "--head_number=2", "--batch_size=1", "--head_size=64", "--head_size_v=64",
             "--iterations=1", "--reference-check=true", success="(?i)passed"),
    _example("47_ampere_gemm_universal_streamk", "ampere_gemm_universal_streamk", "--m=256", "--n=256", "--k=256",
             _ONCE, assessments={"sanitize.race/global": "G"}),
    _blackwell("70_blackwell_gemm", "70_blackwell_fp16_gemm", "70-fp16", "--m=256", "--n=256", "--k=128", _ONCE,
               assessments=_PAIRS),
    _blackwell("70_blackwell_gemm", "70_blackwell_fp8_gemm", "70-fp8", *_SQUARE, _ONCE, assessments=_PAIRS),
    _blackwell(
        "71_blackwell_gemm_with_collective_builder", "", "71", "--m=256", "--n=256", "--k=128", "--l=1",
        success=r"(?s)\A(?=(?:.*?: Passed){10})(?!.*Failed)", assessments=_PAIRS,
    ),
    _blackwell(_NARROW, "72a_blackwell_nvfp4_bf16_gemm", "72a", *_SQUARE, _ONCE, assessments=_OVERLAPPED),
    _blackwell(_NARROW, "72b_blackwell_nvfp4_nvfp4_gemm", "72b", *_SQUARE, _ONCE, assessments=_STORES),
    _blackwell(_NARROW, "72c_blackwell_mixed_mxfp8_bf16_gemm", "72c", *_SQUARE, _ONCE, assessments=_OVERLAPPED),
    _blackwell(
        "77_blackwell_fmha", "", "77-fp16", "--b=1", "--h=1", "--q=256", "--k=256", "--d=64", _ONCE, "--verify",
        success=r"\[OK\]", assessments={
            "sanitize.tensor/load-wait": "S", "sanitize.tensor/store-wait": "T", "sanitize.race/shared": "U",
        },
    ),
    _blackwell("79_blackwell_geforce_gemm", "79a_blackwell_geforce_nvfp4_bf16_gemm", "79a", *_SMALL, _ONCE),
    _blackwell(
        "79_blackwell_geforce_gemm", "79c_blackwell_geforce_mixed_mxfp8_mxfp6_bf16_gemm", "79c", *_SMALL, _ONCE
    ),
)  # fmt: skip


def _sample(
    path: str, *arguments: str, success: str, status: int = 0, files: tuple[str, ...] = (),
    assessments: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    name = path.rpartition("/")[2]
    sources = files or (f"{name}.cu",)
    return Program(
        f"sample-{name}", "cuda-samples", tuple(f"Samples/{path}/{each}" for each in sources),
        ("cuda-samples/Common",), (), arguments, success, status, assessments=assessments or {},
    )  # fmt: skip


def _tensor_cores(name: str, kernel: str) -> Program:
    folder = f"cuda-samples/Samples/3_CUDA_Features/{name}"
    return Program(
        f"sample-{name}", "cuda-samples", ("tensor_core_sample.cu",), ("cuda-samples/Common", folder),
        (f"-DSOURCE={name}.cu", f"-DKERNEL={kernel}"), driver=True,
    )  # fmt: skip


_INTRODUCTION, _CONCEPTS, _FEATURES = "0_Introduction/", "2_Concepts_and_Techniques/", "3_CUDA_Features/"
_SAMPLES = (
    _sample(_INTRODUCTION + "vectorAdd", success="Test PASSED"),
    _sample(_INTRODUCTION + "asyncAPI", success="CPU executed"),
    _sample(_INTRODUCTION + "fp16ScalarProduct", success="PASSED"),
    _sample(_INTRODUCTION + "matrixMul", "-wA=64", "-hA=64", "-wB=64", "-hB=64", success="Result = PASS"),
    _sample(_INTRODUCTION + "simpleAWBarrier", success="Result = PASSED"),
    _sample(_INTRODUCTION + "simpleAssert", success="completed, returned OK", status=1,
            assessments={"emulator.assert": "P"}),
    _sample(_INTRODUCTION + "simpleAtomicIntrinsics", success="completed, returned OK",
            files=("simpleAtomicIntrinsics.cu", "simpleAtomicIntrinsics_cpu.cpp")),
    _sample(_INTRODUCTION + "simpleCallback", success="Success",
            files=("simpleCallback.cu", "multithreading.cpp")),
    _sample(_INTRODUCTION + "simpleCooperativeGroups", success=r"\.\.\.Done"),
    _sample(_INTRODUCTION + "simpleOccupancy", success="Test PASSED"),
    _sample(_INTRODUCTION + "simplePrintf", success=r"\[3, 7\]:\s+Value is:10"),
    _sample(_INTRODUCTION + "simpleTemplates", success="Test Results: 0 Failures"),
    _sample(_INTRODUCTION + "simpleVoteIntrinsics", success="OK"),
    _sample(_INTRODUCTION + "systemWideAtomics", success="completed, returned OK"),
    _sample(_CONCEPTS + "inlinePTX", success=r"Test Successful"),
    _sample(_CONCEPTS + "radixSortThrust", "-n=4096", "-iterations=1", success="Test passed",
            assessments={"sanitize.unwritten/register": "M"}),
    _sample(_CONCEPTS + "reduction", "--n=65536", success="Test passed",
            files=("reduction.cpp", "reduction_kernel.cu")),
    _sample(_CONCEPTS + "reductionMultiBlockCG", "--n=4096", "--threads=128", "--maxblocks=16",
            success=r"CPU result = "),
    _sample(_CONCEPTS + "scalarProd", success="Test passed", files=("scalarProd.cu", "scalarProd_cpu.cpp")),
    _sample(_CONCEPTS + "shfl_scan", success=r"CheckSum: 2073600", assessments={"sanitize.unwritten/shared": "M"}),
    _sample(_CONCEPTS + "streamOrderedAllocation", success="(?i)passed"),
    _sample(_CONCEPTS + "threadFenceReduction", "--n=65536", success="GPU result = ",
            assessments={"sanitize.race/global": "G"}),
    _sample(_FEATURES + "binaryPartitionCG", success="Sum of Odds = 1272565"),
    _sample(_FEATURES + "globalToShmemAsyncCopy", "-wA=128", "-hA=128", "-wB=128", "-hB=128", success="Result = PASS",
            assessments={"sanitize.cp-async/wait": "N"}),
    _sample(_FEATURES + "graphMemoryNodes", success="Validation PASSED"),
    _sample(_FEATURES + "newdelete", success="3/3 succesfully run", assessments={"sanitize.race/global": "F"}),
    _sample(_FEATURES + "simpleCudaGraphs", success="final reduced sum = 0.996214"),
    _sample(_FEATURES + "warpAggregatedAtomicsCG", success="(?i)passed"),
    _sample("4_CUDA_Libraries/conjugateGradientMultiBlockCG", success="PASSED"),
    _sample("6_Performance/LargeKernelParameter", success="(?i)pass"),
    _sample("6_Performance/transpose", "-dimX=128", "-dimY=128", success="Test passed"),
    _tensor_cores("cudaTensorCoreGemm", "simple_wmma_gemm"),
    _tensor_cores("bf16TensorCoreGemm", "simple_wmma_bf16gemm"),
    _tensor_cores("tf32TensorCoreGemm", "simple_wmma_tf32gemm"),
    _tensor_cores("immaTensorCoreGemm", "simple_wmma_gemm_imma"),
    _tensor_cores("dmmaTensorCoreGemm", "simple_wmma_gemm"),
)  # fmt: skip


def _driver(
    name: str, repository: str, file: str, includes: tuple[str, ...] = (), flags: tuple[str, ...] = (),
    assessments: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    return Program(
        name, repository, (f"{file}.cu",), (*includes, repository), flags, driver=True, assessments=assessments or {}
    )


_FLASH = ("flash-attention/hopper", "cutlass/include")
_MLA = ("FlashMLA/csrc", "FlashMLA/csrc/sm90", "FlashMLA/csrc/kerutils/include", "cutlass/include")
_DEEPGEMM = ("DeepGEMM/deep_gemm/include", "cutlass/include")
_FLASHINFER = ("flashinfer/include", f"{_LIBRARIES}/cccl")  # it needs a newer CCCL than that of CUDA 13.0
_KITTENS = ("ThunderKittens/include", "ThunderKittens/prototype")


def _flash(name: str, element: str, dimension: int, causal: bool, cluster: int) -> Program:
    flags = (
        f"-DELEMENT=cutlass::{element}", f"-DDIMENSION={dimension}", f"-DIS_CAUSAL={str(causal).lower()}",
        f"-DCLUSTER={cluster}",
    )  # fmt: skip
    return _driver(f"flash-attention-{name}", "flash-attention", "flash_attention", _FLASH, (*_FAST, *flags))


def _flash_backward(dimension: int, causal: bool) -> Program:
    flags = (f"-DDIMENSION={dimension}", f"-DIS_CAUSAL={str(causal).lower()}")
    name = f"flash-attention-backward-{dimension}{'-causal' if causal else ''}"
    return _driver(name, "flash-attention", "flash_attention_backward", _FLASH, (*_FAST, *flags))


def _kittens_attention(dimension: int, causal: bool) -> Program:
    flags = (f"-DDIMENSION={dimension}", f"-DIS_CAUSAL={str(causal).lower()}", "-DKITTENS_HOPPER")
    includes = (*_KITTENS, "ThunderKittens/kernels/attention/mha_h100")
    name = f"thunderkittens-attention-{dimension}{'-causal' if causal else ''}"
    return _driver(name, "ThunderKittens", "thunderkittens_attention", includes, (*_FAST, *flags))


def _deepgemm(kind: str, groups: int) -> Program:
    assessments = {"sanitize.copy/exit": "B"} | ({"sanitize.proxy/refill": "A"} if kind == "fp8" else {})
    name = f"deepgemm-{kind}{'-grouped' if groups > 1 else ''}"
    return _driver(name, "DeepGEMM", f"deepgemm_{kind}", _DEEPGEMM, (*_MODERN, f"-DGROUPS={groups}"), assessments)


def _fast_matmul(number: int) -> Program:
    assessments: dict[str, str] = {}
    if number >= 8:  # from version 8 on, CTAs form clusters
        assessments["sanitize.cluster/exit"] = "Q"
    if number >= 10:  # from version 10 on, tensor copies store the result
        assessments |= {"sanitize.proxy/async": "R", "sanitize.copy/exit": "B"}
    flags = (*_MODERN, f"-DNUMBER={number}")
    return _driver(f"fast.cu-matmul-{number}", "fast.cu", "fast_matmul", (), flags, assessments)


def _hgemm(file: str, function: str) -> Program:
    includes = ("cuda_hgemm/src/common", "cuda_hgemm/src", _LIBRARIES)
    flags = (f"-DSOURCE={file}.cu", f"-DFUNCTION={function}")
    return _driver(f"cuda_hgemm-{file.rpartition('/')[2]}", "cuda_hgemm", "hgemm", includes, flags)


def _lesson(path: str) -> Program:
    name = path.replace("/", "-").split("_", 1)[1].removesuffix(".cu").rpartition("-")[0]
    return Program(f"lesson-{name}", "cuda_programming", (path,), success="COMPLETED SUCCESSFULLY")


# The files of llm.c contain functions that call cuBLAS. The linker removes them, because nothing calls them.
_LLM = ("-Xcompiler", "-ffunction-sections", "-Xlinker", "--gc-sections")
_KERNELS = (
    _flash("64-causal", "bfloat16_t", 64, causal=True, cluster=1),
    _flash("128", "bfloat16_t", 128, causal=False, cluster=2),
    _flash("128-fp8", "float_e4m3_t", 128, causal=False, cluster=1),
    _flash_backward(64, causal=False),
    _flash_backward(128, causal=True),
    _driver("flashmla-dense", "FlashMLA", "flashmla_dense", _MLA, _FAST, {"sanitize.race/shared": "E"}),
    _driver("flashmla-sparse", "FlashMLA", "flashmla_sparse", _MLA, _FAST, {"sanitize.copy/exit": "B"}),
    _deepgemm("bf16", 1),
    _deepgemm("bf16", 2),
    _deepgemm("fp8", 1),
    _deepgemm("fp8", 2),
    _driver("thunderkittens-gemm", "ThunderKittens", "thunderkittens_gemm",
            (*_KITTENS, "ThunderKittens/kernels/gemm/bf16_h100"), (*_FAST, "-DKITTENS_HOPPER"),
            {"sanitize.mbarrier/lanes": "C", "sanitize.mbarrier/parity": "D"}),
    _kittens_attention(64, causal=True),
    _kittens_attention(128, causal=False),
    *map(_fast_matmul, (2, 4, 7, 9, 11, 12)),
    _driver("fast.cu-sum", "fast.cu", "fast_sum",
            assessments={"sanitize.race/global": "H", "sanitize.warp/mask": "I"}),
    _driver("flashinfer-norm", "flashinfer", "flashinfer_norm", _FLASHINFER, _RELAXED,
            {"sanitize.race/lanes": "J"}),
    _driver("flashinfer-attention", "flashinfer", "flashinfer_attention", _FLASHINFER, _RELAXED,
            {"sanitize.unwritten/shared": "M", "sanitize.race/lanes": "J"}),
    _driver("flashinfer-hopper", "flashinfer", "flashinfer_hopper", (*_FLASHINFER, *_CUTLASS), _MODERN),
    _driver("sgemm_cuda", "SGEMM_CUDA", "sgemm"),
    _driver("llm.c-layernorm", "llm.c", "llm_layernorm", (_LIBRARIES,), _LLM),
    _driver("llm.c-softmax", "llm.c", "llm_softmax", (_LIBRARIES,), _LLM,
            {"sanitize.race/shared": "K", "sanitize.race/lanes": "L"}),
    _driver("llm.c-adamw", "llm.c", "llm_adamw", (_LIBRARIES,), _LLM),
    _hgemm("mma/mma_async_stage3", "mmaAsyncStage3"),
    _hgemm("wmma/wmma_async_stage2", "wmmaAsyncStage2"),
    _lesson("01_vector_addition/unified_memory/vectorAdd_um_baseline.cu"),
    _lesson("02_matrix_mul/tiled/mmul.cu"),
    _lesson("03_sum_reduction/cooperative_groups/sumReduction.cu"),
    _lesson("05_convolution/2d_constant_memory/convolution.cu"),
)  # fmt: skip

PROGRAMS: tuple[Program, ...] = (*_CUTLASS_EXAMPLES, *_KERNELS, *_SAMPLES)
