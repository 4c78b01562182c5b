"""Matrix instructions on an architecture, their inputs, and the outputs of Warploom's arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.form import match_opcode
from warploom.numerics import fused, models
from warploom.numerics.formats import FORMATS, STORAGE
from warploom.numerics.models import Model
from warploom_lab.campaign.patterns import KINDS, draw, patterns

Array = NDArray[Any]
Inputs = Mapping[str, Array]
"""Operands of `fused.multiply` by name."""

_SIZES = re.compile(r"\.m(\d+)n(\d+)k(\d+)\.")
_TENSOR = re.compile(
    r"tcgen05\.mma\.kind::(\w+)\.m(\d+)n(\d+)k(\d+)(?:\.block(\d+))?\.(\w+)\.(\w+)\.(\w+)(?:\.(ue\w+))?"
)
"""Name of a multiplication in tensor memory: kind, M, N, K, elements of a block, types of D, A, B and the scales.

PTX has the shape and the types in the instruction descriptor, not in the opcode.
"""
_MIXED = 4
"""One element in `_MIXED` of the kind "mixed" is zero."""
_NEAR = 8
"""Largest distance of the bytes of scales from that of 1, for the kinds "normal" and "spread"."""
_FAINT, _FAINT_COUNT = 32, 40
"""Bytes of ue8m0 scales of the kind "mixed". The exponents of their products are around the least exponents Emin."""
_DISTANT = {"a": "spread", "b": "spread"}
"""Kinds of the operands of the kind "distant". The others have raw bits."""

ALL_KINDS = (*KINDS, "mixed", "distant")
"""Kinds of inputs.

"mixed" has zeros, subnormals and numbers near one in one sum. In "distant", C and the scales have any bits, and so any
exponent, but A and B have no special values.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Matrix instruction on an architecture, with its arithmetic.

    `m`, `n` and `k` are the extents of its matrices. `scales` is the number of scale factors for each row of A, 0
    without block scales. `family` is the opcode without shape and types, with the kind.
    """

    arch: str
    opcode: str
    model: Model
    m: int
    n: int
    k: int
    scales: int
    family: str

    @property
    def name(self) -> str:
        """Architecture and opcode, such as "sm_75 mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"."""
        return f"{self.arch} {self.opcode}"

    @property
    def outputs(self) -> int:
        """Number of elements of D."""
        return self.m * self.n

    def executions(self, groups: int) -> int:
        """Return the number of executions with as many outputs as `groups` instructions of shape m16n8 have."""
        return -(-groups * 16 * 8 // self.outputs)


def case(arch: str, opcode: str) -> Case | None:
    """Return the case of an opcode, or None if no instruction has this opcode.

    Errors: NoModelError if the architecture has no arithmetic for the instruction.
    """
    if (tensor := _TENSOR.fullmatch(opcode)) is not None:
        return _tensor_case(arch, opcode, tensor)
    matches = match_opcode(opcode)
    sizes = _SIZES.search(opcode)
    if not matches or sizes is None:
        return None
    form, slots = matches[0].form, matches[0].slots
    vector = re.search(r"scale_vec::(\d)X", opcode)
    kind = re.search(r"\.kind::\w+", opcode)
    m, n, k = map(int, sizes.groups())
    scales = int(vector[1]) if vector else 0
    return Case(arch, opcode, form.model(arch, slots), m, n, k, scales, f"mma.sync{kind[0] if kind else ''}")


def _tensor_case(arch: str, opcode: str, found: re.Match[str]) -> Case:
    kind, m, n, k, block, d, a, b, scale_type = found.groups()
    scaling: Any = (kind, scale_type) if scale_type else None
    model = models.select(arch, "tensor memory", a, b, d, k=int(k), scaling=scaling)
    scales = int(k) // int(block) if block else 0
    return Case(arch, opcode, model, int(m), int(n), int(k), scales, f"tcgen05.mma.kind::{kind}")


def inputs(case: Case, kind: str, seed: int, groups: int) -> Inputs:
    """Return the operands of `groups` instructions. All arguments but the architecture determine them.

    Shapes: as in `fused.multiply`, with G = `groups`.
    """
    model = case.model
    shapes = {"a": (case.m, case.k), "b": (case.n, case.k), "c": (case.m, case.n)}
    types = {"a": model.a_type, "b": model.b_type, "c": model.c_type}
    if model.scale_type is not None:
        shapes |= {"scale_a": (case.m, case.scales), "scale_b": (case.n, case.scales)}
        types |= {"scale_a": model.scale_type, "scale_b": model.scale_type}
    found: dict[str, Array] = {}
    start = int.from_bytes(f"{seed} {kind} {case.opcode}".encode(), "little") % (1 << 127)
    for number, (operand, shape) in enumerate(shapes.items()):
        size = (groups, *shape)
        raw = draw(start + number, int(np.prod(size))).reshape(size)
        of_operand = _DISTANT.get(operand, "raw") if kind == "distant" else kind
        found[operand] = _words(types[operand], of_operand, raw)
    if kind == "cancelling":
        # The second product of each pair is the first with the opposite sign.
        for operand in "ab":
            found[operand][..., 1::2] = found[operand][..., ::2]
        found["b"][..., 1::2] ^= found["b"].dtype.type(_sign(model.b_type))
    return {operand: words.view(STORAGE[types[operand]]) for operand, words in found.items()}


def _words(element: str, kind: str, raw: Array) -> Array:
    dtype = f"u{STORAGE[element].itemsize}"
    if element.startswith("ue") and kind in ("normal", "spread"):
        # The products of the largest scales and elements stay in the range of f32.
        one = FORMATS[element].bias << FORMATS[element].mantissa_bits
        return (one - _NEAR + raw % np.uint64(2 * _NEAR)).astype(dtype)
    if element == "ue8m0" and kind == "mixed":
        return (_FAINT + raw % np.uint64(_FAINT_COUNT)).astype(dtype)
    if kind != "mixed":
        return patterns(element, kind, raw).astype(dtype)
    choice = (raw >> np.uint64(50)) % np.uint64(_MIXED)
    found = np.where(choice == 1, patterns(element, "subnormal", raw), patterns(element, "spread", raw))
    return np.where(choice == 0, np.uint64(0), found).astype(dtype)


def _sign(element: str) -> int:
    return 1 << 63 if element == "f64" else FORMATS[element].sign_bit << FORMATS[element].padding


def outputs(case: Case, given: Inputs) -> Array:
    """Return the words of D that Warploom computes (see `with_one_nan`). Shapes: (G, M, N)."""
    a, b, c, scale_a, scale_b = (given.get(operand) for operand in ("a", "b", "c", "scale_a", "scale_b"))
    assert a is not None
    assert b is not None
    d = fused.multiply(a, b, c, case.model, scale_a=scale_a, scale_b=scale_b)
    return with_one_nan(d)


def with_one_nan(d: Array) -> Array:
    """Return the words of D with one pattern for all NaN of f64, which MMA-Sim does not model."""
    words = d.view(f"u{d.itemsize}").copy()
    if d.itemsize == 8:
        words[np.isnan(words.view(np.float64))] = 0x7FF8 << 48
    return words
