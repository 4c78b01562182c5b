"""The words of the dialect's attributes, each list as MLIR has it."""

from __future__ import annotations

from xdsl.irdl import irdl_attr_definition

from warploom.nvvm.dialect.words import BareWord, Word


@irdl_attr_definition
class BitOperation(Word):
    """How single bits are multiplied and summed."""

    name = "nvvm.mma_b1op"
    words = ("none", "xor_popc", "and_popc")


@irdl_attr_definition
class BlockScale(Word):
    """The elements that share a scale."""

    name = "nvvm.tcgen05_mma_block_scale"
    words = ("default", "block16", "block32")


@irdl_attr_definition
class CacheLevel(BareWord):
    """The cache that a prefetch fills."""

    name = "nvvm.prefetch_cache_level"
    words = ("L1", "L2")


@irdl_attr_definition
class CacheModifier(BareWord):
    """Which caches a load goes through."""

    name = "nvvm.load_cache_modifier"
    words = ("ca", "cg", "cs", "lu", "cv")


@irdl_attr_definition
class CancelQuery(BareWord):
    """What is asked of the answer to a cancelled launch."""

    name = "nvvm.cluster_launch_control_query_type"
    words = ("is_canceled", "get_first_cta_id_x", "get_first_cta_id_y", "get_first_cta_id_z")


@irdl_attr_definition
class Collector(Word):
    """What is done with a buffer that collects A or B."""

    name = "nvvm.tcgen05_mma_collectorop"
    words = ("discard", "lastuse", "fill", "use")


@irdl_attr_definition
class CollectorBuffer(Word):
    """The buffer that collects B."""

    name = "nvvm.tcgen05_mma_collectorb"
    words = ("b0", "b1", "b2", "b3")


@irdl_attr_definition
class CopyFormat(Word):
    """The packed elements that a copy to tensor memory unpacks."""

    name = "nvvm.tcgen05_cp_src_fmt"
    words = ("b6x16_p32", "b4x16_p64")


@irdl_attr_definition
class CopyMulticast(Word):
    """The warps that a copy to tensor memory goes to."""

    name = "nvvm.tcgen05_cp_multicast"
    words = ("none", "warpx2_02_13", "warpx2_01_23", "warpx4")


@irdl_attr_definition
class CopyShape(Word):
    """The shape of a copy to tensor memory."""

    name = "nvvm.tcgen05_cp_shape"
    words = ("shape_128x256b", "shape_4x256b", "shape_128x128b", "shape_64x128b", "shape_32x128b")


@irdl_attr_definition
class CtaGroup(Word):
    """How many CTAs of a cluster work as one."""

    name = "nvvm.cta_group"
    words = ("cta_1", "cta_2")


@irdl_attr_definition
class EvictionPriority(BareWord):
    """How long a line stays in a cache."""

    name = "nvvm.cache_eviction_priority"
    words = ("evict_normal", "evict_first", "evict_last", "evict_unchanged", "no_allocate")


@irdl_attr_definition
class Fragment(Word):
    """Which matrix of a multiplication is moved."""

    name = "nvvm.mma_frag"
    words = ("a", "b", "c")


@irdl_attr_definition
class GridAction(BareWord):
    """What a grid does to those it depends on, or that depend on it."""

    name = "nvvm.grid_dep_action"
    words = ("wait", "launch_dependents")


@irdl_attr_definition
class Layout(Word):
    """Whether a matrix lies by rows or by columns."""

    name = "nvvm.mma_layout"
    words = ("row", "col")


@irdl_attr_definition
class LoadMode(Word):
    """How a tensor is read."""

    name = "nvvm.tma_load_mode"
    words = ("tile", "im2col", "im2col_w", "im2col_w_128", "tile_gather4")


@irdl_attr_definition
class MatrixElement(Word):
    """The elements of a matrix that is loaded or stored."""

    name = "nvvm.ld_st_matrix_elt_type"
    words = ("b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64")


@irdl_attr_definition
class MmaKind(Word):
    """The kind of a multiplication of narrow floats."""

    name = "nvvm.mma_kind"
    words = ("f8f6f4",)


@irdl_attr_definition
class MmaType(Word):
    """The elements of a matrix that a warp multiplies."""

    name = "nvvm.mma_type"
    words = (
        "f16",
        "f32",
        "tf32",
        "bf16",
        "s8",
        "u8",
        "s32",
        "s4",
        "u4",
        "b1",
        "f64",
        "e4m3",
        "e5m2",
        "e3m2",
        "e2m3",
        "e2m1",
    )


@irdl_attr_definition
class Order(Word):
    """The order that an operation gives to memory."""

    name = "nvvm.mem_order"
    words = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio", "volatile")


@irdl_attr_definition
class Overflow(Word):
    """What integers do that leave their range."""

    name = "nvvm.mma_int_overflow"
    words = ("satfinite", "wrapped")


@irdl_attr_definition
class Proxy(Word):
    """A way to memory."""

    name = "nvvm.proxy_kind"
    words = ("alias", "async", "async.global", "async.shared", "tensormap", "generic")


@irdl_attr_definition
class Reduction(Word):
    """What is done to the elements of a tensor."""

    name = "nvvm.tma_redux_kind"
    words = ("add", "max", "min", "inc", "dec", "and", "or", "xor")


@irdl_attr_definition
class RegisterAction(BareWord):
    """Whether a warp gives registers up or takes them."""

    name = "nvvm.action"
    words = ("decrease", "increase")


@irdl_attr_definition
class ScaleFormat(Word):
    """The format of block scales."""

    name = "nvvm.block_scale_format"
    words = ("ue8m0", "ue4m3")


@irdl_attr_definition
class ScaleIn(Word):
    """The sign of A or B."""

    name = "nvvm.wgmma_scale_in"
    words = ("one", "neg")


@irdl_attr_definition
class ScaleKind(Word):
    """The kind of a multiplication with block scales."""

    name = "nvvm.block_scale_kind"
    words = ("mxf8f6f4", "mxf4", "mxf4nvf4")


@irdl_attr_definition
class ScaleOut(Word):
    """Whether the accumulator is added."""

    name = "nvvm.wgmma_scale_out"
    words = ("zero", "one")


@irdl_attr_definition
class ScaleVector(Word):
    """How many scales a row of a matrix has."""

    name = "nvvm.scale_vec_size"
    words = ("x1", "x2", "x4")


@irdl_attr_definition
class Scope(Word):
    """The threads that an order is seen by."""

    name = "nvvm.mem_scope"
    words = ("cta", "cluster", "gpu", "sys")


@irdl_attr_definition
class SharedSpace(Word):
    """Whose shared memory is meant."""

    name = "nvvm.shared_space"
    words = ("cta", "cluster")


@irdl_attr_definition
class StoreMode(Word):
    """How a tensor is written."""

    name = "nvvm.tma_store_mode"
    words = ("tile", "im2col", "tile_scatter4")


@irdl_attr_definition
class TensorKind(Word):
    """The kind of a multiplication in tensor memory."""

    name = "nvvm.tcgen05_mma_kind"
    words = ("f8f6f4", "i8", "f16", "tf32")


@irdl_attr_definition
class TensorShape(Word):
    """The shape of a load or store of tensor memory."""

    name = "nvvm.tcgen05_ldst_shape"
    words = ("shape_16x64b", "shape_16x128b", "shape_16x256b", "shape_32x32b", "shape_16x32bx2")


@irdl_attr_definition
class TensorWait(Word):
    """What of tensor memory is waited for."""

    name = "nvvm.tcgen05_wait"
    words = ("load", "store")


@irdl_attr_definition
class ThreadSync(Word):
    """The side of a synchronisation of threads that a fence stands on."""

    name = "nvvm.tcgen05_fence"
    words = ("before", "after")


@irdl_attr_definition
class WgmmaType(Word):
    """The elements of a matrix that a warpgroup multiplies."""

    name = "nvvm.wgmma_type"
    words = ("f16", "tf32", "u8", "s8", "b1", "bf16", "e4m3", "e5m2", "f32", "s32")
