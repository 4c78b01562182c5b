"""Base classes of the dialect's attributes: enumerations, and named extents of matrices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class EnumAttribute(Data[str], ABC):
    """Enumeration attribute, written in angle brackets: `#nvvm.mma_layout<row>`.

    Where the syntax of an operation implies the enumeration, MLIR prints only the brackets: `<row>`.
    """

    cases: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, parser: AttrParser) -> str:
        """Parse one of the words in `cases`."""
        start = parser.pos
        word = parser.parse_optional_identifier()
        if word not in cls.cases:
            name = cls.name.removeprefix("nvvm.")
            parser.raise_error(f"expected {name} to be one of: {', '.join(cls.cases)}", start)
        return word

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.data
        with parser.in_angle_brackets():
            return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


class BareEnumAttribute(EnumAttribute, SpacedOpaqueSyntaxAttribute):
    """Enumeration attribute without brackets around its case: `#nvvm<action increase>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.data
        return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


class ExtentsAttribute(ParametrizedAttribute, ABC):
    """Attribute of named extents: `#nvvm.shape<m = 64, n = 8, k = 16>`."""

    FIELDS: ClassVar[tuple[str, ...]]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found: dict[str, int] = {}

        def field() -> None:
            start = parser.pos
            name = parser.parse_optional_identifier()
            if name not in cls.FIELDS or name in found:
                parser.raise_error(f"expected one of: {', '.join(cls.FIELDS)}, each once", start)
            parser.parse_characters("=")
            found[name] = parser.parse_integer()

        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.parameters
        start = parser.pos
        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, field)
        if missing := [name for name in cls.FIELDS if name not in found]:
            parser.raise_error(f"{cls.name.removeprefix('nvvm.')} has no {', '.join(missing)}", start)
        return [IntAttr(found[name]) for name in cls.FIELDS]

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents in the order of FIELDS."""
        return tuple(each.data for each in cast("tuple[IntAttr, ...]", self.parameters))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            pairs = zip(self.FIELDS, self.extents, strict=True)
            printer.print_string(", ".join(f"{name} = {extent}" for name, extent in pairs))

    def __str__(self) -> str:
        return "".join(f"{name}{extent}" for name, extent in zip(self.FIELDS, self.extents, strict=True))


@irdl_attr_definition
class Shape(ExtentsAttribute):
    """Extents M, N and K of a matrix multiplication."""

    name = "nvvm.shape"
    FIELDS = ("m", "n", "k")
    m: IntAttr
    n: IntAttr
    k: IntAttr


@irdl_attr_definition
class MatrixShape(ExtentsAttribute):
    """Rows and columns of a matrix that is loaded or stored."""

    name = "nvvm.ld_st_matrix_shape"
    FIELDS = ("m", "n")
    m: IntAttr
    n: IntAttr
