from __future__ import annotations

import numpy as np
import pytest
from isa.binding import binding, legality_tests, refusal
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import memory

LEGAL = {
    "ld.global.u32 %r1, [%rd1+4];": "memory.ld",
    "ld.u8 %h1, [%rd1];": "memory.ld",
    "ld.weak.shared::cta.v2.f32 {%f1, %f2}, [%r1];": "memory.ld",
    "ld.global.b32 {%r1}, [%rd1];": "memory.ld",
    "ld.param::entry.b64 %rd1, [p];": "memory.ld",
    "ld.global.L1::no_allocate.L2::cache_hint.L2::128B.v4.b32 {%r1,%r2,%r3,_}, [%rd1], %rd2;": "memory.ld",
    "ld.global.L1::evict_last.L2::evict_first.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1];": "memory.ld",
    "ld.acquire.gpu.global.u32 %r1, [%rd1];": "memory.ld_ordered",
    "ld.relaxed.sys.u64 %rd1, [%rd1];": "memory.ld_ordered",
    "ld.volatile.shared.u32 %r1, [%r2];": "memory.ld_volatile",
    "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];": "memory.ld_mmio",
    "ld.global.nc.L1::evict_first.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];": "memory.ld_nc",
    "ld.global.ca.nc.b16 %h1, [%rd1];": "memory.ld_nc",
    "ldu.global.u32 %r1, [%rd1];": "memory.ldu",
    "st.shared.v4.b32 [%r1], {%r1,%r2,%r3,%r4};": "memory.st",
    "st.global.wt.f64 [%rd1], 0d3FF0000000000000;": "memory.st",
    "st.release.cluster.shared::cluster.u32 [%r1], %r2;": "memory.st_ordered",
    "st.volatile.u8 [%rd1], %h1;": "memory.st_volatile",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {%r1,%r2,%r3,%r4}, [%r5];": "memory.st_async",
    "cvta.to.global.u64 %rd1, %rd2;": "memory.cvta_to",
    "cvta.shared.u64 %rd1, buffer;": "memory.cvta",
    "cvta.param.u64 %rd1, %rd2;": "memory.cvta",
    "isspacep.shared::cluster %p1, %rd1;": "memory.isspacep",
    "mapa.shared::cluster.u32 %r1, %r2, 1;": "memory.mapa",
    "getctarank.shared::cluster.u32 %r1, %r2;": "memory.getctarank",
    "prefetch.global.L2 [%rd1];": "memory.prefetch",
    "prefetch.param.tensormap [%rd1];": "memory.prefetch",
    "discard.global.L2 [%rd1], 128;": "memory.discard",
    "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, 0.5;": "memory.createpolicy",
}

REFUSED = {
    "ld.global.v3.u32 {%r1,%r2,%r3}, [%rd1];": "memory.ld/vec",
    "ld.shared.v4.b64 {%rd1,%rd2,%rd3,%rd4}, [%r1];": "memory.ld/type",
    "ld.global.v8.b64 {%rd1,%rd2,%rd3,%rd4,%rd5,%rd6,%rd7,%rd8}, [%rd1];": "memory.ld/type",
    "ld.acquire.global.u32 %r1, [%rd1];": "memory.ld_ordered/scope",
    "ld.global.v2.u32 %r1, [%rd1];": "memory.ld/d",
    "ld.global.u32 %r1, %rd1;": "memory.ld/a",
    "ld.global.u32 %r1, [%rd1], %rd2;": "memory.ld/cache_policy",
    "ld.global.L2::cache_hint.u32 %r1, [%rd1];": "memory.ld/cache_policy",
    "ld.shared.nc.u32 %r1, [%rd1];": "memory.ld_nc/ss",
    "st.const.u32 [%rd1], %r1;": "memory.st/ss",
    "st.acquire.gpu.u32 [%rd1], %r1;": "memory.st_ordered/sem",
    "discard.global.L2 [%rd1], 64;": "memory.discard/size",
    "mapa.shared::cta.u32 %r1, %r2, 1;": "memory.mapa/space",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_optional_modifiers_are_empty_words() -> None:
    slots = binding("ld.shared.v2.b32 {%r1, %r2}, [%r3];").slots
    assert (slots["ss"], slots["vec"], slots["type"]) == ("shared", "v2", "b32")
    assert slots["cop"] == slots["level::cache_hint"] == ""


def test_one_register_in_braces_is_bare() -> None:
    assert str(binding("ld.global.b32 {%r1}, [%rd1];").operands["d"].operand) == str(
        binding("ld.global.b32 %r1, [%rd1];").operands["d"].operand
    )


def test_a_cache_policy_stands_with_its_hint() -> None:
    assert "requires '.level::cache_hint'" in refusal("ld.u32 %r1, [%rd1], %rd2;").message


def test_a_stranger_is_put_in_the_slot_it_resembles() -> None:
    assert refusal("ld.global.v3.u32 %r1, [%rd1];").message == (
        "'ld.global.v3.u32' has '.v3' for vec; expected '.v2', '.v4', '.v8'"
    )
    assert refusal("mbarrier.init.shared::cluster.b64 [%r1], 1;").code == "mbarrier.init/space"


@pytest.mark.parametrize(("vec", "type", "size"), [("", "u32", 4), ("v2", "b64", 16), ("v4", "f32", 16)])
def test_an_asynchronous_store_counts_its_bytes(vec: str, type: str, size: int) -> None:
    one = np.zeros((2, 32), np.bool_)
    one[0, 0] = True
    warps = Recorder(one)
    count = int(vec[1:] or 1)
    value = np.stack([lanes(5, f"u{size // count}")] * count)
    i = bound(ss="shared::cluster", vec=vec, type=type, a=lanes(0, np.uint64), mbar=lanes(64, np.uint64))
    memory.store_async(warps, bound(**vars(i), b=value if vec else value[0]))
    assert warps.events == [("defer", "remote"), ("mbarrier", "shared::cluster", "complete_tx", 0, size)]
    assert np.count_nonzero(warps.memory[:size]) == count
