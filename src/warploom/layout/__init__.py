"""Where matrix elements live: fragment maps, matrix descriptors, swizzles, tensor maps and sparse metadata."""

from __future__ import annotations

from warploom.layout.descriptor import Descriptor, matrix_addresses
from warploom.layout.fragment import FragmentMap
from warploom.layout.maps import fragment
from warploom.layout.swizzle import bank_picture, swizzle

__all__ = ["Descriptor", "FragmentMap", "bank_picture", "fragment", "matrix_addresses", "swizzle"]
