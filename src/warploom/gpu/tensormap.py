"""Tensor maps in the hardware's format of 128 bytes, encoded by the driver."""

import ctypes
from typing import Any

from warploom.diagnostics import UsageError
from warploom.gpu.driver import package, status_text
from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields

_TYPES = (
    "UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT32_FTZ", "FLOAT64", "BFLOAT16",
    "TFLOAT32", "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B",
)  # fmt: skip
"""Names of the element types in the driver. The index of a name is its code in TensorMapFields."""


def encode_tensor_map(fields: TensorMapFields) -> bytes:
    """Return a tensor map as the 128 bytes that hardware reads. Errors: UsageError gpu.tensor-map."""
    encoded = _encoded(fields)  # keeps the bytes alive
    return ctypes.string_at(int(encoded.getPtr()), TENSOR_MAP_BYTES)


_CACHED = 256  # addresses whose tensor maps are kept


class MovingTensorMap:
    """Tensor map for arrays that differ only in their addresses."""

    def __init__(self, fields: TensorMapFields) -> None:
        self._driver = package("cuda.bindings.driver")
        self._map = _encoded(fields)
        self._bytes = (ctypes.c_char * TENSOR_MAP_BYTES).from_address(int(self._map.getPtr()))
        self._known = {fields.global_address: self._bytes.raw}  # launches often rotate through arrays

    def at(self, address: int) -> bytes:
        """Return the 128 bytes of the map for an array at `address`. Errors: UsageError gpu.tensor-map."""
        found = self._known.get(address)
        if found is None:
            (status,) = self._driver.cuTensorMapReplaceAddress(self._map, address)
            if status:
                raise UsageError(
                    f"the driver refuses the tensor map at {address:#x}: {status_text(self._driver, status)}",
                    code="gpu.tensor-map",
                )
            if len(self._known) >= _CACHED:
                self._known.clear()
            found = self._known[address] = self._bytes.raw
        return found


def _encoded(fields: TensorMapFields) -> Any:
    driver = package("cuda.bindings.driver")
    if fields.swizzle_span not in (0, 32, 64, 128):
        raise UsageError(
            f"the driver supports no swizzle of {fields.swizzle_span} bytes; expected 0, 32, 64 or 128",
            code="gpu.tensor-map",
        )
    rank = fields.rank
    # The enumeration of swizzles continues with the atomicities of 128 bytes.
    atomicity = fields.swizzle_atomicity if fields.swizzle_span == 128 else 0
    common = {
        "tensorDataType": getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[fields.elemtype]}"),
        "tensorRank": rank,
        "globalAddress": fields.global_address,
        "globalDim": [driver.cuuint64_t(extent) for extent in fields.global_dim[:rank]],
        # The driver requires a stride for a single dimension too, and ignores it.
        "globalStrides": [driver.cuuint64_t(stride) for stride in fields.global_stride[: max(rank - 1, 1)]],
        "elementStrides": [driver.cuuint32_t(stride) for stride in fields.element_stride[:rank]],
        "interleave": driver.CUtensorMapInterleave(fields.interleave),
        "swizzle": driver.CUtensorMapSwizzle(fields.swizzle + atomicity),
        "l2Promotion": driver.CUtensorMapL2promotion(fields.l2_promotion),
        "oobFill": driver.CUtensorMapFloatOOBfill(fields.fill),
    }
    own: dict[str, Any]
    if fields.is_im2col:
        encode = driver.cuTensorMapEncodeIm2col
        own = {
            "pixelBoxLowerCorner": list(fields.im2col_lower[: rank - 2]),
            "pixelBoxUpperCorner": list(fields.im2col_upper[: rank - 2]),
            "channelsPerPixel": fields.channels_per_pixel,
            "pixelsPerColumn": fields.pixels_per_column,
        }
    else:
        encode = driver.cuTensorMapEncodeTiled
        own = {"boxDim": [driver.cuuint32_t(extent) for extent in fields.box[:rank]]}
    status, encoded = encode(**common, **own)
    if status:
        raise UsageError(
            f"the driver refuses the tensor map: {status_text(driver, status)}",
            code="gpu.tensor-map",
            hint="; ".join(fields.validate()),
        )
    return encoded
