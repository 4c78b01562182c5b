"""Attributes of the dialect: enumerations with MLIR's cases, and named extents of matrices."""

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class EnumAttribute(Data[str], ABC):
    """Enumeration attribute, written in angle brackets: `#nvvm.mma_layout<row>`."""

    words: ClassVar[Mapping[str, str]]
    """PTX modifier of each case, by the name of the case in MLIR."""
    cases: ClassVar[tuple[str, ...]]
    """Names of the cases in MLIR."""

    @property
    def word(self) -> str:
        """PTX modifier for the value of the attribute, such as `32x32b` for MLIR's `shape_32x32b`."""
        return self.words[self.data]

    @classmethod
    def read(cls, parser: AttrParser) -> str:
        """Parse one of the words in `cases`, which may be in quotation marks."""
        start = parser.pos
        word = parser.parse_optional_identifier() or parser.parse_optional_str_literal()
        if word not in cls.cases:
            name = cls.name.removeprefix("nvvm.")
            parser.raise_error(f"expected {name} to be one of: {', '.join(cls.cases)}", start)
        return word

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        whole = parser.parse_optional_attribute()
        if isinstance(whole, cls | StringAttr) and whole.data in cls.cases:
            return whole.data
        with nullcontext() if issubclass(cls, BareEnumAttribute) else parser.in_angle_brackets():
            return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        with nullcontext() if isinstance(self, BareEnumAttribute) else printer.in_angle_brackets():
            printer.print_string(self.data)


class BareEnumAttribute(EnumAttribute, SpacedOpaqueSyntaxAttribute):
    """Enumeration attribute without inner angle brackets: `#nvvm<action increase>`."""


class ExtentsAttribute(ParametrizedAttribute, ABC):
    """Attribute of named extents: `#nvvm.shape<m = 64, n = 8, k = 16>`."""

    FIELDS: ClassVar[tuple[str, ...]]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found: dict[str, int] = {}

        def field() -> None:
            start = parser.pos
            name = parser.parse_optional_identifier()
            if name not in cls.FIELDS or name in found:
                parser.raise_error(f"expected one of: {', '.join(cls.FIELDS)}, each once; got {name!r}", start)
            parser.parse_characters("=")
            found[name] = parser.parse_integer()

        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.parameters
        start = parser.pos
        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, field)
        if missing := [name for name in cls.FIELDS if name not in found]:
            parser.raise_error(f"{cls.name.removeprefix('nvvm.')} has no {', '.join(missing)}", start)
        return [IntAttr(found[name]) for name in cls.FIELDS]

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents in the order of FIELDS."""
        return tuple(each.data for each in cast("tuple[IntAttr, ...]", self.parameters))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            pairs = zip(self.FIELDS, self.extents, strict=True)
            printer.print_string(", ".join(f"{name} = {extent}" for name, extent in pairs))

    def __str__(self) -> str:
        return "".join(f"{name}{extent}" for name, extent in zip(self.FIELDS, self.extents, strict=True))


@irdl_attr_definition
class Shape(ExtentsAttribute):
    """Extents M, N and K of a matrix multiplication."""

    name = "nvvm.shape"
    FIELDS = ("m", "n", "k")
    m: IntAttr
    n: IntAttr
    k: IntAttr


@irdl_attr_definition
class MatrixShape(ExtentsAttribute):
    """Rows and columns of a matrix that is loaded or stored."""

    name = "nvvm.ld_st_matrix_shape"
    FIELDS = ("m", "n")
    m: IntAttr
    n: IntAttr


@irdl_attr_definition
class ConstantRange(ParametrizedAttribute):
    """Half-open range of an integer: `#llvm.constant_range<i32, 0, 32>`."""

    name = "llvm.constant_range"
    type: IntegerType
    lower: IntAttr
    upper: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.parameters
        with parser.in_angle_brackets():
            start = parser.pos
            found: list[Attribute] = [parser.parse_type()]
            if not isinstance(found[0], IntegerType):
                parser.raise_error(f"expected an integer type, got {found[0]}", start)
            for _ in range(2):
                parser.parse_punctuation(",")
                found.append(IntAttr(parser.parse_integer()))
        return found

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.type}, {self.lower.data}, {self.upper.data}")


# Enumerations ----------------------------------------------------------------------------------------------

_TABLE = """
    action: decrease=dec increase=inc (bare)            # direction of a change of a warpgroup's number of registers
    block_scale_format: ue8m0 ue4m3                     # number format of block scales
    block_scale_kind: mxf8f6f4=kind::mxf8f6f4 mxf4=kind::mxf4 mxf4nvf4=kind::mxf4nvf4
    cache_eviction_priority: evict_normal evict_first evict_last evict_unchanged no_allocate (bare)
    cluster_launch_control_query_type: is_canceled get_first_cta_id_x get_first_cta_id_y get_first_cta_id_z (bare)
    cta_group: cta_1=cta_group::1 cta_2=cta_group::2    # number of CTAs that execute an instruction together
    dot_accumulate_type: signed=s32 unsigned=u32        # sign of the elements of a dot product
    fp_rnd_mode: none= rn rm rp rz rna rs               # rounding of a conversion; `none` states no modifier
    grid_dep_action: wait launch_dependents (bare)      # wait for earlier grids, or permission for later ones
    ld_st_matrix_elt_type: b16 b8 b8x16.b6x16_p32 b8x16.b4x16_p64
    load_cache_modifier: ca cg cs lu cv (bare)          # cache operator of a copy
    match_sync_kind: any all (bare)                     # lanes whose values are compared
    mem_order: weak relaxed acquire release acq_rel sc mmio volatile
    mem_scope: cta cluster gpu sys                      # set of threads to which a memory order applies
    mma_b1op: none xor_popc and_popc                    # operation on single bits, which are then counted
    mma_frag: a b c                                     # matrix whose fragment is loaded
    mma_int_overflow: satfinite wrapped                 # treatment of integer results that leave their range
    mma_kind: f8f6f4=kind::f8f6f4                       # multiplication of floats with 8 bits or fewer
    mma_layout: row col                                 # row-major or column-major order of a matrix
    mma_type: f16 f32 tf32 bf16 s8 u8 s32 s4 u4 b1 f64 e4m3 e5m2 e3m2 e2m3 e2m1
    permute_mode: default= f4e b4e rc8 ecl ecr rc16     # selection of the bytes of a permutation
    prefetch_cache_level: L1 L2 (bare)                  # cache that receives a line
    proxy_kind: alias async async.global async.shared tensormap generic
    reduction: popc and or                              # combination of the predicates of threads at a barrier
    redux_kind: add and max min or umax umin xor fmin fmax (bare)
    sat_mode: none= satfinite                           # treatment of numbers beyond the largest finite number
    scale_vec_size: x1 x2 x4                            # number of block scales per row of A and column of B
    shared_space: cta cluster                           # shared memory of the executing CTA, or of its cluster
    shfl_kind: bfly up down idx (bare)                  # selection of the source lane of a shuffle
    tcgen05_cp_multicast: none= warpx2_02_13=warpx2::02_13 warpx2_01_23=warpx2::01_23 warpx4
    tcgen05_cp_shape: shape_128x256b shape_4x256b shape_128x128b shape_64x128b shape_32x128b
    tcgen05_cp_src_fmt: b6x16_p32 b4x16_p64             # packed elements that a copy to tensor memory unpacks
    tcgen05_fence: before=fence::before_thread_sync after=fence::after_thread_sync
    tcgen05_ldst_shape: shape_16x64b shape_16x128b shape_16x256b shape_32x32b shape_16x32bx2
    tcgen05_mma_block_scale: default= block16 block32   # elements per scale; `default`: as `.kind` implies
    tcgen05_mma_collectorb: b0 b1 b2 b3                 # collector buffer of matrix B
    tcgen05_mma_collectorop: discard lastuse fill use   # use of a collector buffer, which keeps a matrix for later
    tcgen05_mma_kind: f8f6f4=kind::f8f6f4 i8=kind::i8 f16=kind::f16 tf32=kind::tf32
    tcgen05_wait: load=wait::ld store=wait::st          # accesses to tensor memory that a thread waits for
    tma_load_mode: tile im2col im2col_w im2col_w_128 tile_gather4
    tma_redux_kind: add max min inc dec and or xor      # operation of a tensor reduction
    tma_store_mode: tile im2col tile_scatter4           # addressing mode of a tensor store
    vote_sync_kind: any all ballot uni (bare)           # combination of the predicates of lanes
    wgmma_scale_in: one neg                             # sign that matrix A or B is multiplied by
    wgmma_scale_out: zero one                           # factor of the accumulator: `zero` overwrites it
    wgmma_type: f16 tf32 u8 s8 b1 bf16 e4m3 e5m2 f32 s32
"""
"""Enumerations of MLIR and their cases. `case=word` states a PTX modifier that differs."""


def _enumerations() -> Iterator[type[EnumAttribute]]:
    for line in _TABLE.strip().splitlines():
        name, _, cases = line.partition("#")[0].strip().partition(":")
        base = BareEnumAttribute if cases.endswith("(bare)") else EnumAttribute
        words: dict[str, str] = {}
        for each in cases.removesuffix("(bare)").split():
            case, differs, word = each.partition("=")
            words[case] = word if differs else case.removeprefix("shape_")
        members = {"name": f"nvvm.{name}", "cases": tuple(words), "words": words, "__module__": __name__}
        yield irdl_attr_definition(cast("type[EnumAttribute]", type(name, (base,), members)))


ATTRIBUTES: Mapping[str, type[Attribute]] = {
    each.name.partition(".")[2]: each for each in (Shape, MatrixShape, ConstantRange, *_enumerations())
}
"""Attributes by their names in MLIR, without the name of the dialect."""


def _enum(name: str) -> type[EnumAttribute]:
    return cast("type[EnumAttribute]", ATTRIBUTES[name])


BitOperation = _enum("mma_b1op")
Layout = _enum("mma_layout")
MatrixElement = _enum("ld_st_matrix_elt_type")
MmaFragment = _enum("mma_frag")
MmaKind = _enum("mma_kind")
MmaType = _enum("mma_type")
Overflow = _enum("mma_int_overflow")
ScaleFormat = _enum("block_scale_format")
ScaleIn = _enum("wgmma_scale_in")
ScaleKind = _enum("block_scale_kind")
ScaleOut = _enum("wgmma_scale_out")
ScaleVector = _enum("scale_vec_size")
ShuffleMode = _enum("shfl_kind")
WgmmaType = _enum("wgmma_type")
