"""What only a GPU can say: tensors of PyTorch, streams, attributes, assemblers and times on the one that is here.

Where no GPU is, the same questions are put to the fake one in the other tests of this folder.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from on_gpu import arch

import warploom as wl
from warploom.diagnostics import Severity
from warploom.gpu import Gpu, measure, state
from warploom.gpu.arrays import handle_of

pytestmark = pytest.mark.skipif(not arch(), reason="no GPU is here")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

SCALE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count, .param .f32 factor)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<3>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [data];
    cvta.to.global.u64 %d1, %d1;
    ld.param.u32 %r1, [count];
    ld.param.f32 %f1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p ret;
    mul.wide.u32 %d2, %r5, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.f32 %f2, [%d3];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%d3], %f2;
    ret;
}
"""
COPY = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    .shared .align 128 .b8 tile[128];
    .shared .align 8 .b64 bar;
    mov.u64 %d1, map;
    cvta.param.u64 %d1, %d1;
    mov.u32 %r1, bar;
    mov.u32 %r2, tile;
    mbarrier.init.shared.b64 [%r1], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 %d2, [%r1], 32;
    mov.u32 %r3, 0;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d1, {%r3, %r3}], [%r1];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
    @!%p bra WAIT;
    ld.param.u64 %d3, [out];
    cvta.to.global.u64 %d3, %d3;
    ld.shared.b32 %r3, [%r2];
    st.global.b32 [%d3], %r3;
    ld.shared.b32 %r3, [%r2+16];
    st.global.b32 [%d3+4], %r3;
    ret;
}
"""
GEOMETRY: dict[str, Any] = {"grid": (8, 1, 1), "block": (128, 1, 1)}


@needs_torch
@pytest.mark.parametrize("assembler", ["driver", "ptxas"])
def test_a_tensor_is_scaled_in_place(assembler: Any) -> None:
    import torch

    x = torch.arange(1000, dtype=torch.float32, device="cuda")
    run = wl.launch(SCALE, **GEOMETRY, args=[x, 1000, 0.5], device="cuda", assembler=assembler)
    assert torch.equal(x.cpu(), torch.arange(1000) / 2)
    assert not [found for found in run.findings if found.severity is Severity.ERROR]


@needs_torch
def test_a_launch_follows_the_current_stream() -> None:
    import torch

    stream = torch.cuda.Stream()
    x = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    with Gpu() as gpu, torch.cuda.stream(stream):
        launch = gpu.kernel(SCALE, "scale").prepare(**GEOMETRY)
        torch.cuda._sleep(100_000_000)  # whoever works elsewhere is done long before
        x.fill_(3)
        launch(x, 1000, 2.0)
        x.add_(1)
    stream.synchronize()
    assert bool((x == 7).all())
    assert handle_of(stream) == stream.cuda_stream


@needs_torch
def test_all_attributes_are_taken() -> None:
    import torch

    x = torch.ones(1000, device="cuda")
    with Gpu() as gpu:
        kernel = gpu.kernel(SCALE, "scale")
        for options in ({"cooperative": True}, {"programmatic": True}, {"shared": 100_000}, {"cluster": (2, 1, 1)}):
            kernel.prepare(**GEOMETRY, **options)(x, 1000, 2.0)
        gpu.wait()
    assert bool((x == 16).all())


@needs_torch
def test_too_many_ctas_do_not_cooperate() -> None:
    with Gpu() as gpu:
        launch = gpu.kernel(SCALE, "scale").prepare(grid=(1 << 20, 1, 1), block=(128, 1, 1), cooperative=True)
        with pytest.raises(wl.UsageError, match="the GPU cannot launch kernel scale"):
            launch(None, 0, 1.0)


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_tensor_map_over_a_tensor_moves_with_it(dtype: str) -> None:
    import torch

    first = torch.arange(64, device="cuda").to(getattr(torch, dtype)).reshape(8, 8)
    second = first + 100
    out = torch.zeros(2, dtype=first.dtype, device="cuda")
    with Gpu() as gpu:
        launch = gpu.kernel(COPY, "copy").prepare(
            grid=(1, 1, 1), block=(1, 1, 1), tensors={"map": wl.TensorMap.tiled(first, (2, 4))}
        )
        for tensor in (first, second, first):
            launch(tensor, out)
            assert out.tolist() == [tensor[0, 0].item(), tensor[1, 0].item()]
        wl.launch(COPY, grid=1, block=1, args=[wl.TensorMap.tiled(second, (2, 4)), out], device="cuda")
        assert out.tolist() == [100, 108]


@needs_torch
@pytest.mark.parametrize("target", ["", "sm_80"])
def test_a_gpu_takes_the_kernels_of_its_own_target_and_of_older_ones(target: str) -> None:
    import torch

    a, b = (torch.randint(-2, 3, shape, device="cuda").bfloat16() for shape in ((2, 70, 80), (80, 48)))
    found = wl.kernels.gemm(a[..., :77], b[:77, :45], target=target)
    wanted = a[..., :77].double() @ b[:77, :45].double()
    assert torch.equal(found, wanted.bfloat16())


@needs_torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn", "int8", "uint8"])
def test_a_tensor_is_compressed_where_it_is(dtype: str) -> None:
    import torch

    a, b = (torch.randint(0, 3, (rows, 160), device="cuda").to(getattr(torch, dtype)) for rows in (200, 90))
    sparse = wl.kernels.prune(a)
    held = wl.kernels.compress(sparse)
    assert held.values.device == held.metadata.device == a.device
    assert torch.equal(wl.kernels.decompress(held).float(), sparse.float())
    found = wl.kernels.gemm(held, b.T, result="s32" if dtype.endswith("int8") else "f32")
    assert torch.equal(found.double(), sparse.double() @ b.double().T)


@pytest.mark.parametrize("library", ["cupy", "jax.numpy"])
def test_arrays_of_other_libraries_are_used_in_place(library: str) -> None:
    numpy_like: Any = pytest.importorskip(library)
    x = numpy_like.ones(1000, dtype=np.float32)
    wl.launch(SCALE, **GEOMETRY, args=[x, 1000, 3.0], device="cuda")
    assert float(x.sum()) == 3000


def test_a_kernel_says_what_it_takes_and_comes_from_the_cache() -> None:
    with Gpu() as gpu:
        first, second = (gpu.kernel(SCALE, "scale") for _ in range(2))
    assert first.resources == second.resources
    assert 8 <= first.resources.registers <= 32
    assert first.resources.spill_stores == 0


@needs_torch
@pytest.mark.parametrize("by", ["graph", "events"])
def test_times_grow_with_the_work(by: Any) -> None:
    import torch

    small, large = (torch.randn(n, n, device="cuda") for n in (256, 4096))
    with Gpu() as gpu:
        launch = gpu.kernel(SCALE, "scale").prepare(**GEOMETRY)
        times = measure(
            gpu,
            {
                "ours": [lambda stream: launch(small, 1000, 1.0, stream=stream)],
                "small": [lambda stream: torch.mm(small, small, out=small)],
                "large": [lambda stream: torch.mm(large, large, out=large)],
            },
            repetitions=5,
            by=by,
        )
        assert 0 < times["small"].median < times["large"].median
        assert 0 < times["ours"].median < times["large"].median
        found = state(gpu)
        assert found.clock
        assert found.power is None or found.power > 0  # not all drivers report it


NOT_EMULATED = """.version 8.3
.target sm_70
.address_size 64
.func (.param .b32 result) factorial(.param .b32 n);
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    ld.param.b32 %r0, [n];
    mov.b32 %r1, 1;
    setp.le.u32 %p, %r0, 1;
    @%p bra DONE;
    sub.u32 %r2, %r0, 1;
    {
        .param .b32 less;
        .param .b32 product;
        st.param.b32 [less], %r2;
        call (product), factorial, (less);
        ld.param.b32 %r1, [product];
    }
    mul.lo.u32 %r1, %r1, %r0;
DONE:
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b128 %wide;
    .reg .b64 %d<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d0, %d0;
    mov.u64 %d1, 1;
    mov.u64 %d2, 2;
    mov.b128 %wide, {%d1, %d2};
    mov.b128 {%d1, %d2}, %wide;
    {
        .param .b32 n;
        .param .b32 product;
        mov.b32 %r0, 5;
        st.param.b32 [n], %r0;
        call (product), factorial, (n);
        ld.param.b32 %r1, [product];
    }
    cvt.u64.u32 %d3, %r1;
    st.global.u64 [%d0], %d1;
    st.global.u64 [%d0+8], %d2;
    st.global.u64 [%d0+16], %d3;
    ret;
}
"""


def test_a_kernel_that_the_emulator_refuses_runs() -> None:
    out = np.zeros(3, np.uint64)
    with pytest.raises(wl.Unsupported):
        wl.launch(NOT_EMULATED, grid=1, block=1, args=[out])
    wl.launch(NOT_EMULATED, grid=1, block=1, args=[out], device="cuda")
    assert out.tolist() == [1, 2, 120]


def test_a_structure_and_a_table_of_pointers_reach_the_kernel() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 s[16], .param .u64 table)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [s];
    ld.param.u32 %r0, [s+8];
    ld.param.u64 %d1, [table];
    ld.global.u64 %d2, [%d1];
    ld.global.u64 %d3, [%d1+8];
    ld.global.u32 %r1, [%d2];
    add.u32 %r0, %r0, %r1;
    st.global.u32 [%d0], %r0;
    st.global.u32 [%d3], %r0;
    ret;
}
"""
    x, first, second = (np.full(4, value, np.uint32) for value in (0, 30, 0))
    for device in ("cpu", "cuda"):
        x[:], second[:] = 0, 0
        args = [wl.Struct(x, np.uint32(12)), [first, second]]
        wl.launch(text, grid=1, block=1, args=args, device=device)
        assert (x[0], second[0]) == (42, 42)
