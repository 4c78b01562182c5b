"""Uses of kernel parameters that follow from the effects of the instructions."""

from __future__ import annotations

import pytest

from warploom.ptx import parse
from warploom.runtime.uses import Part, Use, uses_of

LOADED = "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;"


def use_of(body: str, parameter: str = "p", *, is_entry: bool = False) -> Use:
    """Return the use of a 64-bit parameter of a kernel with this body, or of the values it points to."""
    text = f"""
        .version 8.7
        .target sm_90a
        .address_size 64
        .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {{
            .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
            {body}
            ret;
        }}
    """
    return uses_of(parse(text).functions["k"]).parts.get(Part(parameter, is_entry=is_entry), Use())


@pytest.mark.parametrize(
    ("instruction", "read", "written"),
    [
        ("ld.global.f32 %f1, [%rd2];", True, False),
        ("ld.global.L2::cache_hint.f32 %f1, [%rd2], %rd8;", True, False),
        ("st.global.f32 [%rd2], %f1;", False, True),
        ("st.global.u32 [%rd2], 1;", False, True),
        ("atom.global.add.u32 %r1, [%rd2], 1;", True, True),
        ("red.global.add.u32 [%rd2], 1;", False, True),
        ("cp.async.ca.shared.global [%r1], [%rd2], 4;", True, False),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], %r2;", False, True),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd2], %r9;",
            True,
            False,
        ),
        ("prefetch.global.L2 [%rd2];", False, False),
    ],
)
def test_the_direction_of_an_access(instruction: str, read: bool, written: bool) -> None:
    use = use_of(LOADED + instruction)
    assert (use.is_address, use.read, use.written) == (True, read, written)


@pytest.mark.parametrize(
    ("instruction", "read", "written"),
    [
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];",
            True,
            False,
        ),
        ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1];", False, True),
        ("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd1, {%r2}], [%r1];", False, True),
        ("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r2}];", True, False),
    ],
)
def test_the_direction_of_a_copy_with_a_tensor_map(instruction: str, read: bool, written: bool) -> None:
    use = use_of(f"ld.param.u64 %rd1, [p]; {instruction}")
    assert (use.ranks, use.holds_maps, use.read, use.written) == ({1}, True, read, written)


def test_an_address_stored_in_a_tensor_map_points_to_global_memory() -> None:
    body = "ld.param.u64 %rd1, [p]; tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd1;"
    assert use_of(body).strong


@pytest.mark.parametrize(("space", "certain"), [("global", True), ("shared", False)])
def test_a_conversion_to_global_makes_an_address_certain(space: str, certain: bool) -> None:
    assert use_of(f"ld.param.u64 %rd1, [p]; cvta.to.{space}.u64 %rd2, %rd1; ld.u32 %r1, [%rd1];").strong is certain


def test_a_predicate_does_not_share_its_types_with_the_values_it_selects() -> None:
    body = f"""
        {LOADED} ld.global.b32 %r1, [%rd2]; selp.b32 %r2, %r1, 0, %p1; add.f32 %f1, %f1, %f2;
        mov.b32 %r3, %f1; selp.b32 %r4, %r3, 0, %p1;
    """
    assert use_of(body).elements == set()


def test_a_value_from_memory_that_is_used_as_an_address_is_an_entry_of_a_table() -> None:
    body = f"{LOADED} ld.global.u64 %rd3, [%rd2+8]; add.u64 %rd4, %rd3, 16; ld.f32 %f1, [%rd4];"
    use = use_of(body, is_entry=True)
    assert (use.is_address, use.read, use.written, use.elements) == (True, True, False, {"f32"})
    assert use_of(body).is_address


def test_a_value_from_memory_that_is_added_to_an_address_is_an_index() -> None:
    body = f"{LOADED} ld.global.u64 %rd3, [%rd2]; ld.param.u64 %rd4, [q]; add.u64 %rd5, %rd4, %rd3; st.f32 [%rd5], %f1;"
    assert not use_of(body, is_entry=True).is_address
    assert use_of(body, "q").written
