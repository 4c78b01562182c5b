"""Matrix descriptors against the layout of the data: a wrong field is reported exactly if the result changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warploom as wl
from warploom.layout import swizzle

Array = NDArray[Any]
ROWS = {"A": 64, "B": 32}
START = {"A": 1024, "B": 1024 + 16384}  # shared addresses; the data of both matrices are at most 16 KiB
WORDS = ("descriptor/bounds", "descriptor/layout", "descriptor/overlap", "descriptor/swizzle", "unwritten/shared")
CODES = {f"sanitize.{word}" for word in WORDS}


@dataclass(frozen=True)
class Side:
    """How a matrix of a multiplication is copied: the contiguous dimension, and the swizzle of the boxes."""

    name: str
    major: str
    swizzle: int

    @property
    def k(self) -> int:
        """Extent along K of the data: one box of a K-major matrix, otherwise two steps."""
        return self.swizzle // 2 if self.major == "K" and self.swizzle else 32

    @property
    def right(self) -> wl.Descriptor:
        """The descriptor of the first 16 elements along K."""
        rows, span = ROWS[self.name], self.swizzle
        if self.major == "K":
            strides = (0, 8 * span) if span else (16 * rows, 128)
        else:
            strides = (span * self.k, 8 * span)
        return wl.Descriptor(START[self.name], *strides, 0, span)

    def maps(self, values: Array, depth: int) -> list[tuple[wl.TensorMap, int, int]]:
        """Tensor maps over `values` (rows, depth), each with the shared address and the bytes of its box."""
        rows, start = ROWS[self.name], START[self.name]
        if self.major == "K" and self.swizzle:
            return [(wl.TensorMap.tiled(values, (rows, self.k), swizzle=self.swizzle), start, rows * self.swizzle)]
        if self.major == "K":
            chunks = values.reshape(rows, depth // 8, 8).transpose(1, 0, 2)
            return [(wl.TensorMap.tiled(chunks, (self.k // 8, rows, 8)), start, rows * self.k * 2)]
        columns, size = self.swizzle // 2, self.swizzle * self.k
        across = np.ascontiguousarray(values.T)
        return [
            (wl.TensorMap.tiled(across[:, first : first + columns], (self.k, columns), swizzle=self.swizzle),
             start + number * size, size)
            for number, first in enumerate(range(0, rows, columns))
        ]  # fmt: skip


@cache
def _values(name: str, depth: int) -> Array:
    seed = {"A": 1, "B": 2}[name]
    return np.random.default_rng(seed).integers(-8, 8, (ROWS[name], depth)).astype(np.float16)


@dataclass(frozen=True)
class Copy:
    """A tensor copy of a box at the given coordinates, innermost first, to a shared address."""

    map: wl.TensorMap
    start: int
    size: int
    at: tuple[int, ...] = ()


def _copies(sides: tuple[Side, Side]) -> list[Copy]:
    depth = max(side.k for side in sides)
    return [Copy(*each) for side in sides for each in side.maps(_values(side.name, depth), depth)]


def _run(
    majors: tuple[str, str], copies: list[Copy], descriptors: tuple[wl.Descriptor, wl.Descriptor],
    zeros: Sequence[int] = (), second: wl.Descriptor | None = None, gathered: Sequence[int] = (),
) -> tuple[Array, set[str], str]:  # fmt: skip
    """The accumulators that a multiplication leaves, the rules reported, and the first message.

    One thread overwrites the 16-byte chunks at the shared addresses `zeros` after the copies. With `second`, a second
    CTA multiplies, too, and uses this descriptor of A. If `gathered` is given, a thread copies these rows of 64 bytes
    of a global array to the beginning of B, with a swizzle of 64 bytes.
    """
    ctas = 1 if second is None else 2
    maps = "\n".join(f"    .param .align 64 .b8 m{number}[128]," for number in range(len(copies)))
    loads = "\n".join(
        f"    mov.b64 %map, m{number};\n    cvta.param.u64 %map, %map;\n    mov.u32 %at, {each.start};\n"
        "    cp.async.bulk.tensor."
        f"{len(each.map.array.shape)}d.shared::cluster.global.mbarrier::complete_tx::bytes [%at], "
        f"[%map, {{{', '.join(map(str, each.at or (0,) * len(each.map.array.shape)))}}}], [%bar];"
        for number, each in enumerate(copies)
    )
    fills = "\n".join(f"    @%leader st.shared.v2.b64 [{each}], {{0, 0}};" for each in zeros)
    fills += "\n".join(
        "    @%leader cp.async.cg.shared.global "
        f"[{swizzle(START['B'] + 64 * row + at, 64)}], [%out+{64 * index + at}], 16;"
        for row, index in enumerate(gathered) for at in range(0, 64, 16)
    )  # fmt: skip
    registers = ", ".join(f"%d{number}" for number in range(16))
    transposed = ", ".join(str(int(major == "MN")) for major in majors)
    stores = "\n".join(f"    st.global.f32 [%out+{4 * number}], %d{number};" for number in range(16))
    text = f"""
.version 8.6
.target sm_90a
.address_size 64
.visible .entry multiply(
{maps}
    .param .u64 out,
    .param .u64 rows
)
.reqntid 128
{{
    .shared .align 1024 .b8 tiles[40960];
    .shared .align 8 .b64 full;
    .reg .pred %leader, %done;
    .reg .b32 %thread, %bar, %at;
    .reg .b64 %map, %out, %offset, %da, %db;
    .reg .f32 %d<16>;
    mov.u32 %thread, %tid.x;
    mov.u32 %bar, full;
    setp.eq.u32 %leader, %thread, 0;
    @!%leader bra ready;
    mbarrier.init.shared::cta.b64 [%bar], 1;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    @!%leader bra loaded;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {sum(each.size for each in copies)};
{loads}
loaded:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
    @!%done bra loaded;
    ld.param.u64 %out, [rows];
    cvta.to.global.u64 %out, %out;
{fills}
    cp.async.wait_all;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mov.u32 %at, %ctaid.x;
    mad.lo.u32 %thread, %at, 128, %thread;
    setp.ne.u32 %done, %at, 0;
    mov.b64 %da, {descriptors[0].encode()};
    @%done mov.b64 %da, {(second or descriptors[0]).encode()};
    mov.b64 %db, {descriptors[1].encode()};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{{registers}}}, %da, %db, 0, 1, 1, {transposed};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ld.param.u64 %out, [out];
    cvta.to.global.u64 %out, %out;
    mul.wide.u32 %offset, %thread, 64;
    add.s64 %out, %out, %offset;
{stores}
    ret;
}}
"""
    out = np.zeros((128 * ctas, 16), np.float32)
    rows = np.zeros((max(gathered, default=0) + 1, 32), np.float16)
    done = wl.launch(text, grid=ctas, block=128, args=[*(each.map for each in copies), out, rows], sanitize=True)
    found = {each.code for each in done.findings}
    return out, found, done.findings[0].message if done.findings else ""


def _majors(sides: tuple[Side, Side]) -> tuple[str, str]:
    return sides[0].major, sides[1].major


def _product(sides: tuple[Side, Side], first: int = 0) -> Array:
    """The accumulators (thread, register) of the product of 16 elements along K."""
    depth = max(side.k for side in sides)
    a, b = (_values(name, depth)[:, first : first + 16].astype(np.float32) for name in "AB")
    thread, register = np.indices((128, 16))
    row = thread // 32 * 16 + thread % 32 // 4 + register // 2 % 2 * 8
    return (a @ b.T)[row, register // 4 * 8 + thread % 4 * 2 + register % 2]


def _wrong(right: wl.Descriptor) -> Iterator[wl.Descriptor]:
    offsets = (0, 16, 128, 256, 512, 1024, 2048, 4096)
    yield from (replace(right, swizzle=each) for each in (0, 32, 64, 128))
    yield from (replace(right, base_offset=each) for each in (1, 4, 7))
    yield from (replace(right, leading_byte_offset=each) for each in offsets)
    yield from (replace(right, stride_byte_offset=each) for each in offsets)
    yield from (replace(right, start_address=right.start_address + each) for each in (16, 32, 128, 256, 1024))


PAIRS = [
    (Side("A", "K", 128), Side("B", "K", 128)),
    (Side("A", "K", 64), Side("B", "MN", 64)),
    (Side("A", "K", 32), Side("B", "K", 32)),
    (Side("A", "MN", 128), Side("B", "MN", 32)),
    (Side("A", "MN", 64), Side("B", "K", 0)),
    (Side("A", "K", 0), Side("B", "MN", 64)),
    (Side("A", "MN", 32), Side("B", "K", 64)),
]


@pytest.mark.parametrize("sides", PAIRS, ids=str)
def test_a_right_descriptor_is_silent_at_every_step(sides: tuple[Side, Side]) -> None:
    for first in range(0, min(side.k for side in sides), 16):
        moved = [replace(side.right, start_address=side.right.start_address + _step(side, first)) for side in sides]
        found, codes, message = _run(_majors(sides), _copies(sides), (moved[0], moved[1]))
        assert (found == _product(sides, first)).all()
        assert codes == set(), message


def _step(side: Side, first: int) -> int:
    """Bytes from the beginning of a matrix to its element `first` along K."""
    if side.major == "MN":
        return first * side.swizzle
    return 2 * first if side.swizzle else first // 8 * side.right.leading_byte_offset


def test_each_cta_is_checked_with_its_own_fields() -> None:
    sides = PAIRS[0]
    right, wrong = (sides[0].right, sides[1].right), replace(sides[0].right, swizzle=64)
    assert _run(_majors(sides), _copies(sides), right, second=right[0])[1] == set()
    for _ in range(2):  # the second launch knows that the descriptor of the first CTA agrees
        assert _run(_majors(sides), _copies(sides), right, second=wrong)[1] == {"sanitize.descriptor/swizzle"}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("sides", PAIRS, ids=str)
def test_a_wrong_field_is_reported_if_it_changes_the_result(sides: tuple[Side, Side], which: int) -> None:
    right, otherwise = _product(sides), []
    for wrong in _wrong(sides[which].right):
        both = [side.right for side in sides]
        both[which] = wrong
        found, codes, message = _run(_majors(sides), _copies(sides), (both[0], both[1]))
        if bool(codes & CODES) == (found == right).all() or len(codes) > 1:
            otherwise.append((wrong, codes, message))
    assert not otherwise


# Legal tiles of several boxes ---------------------------------------------------------------------------------


def _half(values: Array, first: int, start: int) -> Copy:
    """A copy of 16 rows by 64 elements along K, of which the first is row `first`."""
    return Copy(wl.TensorMap.tiled(values, (16, 64), swizzle=128), start, 2048, (0, first))


@pytest.mark.parametrize("rows", [(0, 16), (48, 16), (16, 40)], ids=str)
@pytest.mark.parametrize("tensors", [1, 2])
def test_rows_may_come_from_whole_boxes_anywhere(rows: tuple[int, int], tensors: int) -> None:
    a = Side("A", "K", 128)
    sources = np.random.default_rng(3).integers(-8, 8, (tensors, 64, 64)).astype(np.float16)
    halves = [_half(sources[at % tensors], first, START["B"] + 2048 * at) for at, first in enumerate(rows)]
    whole = [Copy(*each) for each in a.maps(_values("A", 64), 64)]
    right = Side("B", "K", 128).right
    assert _run(("K", "K"), [*whole, *halves], (a.right, right))[1:] == (set(), "")
    moved = replace(right, start_address=right.start_address - 1024)  # 8 rows of other data, then a part of the boxes
    other = Copy(halves[0].map, START["B"] - 2048, 2048, (0, 24))
    assert _run(("K", "K"), [*whole, other, *halves], (a.right, moved))[1] == {"sanitize.descriptor/layout"}


def test_both_matrices_may_have_one_permutation_of_k() -> None:
    sides = Side("A", "MN", 128), Side("B", "MN", 64)
    apart = [replace(side.right, stride_byte_offset=16 * side.swizzle) for side in sides]
    assert _run(_majors(sides), _copies(sides), (apart[0], apart[1]))[1:] == (set(), "")
    assert _run(_majors(sides), _copies(sides), (apart[0], sides[1].right))[1] == {"sanitize.descriptor/layout"}


def test_a_tile_may_be_a_part_of_a_larger_box() -> None:
    a = Side("A", "K", 128)
    b = np.random.default_rng(4).integers(-8, 8, (256, 64)).astype(np.float16)
    whole = [*(Copy(*each) for each in a.maps(_values("A", 64), 64))]
    box = Copy(wl.TensorMap.tiled(b, (160, 64), swizzle=128), START["B"], 160 * 128, (0, 96))
    for row in (0, 8, 128):
        right = wl.Descriptor(START["B"] + 128 * row, 0, 1024, 0, 128)
        assert _run(("K", "K"), [*whole, box], (a.right, right))[1:] == (set(), "")


@pytest.mark.parametrize("side", [Side("B", "MN", 64), Side("B", "K", 128)], ids=str)
def test_threads_may_overwrite_a_part_of_a_box(side: Side) -> None:
    sides = Side("A", "K", 64), side
    right = (sides[0].right, side.right)
    whole, copies = _product(sides), _copies(sides)
    if side.major == "MN":  # all rows of the elements 4 to 15 along K, as behind the end of a sequence
        zeros = range(side.right.start_address + 4 * side.swizzle, side.right.start_address + 16 * side.swizzle, 16)
    else:  # the elements 8 to 15 along K of the first 8 rows
        zeros = [swizzle(side.right.start_address + side.swizzle * row + 16, side.swizzle) for row in range(8)]
    found, codes, message = _run(_majors(sides), copies, right, zeros)
    assert (codes, message) == (set(), "")
    assert (found != whole).any()
    for wrong in (replace(side.right, base_offset=1), replace(side.right, stride_byte_offset=128)):
        assert len(_run(_majors(sides), copies, (sides[0].right, wrong), zeros)[1] & CODES) == 1


def test_a_part_of_gathered_rows_may_be_equally_spaced() -> None:
    """Rows with indices have no spacing, so the spacing of some of them is no evidence for another start address."""
    a, b = Side("A", "K", 64), Side("B", "MN", 64)
    whole = [Copy(*each) for each in a.maps(_values("A", 32), 32)]
    for spaced in (0, 4, 12):
        rows = [7 * row + 100 * (row >= spaced) for row in range(32)]
        assert _run(("K", "MN"), whole, (a.right, b.right), gathered=rows)[1:] == (set(), "")
