"""The attributes of the dialect: words from lists, and shapes of matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class Word(Data[str], ABC):
    """One word of a list, written in angle brackets: `#nvvm.mma_layout<row>`.

    Where its place says which list is meant, the brackets alone may stand, as MLIR prints it.
    """

    words: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, parser: AttrParser) -> str:
        """One of the words."""
        start = parser.pos
        word = parser.parse_optional_identifier()
        if word not in cls.words:
            name = cls.name.removeprefix("nvvm.")
            parser.raise_error(f"expected {name} to be one of: {', '.join(cls.words)}", start)
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


class BareWord(Word, SpacedOpaqueSyntaxAttribute):
    """A word without brackets: `#nvvm<action increase>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        if isinstance(whole := parser.parse_optional_attribute(), cls):
            return whole.data
        return cls.read(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


class Extents(ParametrizedAttribute, ABC):
    """Named numbers: `#nvvm.shape<m = 64, n = 8, k = 16>`."""

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
    @abstractmethod
    def numbers(self) -> tuple[int, ...]:
        """The extents, in the order of their names."""

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            pairs = zip(self.FIELDS, self.numbers, strict=True)
            printer.print_string(", ".join(f"{name} = {number}" for name, number in pairs))


@irdl_attr_definition
class Shape(Extents):
    """The extents of a matrix multiplication."""

    name = "nvvm.shape"
    FIELDS = ("m", "n", "k")
    m: IntAttr
    n: IntAttr
    k: IntAttr

    @property
    def numbers(self) -> tuple[int, ...]:
        """M, N and K."""
        return self.m.data, self.n.data, self.k.data

    def __str__(self) -> str:
        return f"m{self.m.data}n{self.n.data}k{self.k.data}"


@irdl_attr_definition
class MatrixShape(Extents):
    """The extents of a matrix that is loaded or stored."""

    name = "nvvm.ld_st_matrix_shape"
    FIELDS = ("m", "n")
    m: IntAttr
    n: IntAttr

    @property
    def numbers(self) -> tuple[int, ...]:
        """M and N."""
        return self.m.data, self.n.data

    def __str__(self) -> str:
        return f"m{self.m.data}n{self.n.data}"
