"""Attributes of the dialect: enumerations with MLIR's cases, and named extents of matrices."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class EnumAttribute(Data[str], ABC):
    """Enumeration attribute, written in angle brackets: `#nvvm.mma_layout<row>`."""

    cases: ClassVar[tuple[str, ...]]
    words: ClassVar[Mapping[str, str]]
    """PTX modifier of each enumeration value whose MLIR name differs from the modifier."""

    @property
    def word(self) -> str:
        """PTX modifier for the value of the attribute, such as `32x32b` for MLIR's `shape_32x32b`."""
        return self.words.get(self.data, self.data.removeprefix("shape_"))

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
        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.data
        with parser.in_angle_brackets():
            return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


class BareEnumAttribute(EnumAttribute, SpacedOpaqueSyntaxAttribute):
    """Enumeration attribute that is written without inner angle brackets: `#nvvm<action increase>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        whole = parser.parse_optional_attribute()
        if isinstance(whole, cls | StringAttr) and whole.data in cls.cases:
            return whole.data
        return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


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
                parser.raise_error(f"expected one of: {', '.join(cls.FIELDS)}, each once", start)
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
    """Range of an integer, without its upper end: `#llvm.constant_range<i32, 0, 32>`."""

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


def _enum(
    name: str, cases: str, base: type[EnumAttribute] = EnumAttribute, words: Sequence[str] = ()
) -> type[EnumAttribute]:
    every = tuple(cases.split())
    members = {"name": f"nvvm.{name}", "cases": every, "words": dict(zip(every, words)), "__module__": __name__}
    return irdl_attr_definition(cast("type[EnumAttribute]", type(name, (base,), members)))


BarrierReduction = _enum("reduction", "popc and or")
"""Combination of the predicates of the threads at a barrier."""
BitOperation = _enum("mma_b1op", "none xor_popc and_popc")
"""Operation that combines single bits before they are counted."""
BlockScale = _enum("tcgen05_mma_block_scale", "default block16 block32", words=("",))
"""Number of elements that share one scale."""
CacheLevel = _enum("prefetch_cache_level", "L1 L2", BareEnumAttribute)
"""Cache that receives a line."""
CacheModifier = _enum("load_cache_modifier", "ca cg cs lu cv", BareEnumAttribute)
"""Cache operator of a copy."""
CancelQuery = _enum(
    "cluster_launch_control_query_type",
    "is_canceled get_first_cta_id_x get_first_cta_id_y get_first_cta_id_z",
    BareEnumAttribute,
)
"""Question about the response to a cancelled cluster launch."""
Collector = _enum("tcgen05_mma_collectorop", "discard lastuse fill use")
"""Use of the collector buffer, which keeps a matrix for later multiplications."""
CollectorBuffer = _enum("tcgen05_mma_collectorb", "b0 b1 b2 b3")
"""Collector buffer of matrix B."""
CopyFormat = _enum("tcgen05_cp_src_fmt", "b6x16_p32 b4x16_p64")
"""Packed source elements that a copy to tensor memory unpacks."""
CopyMulticast = _enum(
    "tcgen05_cp_multicast",
    "none warpx2_02_13 warpx2_01_23 warpx4",
    words=("", "warpx2::02_13", "warpx2::01_23", "warpx4"),
)
"""Warps that receive a copy to tensor memory."""
CopyShape = _enum("tcgen05_cp_shape", "shape_128x256b shape_4x256b shape_128x128b shape_64x128b shape_32x128b")
"""Shape of a copy to tensor memory."""
CtaGroup = _enum("cta_group", "cta_1 cta_2", words=("cta_group::1", "cta_group::2"))
"""Number of CTAs that execute a tensor-memory instruction together."""
DotType = _enum("dot_accumulate_type", "signed unsigned", words=("s32", "u32"))
"""Sign of the elements of a dot product."""
EvictionPriority = _enum(
    "cache_eviction_priority", "evict_normal evict_first evict_last evict_unchanged no_allocate", BareEnumAttribute
)
"""Priority of a cache line."""
GridAction = _enum("grid_dep_action", "wait launch_dependents", BareEnumAttribute)
"""Action on dependent grids."""
Layout = _enum("mma_layout", "row col")
"""Row-major or column-major order of a matrix."""
LoadMode = _enum("tma_load_mode", "tile im2col im2col_w im2col_w_128 tile_gather4")
"""Addressing mode of a tensor load."""
MatchMode = _enum("match_sync_kind", "any all", BareEnumAttribute)
"""Lanes whose values are compared."""
MatrixElement = _enum("ld_st_matrix_elt_type", "b16 b8 b8x16.b6x16_p32 b8x16.b4x16_p64")
"""Element type of a matrix that is loaded or stored."""
MmaFragment = _enum("mma_frag", "a b c")
"""Matrix of a multiplication that is loaded."""
MmaKind = _enum("mma_kind", "f8f6f4", words=("kind::f8f6f4",))
"""Word of `.kind` for a multiplication of floats with 8 bits or fewer."""
MmaType = _enum("mma_type", "f16 f32 tf32 bf16 s8 u8 s32 s4 u4 b1 f64 e4m3 e5m2 e3m2 e2m3 e2m1")
"""Element type of a matrix that a warp multiplies."""
Order = _enum("mem_order", "weak relaxed acquire release acq_rel sc mmio volatile")
"""Memory order of an operation."""
Overflow = _enum("mma_int_overflow", "satfinite wrapped")
"""Treatment of integer results that leave their range."""
PermuteMode = _enum("permute_mode", "default f4e b4e rc8 ecl ecr rc16", words=("",))
"""Selection of the bytes of a permutation."""
Proxy = _enum("proxy_kind", "alias async async.global async.shared tensormap generic")
"""Memory proxy."""
Reduction = _enum("tma_redux_kind", "add max min inc dec and or xor")
"""Operation of a tensor reduction."""
Redux = _enum("redux_kind", "add and max min or umax umin xor fmin fmax", BareEnumAttribute)
"""Operation of a reduction over the lanes of a warp."""
RegisterAction = _enum("action", "decrease increase", BareEnumAttribute, ("dec", "inc"))
"""Direction in which a warpgroup changes its number of registers."""
Rounding = _enum("fp_rnd_mode", "none rn rm rp rz rna rs", words=("",))
"""Rounding of a conversion."""
Saturation = _enum("sat_mode", "none satfinite", words=("",))
"""Treatment of numbers beyond the largest finite number."""
ScaleFormat = _enum("block_scale_format", "ue8m0 ue4m3")
"""Number format of block scales."""
ScaleIn = _enum("wgmma_scale_in", "one neg")
"""Sign that matrix A or B is multiplied by."""
ScaleKind = _enum(
    "block_scale_kind", "mxf8f6f4 mxf4 mxf4nvf4", words=("kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4")
)
"""Word of `.kind` for a multiplication with block scales."""
ScaleOut = _enum("wgmma_scale_out", "zero one")
"""Factor of the accumulator: `one` adds it to the product, `zero` overwrites it."""
ScaleVector = _enum("scale_vec_size", "x1 x2 x4")
"""Number of block scales for each row of A and each column of B."""
Scope = _enum("mem_scope", "cta cluster gpu sys")
"""Set of threads to which a memory order applies."""
SharedSpace = _enum("shared_space", "cta cluster")
"""Shared memory of the executing CTA, or of its cluster."""
ShuffleMode = _enum("shfl_kind", "bfly up down idx", BareEnumAttribute)
"""Selection of the source lane of a shuffle."""
StoreMode = _enum("tma_store_mode", "tile im2col tile_scatter4")
"""Addressing mode of a tensor store."""
TensorKind = _enum(
    "tcgen05_mma_kind", "f8f6f4 i8 f16 tf32", words=("kind::f8f6f4", "kind::i8", "kind::f16", "kind::tf32")
)
"""Word of `.kind` for a multiplication in tensor memory."""
TensorShape = _enum("tcgen05_ldst_shape", "shape_16x64b shape_16x128b shape_16x256b shape_32x32b shape_16x32bx2")
"""Shape of a load or store of tensor memory."""
TensorWait = _enum("tcgen05_wait", "load store", words=("wait::ld", "wait::st"))
"""Accesses to tensor memory that a thread waits for."""
ThreadSync = _enum("tcgen05_fence", "before after", words=("fence::before_thread_sync", "fence::after_thread_sync"))
"""Position of a fence relative to a synchronisation of threads."""
VoteMode = _enum("vote_sync_kind", "any all ballot uni", BareEnumAttribute)
"""Combination of the predicates of lanes."""
WgmmaType = _enum("wgmma_type", "f16 tf32 u8 s8 b1 bf16 e4m3 e5m2 f32 s32")
"""Element type of a matrix that a warpgroup multiplies."""
