"""Kernel arguments from the option `--arg`."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from warploom.cli._options import is_integer
from warploom.diagnostics import UsageError
from warploom.runtime.buffers import DISTRIBUTIONS, Buffer, read_buffer, stored
from warploom.runtime.launch_arguments import SCALAR_TYPES, Argument, number, pointer, read_scalar, scratch
from warploom.runtime.toml import Document, Step, Table, dotted, suggestion


def read_arguments(texts: Sequence[str]) -> tuple[tuple[Argument, ...], dict[str, Buffer]]:
    """Read the values of the --arg options. Return the arguments in order, and the buffers by name.

    The buffer of argument k has the name `arg<k>`.
    """
    buffers: dict[str, Buffer] = {}
    arguments: list[Argument] = []
    for position, text in enumerate(texts):
        found = _Text(position, text).read()
        if isinstance(found, Buffer):
            buffers[f"arg{position}"] = found
            found = pointer(f"arg{position}")
        arguments.append(found)
    return tuple(arguments), buffers


class _Text(Document):
    """Text of one --arg option. Its values are read like those of a launch file."""

    def __init__(self, position: int, text: str) -> None:
        super().__init__("", text)
        self.position, self.text = position, text

    def refuse(self, path: tuple[Step, ...], code: str, message: str, hint: str = "") -> NoReturn:
        """Refuse the option because of the value at `path`. Errors: UsageError."""
        part = f"{dotted(path)}: " if path else ""
        raise UsageError(f"--arg number {self.position} ({self.text}): {part}{message}", hint=hint)

    def read(self) -> Argument | Buffer:
        """Return the argument that the text describes, or the buffer for the contents of an array."""
        head, *rest = self.text.split(":")
        if self.text == "null":
            return number(0)
        if self.text.endswith(".npy"):
            return stored(Path(self.text), lambda code, message, hint: self.refuse((), code, message, hint))
        if not rest:
            return number(self._number(self.text))
        if head == "scratch":
            if len(rest) != 1 or not is_integer(rest[0]) or int(rest[0]) < 1:
                self.refuse((), "value", "expected a number of bytes, such as scratch:384")
            return scratch(int(rest[0]))
        if head in SCALAR_TYPES:
            data = {"type": head, "value": self._number(":".join(rest))}
            return number(read_scalar(Table(self, (), data)))
        if head in DISTRIBUTIONS:
            return self._buffer(head, rest)
        known = [*DISTRIBUTIONS, *SCALAR_TYPES, "scratch"]
        return self.refuse((), "value", f'unknown type or distribution "{head}"', suggestion(head, known))

    def _number(self, digits: str) -> int | float:
        if is_integer(digits):
            return int(digits)
        try:
            return float(digits)
        except ValueError:
            hint = "`warploom run --help` lists the kinds of arguments"
            self.refuse((), "value", "expected a number or a buffer", hint)

    def _buffer(self, distribution: str, rest: Sequence[str]) -> Buffer:
        if len(rest) not in (2, 3):
            self.refuse((), "value", "expected DISTRIBUTION:TYPE:SHAPE or DISTRIBUTION:TYPE:SHAPE:SEED")
        dtype, shape, *seeds = rest
        data: dict[str, object] = {"distribution": distribution, "dtype": dtype}
        data["shape"] = [int(size) if is_integer(size) else size for size in shape.split("x")]
        if seeds and "seed" in DISTRIBUTIONS[distribution]:
            data["seed"] = int(seeds[0]) if is_integer(seeds[0]) else seeds[0]
        return read_buffer(Table(self, (), data), Path(), self.position)
