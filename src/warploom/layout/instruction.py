"""32-bit instruction descriptors of multiplications into tensor memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, SupportsIndex

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.lazy_dataclass import dataclass

_MAJORS = {"K": 0, "MN": 1}
_FLOATS = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_FOUR_BIT_FLOATS = {"e2m1": 1}
_SUMS = {"f16": 0, "f32": 1}
_ONLY_F32 = {"f32": 1}


@dataclass(frozen=True, slots=True)
class _Kind:
    """K of a dense A, and codes of the element types, for one `kind::` of multiplication.

    `inputs` holds the codes for A and B, `sums` those for D, and `scales` those for scale factors.
    """

    k: int
    inputs: Mapping[str, int]
    sums: Mapping[str, int]
    scales: Mapping[str, int] = field(default_factory=dict[str, int])


_KINDS = {
    "f16": _Kind(16, {"f16": 0, "bf16": 1}, _SUMS),
    "tf32": _Kind(8, {"tf32": 2}, _ONLY_F32),
    "f8f6f4": _Kind(32, _FLOATS, _SUMS),
    "i8": _Kind(32, {"u8": 0, "s8": 1}, {"s32": 2}),
    "mxf8f6f4": _Kind(32, _FLOATS, _ONLY_F32, {"ue8m0": 1}),
    "mxf4": _Kind(64, _FOUR_BIT_FLOATS, _ONLY_F32, {"ue8m0": 1}),
    "mxf4nvf4": _Kind(64, _FOUR_BIT_FLOATS, _ONLY_F32, {"ue4m3": 0, "ue8m0": 1}),
}

# Name, lowest bit, number of bits: of all kinds, floats, integers, kinds without and with scale factors, 4-bit kinds.
_COMMON = (
    ("sparse", 2, 1), ("atype", 7, 3), ("btype", 10, 3), ("a_major", 15, 1), ("b_major", 16, 1), ("n", 17, 6),
    ("m", 24, 5),
)  # fmt: skip
_FLOATING = (("negate_a", 13, 1), ("negate_b", 14, 1))
_INTEGER = (("saturate", 3, 1),)
_PLAIN = (("selector", 0, 2), ("dtype", 4, 2), ("max_shift", 30, 2))
_SCALED = (("scale_b_id", 4, 2), ("scale_type", 23, 1), ("scale_a_id", 29, 2))
_LONG = (("k96", 31, 1),)
_SHIFTS = (0, 8, 16, 32)
_LABELS = {
    "atype": "type of A", "btype": "type of B", "dtype": "type of D", "a_major": "major of A", "b_major": "major of B",
    "scale_type": "type of scale factors", "scale_a_id": "id of scale A", "scale_b_id": "id of scale B",
    "max_shift": "largest shift", "saturate": "saturation", "negate_a": "negation of A", "negate_b": "negation of B",
    "selector": "sparsity selector", "k96": "K of 96",
}  # fmt: skip
_OPTIONAL = (*(name for name, _, _ in _FLOATING + _INTEGER + _SCALED + _LONG), "selector", "max_shift")
"""Fields that some kinds lack."""
_FLAGS = {"sparse", "negate_a", "negate_b", "saturate", "k96"}


@dataclass(frozen=True, slots=True)
class InstructionDescriptor(Displayed):
    """Instruction descriptor of a multiplication into tensor memory.

    `kind` is the modifier of the opcode, such as "f16" for `kind::f16`. The 32 bits do not contain the kind. `atype`,
    `btype` and `dtype` are the element types of A, B and D. `a_major` and `b_major` are "K" or "MN". `selector` is the
    sparsity selector of a sparse A. `max_shift` is 0, 8, 16 or 32. Kind "i8" alone has `saturate`, and all other kinds
    have `negate_a` and `negate_b`.

    Block-scaled kinds have a `scale_type` (the empty text selects the first type of the kind) and the ids of the scale
    factors of A and B. `k96` selects K = 96 instead of 64.

    Units: `m` and `n` in elements, for both CTAs of a pair together.
    Errors: UsageError for a field that does not fit its bits, or whose value has no code in the kind.
    Source: PTX ISA 9.7.16.4.2.
    """

    display_kind: ClassVar[str] = "descriptor"

    kind: str
    m: int
    n: int
    atype: str
    btype: str
    dtype: str = "f32"
    sparse: bool = False
    selector: int = 0
    a_major: str = "K"
    b_major: str = "K"
    scale_type: str = ""
    scale_a_id: int = 0
    scale_b_id: int = 0
    k96: bool = False
    negate_a: bool = False
    negate_b: bool = False
    saturate: bool = False
    max_shift: int = 0

    def __post_init__(self) -> None:
        kind = _kind(self.kind)
        if kind.scales and not self.scale_type:
            object.__setattr__(self, "scale_type", next(iter(kind.scales)))
        known = {name for name, _, _ in _fields(self.kind)}
        for name in _OPTIONAL:
            if name not in known and getattr(self, name):
                raise UsageError(f"an instruction descriptor of kind {self.kind} has no {_LABELS[name]}")
        for name, width in (("m", 16), ("n", 8)):
            value, most = getattr(self, name), 256
            if not isinstance(value, SupportsIndex) or value not in range(width, most + 1, width):
                raise UsageError(
                    f"the instruction descriptor's {name.upper()} is {value!r};"
                    f" expected a multiple of {width} from {width} to {most}"
                )
        for name in ("selector", "scale_a_id", "scale_b_id"):
            value = getattr(self, name)
            if not isinstance(value, SupportsIndex) or value not in range(4):
                raise UsageError(f"the instruction descriptor's {_LABELS[name]} is {value!r}; expected 0 to 3")
        if self.sparse and self.k96:
            raise UsageError("a sparse multiplication has K = 96; expected K = 128")
        for name, codes in self._codes():
            if getattr(self, name) not in codes:
                raise UsageError(
                    f"the instruction descriptor's {_LABELS[name]} is {getattr(self, name)!r}; kind {self.kind}"
                    f" has {', '.join(map(str, codes))}"
                )

    @property
    def k(self) -> int:
        """Extent K of the product, including the zeros of a sparse A."""
        return 96 if self.k96 else _KINDS[self.kind].k * (2 if self.sparse else 1)

    @property
    def stored_k(self) -> int:
        """Number of stored elements in a row of A: K, or K/2 for a sparse A."""
        return self.k // 2 if self.sparse else self.k

    @property
    def is_scaled(self) -> bool:
        """True for a kind with scale factors."""
        return bool(_KINDS[self.kind].scales)

    @property
    def is_packed_4bit(self) -> bool:
        """True for a kind whose A and B are packed 4-bit floats."""
        return _KINDS[self.kind].inputs is _FOUR_BIT_FLOATS

    def encode(self) -> int:
        """Return the descriptor as a 32-bit value."""
        codes = dict(self._codes())
        value = 0
        for name, low, _ in _fields(self.kind):
            found = getattr(self, name)
            code = codes[name][found] if name in codes else found >> {"m": 4, "n": 3}.get(name, 0)
            value |= int(code) << low
        return value

    @staticmethod
    def decode(value: int, kind: str) -> InstructionDescriptor:
        """Return the descriptor that a 32-bit value encodes. `kind` is a kind such as "f16".

        Errors: UsageError for codes that the kind does not define, and for reserved bits that are not 0.
        """
        if not 0 <= value < 1 << 32:
            raise UsageError(f"{value} is not an instruction descriptor; expected an unsigned 32-bit value")
        of_kind = _kind(kind)
        rest, found = value, dict[str, Any]()
        for name, low, width in _fields(kind):
            mask = (1 << width) - 1
            found[name] = value >> low & mask
            rest &= ~(mask << low)
        if rest:
            bits = [str(bit) for bit in range(32) if rest >> bit & 1]
            reserved = f"bits {', '.join(bits)} are" if len(bits) > 1 else f"bit {bits[0]} is"
            raise UsageError(f"{reserved} reserved in an instruction descriptor of kind {kind}; expected 0")
        for name, codes in _coded(of_kind).items():
            words = {code: word for word, code in codes.items()}
            if name in found and found[name] not in words:
                legal = ", ".join(f"{code} ({word})" for word, code in codes.items())
                what = f"the {_LABELS[name]} of the instruction descriptor"
                raise UsageError(f"{what} is {found[name]}; kind {kind} has {legal}")
            if name in found:
                found[name] = words[found[name]]
        for name in _FLAGS & set(found):
            found[name] = bool(found[name])
        return InstructionDescriptor(kind=kind, **found | {"m": found["m"] << 4, "n": found["n"] << 3})

    def _codes(self) -> list[tuple[str, Mapping[Any, int]]]:
        known = {name for name, _, _ in _fields(self.kind)} | {"dtype"}
        return [(name, codes) for name, codes in _coded(_KINDS[self.kind]).items() if name in known]


def kind_of(a: str, b: str, scale_type: str | None = None) -> str:
    """Return the kind that multiplies packed elements of two types, with scale factors or without.

    Errors: UsageError for types that no kind multiplies.
    """
    for name, kind in _KINDS.items():
        fits = scale_type in kind.scales if kind.scales else scale_type is None
        # Kinds with other types, too, have padded elements of 4 bits.
        is_packed = "e2m1" not in (a, b) or kind.inputs is _FOUR_BIT_FLOATS
        if fits and is_packed and {a, b} <= kind.inputs.keys() and (a == b or name != "f16"):
            return name
    scaled = "" if scale_type is None else f" with scale factors of type {scale_type}"
    have = [name for name, kind in _KINDS.items() if (scale_type in kind.scales if kind.scales else scale_type is None)]
    legal = "; ".join(f"kind {name}: {', '.join(_KINDS[name].inputs)}" for name in have) or "type ue8m0 or ue4m3"
    raise UsageError(f"no multiplication into tensor memory has {a} by {b}{scaled}; expected {legal}")


def _kind(word: str) -> _Kind:
    if word not in _KINDS:
        raise UsageError(f"unknown kind {word!r} of a multiplication into tensor memory; expected {', '.join(_KINDS)}")
    return _KINDS[word]


def _fields(kind: str) -> tuple[tuple[str, int, int], ...]:
    of_kind = _KINDS[kind]
    if not of_kind.scales:
        return _COMMON + (_INTEGER if "s32" in of_kind.sums else _FLOATING) + _PLAIN
    return _COMMON + _FLOATING + _SCALED + (_LONG if of_kind.inputs is _FOUR_BIT_FLOATS else ())


def _coded(kind: _Kind) -> dict[str, Mapping[Any, int]]:
    majors = {"K": 0} if kind.inputs is _FOUR_BIT_FLOATS else _MAJORS
    return {
        "atype": {**kind.inputs},
        "btype": {**kind.inputs},
        "dtype": {**kind.sums},
        "a_major": {**majors},
        "b_major": {**majors},
        "scale_type": {**kind.scales},
        "max_shift": {shift: code for code, shift in enumerate(_SHIFTS)},
    }
