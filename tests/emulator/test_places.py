"""Where things are: special registers, waves of CTAs, state spaces and windows, initial values, arguments."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import HEADER, kernel, run
from hypothesis import given
from hypothesis import strategies as st

import warploom as wl
from warploom.emulator import waves
from warploom.emulator.grid import Grid
from warploom.emulator.loader import load
from warploom.ptx import parse

LANE = np.arange(32)

COORDINATES = """
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2;
    mad.lo.u32 %r6, %r6, %r4, %r1;
"""


def test_special_registers_in_three_dimensions() -> None:
    grid, block = (3, 2, 2), (4, 5, 2)
    names = ["tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z",
             "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "warpid", "lanemask_lt"]  # fmt: skip
    stores = "\n".join(
        f"mov.u32 %r11, %{name};\nst.global.u32 [%rd3+{4 * place}], %r11;" for place, name in enumerate(names)
    )
    found = run(f"""{COORDINATES}
        mov.u32 %r7, %tid.y;
        mov.u32 %r8, %tid.z;
        mad.lo.u32 %r9, %r8, 5, %r7;
        mad.lo.u32 %r9, %r9, 4, %r0;
        mad.lo.u32 %r9, %r6, 40, %r9;
        mul.wide.u32 %rd3, %r9, {4 * len(names)};
        add.u64 %rd3, %rd3, %rd0;
        {stores}
        ret;""", 480 * len(names), grid=grid, block=block)  # fmt: skip
    cta, thread = np.divmod(np.arange(480), 40)
    tid = [thread % 4, thread // 4 % 5, thread // 20]
    ctaid = [cta % 3, cta // 3 % 2, cta // 6]
    columns = [*tid, *block, *ctaid, *grid, thread % 32, thread // 32, (1 << thread % 32) - 1]
    expected = np.stack([np.broadcast_to(column, 480) for column in columns], axis=1)
    np.testing.assert_array_equal(found.reshape(480, -1), expected)


def test_special_registers_of_clusters() -> None:
    grid, cluster = (4, 2, 2), (2, 1, 2)
    names = ["clusterid.x", "clusterid.y", "clusterid.z", "nclusterid.x", "nclusterid.y", "nclusterid.z",
             "cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z", "cluster_nctaid.x", "cluster_nctaid.y",
             "cluster_nctaid.z", "cluster_ctarank", "cluster_nctarank"]  # fmt: skip
    stores = "\n".join(
        f"mov.u32 %r11, %{name};\nst.global.u32 [%rd3+{4 * place}], %r11;" for place, name in enumerate(names)
    )
    found = run(f"""{COORDINATES}
        mul.wide.u32 %rd3, %r6, {4 * len(names)};
        add.u64 %rd3, %rd3, %rd0;
        {stores}
        ret;""", 16 * len(names), grid=grid, block=1, cluster=cluster)  # fmt: skip
    cta = np.arange(16)
    x, y, z = cta % 4, cta // 4 % 2, cta // 8
    columns = [x // 2, y, z // 2, 2, 2, 1, x % 2, 0, z % 2, 2, 1, 2, x % 2 + 2 * (z % 2), 4]
    expected = np.stack([np.broadcast_to(column, 16) for column in columns], axis=1)
    np.testing.assert_array_equal(found.reshape(16, -1), expected)


@pytest.mark.parametrize("resident", [4, 8, 24])
def test_ctas_that_do_not_fit_come_in_waves(resident: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "RESIDENT_WARPS", resident)
    # Shared memory and registers begin anew in every wave: a stale count would show.
    found = run(f"""{COORDINATES}  // {resident} warps, because a program keeps its waves
        .shared .b32 s[1];
        atom.shared.add.u32 %r10, [s], 1;
        bar.sync 0;
        ld.shared.u32 %r11, [s];
        add.u32 %r12, %r12, %r11;
        mad.lo.u32 %r7, %r6, 64, %r0;
        mul.wide.u32 %rd2, %r7, 4;
        add.u64 %rd2, %rd2, %rd0;
        mad.lo.u32 %r12, %r6, 1000, %r12;
        st.global.u32 [%rd2], %r12;
        ret;""", 64 * 15, grid=(5, 3), block=64)  # fmt: skip
    np.testing.assert_array_equal(found, np.repeat(np.arange(15) * 1000 + 64, 64))


@pytest.mark.parametrize("resident", [2, 4, 6])
def test_a_wave_holds_whole_clusters(resident: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "RESIDENT_WARPS", resident)
    found = run(f"""{COORDINATES}  // {resident} warps, because a program keeps its waves
        .shared .b32 s[1];
        st.shared.u32 [s], %r6;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        mov.u32 %r7, %cluster_ctarank;
        xor.b32 %r7, %r7, 1;
        mov.u32 %r8, s;
        mapa.shared::cluster.u32 %r8, %r8, %r7;
        ld.shared::cluster.u32 %r9, [%r8];
        mul.wide.u32 %rd2, %r6, 4;
        add.u64 %rd2, %rd2, %rd0;
        st.global.u32 [%rd2], %r9;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        ret;""", 14, grid=14, cluster=2)  # fmt: skip
    np.testing.assert_array_equal(found, np.arange(14) ^ 1)


# State spaces -----------------------------------------------------------------------------------------------


def test_generic_addresses_reach_every_space() -> None:
    # Each lane picks a space for one and the same instruction.
    found = run("""
        .shared .b32 s[32];
        .local .b32 l[2];
        mov.u64 %rd3, s;
        cvta.shared.u64 %rd3, %rd3;
        mad.wide.u32 %rd3, %r0, 4, %rd3;
        mov.u64 %rd4, l;
        cvta.local.u64 %rd4, %rd4;
        add.u64 %rd4, %rd4, 4;
        cvta.global.u64 %rd5, %rd1;
        rem.u32 %r1, %r0, 3;
        setp.eq.u32 %p1, %r1, 0;
        setp.eq.u32 %p2, %r1, 1;
        selp.b64 %rd6, %rd3, %rd4, %p1;
        selp.b64 %rd6, %rd5, %rd6, %p2;
        add.u32 %r2, %r0, 100;
        st.u32 [%rd6], %r2;
        atom.add.u32 %r3, [%rd6], 1000;
        ld.u32 %r4, [%rd6];
        isspacep.shared %p3, %rd6;
        isspacep.local %p4, %rd6;
        isspacep.global %p5, %rd6;
        selp.u32 %r5, 10000, 0, %p3;
        selp.u32 %r6, 20000, 0, %p4;
        selp.u32 %r7, 40000, 0, %p5;
        add.u32 %r4, %r4, %r5;
        add.u32 %r4, %r4, %r6;
        add.u32 %r4, %r4, %r7;
        add.u32 %r4, %r4, %r3;
        st.global.u32 [%rd1], %r4;
        ret;""")
    space = np.array([10000, 40000, 20000])[LANE % 3]
    np.testing.assert_array_equal(found, space + 1000 + 2 * (LANE + 100))


def test_converting_to_generic_and_back_is_nothing() -> None:
    found = run("""
        .shared .b32 s[2];
        mov.u64 %rd3, s;
        cvta.shared.u64 %rd4, %rd3;
        cvta.to.shared.u64 %rd5, %rd4;
        sub.u64 %rd6, %rd5, %rd3;
        cvt.u32.u64 %r1, %rd6;
        st.u32 [%rd4+4], 6;
        ld.shared.u32 %r2, [s+4];
        add.u32 %r1, %r1, %r2;
        st.global.u32 [%rd1], %r1;
        ret;""")
    np.testing.assert_array_equal(found, np.full(32, 6))


def test_local_memory_is_each_thread_s_own() -> None:
    found = run("""
        .local .align 16 .b8 l[64];
        mov.u64 %rd3, l;
        mul.lo.u32 %r1, %r0, 3;
        st.local.v4.u32 [%rd3+16], {%r0, %r1, %r0, %r1};
        st.local.u8 [l+20], 255;
        ld.local.v2.u32 {%r2, %r3}, [l+16];
        add.u32 %r2, %r2, %r3;
        st.global.u32 [%rd1], %r2;
        ret;""", 96, block=48, grid=1)  # fmt: skip
    thread = np.arange(48)
    np.testing.assert_array_equal(found[:48], thread + (thread * 3 & ~0xFF | 255))


def test_constants_have_their_initial_values() -> None:
    before = """.global .align 8 .u32 target[3] = {7, 8, 9};
.const .align 4 .u32 plain[4] = {1, 2, 0xffffffff};
.const .u16 nested[2][3] = {{1, 2}, {3, 4, 5}};
.const .f32 floats[2] = {0f3FC00000, 2.5};
.const .align 8 .u64 pointers[2] = {target, target+8};
.const .align 8 .u64 generics[1] = {generic(target)};
.const .b8 text[5] = {104, 105, 33, 0, 255};
.global .f64 scalar = 0d4008000000000000;
.global .u32 untouched[2];
"""
    found = run("""
        mov.u64 %rd2, plain;
        ld.const.u32 %r1, [plain];
        ld.const.u32 %r2, [%rd2+8];
        ld.const.u32 %r3, [plain+12];
        ld.const.u16 %h1, [nested+4];
        ld.const.u16 %h2, [nested+6];
        ld.const.u16 %h3, [nested+10];
        cvt.u32.u16 %r4, %h1;
        cvt.u32.u16 %r5, %h2;
        cvt.u32.u16 %r6, %h3;
        ld.const.b32 %r7, [floats];
        ld.const.b32 %r8, [floats+4];
        ld.const.u64 %rd3, [pointers];
        ld.global.u32 %r9, [%rd3+4];
        ld.const.u64 %rd3, [pointers+8];
        ld.global.u32 %r10, [%rd3];
        ld.const.u64 %rd3, [generics];
        ld.u32 %r11, [%rd3];
        ld.const.u8 %r12, [text+4];
        ld.global.b32 %r13, [scalar+4];
        ld.global.u32 %r14, [untouched+4];
        st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
        st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};
        st.global.v4.u32 [%rd0+32], {%r9, %r10, %r11, %r12};
        st.global.v2.u32 [%rd0+48], {%r13, %r14};
        ret;""", 14, block=1, before=before)  # fmt: skip
    expected = [1, 2**32 - 1, 0, 3, 4, 0, 0x3FC00000, 0x40200000, 8, 9, 7, 255, 0x40080000, 0]
    np.testing.assert_array_equal(found, expected)


def test_global_variables_are_shared_by_all_ctas() -> None:
    found = run("""
        atom.global.add.u32 %r1, [counter], 1;
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd2, %rd2, %rd0;
        st.global.u32 [%rd2], 1;
        ret;""", 96, grid=3, schedules=("eager", "random:1"),
        before=".global .u32 counter = 0;\n")  # fmt: skip
    np.testing.assert_array_equal(found, np.ones(96))


# Arguments --------------------------------------------------------------------------------------------------


def test_parameters_of_every_width_stand_where_they_are_declared() -> None:
    params = (".param .u8 a, .param .u64 b, .param .u16 c, .param .f32 d, .param .align 8 .b8 e[12],"
              " .param .s32 f, .param .f64 g, .param .u64 out")  # fmt: skip
    body = """
        ld.param.u8 %r1, [a];
        ld.param.u64 %rd2, [b];
        ld.param.u16 %r2, [c];
        ld.param.b32 %r3, [d];
        ld.param.v2.u32 {%r4, %r5}, [e];
        ld.param.u32 %r6, [e+8];
        ld.param.s32 %r7, [f];
        ld.param.b64 %rd3, [g];
        cvt.u32.u64 %r8, %rd2;
        shr.u64 %rd3, %rd3, 32;
        cvt.u32.u64 %r9, %rd3;
        st.global.v4.u32 [%rd0], {%r1, %r8, %r2, %r3};
        st.global.v4.u32 [%rd0+16], {%r4, %r5, %r6, %r7};
        st.global.u32 [%rd0+32], %r9;
        ret;"""
    args = (200, 2**40 + 5, 60000, 1.5, np.array([1, 2, 3], np.uint32).tobytes(), -7, 3.0)
    found = run(body, 9, *args, params=params, block=1)
    expected = [200, 5, 60000, 0x3FC00000, 1, 2, 3, 2**32 - 7, 0x40080000]
    np.testing.assert_array_equal(found, expected)


def test_scalars_may_be_numpy_s() -> None:
    body = "ld.param.u32 %r1, [a];\nld.param.b32 %r2, [b];\nst.global.v2.u32 [%rd0], {%r1, %r2};\nret;"
    params = ".param .u32 a, .param .f32 b, .param .u64 out"
    found = run(body, 2, np.int32(-1), np.float32(0.5), params=params, block=1)
    np.testing.assert_array_equal(found, [2**32 - 1, 0x3F000000])


def test_arrays_that_overlap_on_the_host_overlap_on_the_device() -> None:
    host = np.arange(64, dtype=np.uint32)
    text = kernel("""
        ld.param.u64 %rd2, [half];
        mad.wide.u32 %rd2, %r0, 4, %rd2;
        add.u32 %r1, %r0, 1000;
        st.global.u32 [%rd2], %r1;
        bar.sync 0;
        ld.global.u32 %r2, [%rd1+64];
        st.global.u32 [%rd1], %r2;
        ret;""", ".param .u64 out, .param .u64 half")  # fmt: skip
    wl.launch(text, grid=1, block=16, args=[host, host[16:32]])
    np.testing.assert_array_equal(host[:32], np.tile(np.arange(16) + 1000, 2))
    np.testing.assert_array_equal(host[32:], np.arange(32, 64))


def test_arrays_that_overlap_keep_their_alignment() -> None:
    host = np.arange(64, dtype=np.uint32)
    first = -(host.ctypes.data // 4) % 4  # at 16 bytes on the host
    text = kernel("""
        ld.param.u64 %rd2, [part];
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd2];
        st.global.u32 [%rd0], %r4;
        ret;""", ".param .u64 out, .param .u64 part")  # fmt: skip
    wl.launch(text, grid=1, block=1, args=[host[first + 1 :], host[first + 4 :]])
    assert host[first + 1] == first + 7


def test_one_array_may_be_given_twice_and_with_a_tensor_map_over_it() -> None:
    host = np.zeros((16, 16), np.uint16)
    text = kernel("""
        .shared .align 128 .b8 s[512];
        mov.u32 %r1, s;
        mad.lo.u32 %r2, %r0, 16, %r1;
        mad.lo.u32 %r3, %r0, 0x20002, 0x20001;
        st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};
        fence.proxy.async.shared::cta;
        bar.sync 0;
        setp.ne.u32 %p1, %r0, 0;
        @%p1 ret;
        mov.u64 %rd2, map;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {8, 4}], [%r1];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ld.param.u64 %rd3, [again];
        ld.global.u16 %h1, [%rd3+144];
        st.global.u16 [%rd0], %h1;
        ret;""", ".param .u64 out, .param .u64 again, .param .align 64 .b8 map[128]")  # fmt: skip
    wl.launch(text, grid=1, block=8, args=[host, host, wl.TensorMap.tiled(host, (8, 8))])
    expected = np.zeros((16, 16), np.uint16)
    expected[4:12, 8:] = (np.arange(8) * 2 + 1)[:, None]
    expected[0, 0] = 1
    # The high halves of the words written are 2 (lane + 1).
    expected[4:12, 9::2] += 1
    np.testing.assert_array_equal(host, expected)


def test_a_tensor_map_over_a_view_leaves_the_rest_of_its_array_alone() -> None:
    host = np.arange(20 * 32, dtype=np.uint16).reshape(20, 32)
    kept = host.copy()
    view = host[1:17:2, 8:24]
    text = kernel("""
        .shared .align 128 .b8 s[256];
        mov.u32 %r1, s;
        mov.u64 %rd2, map;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {8, 6}], [%r1];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;""", ".param .align 64 .b8 map[128]")  # fmt: skip
    wl.launch(text, grid=1, block=1, args=[wl.TensorMap.tiled(view, (4, 8))])
    kept[1:17:2, 8:24][6:, 8:] = 0
    np.testing.assert_array_equal(host, kept)


def test_null_pointers_and_arrays_of_nothing_are_taken() -> None:
    text = kernel("setp.eq.u64 %p1, %rd0, 0;\n@%p1 trap;\nret;", ".param .u64 out, .param .u64 none")
    wl.launch(text, grid=1, block=1, args=[np.zeros(0, np.float32), None])


def test_a_kernel_without_arguments_runs() -> None:
    wl.launch(f"{HEADER}.visible .entry k() {{ ret; }}\n", grid=2, block=33, args=[])


@given(ctas=st.integers(1, 4000), warps=st.integers(1, 32), cluster=st.sampled_from([1, 2, 4]), waits=st.booleans())
def test_waves_take_every_cluster_once_and_do_not_depend_on_who_runs_them(
    ctas: int, warps: int, cluster: int, waits: bool
) -> None:
    body = "ld.acquire.gpu.global.u32 %r3, [%rd0]; st.global.u32 [%rd1], %r3;" if waits else "ret;"
    program = load(parse(kernel(body)), None)
    grid = Grid((ctas * cluster, 1, 1), (32 * warps, 1, 1), (cluster, 1, 1), 0, 0, True)
    cut = waves.divide(program, grid)
    taken = [cut.of(number) for number in cut.numbers]
    assert all(len(ctas_of) for ctas_of in taken)
    assert np.concatenate(taken).tolist() == grid.clusters(range(ctas)).reshape(-1, 3).tolist()
    assert {len(ctas_of) for ctas_of in taken[:-1]} <= {cut.resident}
    most = waves.RESIDENT_WARPS * (waves.WAITING if waits else 1)
    assert cut.resident * warps <= max(most, cluster * warps)
    if waits:  # as many as fit
        assert len(taken) == 1 or (cut.resident + cluster) * warps > most
