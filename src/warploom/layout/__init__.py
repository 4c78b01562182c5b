"""Where matrix elements live: fragments, descriptors, swizzles, tensor maps and sparse metadata."""

from __future__ import annotations

from warploom.layout.descriptor import Descriptor, matrix_addresses
from warploom.layout.fragment import FragmentMap
from warploom.layout.maps import fragment
from warploom.layout.sparse import MetadataMap, ScaleMap, metadata, scale_factors
from warploom.layout.swizzle import bank_picture, swizzle

__all__ = [
    "Descriptor",
    "FragmentMap",
    "MetadataMap",
    "ScaleMap",
    "bank_picture",
    "fragment",
    "matrix_addresses",
    "metadata",
    "scale_factors",
    "swizzle",
]
