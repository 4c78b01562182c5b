"""Every matrix instruction says how its operands lie, and whoever asks wrongly is told what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from isa.matrices import opcodes

import warploom as wl
from warploom import isa
from warploom.isa.binding.layouts import Operand, operands_of, select_operands
from warploom.isa.model.form import Form, forms
from warploom.isa.model.operand_layout import DEFAULT_INPUTS, LayoutInputs, LayoutMap
from warploom.layout import (
    Descriptor,
    FragmentMap,
    InstructionDescriptor,
    SharedMap,
    TensorMemoryMap,
    UmmaDescriptor,
    box_fields,
)

assert isa
MULTIPLYING = [form for form in forms() if form.multiplies]
MOVING = [
    form
    for form in forms()
    if form.family == "matrix"
    or form.name in ("wmma.load", "wmma.store")
    or (form.family == "tcgen05" and "r" in form.operands)
]
MATRICES = {"a", "b", "c", "d", "e", "r", "sp_meta", "scale_a_data", "scale_b_data", "a_desc", "b_desc"}
MATRICES |= {"d_tmem", "a_tmem", "sp_meta_tmem", "scale_A_tmem", "scale_B_tmem"}

HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
GROUP = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
TENSOR = "tcgen05.mma.cta_group::1.kind::f16"
BOX = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"


def maps(form: Form) -> Iterator[tuple[str, str, int, LayoutMap]]:
    """Every map of a form, once, with an opcode that has it, its place, and the registers of the place.

    Of multiplications in tensor memory those with the most rows of a data path and few columns.
    """
    seen: set[tuple[str, str, int]] = set()
    asked: set[tuple[str, ...]] = set()
    for opcode, slots, _ in opcodes(form):
        given = DEFAULT_INPUTS
        if "idesc" in form.operands:
            words = [slots[name] for name in slots if name not in ("collector_usage", "ashift")]
            if tuple(words) in asked:
                continue
            asked.add(tuple(words))
            given = LayoutInputs(idesc=instruction(slots, form.name.startswith("tcgen05.ws")))
        for name, spec in form.operands.items():
            if spec.layout is None or (spec.when and not slots[spec.when]):
                continue
            found, registers = spec.layout.map(slots, given), max(spec.registers(slots), 1)
            if (name, found.name, registers) not in seen:
                seen.add((name, found.name, registers))
                yield opcode, name, registers, found


def instruction(slots: Mapping[str, str], stationary: bool) -> InstructionDescriptor:
    """An instruction descriptor for an opcode."""
    kind, pair = slots["kind"].removeprefix("kind::"), slots["cta_group"] == "cta_group::2"
    element = {"f16": "bf16", "tf32": "tf32", "i8": "s8", "f8f6f4": "e3m2", "mxf8f6f4": "e5m2"}.get(kind, "e2m1")
    return InstructionDescriptor(
        kind,
        256 if pair else 128,
        64 if stationary else 32,
        element,
        element,
        "s32" if kind == "i8" else "f32",
        sparse=bool(slots["sp"]),
        scale_type="ue8m0" if kind.startswith("mx") else "",
    )


@pytest.mark.parametrize("form", [*MULTIPLYING, *MOVING], ids=lambda form: form.name)
def test_every_operand_that_is_a_matrix_has_a_layout(form: Form) -> None:
    lying = {name for name, spec in form.operands.items() if spec.layout is not None}
    assert lying == set(form.operands) & MATRICES
    for opcode, name, registers, found in maps(form):
        if isinstance(found, SharedMap):
            assert len(np.unique(found.at)) == found.rows * found.cols, (opcode, name)
            continue
        if isinstance(found, TensorMemoryMap):
            words = (found.cta * 128 + found.lane) * 512 + found.column
            assert len(np.unique(32 * words + found.bit)) == found.lane.size, (opcode, name)
            assert 0 <= found.lane.min() <= found.lane.max() < 128
            assert 0 <= found.column.min() <= found.column.max() < 512
            assert 0 <= found.bit.min() <= found.bit.max() <= 32 - found.bits
            continue
        assert found.registers == registers, (opcode, name)
        held = found.row >= 0
        assert (held == (found.col >= 0)).all()
        counts = np.zeros((found.rows, found.cols), int)
        np.add.at(counts, (found.row[held], found.col[held]), 1)
        assert counts.min() == counts.max() > 0, (opcode, name)


@pytest.mark.parametrize("form", MULTIPLYING, ids=lambda form: form.name)
def test_factors_are_as_large_as_the_shape_says(form: Form) -> None:
    for opcode, name, _, found in maps(form):
        is_tensor = "idesc" in form.operands
        m, n, k = (int(part) for part in opcode_shape(found.name.replace(" ", ".") if is_tensor else opcode))
        operand = name.partition("_")[0]
        is_sparse = {"e", "sp_meta"} & set(form.operands) or " sparse " in found.name
        stored = k // 2 if operand == "a" and is_sparse else k
        if isinstance(found, SharedMap) and "pair" in found.name:
            m, n = m // 2, n // 2
        tiles = found.tiles if isinstance(found, FragmentMap) else 1
        across = (n, k) if name == "b_desc" else (k, n)  # a descriptor's tile has a row for every column of B
        expected = {"a": (m, stored), "b": across, "c": (m, n), "d": (m, n)}.get(operand)
        if expected is not None:
            assert (found.rows // tiles, found.cols) == expected, (opcode, name)


def opcode_shape(opcode: str) -> tuple[str, ...]:
    word = next(word for word in opcode.split(".") if word[0] == "m" and "n" in word and word[1].isdigit())
    m, _, rest = word[1:].partition("n")
    return m, *rest.split("k")


def named(instruction: str) -> list[tuple[str, str]]:
    return [(each.name, each.key) for each in operands_of(instruction)]


def test_operands_are_called_as_the_field_calls_them() -> None:
    assert named(HALF) == [("D", "d"), ("A", "a"), ("B", "b"), ("C", "c")]
    assert named(SPARSE)[4:] == [("metadata", "e")]
    assert named(SCALED)[4:] == [("scale A", "scale_a_data"), ("scale B", "scale_b_data")]
    assert named(BOX) == [("box", "dstMem")]
    first = wl.layout(HALF, "a")
    assert first is wl.layout(HALF, "A")
    assert str(wl.layout(SCALED, "scale-a")) == str(wl.layout(SCALED, "scale_a_data"))
    assert str(wl.layout(SPARSE, "e")) == str(wl.layout(SPARSE, "Metadata"))


def test_operands_in_the_text_choose_between_forms() -> None:
    assert named(GROUP) == [("D", "d"), ("A", "a_desc"), ("B", "b_desc"), ("A", "a")]
    shared = f"@%p0 {GROUP} {{%f0, %f1, %f2, %f3}}, %rd0, %rd1, %p1, 1, 1, 0, 0;"
    assert named(shared) == [("D", "d"), ("A", "a_desc"), ("B", "b_desc")]
    registers = f"{GROUP}\t{{%f0, %f1, %f2, %f3}}, {{%r0, %r1, %r2, %r3}}, %rd1, 1, 1, 1, 0;"
    assert named(registers) == [("D", "d"), ("A", "a"), ("B", "b_desc")]


def test_a_is_in_registers_unless_a_tile_is_asked_for() -> None:
    assert isinstance(wl.layout(GROUP, "A"), FragmentMap)
    for given in ({"swizzle": 64}, {"major": "MN"}, {"descriptor": wl.descriptor(64, 16, "f16")}):
        assert isinstance(wl.layout(GROUP, "A", **given), SharedMap)
    assert isinstance(wl.layout(GROUP, "a-desc"), SharedMap)
    known = operands_of(GROUP)

    def places(given: LayoutInputs) -> dict[str, Any]:
        chosen: tuple[Operand, ...] = select_operands(known, given)
        return {each.name: each.key for each in chosen}

    assert places(LayoutInputs()) == {"D": "d", "A": "a", "B": "b_desc"}
    assert places(LayoutInputs(swizzle=128)) == {"D": "d", "A": "a_desc", "B": "b_desc"}


def test_what_is_given_moves_the_elements() -> None:
    lanes = {selector: set(holders(SPARSE, "metadata", selector=selector)) for selector in (0, 1)}
    assert lanes == {0: {k for k in range(32) if k % 4 < 2}, 1: {k for k in range(32) if k % 4 > 1}}
    assert set(holders(SCALED, "scale A", thread_id=1)) == {k for k in range(32) if k % 4 > 1}
    assert set(holders(SCALED, "scale B", thread_id=3)) == set(range(3, 32, 4))
    moved = wl.layout(GROUP, "B", descriptor=Descriptor(4096, 256, 512, 0, 32).encode())
    assert isinstance(moved, SharedMap)
    assert moved.location(0, 0) == (4096, 0)
    assert moved.location(9, 3) == (4096 + 512 + 32 + 6, 0)


def test_what_the_instruction_descriptor_says() -> None:
    idesc = InstructionDescriptor("f16", 128, 32, "bf16", "bf16", b_major="MN")
    pair = TENSOR.replace("group::1", "group::2")
    assert isinstance(wl.layout(TENSOR, "A", idesc=idesc), TensorMemoryMap)
    assert isinstance(wl.layout(TENSOR, "A", idesc=idesc.encode(), swizzle=64), SharedMap)
    b = wl.layout(pair, "B", idesc=idesc, swizzle=32)
    assert isinstance(b, SharedMap)
    # Each CTA has 16 of the columns, MN-major: a span of 32 bytes for each k.
    assert (b.rows, b.cols, b.name) == (16, 16, "tcgen05 m128n32k16 bf16 B of each CTA of a pair")
    assert [b.location(row, 1) for row in (0, 8)] == [(32, 0), (48, 0)]
    # The same fields behind either generation's descriptor, here from byte 4096 on.
    moved = Descriptor(4096, 512, 256, 0, 32)
    for descriptor in (moved, UmmaDescriptor(4096, 512, 256, 0, 32), UmmaDescriptor(4096, 512, 256, 0, 32).encode()):
        found = wl.layout(pair, "B", idesc=idesc, descriptor=descriptor)
        assert isinstance(found, SharedMap)
        np.testing.assert_array_equal(found.at, b.at + 8 * 4096)


@pytest.mark.parametrize(
    ("word", "kind", "factors"),
    [
        ("", "mxf8f6f4", 1),
        (".block32", "mxf8f6f4", 1),
        ("", "mxf4", 2),
        (".scale_vec::2X", "mxf4", 2),
        (".block32", "mxf4nvf4", 2),
        (".block16", "mxf4nvf4", 4),
        (".scale_vec::4X", "mxf4nvf4", 4),
    ],
)
def test_the_opcode_says_how_many_scale_factors_there_are(word: str, kind: str, factors: int) -> None:
    idesc = InstructionDescriptor(kind, 128, 8, "e2m1", "e2m1", scale_type="ue8m0")
    opcode = f"tcgen05.mma.cta_group::1.kind::{kind}.block_scale{word}"
    a, b = (wl.layout(opcode, f"scale {operand}", idesc=idesc) for operand in "AB")
    assert ((a.rows, a.cols), (b.rows, b.cols)) == ((128, factors), (factors, 8))


def holders(instruction: str, operand: str, **given: Any) -> list[int]:
    found = wl.layout(instruction, operand, **given)
    assert isinstance(found, FragmentMap)
    return np.nonzero((found.row >= 0).any(axis=1))[0].tolist()


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: wl.layout("mmma.sync", "A"), "unknown instruction 'mmma.sync'", "did you mean mma?"),
        (
            lambda: wl.layout("mma.m16n8k16.bf16", "A"),
            "unknown instruction 'mma.m16n8k16.bf16'",
            "did you mean mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32?",
        ),
        (
            lambda: wl.layout("cp.async.bulk.tensor.2d", "box"),
            "unknown instruction 'cp.async.bulk.tensor.2d'",
            f"did you mean {BOX}?",
        ),
        (
            lambda: wl.layout(HALF.replace("f32.f16", "f32.f15"), "A"),
            f"unknown instruction '{HALF.replace('f32.f16', 'f32.f15')}'",
            f"did you mean {HALF}?",
        ),
        (lambda: wl.layout("mma." * 1001, "A"), "an instruction has 4004 characters; expected at most 4000", ""),
        (lambda: wl.layout("mma." * 126, "A"), f"unknown instruction '{'mma.' * 126}'", ""),
        (lambda: wl.layout(" ;", "A"), "no instruction was given; expected an opcode", ""),
        (
            lambda: wl.layout("add.f32 %f0, %f1, %f2;", "A"),
            (
                "no operand of add.f32 has a known layout;"
                " expected an instruction of matrix, mma, sparse, tcgen05, tensor, wgmma, wmma"
            ),
            "",
        ),
        (lambda: wl.layout(HALF, "E"), f"{HALF} has no operand 'E'; expected D, A, B, C", ""),
        (lambda: wl.layout(HALF, "A", swizzle=128), f"A of {HALF} does not depend on a swizzle", ""),
        (
            lambda: wl.layout(SPARSE, "metadata", selector=2),
            "mma sparse m16n8k32 f16 metadata: the selector is 2; expected 0 to 1",
            "",
        ),
        (lambda: wl.layout(SCALED, "scale B", thread_id=4), "the thread id of scale B is 4; expected 0 to 3", ""),
        (lambda: wl.layout(GROUP, "B", major="N"), "the major of a tile is 'N'; expected 'K' or 'MN'", ""),
        (
            lambda: wl.layout(GROUP.replace("k16", "k8").replace("f16", "tf32"), "B", major="MN"),
            "a tile of 32-bit elements is MN-major; expected 16-bit elements",
            "",
        ),
        (
            lambda: wl.layout(BOX, "box"),
            "the layout of a box depends on its tensor map; expected the fields of a tensor map",
            "",
        ),
        (
            lambda: wl.layout(BOX, "box", tensor_map=box_fields([2, 8, 16], "f16")),
            "the tensor map has rank 3, but the copy has 2 dimensions; expected rank 2",
            "",
        ),
        (
            lambda: wl.layout(TENSOR, "D"),
            (
                "the shape and the types of a multiplication in tensor memory are in its instruction descriptor;"
                " expected an instruction descriptor, as idesc= or --idesc"
            ),
            'wl.InstructionDescriptor("f16", 128, 64, "f16", "f16").encode() returns one',
        ),
        (
            lambda: wl.layout(TENSOR, "D", idesc=InstructionDescriptor("tf32", 64, 8, "tf32", "tf32")),
            "the instruction descriptor is of kind tf32; expected kind f16",
            "",
        ),
        (
            lambda: wl.layout(TENSOR, "D", idesc=0x4020014),
            "A is sparse in the instruction descriptor, and dense in the opcode; expected the same",
            "",
        ),
        (
            lambda: wl.layout(TENSOR, "metadata", idesc=0x4020010),
            f"{TENSOR} has no operand 'metadata'; expected D, A, B",
            "",
        ),
        (
            lambda: wl.layout(TENSOR, "B", idesc=0x4020010, descriptor=wl.descriptor(8, 16, "f16").encode()),
            "0x800080000 is no tcgen05 matrix descriptor; expected 0b001 in bits 48-46 and 0 in 60-53",
            "",
        ),
        (
            lambda: wl.layout(GROUP, "B", descriptor=UmmaDescriptor(0, 0, 0)),
            "wgmma cannot use a UmmaDescriptor; expected a Descriptor",
            "",
        ),
        (
            lambda: select_operands(operands_of(HALF), LayoutInputs(selector=1)),
            f"no operand of {HALF} depends on a sparsity selector",
            "",
        ),
    ],
)
def test_refusals(call: Any, message: str, hint: str) -> None:
    with pytest.raises(wl.UsageError) as caught:
        call()
    assert str(caught.value) == message
    assert caught.value.diagnostics[0].hint == hint
