"""Compilation of the CUDA files with nvcc, and descriptions of the launches."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from warploom_lab.compiled.cuda.blackwell import block_scaled_cases, tensor_memory_cases
from warploom_lab.compiled.description import Case, Spec, buffer, out, scalar, tensor

TARGETS = ("sm_80", "sm_90a")
HERE = Path(__file__).resolve().parent


def _integers(dtype: str, *shape: int, low: int = -1000, high: int = 1000) -> Spec:
    return buffer(dtype, *shape, fill="integers", low=low, high=high)


def _reals(dtype: str, *shape: int, low: float = -4, high: float = 4) -> Spec:
    return buffer(dtype, *shape, fill="uniform", low=low, high=high)


N = 150


def _scalar() -> Iterator[Case]:
    n = scalar("i32", N)
    ints, floats = _integers("i32", N), _reals("fp32", N)

    def case(
        name: str, near: float = 0.0, grid: tuple[int, ...] = (3,), block: tuple[int, ...] = (64,), **args: Spec
    ) -> Case:
        return Case(name, name, args, grid, block, kind="scalar", tolerance=(near, near))

    yield case("constants", x=ints, y=out("fp32", N), n=n)
    yield case("noinline_call", 1e-5, x=floats, y=out("fp32", N), n=n)
    for name in ("function_table", "function_pointer"):
        made = case(name, 1e-6, x=floats, which=ints, y=out("fp32", N), n=n)
        made.reference = "function_table"
        yield made
    yield case("switch_table", x=ints, y=out("i32", N), n=n)
    yield case(
        "local_sort", block=(40,), grid=(1,), x=_integers("i32", 40, 16), y=out("i32", 40, 16), n=scalar("i32", 40)
    )
    yield case("structs", 1e-12, x=_reals("fp64", N), y=out("fp64", N), n=n)
    yield case("virtual_call", grid=(1,), block=(32,), y=out("i32", 32))
    yield case("divergent_returns", grid=(1,), block=(160,), x=ints, y=out("i32", N), n=n)
    yield case("blocks_3d", grid=(2, 1, 2), block=(3, 5, 4), y=out("i32", 4, 60))
    yield case("wide_math", x=buffer("i64", N, fill="bits"), z=buffer("i64", N, fill="bits"), y=out("i64", N), n=n)
    yield case("narrow_math", x=buffer("i8", N, fill="bits"), z=buffer("i16", N, fill="bits"), y=out("i32", N), n=n)
    yield case("doubles", 1e-9, x=_reals("fp64", N), y=out("fp64", N), n=n)
    yield case("singles", 2e-4, x=floats, y=out("fp32", N), n=n)
    yield case("rounding", x=floats, z=_reals("fp32", N, low=0.5), y=out("fp32", N, 16), n=n)
    yield case("half_math", 0.06, x=_reals("fp16", N), z=_reals("fp16", N), y=out("fp32", N), n=n)
    yield case("half_functions", 0.02, x=_reals("fp16", N, low=-2, high=2), y=out("fp32", N), n=n)
    yield case("bf16_math", 0.4, x=_reals("bf16", N), z=_reals("bf16", N), y=out("fp32", N), n=n)
    yield case("fp8_casts", x=_reals("fp32", N, low=-600, high=600), y=out("u8", N, 4), z=out("fp32", N, 2), n=n)
    yield case("packed_fp8", x=_reals("fp32", N, 4), y=out("u32", N), z=out("fp32", N, 4), n=n)
    yield case("unaligned_bytes", x=buffer("u8", 3 * N, fill="bits"), y=out("u32", N), n=n)
    yield case(
        "grid_stride",
        1e-6,
        x=floats | {"shape": [N, 4]},
        y=out("fp32", N, 4),
        a=scalar("fp32", 1.5),
        n=scalar("i64", N),
    )


def _together() -> Iterator[Case]:
    def case(name: str, grid: tuple[int, ...], block: tuple[int, ...], near: float = 0.0, **args: Spec) -> Case:
        return Case(name, name, args, grid, block, kind="cooperative", tolerance=(near, near))

    whole = buffer("fp32", 1000, fill="integers", low=-50, high=50)
    yield case("shuffles", (2,), (96,), x=_integers("i32", 192), y=out("i32", 192), n=scalar("i32", 192))
    yield case("votes", (1,), (64,), x=_integers("i32", 64), y=out("u32", 64, 8))
    yield case("block_sum", (3,), (160,), x=whole, y=out("fp32", 1), n=scalar("i32", 1000))
    yield case(
        "last_block_done", (8,), (128,), x=whole, part=buffer("fp32", 8, fill="zeros"), count=buffer("u32", 1, fill="zeros"),
        y=out("fp32", 1), n=scalar("i32", 1000),
    )  # fmt: skip
    yield case("spin_lock", (3,), (40,), mutex=buffer("i32", 1, fill="zeros"), y=out("i32", 1), rounds=scalar("i32", 2))
    yield case("global_atomics", (2,), (70,), i=out("i32", 16), l=out("u64", 8), f=out("fp32", 2), d=out("fp64", 1))
    yield case("half_atomics", (1,), (64,), h=out("fp16", 2), h2=out("fp16", 2), b=out("bf16", 2), v=out("fp32", 4))
    yield case(
        "shared_histogram", (3,), (100,), x=buffer("u8", 2000, fill="bits"), y=out("u32", 256), n=scalar("i32", 2000)
    )
    transpose = case(
        "dynamic_transpose",
        (3, 2),
        (32, 8),
        x=_reals("fp32", 50, 70),
        y=out("fp32", 70, 50),
        rows=scalar("i32", 50),
        columns=scalar("i32", 70),
    )
    transpose.shared, transpose.reference = 32 * 33 * 4, "transpose"
    yield transpose
    yield case("tiles", (1,), (96,), x=_integers("i32", 96, low=0, high=100), y=out("i32", 96, 8))
    yield case(
        "coalesced", (1,), (64,), x=_integers("i32", 64, low=0, high=100), y=out("i32", 64), counter=out("i32", 1)
    )
    yield case("barriers", (1,), (256,), 1e-5, x=_reals("fp32", 5, 256), y=out("fp32", 256), n=scalar("i32", 5))
    for name, width in (("pipelines", 128), ("shared_pipeline", 64)):
        yield case(name, (1,), (128,), 1e-5, x=_reals("fp32", 5, width), y=out("fp32", width), n=scalar("i32", 5))
    yield case("group_copy", (2,), (64,), x=_integers("i32", 2, 64, 4), y=out("i32", 2, 64, 4))
    yield case("scoped_atomics", (2,), (48,), y=out("i32", 4), rounds=scalar("i32", 3))
    yield case(
        "flag_wait",
        (3,),
        (32,),
        flag=buffer("i32", 1, fill="zeros"),
        data=buffer("i32", 1, fill="zeros"),
        y=out("i32", 96),
    )
    yield case("named_barriers", (1,), (96,), y=out("i32", 96))


def _hopper() -> Iterator[Case]:
    def case(name: str, grid: tuple[int, ...], block: tuple[int, ...], cluster: int = 1, **args: Spec) -> Case:
        return Case(name, name, args, grid, block, (cluster, 1, 1), kind="cooperative", tolerance=(1e-6, 1e-6))

    yield case(
        "cluster_histogram", (8,), (96,), 4, x=_integers("i32", 1000, low=0), y=out("i32", 64), n=scalar("i32", 1000)
    )
    yield case("cluster_exchange", (6,), (64,), 2, x=_reals("fp32", 6, 64), y=out("fp32", 6, 64))
    yield case("bulk_stream", (1,), (128,), x=_reals("fp32", 5, 256), y=out("fp32", 5, 256), n=scalar("i32", 5))


def _tensor() -> Iterator[Case]:
    def case(
        name: str,
        a: Spec,
        b: Spec,
        c: Spec,
        layout: str,
        near: float = 0.0,
        block: int = 32,
        times: int = 1,
        **options: object,
    ) -> Case:
        made = Case(
            name, "cuda_matmul", {"a": a, "b": b, "c": c}, (1,), (block,), kind="tensor", tolerance=(near, near)
        )
        made.parameters = {"layout": layout, "times": times, **options}
        return made

    def real(dtype: str, *shape: int) -> Spec:
        return buffer(dtype, *shape)

    def bits(dtype: str, *shape: int) -> Spec:
        return buffer(dtype, *shape, fill="bits")

    yield case("wmma_f16", real("fp16", 16, 32), real("fp16", 16, 32), out("fp32", 16, 16), "nt", 1e-4, times=2)
    yield case("wmma_f16_f16", real("fp16", 32, 32), real("fp16", 32, 8), out("fp16", 32, 8), "tn", 3e-2, times=2)
    yield case(
        "wmma_f16_8x32",
        real("fp16", 8, 32),
        real("fp16", 32, 32),
        out("fp32", 32, 8),
        "nn",
        1e-4,
        times=2,
        transposed=True,
    )
    yield case("wmma_bf16", real("bf16", 16, 32), real("bf16", 16, 32), out("fp32", 16, 16), "nt", 1e-4, times=2)
    yield case(
        "wmma_bf16_32x8",
        real("bf16", 32, 32),
        real("bf16", 8, 32),
        out("fp32", 8, 32),
        "nt",
        1e-4,
        times=2,
        transposed=True,
    )
    yield case("wmma_tf32", real("fp32", 16, 32), real("fp32", 16, 32), out("fp32", 16, 16), "nt", 2e-2, times=2)
    yield case("wmma_f64", real("fp64", 8, 32), real("fp64", 8, 32), out("fp64", 8, 8), "nt", 1e-12, times=2)
    yield case("wmma_s8", bits("i8", 16, 32), bits("i8", 16, 32), out("i32", 16, 16), "nt", times=2)
    yield case("wmma_u8", bits("u8", 32, 8), bits("u8", 32, 32), out("i32", 8, 32), "tn", times=2)
    yield case("wmma_s4", bits("u8", 8, 16), bits("u8", 8, 16), out("i32", 8, 8), "nt", unpack="s4")
    yield case("wmma_b1", bits("u8", 8, 16), bits("u8", 8, 16), out("i32", 8, 8), "nt", unpack="xor")
    pipeline = case("mma_pipeline", real("fp16", 64, 96), real("fp16", 96, 64), out("fp32", 64, 64), "nn", 1e-4, 128)
    pipeline.args["k_extent"] = scalar("i32", 96)
    yield pipeline
    yield case("mma_s8_m16n8k32", bits("i8", 16, 32), bits("i8", 8, 32), out("i32", 16, 8), "nt")
    yield case("mma_f64_m8n8k4", real("fp64", 8, 4), real("fp64", 8, 4), out("fp64", 8, 8), "nt", 1e-13)


def _hopper_tensor() -> Iterator[Case]:
    args = {"a": buffer("fp16", 64, 64), "b": buffer("fp16", 16, 64), "c": out("fp32", 64, 16)}
    yield Case(
        "wgmma_plain",
        "cuda_matmul",
        args,
        kind="tensor",
        tolerance=(1e-4, 1e-4),
        parameters={"layout": "nt", "times": 1},
    )


def _hopper_only() -> Iterator[Case]:
    def case(name: str, grid: tuple[int, ...], block: int, cluster: int = 1, **args: Spec) -> Case:
        return Case(name, name, args, grid, (block,), (cluster, 1, 1), kind="hopper")

    def ints(*shape: int) -> Spec:
        return _integers("i32", *shape)

    n = scalar("i32", 7)
    yield case("block_copy", (1,), 256, x=ints(7, 256), y=out("i32", 7, 256), n=n)
    turned = {
        "x": tensor("fp32", 48, 64, box=(16, 32), bare=True, swizzle=0),
        "y": tensor("fp32", 64, 48, box=(32, 16), fill="zeros", checked=True, bare=True, swizzle=0),
    }
    yield Case("tile_turned", "tile_turned", turned, (2, 3), (64,), kind="hopper")
    yield case("ring", (1,), 160, x=_integers("fp32", 7, 128), y=out("fp32", 128), n=n)
    yield case("added_rows", (5,), 64, x=ints(5, 64), y=out("i32", 64))
    yield case("cluster_tree", (8,), 64, 4, x=ints(8, 64), y=out("i32", 2, 64))
    yield case("pushed_around", (8,), 32, 4, x=ints(8, 32), y=out("i32", 2, 4, 32), rounds=scalar("i32", 3))
    yield case("remote_sums", (4,), 32, 2, x=ints(4, 32), y=out("i32", 2, 2, 32))
    yield case("four_stages", (1,), 64, x=ints(7, 64, 4), y=out("i32", 7, 64, 4), n=n)
    yield case("dropped", (1,), 128, x=ints(64), y=out("i32", 64), n=scalar("i32", 3))
    yield case("one_by_one", (1,), 128, x=ints(4), y=out("i32", 128))
    yield case("shared_halves", (4,), 128, 2, x=ints(128), y=out("i32", 4, 128))
    yield case("block_to_block", (4,), 64, 2, x=ints(4, 64), y=out("i32", 2, 2, 64))


def _groups() -> Iterator[Case]:
    def case(name: str, grid: tuple[int, ...], block: tuple[int, ...], **args: Spec) -> Case:
        return Case(name, name, args, grid, block, kind="groups")

    def ints(*shape: int) -> Spec:
        return _integers("i32", *shape)

    def zeros(*shape: int) -> Spec:
        return buffer("i32", *shape, fill="zeros")

    n = scalar("i32", 5)
    yield case(
        "warp_aggregated", (2,), (96,), x=ints(192), sums=out("i32", 2), count=out("i32", 1), n=scalar("i32", 192)
    )
    yield case("tile_scratch", (2,), (128,), x=ints(256), y=out("i32", 256))
    yield case("block_scan", (2,), (128,), x=ints(256), y=out("i32", 256))
    yield case("bitonic_sort", (2,), (64,), x=ints(256), y=out("i32", 256))
    yield case("warp_transpose", (1,), (64,), x=ints(2, 32, 32), y=out("i32", 2, 32, 32))
    for name, block, width, factor in (
        ("ready_filled", 128, 64, 1),
        ("group_prefetch", 64, 64, 2),
        ("slot_queue", 64, 32, 1),
    ):
        made = case(name, (1,), (block,), x=ints(5, width), y=out("i32", 5, width), n=n)
        made.reference, made.parameters = "turned_rows", {"factor": factor}
        yield made
    yield case("pipelined_tiles", (1,), (64,), x=ints(5, 64), y=out("i32", 64), n=n)
    yield case("stencil", (2, 6), (32, 8), x=ints(45, 45), y=out("i32", 45, 45), n=scalar("i32", 45))
    queue = case("work_queue", (3,), (64,), x=ints(7, 64), y=out("i32", 7, 64), next=zeros(1), tiles=scalar("i32", 7))
    queue.parameters = {"unordered": ["next"]}
    yield queue
    yield case("chained_scan", (4,), (64,), x=ints(256), y=out("i32", 256), flag=zeros(4), sum=zeros(4))
    yield case("grid_meeting", (3,), (64,), x=ints(192), y=out("i32", 192), part=zeros(192), count=zeros(1))
    yield case("locked_sum", (1,), (128,), x=ints(4), y=out("i32", 128))
    yield case("counted_turns", (1,), (128,), x=ints(4), y=out("i32", 128))
    whole = buffer("fp32", 200, fill="integers", low=-50, high=50)
    yield case("swapped_sums", (2,), (64,), x=whole, y=out("fp32", 2), n=scalar("i32", 200))


def _hopper_groups() -> Iterator[Case]:
    def case(name: str, grid: int, block: tuple[int, ...], cluster: int = 1, **args: Spec) -> Case:
        return Case(name, name, args, (grid,), block, (cluster, 1, 1), kind="groups")

    def ints(*shape: int) -> Spec:
        return _integers("i32", *shape)

    n = scalar("i32", 5)
    yield case("bulk_round_trip", 2, (64,), x=ints(2, 5, 64) | {"checked": True}, n=n)
    count = buffer("u32", 1, fill="zeros")
    yield case(
        "bulk_handover", 4, (64,), x=ints(4, 64), part=buffer("i32", 4, 64, fill="zeros"), y=out("i32", 64), count=count
    )
    yield case("cluster_scan", 8, (32,), 4, x=ints(256), y=out("i32", 256))
    yield case("cluster_transpose", 4, (32, 4), 2, x=ints(4, 32, 32), y=out("i32", 4, 32, 32))
    yield case("cluster_stages", 2, (64,), 2, x=ints(5, 64), y=out("i32", 2, 5, 64), n=n)


def _refused() -> Iterator[Case]:
    y = out("i32", 32)
    for name, words, args in (
        ("samples", "unsupported instruction 'tex.2d.v4.f32.f32'", {"t": scalar("i64", 0), "y": y}),
        ("writes_surface", "unsupported instruction", {"s": scalar("i64", 0)}),
        ("calls_outside", "the function 'outside' is not defined in the module", {"y": y}),
        ("recurses", "recursion is not implemented", {"y": y}),
    ):
        yield Case(name, "refused", args, block=(32,), kind="refused", parameters={"refused": words})


BLACKWELL = {
    ("blackwell", "sm_100a"): partial(tensor_memory_cases, integers=True),
    ("blackwell", "sm_103a"): partial(tensor_memory_cases, integers=False),
    ("block_scaled", "sm_120a"): block_scaled_cases,
}
"""Cases of the files for Blackwell by file and target."""

CASES = {
    "refused": (_refused, None),
    "scalar": (_scalar, None),
    "cooperative": (_together, _hopper),
    "tensor": (_tensor, _hopper_tensor),
    "hopper": (tuple, _hopper_only),
    "groups": (_groups, _hopper_groups),
}


def build(folder: Path) -> int:
    """Compile every file for every target, describe all launches, and return the number of launches."""
    count = 0
    for name, (always, hopper) in CASES.items():
        for target in TARGETS if name != "hopper" else TARGETS[1:]:
            cases = [*always(), *(hopper() if hopper and target == "sm_90a" else ())]
            count += _compile(folder, name, target, cases)
    for (name, target), made in BLACKWELL.items():
        count += _compile(folder, name, target, list(made()))
    return count


def _compile(folder: Path, name: str, target: str, cases: list[Case]) -> int:
    output = folder / f"{name}_{target}.ptx"
    options = ("-rdc=true",) if name == "refused" else ()
    command = ["nvcc", "-ptx", "-std=c++17", "-w", *options, f"-arch={target}", "--expt-relaxed-constexpr"]
    subprocess.run([*command, "-o", str(output), str(HERE / f"{name}.cu")], check=True)
    for case in cases:
        case = copy.deepcopy(case)
        case.entry, case.file = case.name, output.name
        case.parameters |= {"target": target}
        case.name = f"cuda_{case.name}_{target}"
        case.write(folder)
    return len(cases)
