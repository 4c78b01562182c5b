"""Where matrices lie in tensor memory: the manual's tables and figures, written from the memory's side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom.layout import FragmentMap, InstructionDescriptor, TensorMemoryMap
from warploom.layout.tensor_memory import accumulator, data_path, multiplicand, scales, sparsity, transfer_fragment

Held = dict[tuple[int, int, int, int], tuple[int, int]]


def half(m: int, n: int, **fields: Any) -> InstructionDescriptor:
    return InstructionDescriptor("f16", m, n, "f16", "f16", **fields)


def held(found: TensorMemoryMap) -> Held:
    """What is at every (CTA, lane, column, bit)."""
    at: Held = {}
    for (copy, row, col), lane in np.ndenumerate(found.lane):
        place = tuple(int(part[copy, row, col]) for part in (found.cta, found.column, found.bit))
        at[place[0], int(lane), place[1], place[2]] = (row, col)
    assert len(at) == found.lane.size
    return at


# Data paths: what a lane and a column of D hold, by the table of section 9.7.16.10.5 and its figures. ----------


def row_of(path: str, cta: int, lane: int) -> int | None:
    """The row of D in a lane; none in the lanes that half a data path leaves out."""
    if path in "AD":
        return 128 * cta + lane
    if path in "BE":  # 2x2: lanes 64 to 127 have the rows of lanes 0 to 63 again, with other columns
        return 64 * cta + lane % 64
    if path == "G":  # 1x4
        return lane % 32
    slab, within = divmod(lane, 32)
    return 64 * cta + 16 * slab + within if within < 16 else None


def columns_of(path: str, lane: int, n: int) -> range:
    """The columns of D in a lane, from its first on."""
    if path in "BE":
        return range(n // 2 * (lane // 64), n // 2 * (lane // 64 + 1))
    if path == "G":
        return range(n // 4 * (lane // 32), n // 4 * (lane // 32 + 1))
    return range(n)


PATHS = [
    # M, CTAs, weight-stationary, sparse, layout
    (256, 2, False, False, "A"),
    (256, 2, False, True, "A"),
    (128, 2, False, False, "B"),
    (128, 2, False, True, "C"),
    (128, 1, False, False, "D"),
    (128, 1, False, True, "D"),
    (128, 1, True, False, "D"),
    (64, 1, True, False, "E"),
    (64, 1, True, True, "E"),
    (64, 1, False, False, "F"),
    (64, 1, False, True, "F"),
    (32, 1, True, False, "G"),
    (32, 1, True, True, "G"),
]


@pytest.mark.parametrize(("m", "ctas", "stationary", "sparse", "path"), PATHS)
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_the_accumulator(m: int, ctas: int, stationary: bool, sparse: bool, path: str, dtype: str) -> None:
    fields = half(m, 64, sparse=sparse, dtype=dtype)
    assert data_path(fields, ctas, stationary=stationary) == path
    found = accumulator(fields, ctas, stationary=stationary)
    expected = {
        (cta, lane, column, 0): (row, col)
        for cta in range(ctas)
        for lane in range(128)
        if (row := row_of(path, cta, lane)) is not None
        for column, col in enumerate(columns_of(path, lane, 64))
    }
    assert held(found) == expected
    assert (found.bits, found.ctas, found.copies) == ({"f16": 16, "f32": 32}[dtype], ctas, 1)


FACTORS = [("f16", "bf16", 16), ("tf32", "tf32", 32), ("i8", "u8", 8), ("f8f6f4", "e2m1", 8), ("mxf4", "e2m1", 4)]


@pytest.mark.parametrize(("m", "ctas", "stationary", "sparse", "path"), PATHS)
@pytest.mark.parametrize(("kind", "element", "bits"), FACTORS)
def test_a(kind: str, element: str, bits: int, m: int, ctas: int, stationary: bool, sparse: bool, path: str) -> None:
    dtype = "s32" if kind == "i8" else "f32"
    fields = InstructionDescriptor(kind, m, 64, element, element, dtype, sparse=sparse)
    if kind == "mxf4" and (path not in "ABD" or stationary or (path == "B" and sparse)):
        return  # block scaling has no such shape
    # Rows are where those of D are, in other lanes again where D has other columns; elements fill the words.
    expected = {
        (cta, lane, k * bits // 32, k * bits % 32): (row, k)
        for cta in range(ctas)
        for lane in range(128)
        if (row := row_of(path, cta, lane)) is not None
        for k in range(256 // bits)
    }
    found = multiplicand(fields, ctas, stationary=stationary)
    assert held(found) == expected
    assert (found.bits, found.cols) == (bits, 256 // bits)


@pytest.mark.parametrize(("kind", "element"), [("f16", "f16"), ("tf32", "tf32")])
@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize(
    ("m", "ctas", "stationary"), [(128, 1, False), (256, 2, False), (128, 1, True), (64, 1, True), (32, 1, True)]
)
def test_metadata_in_half_words(kind: str, element: str, selector: int, m: int, ctas: int, stationary: bool) -> None:
    fields = InstructionDescriptor(kind, m, 64, element, element, sparse=True, selector=selector)
    rows = m // ctas
    expected: Held = {}
    for cta in range(ctas):
        for lane in range(128):
            for nibble in range(8):
                group, within = divmod(lane % rows, 16)
                row = 16 * group + within % 8 + 8 * (nibble // 4)
                expected[cta, lane, selector, 4 * nibble] = (rows * cta + row, 4 * (within // 8) + nibble % 4)
    assert held(sparsity(fields, ctas, stationary=stationary)) == expected


@pytest.mark.parametrize(("m", "ctas"), [(64, 1), (128, 2)])
def test_metadata_of_64_rows(m: int, ctas: int) -> None:
    # Inferred from the layout of 128 rows: 16 rows are in 16 of 32 lanes, as in D.
    whole = held(sparsity(half(128 * ctas, 64, sparse=True), ctas))
    found = held(sparsity(half(m, 64, sparse=True), ctas))
    assert found == {
        (cta, lane // 16 * 32 + lane % 16, column, bit): (row % 128 + 64 * cta, col)
        for (cta, lane, column, bit), (row, col) in whole.items()
        if lane < 64
    }
    bytes_ = InstructionDescriptor("f8f6f4", m, 64, "e4m3", "e4m3", sparse=True)
    assert held(sparsity(bytes_, ctas)) == {
        (cta, lane, chunk // 8, 4 * (chunk % 8)): (64 * cta + lane // 32 * 16 + lane % 32, chunk)
        for cta in range(ctas)
        for lane in range(128)
        if lane % 32 < 16
        for chunk in range(16)
    }


@pytest.mark.parametrize(
    ("kind", "element", "m", "ctas", "stationary"),
    [
        ("f8f6f4", "e5m2", 128, 1, False),
        ("i8", "s8", 256, 2, False),
        ("mxf8f6f4", "e2m3", 128, 1, False),
        ("mxf4", "e2m1", 128, 1, False),
        ("mxf4nvf4", "e2m1", 256, 2, False),
        ("f8f6f4", "e4m3", 64, 1, True),
        ("i8", "u8", 32, 1, True),
    ],
)
def test_metadata_of_whole_words(kind: str, element: str, m: int, ctas: int, stationary: bool) -> None:
    dtype = "s32" if kind == "i8" else "f32"
    found = sparsity(
        InstructionDescriptor(kind, m, 64, element, element, dtype, sparse=True), ctas, stationary=stationary
    )
    rows = m // ctas
    assert held(found) == {
        (cta, lane, chunk // 8, 4 * (chunk % 8)): (rows * cta + lane % rows, chunk)
        for cta in range(ctas)
        for lane in range(128)
        for chunk in range(16)
    }


VECTORS = [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 2), (4, 0)]


def scaled(factors: int, m: int, n: int, byte: int = 0, **fields: Any) -> InstructionDescriptor:
    kind = {1: "mxf8f6f4", 2: "mxf4", 4: "mxf4nvf4"}[factors]
    element = "e4m3" if factors == 1 else "e2m1"
    return InstructionDescriptor(kind, m, n, element, element, scale_a_id=byte, scale_b_id=byte, **fields)


@pytest.mark.parametrize(("factors", "byte"), VECTORS)
@pytest.mark.parametrize(("m", "ctas"), [(128, 1), (128, 2), (256, 2)])
def test_scale_factors_of_a(factors: int, byte: int, m: int, ctas: int) -> None:
    # Rows r, r + 32, ... of a CTA are in the words of lane r; all of it is in every 32 lanes.
    assert held(scales(scaled(factors, m, 32, byte), "A", factors, ctas)) == {
        (cta, lane, word, 8 * (byte + factor)): (m // ctas * cta + 32 * word + lane % 32, factor)
        for cta in range(ctas)
        for lane in range(128)
        for word in range(m // ctas // 32)
        for factor in range(factors)
    }


@pytest.mark.parametrize(("factors", "byte"), VECTORS)
@pytest.mark.parametrize(("n", "ctas"), [(256, 1), (48, 1), (64, 2), (240, 2)])
def test_scale_factors_of_b(factors: int, byte: int, n: int, ctas: int) -> None:
    assert held(scales(scaled(factors, 128 * ctas, n, byte), "B", factors, ctas)) == {
        (cta, lane, word, 8 * (byte + factor)): (factor, 32 * word + lane % 32)
        for cta in range(ctas)
        for lane in range(128)
        for word in range(8)
        if 32 * word + lane % 32 < n
        for factor in range(factors)
    }


@pytest.mark.parametrize(("factors", "byte"), VECTORS)
@pytest.mark.parametrize("n", [64, 240])
def test_scale_factors_of_b_for_two_by_two_lanes(factors: int, byte: int, n: int) -> None:
    # As in CUTLASS: lanes 0 to 63 have the factors of the first half of the columns, and the others the second half.
    assert held(scales(scaled(factors, 128, n, byte), "B", factors, 2)) == {
        (cta, lane, word, 8 * (byte + factor)): (factor, n // 2 * (lane // 64) + 32 * word + lane % 32)
        for cta in range(2)
        for lane in range(128)
        for word in range(4)
        if 32 * word + lane % 32 < n // 2
        for factor in range(factors)
    }


@pytest.mark.parametrize(("factors", "byte"), [(3, 0), (3, 1), (3, 3), (6, 0), (6, 2)])
def test_scale_factors_of_96_products(factors: int, byte: int) -> None:
    # Inferred: the bytes after the fourth follow in the columns behind those of all rows.
    fields = InstructionDescriptor(
        "mxf4nvf4", 128, 64, "e2m1", "e2m1", "f32", scale_a_id=byte, scale_b_id=byte, k96=True
    )
    for operand, rows in (("A", 128), ("B", 64)):
        expected: Held = {}
        for row in range(rows):
            for factor in range(factors):
                word = row // 32 + (byte + factor) // 4 * (rows // 32)
                for slab in range(4):
                    at = (row, factor) if operand == "A" else (factor, row)
                    expected[0, row % 32 + 32 * slab, word, 8 * ((byte + factor) % 4)] = at
        if factors == 3:
            fields = InstructionDescriptor(
                "mxf4", 128, 64, "e2m1", "e2m1", "f32", scale_a_id=byte, scale_b_id=byte, k96=True
            )
        assert held(scales(fields, operand, factors, 1)) == expected


# Loads and stores: what each register of a lane holds, by the figures of section 9.7.16.2.3. -------------------


def cells(shape: str, num: int) -> Iterator[tuple[int, int, int, int]]:
    """Lane of the warp, register, lane of tensor memory and column."""
    for lane in range(32):
        group, place = divmod(lane, 4)
        for k in range(num):
            if shape == "32x32b":
                yield lane, k, lane, k
            elif shape == "16x32bx2":
                yield lane, k, lane % 16, k + num * (lane // 16)
            elif shape == "16x64b":
                yield lane, k, group + (8 if place % 2 else 0), 2 * k + place // 2
            elif shape == "16x128b":
                for down in range(2):
                    yield lane, 2 * k + down, group + 8 * down, 4 * k + place
            else:
                for down in range(2):
                    for right in range(2):
                        yield lane, 4 * k + 2 * down + right, group + 8 * down, 8 * k + 2 * place + right


@pytest.mark.parametrize("shape", ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"])
@pytest.mark.parametrize("num", [1, 2, 8])
def test_what_is_moved(shape: str, num: int) -> None:
    plain, packed = transfer_fragment(shape, num), transfer_fragment(shape, num, packed=True)
    wanted = {(t, r): (lane, column) for t, r, lane, column in cells(shape, num)}
    assert {(t, r): plain.element(t, r) for t in range(32) for r in range(plain.items)} == wanted
    assert isinstance(packed, FragmentMap)
    for (t, r), (lane, column) in wanted.items():
        for part in range(2):  # the low halves of two columns side by side
            assert packed.element(t, 2 * r + part) == (lane, 2 * column + part)
            assert packed.register_of(2 * r + part) == (r, 16 * part)


# Questions ----------------------------------------------------------------------------------------------------


def test_both_ways() -> None:
    found = multiplicand(half(128, 32), 2)
    assert found.locations(70, 3) == ((1, 6, 1, 16), (1, 70, 1, 16))
    assert found.elements(70, 1, 1) == ((70, 2), (70, 3))
    assert found.elements(70, 8) == ()
    assert str(found).splitlines()[1].split() == [str(col) for col in range(16)]
    assert str(found).splitlines()[72].split()[:5] == ["70", "1/L6.0", "1/L70.0", "1/L6.0:16", "1/L70.0:16"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: accumulator(half(96, 32), 1), "M is 96 in .* dense .* kind f16 by one CTA; expected 64 or 128"),
        (
            lambda: accumulator(half(96, 64), 1, stationary=True),
            "M is 96 in .* weight-stationary; expected 32, 64 or 128$",
        ),
        (lambda: accumulator(half(64, 32), 2), "M is 64 in .* by a pair of CTAs; expected 128 or 256"),
        (lambda: accumulator(half(128, 24), 2), "N is 24 in .* expected 16 to 256 by 16"),
        (
            lambda: accumulator(half(32, 256, sparse=True), 1, stationary=True),
            "N is 256 in .* sparse multiplication of kind f16 weight-stationary; expected 64 or 128",
        ),
        (
            lambda: accumulator(InstructionDescriptor("i8", 64, 40, "s8", "s8", "s32"), 1),
            "N is 40 in .* expected 8 to 32 by 8, then to 256 by 16",
        ),
        (lambda: accumulator(scaled(1, 64, 32), 1), "M is 64 in .* expected 128"),
        (lambda: accumulator(scaled(1, 128, 32, sparse=True), 2), "M is 128 in .* expected 256"),
        (lambda: multiplicand(half(128, 32, a_major="MN"), 1), "A in tensor memory is MN-major"),
        (lambda: sparsity(half(128, 32, sparse=True, selector=2), 1), "selector is 2; expected 0 or 1"),
        (
            lambda: sparsity(InstructionDescriptor("i8", 128, 32, "s8", "s8", "s32", True, 1), 1),
            "selector is 1; expected 0 for kind i8",
        ),
        (lambda: scales(scaled(2, 128, 32, 1), "A", 2, 1), "id of scale A is 1; expected 0, 2 for 2 factors"),
        (lambda: scales(scaled(4, 128, 32, 2), "B", 4, 1), "id of scale B is 2; expected 0 for 4 factors"),
        (lambda: scales(scaled(4, 128, 32), "B", 2, 1), "2 scale factors have type ue4m3; expected type ue8m0"),
        (
            lambda: transfer_fragment("16x32b", 1),
            "unknown shape '16x32b' of a tensor memory load or store; expected 32x32b, 16x64b",
        ),
        (lambda: accumulator(half(64, 8), 1).locations(64, 0), r"there is no element \(64, 0\)"),
        (lambda: accumulator(half(64, 8), 1).elements(128, 0), "has no lane 128; expected 0 to 127"),
        (lambda: accumulator(half(64, 8), 1).elements(0, 0, 1), "there is no CTA 1; expected 0 to 0"),
    ],
)
def test_refusals(asked: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        asked()
