"""Positions of matrix elements in registers, shared memory and tensor memory, and tensor maps."""

from warploom.layout.descriptor import Descriptor, UmmaDescriptor, descriptor, matrix_addresses
from warploom.layout.fragment import FragmentMap, Order
from warploom.layout.instruction import InstructionDescriptor
from warploom.layout.maps import (
    load_fragment,
    store_fragment,
    tiled_fragment,
    transpose_fragment,
    warp_fragment,
    warpgroup_fragment,
)
from warploom.layout.shared import BANKS, SharedMap, box_fields, box_map
from warploom.layout.sparse import MetadataMap, ScaleMap, metadata, scale_factors
from warploom.layout.strided import Strided, strided
from warploom.layout.swizzle import bank_picture, swizzle, swizzle_text
from warploom.layout.tensor_memory import TensorMemoryMap
from warploom.layout.tensormap import TensorMap, TensorMapFields
from warploom.layout.tile import (
    Boxes,
    TileRows,
    box_bytes,
    box_geometry,
    boxes,
    coordinate_error,
    fill_bytes,
    row_bytes,
    shared_bytes,
    tile_rows,
    unit_bits,
)

__all__ = [
    "BANKS", "Boxes", "Descriptor", "FragmentMap", "InstructionDescriptor", "MetadataMap", "Order", "ScaleMap",
    "SharedMap", "Strided", "TensorMap", "TensorMapFields", "TensorMemoryMap", "TileRows", "UmmaDescriptor",
    "bank_picture", "box_bytes", "box_fields", "box_geometry", "box_map", "boxes", "coordinate_error", "descriptor",
    "fill_bytes", "load_fragment", "matrix_addresses", "metadata", "row_bytes", "scale_factors", "shared_bytes",
    "store_fragment", "strided", "swizzle", "swizzle_text", "tile_rows", "tiled_fragment", "transpose_fragment",
    "unit_bits", "warp_fragment", "warpgroup_fragment",
]  # fmt: skip
