"""What a GEMM kernel is built for: types, majors, the tile of a CTA, what is done with the sums.

A plan is all that is known when the PTX is made; sizes, addresses and factors come with each launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from math import gcd
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import shared_bytes
from warploom.isa.model.types import TYPES

SPAN = 128  # bytes of K in one stage: a row of the widest swizzle
STEP = 32  # bytes of a row of A that one instruction takes
SCALED = 128  # elements of K, and columns of B, that may share a factor
METADATA = 512  # bytes that the threads of a consumer have in one word each
HOPPER = "sm_90a"  # the target that has wgmma
SHARED = shared_bytes(90)  # what a CTA may have
# Registers that a thread has for sums, by the number of consumers. With more the driver's assembler (580.159) spills,
# where ptxas 13.0 does not yet: 176 cost a fifth of the speed.
_MOST = {1: 192, 2: 160, 3: 128}
_MOST_AT_ONCE = {1: 128, 2: 128, 3: 96}  # and for those of one instruction, which a launch must give at once
SUMS = {
    **dict.fromkeys([("f16", "f16")], ("f32", "f16")),
    **dict.fromkeys([("bf16", "bf16"), ("tf32", "tf32")], ("f32",)),
    **dict.fromkeys([(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")], ("f32", "f16")),
    **dict.fromkeys([(a, b) for a in ("s8", "u8") for b in ("s8", "u8")], ("s32",)),
}
"""The types of sums that the tensor cores have for the types of A and B."""
RESULTS = {
    "f32": ("f32", "bf16", "f16", "e4m3", "e5m2"),
    "f16": ("f16",),
    "s32": ("s32", "f32", "bf16", "f16"),
}
"""The types that D may have, by the type of the sums."""
DTYPES: dict[str, np.dtype[Any]] = {
    word: np.dtype(dtype)
    for word, dtype in (
        ("f32", np.float32),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("s32", np.int32),
        ("e4m3", ml_dtypes.float8_e4m3fn),
        ("e5m2", ml_dtypes.float8_e5m2),
    )
}
"""What NumPy calls the types of D."""
PROMOTED = 4
"""Stages of 8-bit floats whose sum is added in f32 where all bits are to be kept: 512 elements of K."""
ACTIVATIONS = ("", "relu", "gelu", "silu")


def size_of(type_word: str) -> int:
    """Bytes of an element in memory."""
    return 4 if type_word == "tf32" else TYPES[type_word].bytes


def metadata_places(type_word: str) -> tuple[tuple[int, int], ...]:
    """For each instruction of a stage: which of a thread's words has the metadata of a sparse A, and the selector.

    Of bytes every thread's word is in use; of wider elements half of the threads', chosen by the selector.
    """
    return ((0, 0), (1, 0)) if size_of(type_word) == 1 else ((0, 0), (0, 1))


@dataclass(frozen=True, slots=True)
class Tile:
    """What one CTA computes at a time, and how: `rows` of M by `columns` of N in `stages` of shared memory.

    The consumers have 64 rows of it each; where they `alternate` there are two, and each has every second tile to
    itself, so that one stores while the other multiplies. `buffers` of shared memory take turns on the way to D.
    `cluster` CTAs one above the other share their columns of B by multicast. Neighbouring CTAs take `group` rows of
    tiles before the next column, so that they meet in the L2 cache.
    """

    rows: int = 128
    columns: int = 256
    stages: int = 4
    cluster: int = 1
    group: int = 8
    alternate: bool = False
    buffers: int = 2

    @property
    def warpgroups(self) -> int:
        """Consumers."""
        return 2 if self.alternate else self.rows // 64

    @property
    def sharers(self) -> int:
        """Consumers of one tile."""
        return self.rows // 64

    @property
    def threads(self) -> int:
        """Threads of a CTA, the producer's warpgroup among them."""
        return 128 * (1 + self.warpgroups)


SMALL = Tile(64, 64, 2)
"""A tile that every plan can have."""


@dataclass(frozen=True, slots=True)
class Epilogue:
    """What becomes of the sums: `D = activation(scale * sums + factor * C + bias)`.

    `scaled`: alpha, a factor of each row and one of each column, all by address or value at the launch.
    `addend`: the type of C, or "". `bias`: "", "row" or "column", what it has one f32 for.
    """

    scaled: bool = False
    row_scales: bool = False
    column_scales: bool = False
    addend: str = ""
    bias: str = ""
    activation: str = ""

    @property
    def plain(self) -> bool:
        """Whether the sums are only rounded."""
        return self == Epilogue()


@dataclass(frozen=True, slots=True)
class Blocks:
    """Factors of products before they are summed up, others for each 128 elements of K.

    `rows`: whether each row of A has one. `columns`: how many columns of B share one, 1 or 128; 0 where it has none.
    """

    rows: bool = False
    columns: int = 0

    def __bool__(self) -> bool:
        return self != Blocks()


class Typed(Protocol):
    """What every plan says: types, majors, and what becomes of the sums."""

    @property
    def a(self) -> str: ...  # noqa: D102
    @property
    def b(self) -> str: ...  # noqa: D102
    @property
    def sums(self) -> str: ...  # noqa: D102
    @property
    def d(self) -> str: ...  # noqa: D102
    @property
    def a_major(self) -> str: ...  # noqa: D102
    @property
    def b_major(self) -> str: ...  # noqa: D102
    @property
    def epilogue(self) -> Epilogue: ...  # noqa: D102


def types_refused(plan: Typed) -> Iterator[str]:
    """What the tensor cores, or the epilogue, do not have of what a plan asks for."""
    if plan.sums not in SUMS.get((plan.a, plan.b), ()):
        have = "; ".join(f"{a} by {b}: {', '.join(s)}" for (a, b), s in SUMS.items())
        yield f"no sums of {plan.a} by {plan.b} in {plan.sums}; there are {have}"
    elif plan.d not in RESULTS[plan.sums]:
        yield f"no result in {plan.d} from sums in {plan.sums}; there are {', '.join(RESULTS[plan.sums])}"
    for name, major, across in (("a_major", plan.a_major, "m"), ("b_major", plan.b_major, "n")):
        if major not in ("k", across):
            yield f"{name} is '{major}'; expected 'k' or '{across}'"
    if (plan.a_major, plan.b_major) != ("k", "k") and plan.a in TYPES and size_of(plan.a) != 2:
        yield f"{plan.a} is read along K alone; a_major and b_major must be 'k'"
    if plan.epilogue.activation not in ACTIVATIONS:
        yield f"no activation '{plan.epilogue.activation}'; there are relu, gelu and silu"
    if plan.d == "s32" and not plan.epilogue.plain:
        yield "sums in s32 go to a result in s32 as they are; an epilogue needs one in f32, bf16 or f16"


def tile_refused(tile: Any) -> Iterator[str]:
    """Which of a tile's numbers are none."""
    for each in fields(tile):
        value = getattr(tile, each.name)
        if type(each.default) is int and (not isinstance(value, int) or value < 1):
            yield f"{each.name} of a tile is {value!r}; expected a whole number above 0"


@dataclass(frozen=True, slots=True)
class Plan:
    """One kernel. `a_major` is "k" or "m", `b_major` "k" or "n": along what elements are neighbours in memory.

    `ragged`: the rows of D do not end with whole 16 bytes. `promoted`: sums of so many stages are
    added up in f32 outside the tensor cores, which keep fewer bits; 0 for none. With factors of `blocks` they are
    those of a block. `sparse`: of four elements
    of A side by side along K two are stored, of tf32 one of two, and metadata beside them (`compress`).
    `batched`: D and its operands have a batch each, but for those of "a", "b" and "c" that are `common` to all.
    `grouped`: the rows of A and D go by groups, and each group has a B of its own.
    Errors: UsageError kernels.plan where the tensor cores or the CTA have no such kernel.
    """

    a: str = "bf16"
    b: str = "bf16"
    sums: str = "f32"
    d: str = "bf16"
    a_major: str = "k"
    b_major: str = "k"
    batched: bool = False
    common: str = ""
    grouped: bool = False
    promoted: int = 0
    ragged: bool = False
    sparse: bool = False
    blocks: Blocks = Blocks()
    tile: Tile = field(default_factory=Tile)
    epilogue: Epilogue = field(default_factory=Epilogue)

    def __post_init__(self) -> None:
        for complaint in self._complaints():
            raise UsageError(complaint, code="kernels.plan")

    def _complaints(self) -> tuple[str, ...]:
        tile, found = self.tile, list(types_refused(self))
        if self.sparse and self.a_major != "k":
            found.append("a sparse A is stored along K; a_major must be 'k'")
        if self.common and (not self.batched or set(self.common) - set("abc")):
            found.append(
                f"operands common to a batch are '{self.common}'; expected some of 'abc', and a batch"
            )
        if self.grouped and self.a_major != "k":
            found.append("groups begin at any row of A, which must be stored along K; a_major must be 'k'")
        if self.grouped and (self.batched or self.sparse or self.blocks):
            found.append("rows that go by groups have no batch, no sparse A and no factors of blocks")
        if self.blocks:
            found.extend(self._blocks_refused())
        elif self.promoted and self.sums != "f32":
            found.append(f"sums in {self.sums} are exact or chosen to be short; only f32 is promoted")
        if wrong := list(tile_refused(tile)):
            return (*found, *wrong)
        if tile.cluster not in (1, 2, 4):
            found.append(f"clusters of {tile.cluster} CTAs; expected 1, 2 or 4")
        if tile.rows % 64 or not 64 <= tile.rows <= 192:
            found.append(f"{tile.rows} rows of a tile; expected 64, 128 or 192")
        if tile.alternate and tile.rows != 64:
            found.append(f"{tile.rows} rows of a tile that one consumer has to itself; expected 64")
        if tile.buffers not in (1, 2):
            found.append(f"{tile.buffers} buffers; expected 1 or 2")
        step = 64 * tile.cluster if self.b_major == "n" else 16
        if tile.columns % step or not 64 <= tile.columns <= 256:
            found.append(f"{tile.columns} columns of a tile; expected a multiple of {step} from 64 to 256")
        if tile.stages < 2 or self.shared_bytes > SHARED:
            found.append(
                f"{tile.stages} stages of {self.stage_bytes} bytes; expected at least 2 and, with"
                f" {self.shared_bytes - tile.stages * self.stage_bytes} bytes besides, {SHARED} in all"
            )
        factors = " and factors" if self.blocks.columns == 1 else ""
        for count, most in ((self.words, _MOST_AT_ONCE), (self.registers, _MOST)):
            if count > most.get(tile.warpgroups, count):
                found.append(
                    f"{count} registers of sums{factors} for each thread of {tile.warpgroups} consumers;"
                    f" expected {most[tile.warpgroups]} at most"
                )
        return tuple(found)

    def _blocks_refused(self) -> Iterator[str]:
        if self.sums != "f32":
            yield f"factors of blocks multiply sums in f32; these are in {self.sums}"
        elif self.promoted != SCALED // self.depth:
            yield (
                f"sums of {self.promoted} stages are multiplied by a factor of {SCALED} elements of K; expected"
                f" promoted={SCALED // self.depth}"
            )
        if self.blocks.columns not in (0, 1, SCALED):
            yield f"{self.blocks.columns} columns of B that share a factor; expected 0, 1 or {SCALED}"
        for name, by_block, by_line in (
            ("rows", self.blocks.rows, self.epilogue.row_scales),
            ("columns", self.blocks.columns, self.epilogue.column_scales),
        ):
            if by_block and by_line:
                yield f"the {name} have factors by block and of all K; expected one or the other"

    def with_tile(self, tile: Tile) -> Plan:
        """The plan with another tile. Errors: UsageError kernels.plan."""
        return replace(self, tile=tile)

    # What follows from it ---------------------------------------------------------------------------------------

    def rank(self, operand: str) -> int:
        """Dimensions of A, B, C or D: 3 where each batch, or each group, has its own."""
        own = self.batched and operand not in self.common
        return 3 if own or (self.grouped and operand == "b") else 2

    @property
    def addressed(self) -> bool:
        """Whether D is also written without its tensor map, which knows neither ragged rows nor groups."""
        return self.ragged or self.grouped

    @property
    def depth(self) -> int:
        """Elements of K in a stage."""
        return SPAN // size_of(self.a)

    @property
    def span_a(self) -> int:
        """Bytes of a row of A in a stage: half as many are stored where it is sparse."""
        return SPAN // 2 if self.sparse else SPAN

    @property
    def steps(self) -> int:
        """Instructions for the products of a stage."""
        return self.span_a // STEP

    @property
    def metadata_words(self) -> int:
        """Words of metadata of a thread for a stage."""
        return 1 + max(word for word, _ in metadata_places(self.a)) if self.sparse else 0

    @property
    def metadata_bytes(self) -> int:
        """Bytes of metadata in a stage."""
        return self.tile.sharers * METADATA * self.metadata_words

    @property
    def stage_bytes(self) -> int:
        """Bytes of A and B in a stage."""
        return self.tile.rows * self.span_a + self.tile.columns * SPAN + self.metadata_bytes

    @property
    def words(self) -> int:
        """Registers of a thread for the sums of its tile."""
        return self.tile.columns // (4 if self.sums == "f16" else 2)

    @property
    def word(self) -> str:
        """The type of such a register: two sums of f16 share one."""
        return "b32" if self.sums == "f16" else self.sums

    @property
    def registers(self) -> int:
        """Registers of a thread for sums of all kinds, and for factors of columns."""
        # What assemblers need to have the factors of every column at hand.
        of_columns = self.words // 3 if self.blocks.columns == 1 else 0
        return self.words * (2 if self.promoted else 1) + of_columns

    @property
    def turn(self) -> int:
        """Columns that are stored together."""
        return 32 if size_of(self.d) == 4 else 64

    @property
    def patch(self) -> int:
        """Columns that one copy to D takes: of a turn's as many as divide the tile."""
        return gcd(self.tile.columns, self.turn)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a patch, which are the span of its swizzle; 16 are not swizzled."""
        return self.patch * size_of(self.d)

    @property
    def turn_bytes(self) -> int:
        """Bytes of 64 rows of a turn."""
        return 64 * self.turn * size_of(self.d)

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a CTA, mbarriers included."""
        tile = self.tile
        return tile.stages * self._with_barriers + tile.warpgroups * (tile.buffers * self.turn_bytes + 8)

    @property
    def _with_barriers(self) -> int:
        return self.stage_bytes + 16

    @property
    def most_stages(self) -> int:
        """The stages that there would be room for."""
        return self.tile.stages + (SHARED - self.shared_bytes) // self._with_barriers
