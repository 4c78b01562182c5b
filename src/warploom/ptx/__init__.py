"""Parser and printer of the PTX language. The parser accepts any opcode."""

from warploom.ptx.cursor import PtxSyntaxError
from warploom.ptx.node import Node
from warploom.ptx.operands import (
    Address,
    Element,
    Float,
    Initializer,
    Integer,
    Name,
    Negated,
    Operand,
    Pair,
    Property,
    Symbol,
    Tuple,
    Vector,
)
from warploom.ptx.parser import is_text, parse, parse_readable, read, text_of
from warploom.ptx.tree import (
    Block,
    Directive,
    Function,
    Guard,
    Instruction,
    Label,
    Module,
    Prototype,
    Statement,
    Text,
    TopLevel,
    Variable,
)

__all__ = [
    "Address", "Block", "Directive", "Element", "Float", "Function", "Guard", "Initializer", "Instruction", "Integer",
    "Label", "Module", "Name", "Negated", "Node", "Operand", "Pair", "Property", "Prototype", "PtxSyntaxError",
    "Statement", "Symbol", "Text", "TopLevel", "Tuple", "Variable", "Vector", "is_text", "parse",
    "parse_readable", "read", "text_of",
]  # fmt: skip
