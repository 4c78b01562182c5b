"""IR builder with loops and memory accesses, for native functions that are not traced."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from collections.abc import Callable, Generator
from contextlib import contextmanager

from llvmlite import ir

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
POINTER = ir.PointerType()


class Builder(ir.IRBuilder):
    """IR builder of one function."""

    def __init__(self, module: ir.Module, name: str, kind: ir.FunctionType) -> None:
        self.owner = ir.Function(module, kind, name)
        super().__init__(self.owner.append_basic_block("entry"))

    @property
    def arguments(self) -> list[ir.Value]:
        """Arguments of the function."""
        return list(self.owner.args)

    def at(self, base: ir.Value, index: ir.Value | int, kind: ir.Type = I64) -> ir.Value:
        """Return a pointer to element `index` of an array of elements of type `kind`."""
        return self.gep(base, [I64(index) if isinstance(index, int) else index], source_etype=kind)

    def get(self, base: ir.Value, index: ir.Value | int, kind: ir.Type = I64) -> ir.Value:
        """Return element `index` of an array."""
        return self.load(self.at(base, index, kind), typ=kind)

    def put(self, value: ir.Value, base: ir.Value, index: ir.Value | int, kind: ir.Type = I64) -> None:
        """Store element `index` of an array."""
        self.store(value, self.at(base, index, kind))

    def array(self, context: ir.Value, field: int) -> ir.Value:
        """Load the address in a field of the context, and return it as a pointer."""
        return self.inttoptr(self.get(context, field), POINTER)

    def variable(self, first: ir.Value) -> ir.Value:
        """Return a pointer to a variable in the stack frame, with its first value."""
        with self.goto_entry_block():
            place = self.alloca(first.type)
            place.type = POINTER
        self.store(first, place)
        return place

    def count(self, base: ir.Value, index: int, step: ir.Value | int) -> None:
        """Add a number to element `index` of an array."""
        amount = I64(step) if isinstance(step, int) else step
        self.put(self.add(self.get(base, index), amount), base, index)

    def lower(self, base: ir.Value, index: int, value: ir.Value) -> None:
        """Replace element `index` of an array by `value` if `value` is smaller."""
        found = self.get(base, index)
        self.put(self.select(self.icmp_signed("<", value, found), value, found), base, index)

    def larger(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return the larger of two numbers."""
        return self.select(self.icmp_signed(">", one, other), one, other)

    def search(self, start: ir.Value, is_found: Callable[[ir.Value], ir.Value]) -> ir.Value:
        """Return the first index from `start` on for which the code of `is_found` gives True."""
        before = self.block
        head, after = self.append_basic_block("search"), self.append_basic_block("found")
        self.branch(head)
        self.position_at_end(head)
        index = self.phi(I64)
        index.add_incoming(start, before)
        found = is_found(index)
        index.add_incoming(self.add(index, I64(1)), self.block)
        self.cbranch(found, after, head)
        self.position_at_end(after)
        return index

    @contextmanager
    def each_bit(self, bits: ir.Value) -> Generator[ir.Value]:
        """Execute the body for the position of each bit that is set, from the lowest to the highest."""
        rest = self.variable(bits)
        head, body, after = (self.append_basic_block(name) for name in ("bits", "bit", "after"))
        self.branch(head)
        self.position_at_end(head)
        left = self.load(rest, typ=bits.type)
        self.cbranch(self.icmp_unsigned("!=", left, bits.type(0)), body, after)
        self.position_at_end(body)
        self.store(self.and_(left, self.sub(left, bits.type(1))), rest)
        yield self.zext(self.cttz(left, I1(1)), I64)
        self.branch(head)
        self.position_at_end(after)

    @contextmanager
    def loop(self, count: ir.Value) -> Generator[ir.Value]:
        """Execute the body for each index from 0 to `count` - 1."""
        before = self.block
        head, body, after = (self.append_basic_block(name) for name in ("head", "body", "after"))
        self.branch(head)
        self.position_at_end(head)
        index = self.phi(I64)
        index.add_incoming(I64(0), before)
        self.cbranch(self.icmp_signed("<", index, count), body, after)
        self.position_at_end(body)
        yield index
        index.add_incoming(self.add(index, I64(1)), self.block)
        self.branch(head)
        self.position_at_end(after)
