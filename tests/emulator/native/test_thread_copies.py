"""Thread copies (`cp.async`) that native code executes: same shared memory as in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import warploom as wl

THREADS = 64
WORDS = 4 * THREADS


def copied(size: int, amounts: NDArray[np.uint32], active: NDArray[np.uint32], shift: int) -> NDArray[np.uint32]:
    """Return the shared memory after a copy of `size` bytes by each active thread.

    Thread t reads `amounts[t]` bytes at its place, and writes to the place of thread t XOR `shift`, rounded down to a
    multiple of 2 places, so that two threads write to each place.
    """
    cache = "cg" if size == 16 else "ca"
    body = f"""
        ld.param.u64 %rd4, [words]; ld.param.u64 %rd1, [amounts]; ld.param.u64 %rd2, [active];
        ld.param.u32 %r9, [shift];
        mov.u64 %rd5, data;
        mov.u32 %r8, %tid.x;
        mad.wide.u32 %rd6, %r8, 16, %rd5;
        mov.u32 %r1, -1;
        st.shared.v4.u32 [%rd6], {{%r1, %r1, %r1, %r1}};
        bar.sync 0;
        mad.wide.u32 %rd7, %r8, 4, %rd1; ld.global.u32 %r2, [%rd7];
        mad.wide.u32 %rd7, %r8, 4, %rd2; ld.global.u32 %r3, [%rd7];
        mad.wide.u32 %rd8, %r8, 16, %rd4;
        xor.b32 %r4, %r8, %r9; and.b32 %r4, %r4, -2;
        mad.wide.u32 %rd9, %r4, 16, %rd5;
        setp.ne.u32 %p1, %r3, 0;
        @%p1 cp.async.{cache}.shared.global [%rd9], [%rd8], {size}, %r2;
        cp.async.wait_all;
        bar.sync 0;
        ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd6];
        mad.wide.u32 %rd8, %r8, 16, %rd0;
        st.global.v4.u32 [%rd8], {{%r1, %r2, %r3, %r4}};
        ret;"""
    params = ".param .u64 words, .param .u64 amounts, .param .u64 active, .param .u64 out, .param .u32 shift"
    before = f".shared .align 16 .b8 data[{16 * THREADS}];\n"
    source, out = np.arange(WORDS, dtype=np.uint32), np.zeros(WORDS, np.uint32)
    text = kernel(body, params=params, before=before)
    wl.launch(text, grid=1, block=THREADS, args=[source, amounts, active, out, np.uint32(shift)])
    return out


@pytest.mark.parametrize("size", [4, 8, 16])
@given(data=st.data())
def test_both_engines_copy_the_same_words(size: int, data: st.DataObject) -> None:
    def lanes(values: list[int]) -> NDArray[np.uint32]:
        drawn = data.draw(st.lists(st.sampled_from(values), min_size=THREADS, max_size=THREADS))
        return np.array(drawn, np.uint32)

    amounts, active = lanes(data.draw(st.sampled_from([[0, size], [size], [0, 1, size]]))), lanes([0, 1])
    shift = data.draw(st.integers(0, THREADS - 1))
    found: list[NDArray[np.uint32]] = []
    for engine in ("interpreter", "compiler"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WARPLOOM_ENGINE", engine)
            found.append(copied(size, amounts, active, shift))
    np.testing.assert_array_equal(found[0], found[1])
