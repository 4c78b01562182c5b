"""Tensor memory in kernels in Python: allocation of a block, fragments of loads, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl
from warploom.author import AuthorError, bounds, kernel, pointer, ptx, special, tensor_memory, u32
from warploom.layout.tensor_memory import transfer_fragment

COLUMNS = 32


@kernel(target="sm_100a")
def fragments(out: pointer(u32), *, shape: str, half: int, ctas: int = 1):
    """Store the column and the lane of each word, and load the words with the fragments of a shape."""
    bounds(threads=128, cluster=(ctas, 1, 1))
    thread = special("tid.x")
    with tensor_memory(64, warp=2, ctas=ctas) as memory:
        before, words = memory.accumulator(16), memory.accumulator(COLUMNS)
        assert (before.first, words.first) == (0, 16)
        lane = thread & 96
        numbers = [thread << 16 | column for column in range(COLUMNS)]
        ptx.tcgen05_st(words.address(lane=lane).at(), numbers, shape="32x32b", num="x32")
        ptx.tcgen05_wait_st()
        found = words.load(0, COLUMNS, shape=shape, half=half)
        for number, word in enumerate(found):
            out[(special("ctaid.x") * 128 + thread) * len(found) + number] = word.view("u32")


@pytest.mark.parametrize(
    ("shape", "num", "half", "ctas"),
    [("32x32b", 32, 0, 1), ("32x32b", 32, 0, 2), ("16x256b", 4, 0, 1), ("16x256b", 4, 1, 1)],
)
def test_loads_have_the_fragments_of_the_layout(shape: str, num: int, half: int, ctas: int) -> None:
    layout = transfer_fragment(shape, num)
    made = fragments.at(shape=shape, half=half, ctas=ctas)
    out = np.zeros((ctas, 4, 32, layout.row.shape[1]), np.uint32)
    run = wl.launch(made.module, grid=ctas, block=128, shared=made.shared, args=[out], sanitize=True, schedule="lazy")
    assert not run.findings
    for warp in range(4):
        lanes = 32 * warp + 16 * half + layout.row
        np.testing.assert_array_equal(out[0, warp], lanes << 16 | layout.col)
    assert (out == out[0]).all()


def test_a_failing_block_frees_nothing() -> None:
    @kernel(target="sm_100a")
    def wrong():
        with tensor_memory(64) as memory:
            memory.accumulator(65)

    with pytest.raises(AuthorError, match=r"expected at most 64 columns"):
        wrong.text  # noqa: B018
