# ruff: noqa: E501 - opcodes are as long as they are
from __future__ import annotations

import numpy as np
from isa.binding import legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import atomic
from warploom.isa.instructions.reductions import combine

LEGAL = {
    "atom.add.u32 %r1, [%rd1], 1;": "atomic.atom",
    "atom.acq_rel.gpu.global.add.f32 %f1, [%rd1], %f2;": "atomic.atom",
    "atom.global.add.noftz.bf16x2 %r1, [%rd1], %r2;": "atomic.atom",
    "atom.shared::cta.exch.b64 %rd1, [%r1], %rd2;": "atomic.atom",
    "atom.global.max.L2::cache_hint.s64 %rd1, [%rd1], %rd2, %rd3;": "atomic.atom",
    "atom.relaxed.cluster.shared::cluster.cas.b32 %r1, [%r2], %r3, %r4;": "atomic.cas",
    "atom.global.cas.b16 %h1, [%rd1], %h2, %h3;": "atomic.cas",
    "red.release.gpu.global.inc.u32 [%rd1], 7;": "atomic.red",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];": "atomic.red_async",
    "red.global.add.v4.f32 [%rd1], {%f1,%f2,%f3,%f4};": "atomic.red_vector",
    "atom.global.max.noftz.v2.bf16x2 {%r1,%r2}, [%rd1], {%r3,%r4};": "atomic.atom_vector",
}

REFUSED = {
    "atom.add.f16 %h1, [%rd1], %h2;": "atomic.atom/noftz",
    "atom.add.noftz.f32 %f1, [%rd1], %f2;": "atomic.atom/type",
    "atom.inc.s32 %r1, [%rd1], 1;": "atomic.atom/type",
    "atom.cas.b32 %r1, [%rd1], %r2;": "atomic.cas/operands",
    "atom.local.add.u32 %r1, [%rd1], 1;": "atomic.atom/space",
    "red.acquire.gpu.add.u32 [%rd1], 1;": "atomic.red/sem",
    "red.exch.b32 [%rd1], 1;": "atomic.red/op",
    "red.shared.add.v2.f32 [%r1], {%f1,%f2};": "atomic.red_vector/space",
    "atom.add.u32 [%rd1], 1;": "atomic.atom/operands",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_increment_wraps_above_the_bound() -> None:
    old = np.array([0, 6, 7, 8], np.uint32)
    assert combine("inc", "u32")(old, np.uint32(7)).tolist() == [1, 7, 0, 0]


def test_decrement_wraps_at_zero_and_above_the_bound() -> None:
    old = np.array([0, 1, 7, 8], np.uint32)
    assert combine("dec", "u32")(old, np.uint32(7)).tolist() == [7, 0, 6, 7]


def test_f32_sums_flush_in_global_memory_alone() -> None:
    tiny = np.array([1e-40], np.float32)
    assert combine("add", "f32", "global")(tiny, tiny)[0] == 0
    assert combine("add", "f32", "shared::cta")(tiny, tiny)[0] == np.float32(tiny[0] * 2)


def test_halves_round_to_nearest_even() -> None:
    one, tiny = np.array([0x3C00], np.uint16), np.array([0x1000], np.uint16)  # 1 and 2**-11: a tie
    assert combine("add", "f16")(one, tiny)[0] == 0x3C00


def test_signs_decide_minima() -> None:
    assert combine("min", "s32")(np.array([-1], np.int32), np.array([1], np.int32))[0] == -1
    assert combine("min", "u32")(np.array([2**32 - 1], np.uint32), np.array([1], np.uint32))[0] == 1


def test_swaps_where_the_comparand_holds() -> None:
    warps = Recorder()
    i = bound(space="global", type="b32", a=lanes(0), b=lanes(5), c=lanes(99), d="d")
    atomic.compare_and_swap(warps, i)
    assert np.flatnonzero(warps.results["memory"] == 99).tolist() == [5]
    assert warps.results["d"].ravel().tolist() == list(range(64))
