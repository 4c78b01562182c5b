"""Conversion of Triton's host-side tensor descriptors to kernel parameters and tensor maps."""

from __future__ import annotations

from typing import Any

from warploom.diagnostics import UsageError
from warploom.integrations.triton.tensors import Array
from warploom.layout import TensorMap
from warploom.layout.tensormap import ELEMENT_TYPES, FILLS, TensorMapFields, pad_to_five

_ROUNDED_TYPE = "tf32"


def descriptor_parts(descriptor: Any, base: Array) -> list[object]:
    """Return the kernel parameters that replace a descriptor on targets without tensor maps.

    They are the array `base`, the shape, the strides and, in newer versions of Triton, the padding and the rounding.
    """
    parts: list[object] = [base, *map(int, descriptor.shape), *map(int, descriptor.strides)]
    if hasattr(descriptor, "padding"):
        parts.append(int(descriptor.padding == "nan"))
    if hasattr(descriptor, "round_f32_to_tf32"):
        parts.append(int(descriptor.round_f32_to_tf32))
    return parts


def tensor_map(name: str, descriptor: Any, base: Array, compiled: dict[str, Any]) -> TensorMap:
    """Return the tensor map of the descriptor `name` over the array `base`.

    `compiled` has the box, the swizzle and the element type that Triton's compiler chose.

    Errors: UsageError triton.descriptor.
    """
    words = [word for word, _, _ in ELEMENT_TYPES]
    shape, strides = [int(n) for n in descriptor.shape], [int(n) for n in descriptor.strides]
    extent = sum((size - 1) * step for size, step in zip(shape, strides, strict=True)) + 1
    if extent > base.size:
        raise UsageError(
            f"{name} describes {extent} elements, of shape {tuple(shape)} and strides {tuple(strides)}, in memory of "
            f"{base.size}",
            code="triton.descriptor",
        )
    if compiled["fp4_padded"]:
        shape[-1] *= 2
    is_rounded = getattr(descriptor, "round_f32_to_tf32", False)
    mode: dict[str, Any] = {"box": pad_to_five([int(n) for n in compiled["block_size"]][::-1])}
    steps = [1] * len(shape)
    if compiled.get("is_im2col"):
        pixels, channels = (int(n) for n in compiled["block_size"])
        mode = {
            "im2col_lower": pad_to_five(descriptor.pixel_box_lower_corner[::-1])[:3],
            "im2col_upper": pad_to_five(descriptor.pixel_box_upper_corner[::-1])[:3],
            "channels_per_pixel": channels,
            "pixels_per_column": pixels,
        }
        steps = [int(n) for n in descriptor.element_strides or steps]
    fields = TensorMapFields(
        rank=len(shape),
        global_dim=pad_to_five(shape[::-1]),
        global_stride=pad_to_five([step * int(compiled["elem_size"]) for step in strides[-2::-1]])[:4],
        element_stride=pad_to_five(steps[::-1]),
        elemtype=words.index(_ROUNDED_TYPE) if is_rounded else int(compiled["elem_type"]),
        swizzle=int(compiled["swizzle"]),
        fill=FILLS.index(getattr(descriptor, "padding", "zero")),
        **mode,
    )
    problems = fields.validate()
    if problems:
        raise UsageError(f"{name} cannot be a tensor map: {problems[0]}", code="triton.descriptor")
    return TensorMap(base, fields)
