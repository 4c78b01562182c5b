"""Warp-level multiplication of opaque fragments: the operations whose names begin with nvvm.wmma."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import VectorType, f16, f32, f64, i32
from xdsl.ir import Attribute

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.isa.instructions import wmma
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.mma import accumulator_type, saturation_words
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import struct_of
from warploom.nvvm.forms import WMMA

_SPACES = ("", "global", "shared")
_REGISTER_TYPES: dict[str, Attribute] = {"f16": VectorType(f16, [2]), "f32": f32, "f64": f64}
"""LLVM type of a fragment's register by PTX element type. Elements of other types are packed in i32."""
_TYPE_SLOTS = {"d": "dtype", "a": "atype", "b": "btype", "c": "ctype", "r": "type"}
"""Name of the modifier with the element type of each operand."""
_DEFAULT_TYPES = {"atype": "f16", "btype": "f16"}
"""Element types of forms without a modifier for them."""


def register_type(element: str) -> Attribute:
    """Return the LLVM register type for a PTX element type."""
    return _REGISTER_TYPES.get(element, i32)


def register_type_of(operand: str, slots: Mapping[str, str]) -> Attribute:
    """Return the LLVM register type of an operand. `slots` are the modifiers by name."""
    slot = _TYPE_SLOTS.get(operand, "")
    return register_type(slots.get(slot) or _DEFAULT_TYPES.get(slot, ""))


_SHAPE = "m: int32, n: int32, k: int32"
"""Extents of the matrices."""


class _OnFragments(Operation):
    """Operation on fragments of matrices."""

    @property
    def shape_word(self) -> str:
        """Shape as PTX spells it, such as `m16n16k16`."""
        return "".join(f"{name}{self.number(name)}" for name in "mnk")

    def registers(self, operands: str, words: dict[str, str]) -> Sequence[int]:
        """Return the number of registers of each operand in `operands`, such as "abc".

        Errors: VerifyException for illegal modifiers
        """
        if not rows_with(self.FORMS, words):
            raise self.error("invalid attribute combination")
        form = self.template(words).form
        slots = slots_of(form, words)
        return [form.operands[letter].registers(slots) for letter in operands]


class _Move(_OnFragments):
    """Load or store of a fragment."""

    @property
    def words(self) -> dict[str, str]:
        """Modifiers of the instruction by name."""
        return {
            "aligned": "aligned",
            "layout": self.text("layout"),
            "shape": self.shape_word,
            "ss": self.address_space("ptr"),
            "type": self.text("eltype"),
            **({"matrix": self.text("frag")} if self.has("frag") else {}),
        }

    def lower(self) -> Lowering:
        moved = self.values("args") if self.has("args") else [self.value("res")]
        return self.instruction(self.words, r=Registers(moved))


class _Load(_Move):
    def check(self) -> None:
        if self.address_space("ptr") not in _SPACES:
            raise self.error("expected source pointer in memory space 0, 1, 3")
        element = register_type(self.text("eltype"))
        (count,) = self.registers("r", self.words)
        expected = element if count == 1 and element == f64 else struct_of(element, count)
        if self.value("res").type != expected:
            raise self.error(f"expected destination type is a structure of {count} elements of type {element}")


class _Store(_Move):
    def check(self) -> None:
        if self.address_space("ptr") not in _SPACES:
            raise self.error("expected operands to be a source pointer in memory space 0, 1, 3")
        (count,) = self.registers("r", self.words)
        element, args = register_type(self.text("eltype")), self.values("args")
        if len(args) != count:
            raise self.error(f"expected {count} data operands")
        if any(value.type != element for value in args):
            raise self.error(f"expected data operands of type {element}")


class _Multiplication(_OnFragments):
    def check(self) -> None:
        counts = dict(zip("abcd", self.registers("abcd", self._words), strict=True))
        types = (self.text("eltypeA"), self.text("eltypeA"), self.text("eltypeB"))
        expected = [register_type(word) for name, word in zip("abc", types, strict=True) for _ in range(counts[name])]
        args = self.values("args")
        if len(args) != len(expected):
            raise self.error(f"expected {len(expected)} arguments")
        for number, (value, element) in enumerate(zip(args, expected, strict=True)):
            if value.type != element:
                raise self.error(f"expected argument {number} to be of type {element}")
        element = register_type(self._words["dtype"])
        if self.value("res").type != struct_of(element, counts["d"]):
            raise self.error(f"expected destination type is a structure of {counts['d']} elements of type {element}")

    @property
    def _words(self) -> dict[str, str]:
        a = self.text("eltypeA")
        words = {
            "alayout": self.text("layoutA"),
            "blayout": self.text("layoutB"),
            "shape": self.shape_word,
            "dtype": accumulator_type(self.value("res").type),
            "ctype": self.text("eltypeB"),
            **saturation_words(self, "intOverflowBehavior"),
        }
        if a == "f16":
            return words | {"aligned": "aligned"}
        words |= {"atype": a, "btype": a}
        return words | ({"bitOp": self.text("b1Op").removesuffix("_popc")} if self.has("b1Op") else {})

    def lower(self) -> Lowering:
        a, b, _ = self.registers("abc", self._words)
        args = self.values("args")
        registers = {"a": args[:a], "b": args[a : a + b], "c": args[a + b :], "d": [self.value("res")]}
        return self.instruction(self._words, **{name: Registers(values) for name, values in registers.items()})


_MOVED = f"layout: mma_layout, eltype: mma_type, {_SHAPE}"
WmmaLoad = operation(
    f"nvvm.wmma.load(ptr as p: ptr, stride: i32, frag as matrix: mma_frag, {_MOVED}) -> res: struct|f64",
    "Load of the fragment of a matrix.",
    wmma.LOAD,
    syntax="$ptr `,` $stride attr-dict `:` functional-type($ptr, $res)",
    base=_Load,
)
WmmaStore = operation(
    f"nvvm.wmma.store(ptr as p: ptr, args*: any, stride: i32, {_MOVED})",
    "Store of the fragment of a result.",
    wmma.STORE,
    syntax="$ptr `,` $stride `,` $args attr-dict `:` type($ptr) `,` type($args)",
    base=_Store,
)
WmmaMma = operation(
    "nvvm.wmma.mma(layoutA as alayout: mma_layout, layoutB as blayout: mma_layout, eltypeA: mma_type,"
    " eltypeB: mma_type,"
    f" b1Op?: mma_b1op, intOverflowBehavior?: mma_int_overflow, args*: any, {_SHAPE}) -> res: struct",
    "Multiplication of fragments: A and B of `eltypeA`, the accumulator of `eltypeB`."
    " Warploom extends MLIR by `b1Op`, `intOverflowBehavior` and results of another type than the accumulator.",
    *WMMA,
    syntax="$args attr-dict `:` functional-type($args, $res)",
    base=_Multiplication,
)
