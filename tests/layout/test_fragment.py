from __future__ import annotations

import numpy as np
import pytest
from layout.manual import MANUAL

from warploom.diagnostics import UsageError
from warploom.layout import (
    FragmentMap,
    load_fragment,
    store_fragment,
    tiled_fragment,
    transpose_fragment,
    warp_fragment,
    warpgroup_fragment,
)


def families() -> list[FragmentMap]:
    """One map of every kind, all that hold each element once."""
    maps = [
        warp_fragment("mma", operand, shape, word)
        for shape, words, operand in MANUAL
        for word in words.split()
        if (shape, word) != ("m8n8k4", "f32")
    ]
    for layout in ("row", "col"):
        maps += [warp_fragment("mma", operand, "m8n8k4", "f16", layout=layout) for operand in "AB"]
    maps += [warp_fragment("mma", "D", "m8n8k4", word) for word in ("f16", "f32")]
    for shape, word in (
        ("m16n8k16", "f16"),
        ("m16n8k32", "bf16"),
        ("m16n8k8", "tf32"),
        ("m16n8k16", "tf32"),
        ("m16n8k32", "s8"),
        ("m16n8k64", "e4m3"),
        ("m16n8k64", "e2m1"),
        ("m16n8k64", "u4"),
        ("m16n8k128", "e2m1"),
    ):
        maps += [warp_fragment("mma", operand, shape, word, sparse=True) for operand in "AB"]
    for word, k in (("f16", 16), ("bf16", 16), ("tf32", 8), ("e5m2", 32), ("u8", 32), ("b1", 256)):
        maps.append(warpgroup_fragment("wgmma", "A", f"m64n8k{k}", word))
        if word != "b1":
            maps.append(warpgroup_fragment("wgmma", "A", f"m64n8k{2 * k}", word, sparse=True))
    maps += [
        warpgroup_fragment("wgmma", "D", f"m64n{n}k16", word) for n in (8, 24, 128, 256) for word in ("f16", "f32")
    ]
    maps += [tiled_fragment("wmma", "C", shape, word) for shape in WMMA_F16 for word in ("f16", "f32")]
    maps += [tiled_fragment("wmma", operand, shape, "bf16") for shape in WMMA_F16[1:] for operand in "AB"]
    maps += [tiled_fragment("wmma", operand, shape, "s8") for shape in WMMA_F16 for operand in "AB"]
    maps += [tiled_fragment("wmma", operand, "m16n16k8", "tf32") for operand in "AB"]
    maps += [tiled_fragment("wmma", operand, "m8n8k4", "f64") for operand in "ABC"]
    maps += [tiled_fragment("wmma", operand, "m8n8k32", "s4") for operand in "AB"]
    maps += [tiled_fragment("wmma", operand, "m8n8k128", "b1") for operand in "AB"]
    maps += [
        made("x", "m8n8", "b16", num=num, trans=trans)
        for made in (load_fragment, store_fragment)
        for num in (1, 2, 4)
        for trans in (False, True)
    ]
    maps += [load_fragment("ldmatrix", "m16n16", "b8", num=num, trans=True) for num in (1, 2)]
    maps += [load_fragment("ldmatrix", "m8n16", "b8x16", num=num) for num in (1, 2, 4)]
    maps += [store_fragment("stmatrix", "m16n8", "b8", num=num, trans=True) for num in (1, 2, 4)]
    maps += [transpose_fragment("movmatrix", operand, "m8n8", "b16") for operand in "AD"]
    return maps


WMMA_F16 = ("m16n16k16", "m8n32k16", "m32n8k16")
EVERY = {map_.name + map_.legend: map_ for map_ in families()}


def random_registers(map_: FragmentMap, batch: int = 3) -> np.ndarray:
    dtype = np.uint64 if map_.register_bits == 64 else np.uint32
    shape = (batch, map_.registers, map_.lanes)
    return np.random.default_rng(7).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


@pytest.mark.parametrize(("key", "formula"), MANUAL.items(), ids=map(" ".join, MANUAL))
def test_the_manuals_formulas(key, formula):
    shape, words, operand = key
    items, row, col = formula
    for word in words.split():
        map_ = warp_fragment("mma", operand, shape, word)
        assert map_.items == items
        for lane in range(32):
            for i in range(items):
                assert map_.element(lane, i) == (row(lane >> 2, lane % 4, i), col(lane >> 2, lane % 4, i))


@pytest.mark.parametrize("map_", EVERY.values(), ids=EVERY)
def test_every_element_has_one_owner(map_):
    counts = np.zeros((map_.rows, map_.cols), int)
    np.add.at(counts, (map_.row, map_.col), 1)
    assert (counts == 1).all()


@pytest.mark.parametrize("map_", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("transposed", [False, True])
def test_scatter_undoes_gather(map_, transposed):
    registers = random_registers(map_)
    matrix = map_.gather(registers, transposed=transposed)
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(map_.scatter(matrix, transposed=transposed), registers)
    np.testing.assert_array_equal(map_.gather(list(registers.transpose(1, 0, 2))), map_.gather(registers))


@pytest.mark.parametrize("map_", EVERY.values(), ids=EVERY)
def test_gather_follows_the_map_bit_by_bit(map_):
    registers = random_registers(map_, batch=1)
    matrix = map_.gather(registers)[0]
    for lane in (0, 1, 6, 17, map_.lanes - 1):
        for item in range(map_.items):
            register, bit = map_.register_of(item)
            expected = int(registers[0, register, lane]) >> bit & (1 << map_.bits) - 1
            row, col = map_.element(lane, item)
            if map_.packed_along == "col":
                assert int(matrix[row, col // 32]) >> col % 32 & 1 == expected
            elif map_.packed_along == "row":
                assert int(matrix[row // 32, col]) >> row % 32 & 1 == expected
            else:
                assert int(matrix[row, col]) == expected


def test_four_bit_elements_extend_their_sign_when_asked():
    map_ = warp_fragment("mma", "A", "m16n8k32", "s4")
    registers = random_registers(map_)
    plain, extended = map_.gather(registers), map_.gather(registers, signed=True)
    assert plain.max() == 15
    np.testing.assert_array_equal(extended.view(np.int8), (plain.astype(int) ^ 8) - 8)
    np.testing.assert_array_equal(map_.scatter(extended), registers)


def test_registers_of_float_dtype_keep_it():
    registers = np.arange(2 * 2 * 32, dtype=np.float64).reshape(2, 2, 32)
    map_ = warp_fragment("mma", "C", "m8n8k4", "f64")
    matrix = map_.gather(registers)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(map_.scatter(matrix), registers)


def test_quad_pairs_follow_the_manual():
    for lane in range(32):
        quad, t, high = lane % 16 // 4, lane % 4, lane >= 16
        for i in range(4):
            row_a = warp_fragment("mma", "A", "m8n8k4", "f16", layout="row").element(lane, i)
            col_a = warp_fragment("mma", "A", "m8n8k4", "f16", layout="col").element(lane, i)
            row_b = warp_fragment("mma", "B", "m8n8k4", "f16", layout="row").element(lane, i)
            col_b = warp_fragment("mma", "B", "m8n8k4", "f16", layout="col").element(lane, i)
            assert row_a == (8 * quad + t + 4 * high, i)
            assert col_a == (8 * quad + i % 4 + 4 * high, t)
            assert row_b == (4 * quad + t, i + 4 * high)
            assert col_b == (4 * quad + i, t + 4 * high)
        for i in range(8):
            half = warp_fragment("mma", "C", "m8n8k4", "f16").element(lane, i)
            single = warp_fragment("mma", "C", "m8n8k4", "f32").element(lane, i)
            assert half == (8 * quad + t + 4 * high, i)
            x = (lane & 0b1) + (i & 0b10)
            assert single == (8 * quad + x + 4 * high, (i & 0b100) + (lane & 0b10) + (i & 0b1))


def test_f16_wmma_fragments_repeat_themselves():
    for shape, operand, copies in (
        ("m16n16k16", "A", 2),
        ("m16n16k16", "B", 2),
        ("m8n32k16", "A", 4),
        ("m8n32k16", "B", 1),
        ("m32n8k16", "A", 1),
        ("m32n8k16", "B", 4),
    ):
        map_ = tiled_fragment("wmma", operand, shape, "f16")
        assert map_.registers == 8
        counts = np.zeros((map_.rows, map_.cols), int)
        np.add.at(counts, (map_.row, map_.col), 1)
        assert (counts == copies).all()
        matrix = map_.gather(random_registers(map_))
        np.testing.assert_array_equal(map_.gather(map_.scatter(matrix)), matrix)
        lanes = {lane for lane, _ in map_.owners(3, 5)}
        assert len(lanes) == 1


def test_the_lowest_register_is_read_where_several_hold_an_element():
    map_ = tiled_fragment("wmma", "A", "m16n16k16", "f16")
    registers = random_registers(map_)
    changed = registers.copy()
    changed[:, 4:] ^= 0xFFFFFFFF
    np.testing.assert_array_equal(map_.gather(changed), map_.gather(registers))


def test_wmma_composes_from_warp_multiplications():
    accumulator = tiled_fragment("wmma", "C", "m16n16k16", "f32")
    tile = warp_fragment("mma", "C", "m16n8k16", "f32")
    np.testing.assert_array_equal(accumulator.row[:, 4:], tile.row)
    np.testing.assert_array_equal(accumulator.col[:, 4:], tile.col + 8)
    wide = tiled_fragment("wmma", "C", "m8n32k16", "s32")
    np.testing.assert_array_equal(wide.col[:, :4], tile.row)
    np.testing.assert_array_equal(wide.row[:, :4], tile.col)


def test_warpgroup_fragments_lie_by_warps():
    accumulator = warpgroup_fragment("wgmma", "D", "m64n256k16", "f32")
    assert (accumulator.lanes, accumulator.registers) == (128, 128)
    assert accumulator.element(0, 0) == (0, 0)
    assert accumulator.element(0, 2) == (8, 0)
    assert accumulator.element(0, 4) == (0, 8)
    assert accumulator.element(127, 127) == (63, 255)
    assert accumulator.element(33, 1) == (16, 3)
    assert warpgroup_fragment("wgmma", "D", "m64n256k16", "f16").registers == 64
    a = warpgroup_fragment("wgmma", "A", "m64n8k16", "bf16")
    assert [a.element(69, i) for i in range(8)] == [
        (33, 2), (33, 3), (41, 2), (41, 3), (33, 10), (33, 11), (41, 10), (41, 11),
    ]  # fmt: skip
    assert warpgroup_fragment("wgmma", "A", "m64n8k8", "tf32").element(5, 3) == (9, 5)


def test_matrix_loads_put_rows_by_address_lane():
    plain = load_fragment("ldmatrix", "m8n8", "b16", num=4)
    turned = load_fragment("ldmatrix", "m8n8", "b16", num=4, trans=True)
    assert plain.element(6, 5) == (16 + 1, 5)
    assert turned.element(6, 5) == (16 + 5, 1)
    # Four plain loads make A of the 16 by 8 by 16 multiplication, when the matrices are given as the manual's
    # figure has them: rows 0-7, rows 8-15, then the same for the upper eight k.
    a = warp_fragment("mma", "A", "m16n8k16", "f16")
    np.testing.assert_array_equal(a.row, plain.row % 8 + 8 * (plain.row // 8 % 2))
    np.testing.assert_array_equal(a.col, plain.col + 8 * (plain.row // 16))


def test_a_matrix_move_is_a_transpose():
    read, written = (transpose_fragment("movmatrix", operand, "m8n8", "b16") for operand in "AD")
    matrix = np.arange(64, dtype=np.uint16).reshape(1, 8, 8)
    np.testing.assert_array_equal(read.gather(written.scatter(matrix))[0], matrix[0].T)


def test_the_table_of_cells():
    assert str(warp_fragment("mma", "B", "m16n8k4", "tf32")) == (
        "mma m16n8k4 tf32 B  (T32,V1) -> (K4,N8)\n"
        "      0     1     2     3     4     5     6     7\n"
        "0  T0:0  T4:0  T8:0 T12:0 T16:0 T20:0 T24:0 T28:0\n"
        "1  T1:0  T5:0  T9:0 T13:0 T17:0 T21:0 T25:0 T29:0\n"
        "2  T2:0  T6:0 T10:0 T14:0 T18:0 T22:0 T26:0 T30:0\n"
        "3  T3:0  T7:0 T11:0 T15:0 T19:0 T23:0 T27:0 T31:0"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: warp_fragment("mma", "E", "m16n8k16", "f16"), "mma has no operand 'E'; expected A, B, C or D"),
        (
            lambda: warp_fragment("mma", "D", "m16n8k16", "bf16"),
            "mma D has no elements of type 'bf16'; expected f16, f32, s32, f64",
        ),
        (
            lambda: warp_fragment("mma", "A", "16x8x16", "f16"),
            "mma has no shape '16x8x16'; expected a name such as m16n8k16",
        ),
        (
            lambda: warp_fragment("mma", "A", "m16n8k12", "f16"),
            "mma m16n8k12 f16 A has no fragment: M must be 8 or 16, N 8 and K 1, 2 or 4 times 8",
        ),
        (
            lambda: warp_fragment("mma", "A", "m16n8k8", "f16", sparse=True),
            "mma sparse m16n8k8 f16 A has no fragment: M must be 8 or 16, N 8 and K 1, 2 or 4 times 16",
        ),
        (
            lambda: warp_fragment("mma", "A", "m8n8k4", "f16"),
            "mma m8n8k4 f16 A: the layout is ''; expected 'row' or 'col'",
        ),
        (
            lambda: warpgroup_fragment("wgmma", "B", "m64n8k16", "f16"),
            "wgmma m64n8k16 f16 B has no fragment: B is in shared memory and has a descriptor",
        ),
        (
            lambda: warpgroup_fragment("wgmma", "A", "m64n8k16", "e4m3"),
            "wgmma m64n8k16 e4m3 A has no fragment: K must be 32",
        ),
        (
            lambda: store_fragment("stmatrix", "m8n8", "b16", num=3),
            (
                "unknown matrix load or store 'stmatrix m8n8 x3 b16'; expected x1, x2 or x4 (m16n16: x1 or x2)"
                " and one of m8n8 b16, m8n8 trans b16, m16n8 trans b8"
            ),
        ),
        (
            lambda: warp_fragment("mma", "C", "m16n8k16", "f32").element(32, 0),
            "mma m16n8k16 f32 C: there is no lane 32; expected 0 to 31",
        ),
        (
            lambda: warp_fragment("mma", "C", "m16n8k16", "f32").element(0, 4),
            "mma m16n8k16 f32 C: there is no item 4; expected 0 to 3",
        ),
        (
            lambda: warp_fragment("mma", "C", "m16n8k16", "f32").owners(16, 0),
            "mma m16n8k16 f32 C: there is no element (16, 0) in a matrix of 16 by 8",
        ),
        (
            lambda: warp_fragment("mma", "A", "m16n8k16", "f16").gather(np.zeros((2, 3, 32), np.uint32)),
            (
                "mma m16n8k16 f16 A: cannot gather registers of shape (2, 3, 32) and dtype uint32;"
                " expected (batch, 4, 32) of 32 bits each"
            ),
        ),
        (
            lambda: warp_fragment("mma", "A", "m16n8k16", "f16").scatter(np.zeros((2, 16, 16), np.uint8)),
            (
                "mma m16n8k16 f16 A: cannot scatter a matrix of shape (2, 16, 16) and dtype uint8;"
                " expected (batch, 16, 16) of 16 bits each"
            ),
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("map_", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("transposed", [False, True])
def test_an_order_moves_what_gather_moves(map_, transposed):
    order = map_.order(transposed=transposed)
    if order is None:
        assert map_.bits < 8 or map_.lanes == 128 or map_.row.size > map_.rows * map_.cols
        return
    registers = random_registers(map_, batch=1)
    matrices = []
    for warp in range(order.warps):
        held = np.ascontiguousarray(registers[0, :, 32 * warp : 32 * warp + 32]).view(order.dtype)
        assert held.shape == order.target.shape
        matrix = np.empty(order.target.size, order.dtype)
        matrix[order.target] = held
        matrices.append(matrix)
    expected = map_.gather(registers)
    tiles = expected.reshape(map_.tiles, -1, expected.shape[2])
    expected = tiles.swapaxes(1, 2) if transposed else tiles
    assert np.concatenate(matrices).tobytes() == expected.tobytes()
