"""Directives for the types in assembly formats."""

from xdsl.dialects.builtin import IntAttr, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


@irdl_custom_directive
class Pointer(CustomDirective):
    """Type of a pointer. MLIR prints only the address space: `<3>`."""

    pointer: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parse the address space, or the whole type."""
        if parser.parse_optional_punctuation("<"):
            space = parser.parse_integer()
            parser.parse_punctuation(">")
            self.pointer.set(state, (LLVMPointerType(IntAttr(space)),))
            return
        self.pointer.parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Print the address space, or the whole type of a generic pointer."""
        (found,) = self.pointer.get(op)
        if not isinstance(found, LLVMPointerType) or not isinstance(found.addr_space, IntAttr):
            self.pointer.print(printer, state, op)
            return
        state.print_whitespace(printer)
        printer.print_string(f"<{found.addr_space.data}>")


@irdl_custom_directive
class OptionalTypes(CustomDirective):
    """Types of the optional scale and mask of a multiplication in tensor memory."""

    scale: TypeDirective
    mask: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types: list[Attribute] = []
        while parser.parse_optional_punctuation(","):
            types.append(parser.parse_type())
        self.scale.set(state, [each for each in types if each == i64])
        self.mask.set(state, [each for each in types if each != i64])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for each in (*self.scale.get(op), *self.mask.get(op)):
            printer.print_string(", ")
            printer.print_attribute(each)


@irdl_custom_directive
class WgmmaTypes(CustomDirective):
    """Types of A (only in registers) and of the accumulator of a warpgroup's multiplication."""

    a: TypeDirective
    accumulator: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        self.accumulator.set(state, types[-1:])
        self.a.set(state, types[:-1] or [i64])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        types = [each for each in self.a.get(op) if each != i64]
        state.print_whitespace(printer)
        printer.print_list([*types, *self.accumulator.get(op)], printer.print_attribute)
