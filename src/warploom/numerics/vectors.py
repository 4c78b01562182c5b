"""Builder of LLVM vector instructions for the steps of fused dot products."""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportCallIssue=false
from collections.abc import Callable
from typing import Any

from warploom.numerics._numba import cgutils, ir

Value = Any
"""LLVM value. llvmlite does not annotate the results of its builder."""

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
F32_TYPE, F64_TYPE = ir.FloatType(), ir.DoubleType()


class Vectors:
    """Builder of operations on vectors. Operands that are Python numbers become constant vectors.

    Generated vector instructions do not depend on the automatic vectorisation of LLVM.
    """

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def constant(self, kind: ir.VectorType, value: float) -> ir.Constant:
        """Return a vector of copies of a number."""
        return ir.Constant(kind, [value] * kind.count)

    def splat(self, value: Value, count: int) -> Value:
        """Return a vector of `count` copies of a scalar."""
        vector = ir.VectorType(value.type, count)
        first = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(I32, 0))
        zeros = ir.Constant(ir.VectorType(I32, count), [0] * count)
        return self.builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)

    def load(self, kind: Any, base: Value, offset: Value | int = 0) -> Value:
        """Load a vector or scalar of type `kind` from element `offset` of the array at address `base`."""
        return self.builder.load(self._pointer(kind, base, offset), align=_size(_element(kind)))

    def store(self, value: Value, base: Value, offset: Value | int = 0) -> None:
        """Store a vector or scalar at element `offset` of the array at address `base`."""
        self.builder.store(value, self._pointer(value.type, base, offset), align=_size(_element(value.type)))

    def _pointer(self, kind: Any, base: Value, offset: Value | int) -> Value:
        element = self.builder.inttoptr(base, _element(kind).as_pointer())
        return self.builder.bitcast(self.builder.gep(element, [self.number(offset)]), kind.as_pointer())

    def number(self, value: Value | int) -> Value:
        """Return an index as a 64-bit LLVM value."""
        return ir.Constant(I64, value) if isinstance(value, int) else value

    def joined(self, parts: list[Value]) -> Value:
        """Return one vector with the lanes of one or two vectors."""
        if len(parts) == 1:
            return parts[0]
        count = 2 * parts[0].type.count
        lanes = ir.Constant(ir.VectorType(I32, count), list(range(count)))
        return self.builder.shuffle_vector(parts[0], parts[1], lanes)

    def call(self, name: str, *operands: Value) -> Value:
        """Call an LLVM intrinsic whose operands and result have one vector type."""
        kind = operands[0].type
        return self.builder.call(self.function(name, *[kind] * len(operands)), operands)

    def function(self, name: str, kind: ir.VectorType, *others: Any) -> Value:
        """Return an LLVM intrinsic whose result and first operand have the type `kind`.

        `others` are the types of the other operands.
        """
        full_name = f"llvm.{name}.v{kind.count}{_letter(kind.element)}"
        signature = ir.FunctionType(kind, [kind, *others])
        return cgutils.get_or_insert_function(self.builder.module, signature, full_name)

    def select(self, condition: Value, chosen: Value | float, other: Value | float) -> Value:
        """Return `chosen` in the lanes where `condition` is true, and `other` elsewhere."""
        chosen, other = self._operands(chosen, other)
        return self.builder.select(condition, chosen, other)

    def compare(self, operator: str, x: Value, y: Value | float) -> Value:
        """Return the mask of a signed integer comparison."""
        return self.builder.icmp_signed(operator, *self._operands(x, y))

    def __getattr__(self, name: str) -> Callable[[Value, Value | float], Value]:
        """Return an operation of the builder with two operands, such as `add` or `fmul`."""
        operation = getattr(self.builder, name)
        return lambda x, y: operation(*self._operands(x, y))

    def _operands(self, x: Value | float, y: Value | float) -> tuple[Value, Value]:
        if isinstance(x, int | float):
            return self.constant(y.type, x), y  # pyright: ignore[reportAttributeAccessIssue]
        return x, self.constant(x.type, y) if isinstance(y, int | float) else y

    def loop(self, start: Value | int, stop: Value | int, step: Value | int, body: Callable[[Value], None]) -> None:
        """Generate a loop over 64-bit indices. `body` generates the code for one index."""
        bounds = (self.number(each) for each in (start, stop, step))
        with cgutils.for_range_slice(self.builder, *bounds, I64) as (index, _):
            body(index)


def _element(kind: Any) -> Any:
    return kind.element if isinstance(kind, ir.VectorType) else kind


def _size(kind: Any) -> int:
    return {F32_TYPE: 4, F64_TYPE: 8}.get(kind) or kind.width // 8


def _letter(kind: Any) -> str:
    return {F32_TYPE: "f32", F64_TYPE: "f64"}.get(kind) or f"i{kind.width}"
