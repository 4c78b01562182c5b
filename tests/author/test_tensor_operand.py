"""Matrices A in tensor memory, in kernels in Python."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import warploom as wl
from warploom.author import (
    AuthorError,
    bounds,
    f32,
    kernel,
    pointer,
    ptx,
    shared,
    shared_tile,
    special,
    tensor_map,
    tensor_memory,
    u32,
    wait,
    when,
)

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn}
DEPTH, COLUMNS = 64, 32


@kernel(target="sm_100a")
def product(a: pointer(u32), b: tensor_map, d: pointer(f32), *, type: str, ctas: int):
    """Copy 128 rows of A from global to tensor memory in each CTA, and multiply them by B."""
    bounds(threads=128, cluster=(ctas, 1, 1))
    tile = shared_tile(COLUMNS // ctas, DEPTH, type, swizzle=32)
    copied, done = shared(8, align=8), shared(8, align=8)
    thread, rank = special("tid.x"), special("cluster_ctarank")
    with when(thread == 0):
        ptx.mbarrier_init(copied.at(), 1)
        ptx.mbarrier_init(done.at(), 1)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")
        ptx.mbarrier_arrive_expect_tx(copied.at(), tile.bytes)
        tile.load(b, (0, rank * (COLUMNS // ctas)), copied.address().at(space="shared::cluster"))
    with tensor_memory(64, ctas=ctas) as memory:
        sums, operand = memory.accumulator(COLUMNS), memory.operand(DEPTH, type)
        width = DEPTH * operand.bits // 32
        row = (special("ctaid.x") * 128 + thread) * width
        words = [a[row + number] for number in range(width)]
        half = width // 2
        operand.store(0, words[:half])
        operand.store(DEPTH // 2, words[half:])
        wait(copied.at(), 0)
        ptx.tcgen05_fence_before_thread_sync()
        if ctas == 2:
            ptx.barrier_cluster_arrive()
            ptx.barrier_cluster_wait()
        else:
            ptx.bar(0)
        with when((thread | rank) == 0):
            ptx.tcgen05_fence_after_thread_sync()
            sums.multiply(operand, tile.descriptor(), accumulate=False)
            memory.commit(done.address().at(space="shared::cluster"), multicast=3 if ctas == 2 else None)
        wait(done.at(), 0)
        ptx.tcgen05_fence_after_thread_sync()
        for column, word in enumerate(sums.load(0, COLUMNS)):
            d[(special("ctaid.x") * 128 + thread) * COLUMNS + column] = word.view("f32")
        ptx.tcgen05_fence_before_thread_sync()


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("type", DTYPES)
def test_products_equal_float64(type: str, ctas: int, schedule: str) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, (rows, DEPTH)).astype(DTYPES[type]) for rows in (128 * ctas, COLUMNS))
    made, d = product.at(type=type, ctas=ctas), np.zeros((128 * ctas, COLUMNS), np.float32)
    columns = 32 // a.itemsize
    run = wl.launch(
        made.module, grid=ctas, block=128, shared=made.shared, cluster=(ctas, 1, 1), schedule=schedule, sanitize=True,
        args=[a.view(np.uint32), wl.TensorMap.tiled(b, (COLUMNS // ctas, columns), swizzle=32), d],
    )  # fmt: skip
    assert not run.findings
    np.testing.assert_array_equal(d, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda memory: memory.operand(64, "e2m1"), r"has the type 'e2m1'; expected f16, bf16, tf32, e4m3"),
        (lambda memory: memory.operand(24, "bf16"), r"type bf16 has 24 columns; expected a multiple of 16"),
        (lambda memory: memory.operand(160, "bf16"), r"a matrix A in 80 columns do not fit"),
        (lambda memory: memory.operand(32, "bf16").store(0, [0] * 3), r"writes 3 words from element 0 on"),
        (lambda memory: memory.operand(32, "bf16").store(1, [0] * 2), r"writes 2 words from element 1 on"),
        (lambda memory: memory.operand(32, "bf16").store(24, [0] * 8), r"writes 8 words from element 24 on"),
        (lambda memory: memory.operand(32, "bf16").address(32), r"k is 32; expected 0 to 31"),
    ],
)
def test_wrong_uses_are_refused(use: object, sentence: str) -> None:
    @kernel(target="sm_100a")
    def wrong():
        with tensor_memory(64) as memory:
            use(memory)  # type: ignore[operator]

    with pytest.raises(AuthorError, match=sentence):
        wrong.text  # noqa: B018
