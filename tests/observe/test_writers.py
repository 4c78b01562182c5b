"""The last writer of each element of an array, for every kind of access to global memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.observe.writers import WriterRecorder, Writers
from warploom.runtime import cpu
from warploom.runtime.api import load_launch

FILL = """
    .shared .align 128 .b8 tile[512];
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %r0, 4, %r1;
    st.shared.u32 [%r2], %r0;
    fence.proxy.async.shared::cta;
    bar.sync 0;"""


def writers(
    body: str, array: np.ndarray[Any, Any], *args: Any, grid: Any = 1, block: int = 32, schedule: str = "eager",
    params: str = "",
) -> tuple[Writers, list[str]]:  # fmt: skip
    """Run a kernel. Return the writers of `array`, and the opcode of the writer of each element."""
    text, parts = kernel(body, params), args or (array,)
    loaded, geometry, arguments = load_launch(text, "k", grid, block, (1, 1, 1), 0, parts)
    launch = cpu.prepare(loaded, geometry, arguments, None, schedule)
    start = arguments.buffers.address(array) - GLOBAL_BASE
    recorder = WriterRecorder(start, array.size, array.itemsize)
    cpu.run(launch, observer=recorder)
    found = recorder.writers()
    steps = found.program.steps
    return found, ["" if pc < 0 else steps[pc].instruction.opcode for pc in found.pcs.tolist()]


def test_each_lane_of_each_warp_and_cta_writes_its_elements() -> None:
    body = """
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ctaid.y;
        mad.lo.u32 %r3, %r2, 3, %r1;
        mad.lo.u32 %r3, %r3, 64, %r0;
        mad.wide.u32 %rd1, %r3, 4, %rd0;
        st.global.u32 [%rd1], %r0;
        ret;"""
    found, opcodes = writers(body, np.zeros(7 * 64, np.uint32), grid=(3, 2), block=64)
    elements = np.arange(6 * 64)
    assert np.array_equal(found.ctas[:-64], elements // 64)
    assert np.array_equal(found.warps[:-64], elements // 32 % 2)
    assert np.array_equal(found.lanes[:-64], elements % 32)
    assert opcodes == ["st.global.u32"] * (6 * 64) + [""] * 64
    for column in (found.pcs, found.ctas, found.warps, found.lanes):
        assert (column[-64:] == -1).all()


def test_the_last_of_several_writers_counts() -> None:
    body = """
        st.global.u32 [%rd0], %r0;
        setp.eq.u32 %p0, %r0, 5;
        @%p0 atom.global.add.u32 %r1, [%rd0], 1;
        st.global.u32 [%rd0+4], %r0;
        ret;"""
    found, opcodes = writers(body, np.zeros(4, np.uint32))
    assert opcodes == ["atom.global.add.u32", "st.global.u32", "", ""]
    assert found.lanes.tolist() == [5, 31, -1, -1]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.uint8, [-1] * 8 + [0] * 8 + [1] * 8 + [-1] * 8),
        (np.uint32, [-1, -1, 0, 0, 1, 1, -1, -1]),
        (np.uint64, [-1, 0, 1, -1]),
        (np.complex128, [0, 1]),
    ],
)
def test_a_store_writes_each_element_that_it_touches(dtype: type, expected: list[int]) -> None:
    body = """
        mad.wide.u32 %rd1, %r0, 8, %rd0;
        setp.lt.u32 %p0, %r0, 2;
        @%p0 st.global.v2.u32 [%rd1+8], {%r0, %r0};
        ret;"""
    found, _ = writers(body, np.zeros(32 // np.dtype(dtype).itemsize, dtype))
    assert found.lanes.tolist() == expected


def test_generic_addresses_and_other_arrays() -> None:
    body = """
        mad.wide.u32 %rd1, %r0, 4, %rd0;
        st.u32 [%rd1], %r0;
        ld.param.u64 %rd2, [other];
        mad.wide.u32 %rd2, %r0, 4, %rd2;
        ld.global.u32 %r1, [%rd1];
        st.global.u32 [%rd2], %r1;
        ret;"""
    first, second = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    params = ".param .u64 out, .param .u64 other"
    assert writers(body, first, first, second, params=params)[1] == ["st.u32"] * 32
    assert writers(body, second, first, second, params=params)[1] == ["st.global.u32"] * 32


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize("opcode", ["cp.async.bulk", "cp.reduce.async.bulk"])
def test_a_bulk_copy_is_written_by_the_thread_that_issues_it(opcode: str, schedule: str) -> None:
    modifiers = ".bulk_group" + (".add.u32" if "reduce" in opcode else "")
    whole = f"{opcode}.global.shared::cta{modifiers}"
    body = f"""{FILL}
        mov.u32 %r3, %ctaid.x;
        mad.wide.u32 %rd1, %r3, 128, %rd0;
        setp.eq.u32 %p0, %r0, 37;
        @%p0 {whole} [%rd1], [%r1], 64;
        @%p0 cp.async.bulk.commit_group;
        @%p0 cp.async.bulk.wait_group 0;
        ret;"""
    found, opcodes = writers(body, np.zeros(96, np.uint32), grid=3, block=64, schedule=schedule)
    assert opcodes == ([whole] * 16 + [""] * 16) * 3
    assert np.array_equal(found.ctas.reshape(3, 32)[:, :16], np.repeat([[0], [1], [2]], 16, axis=1))
    assert set(found.warps.tolist()) == {1, -1}
    assert set(found.lanes.tolist()) == {5, -1}
