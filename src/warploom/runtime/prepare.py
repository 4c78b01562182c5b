"""From the description of a launch to the call: buffers made, tensor maps filled, arguments in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from warploom.layout import TensorMap
from warploom.runtime.arguments import Packed
from warploom.runtime.buffers import MEMORY_LIMIT, Array, Buffer, make_buffers
from warploom.runtime.launchfile import Argument, Pointer, Scalar, Scratch, Structure, TensorMapOf


def prepare(
    arguments: Sequence[Argument], buffers: Mapping[str, Buffer], limit: int = MEMORY_LIMIT
) -> tuple[list[object], dict[str, Array]]:
    """Kernel arguments in parameter order, and the named buffers that they point into.

    Units: `limit` in bytes
    Errors: `launch-file/memory`
    """
    arrays = make_buffers(buffers, limit, scratch=sum(map(_scratch, arguments)))
    return [_argument(argument, arrays) for argument in arguments], arrays


def _scratch(argument: Argument) -> int:
    if isinstance(argument, Structure):
        return sum(_scratch(part) for _, _, part in argument.parts)
    return argument.nbytes if isinstance(argument, Scratch) else 0


def _argument(argument: Argument, arrays: Mapping[str, Array]) -> object:
    match argument:
        case Pointer():
            return arrays[argument.buffer]
        case Scratch():
            return np.zeros(argument.nbytes, np.uint8)
        case Scalar():
            return argument.value
        case Structure():
            return Packed(
                tuple((offset, word, _argument(part, arrays)) for offset, word, part in argument.parts)
            )
        case TensorMapOf():
            return TensorMap.tiled(
                arrays[argument.buffer],
                argument.box,
                element_strides=argument.element_strides,
                interleave=argument.interleave,
                swizzle=argument.swizzle,
                oob_fill=argument.oob_fill,
                l2_promotion=argument.l2_promotion,
            )
