"""`warploom layout`: where the elements of a matrix instruction's operands lie, as text, data, a picture or a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.isa.binding.layouts import Operand
    from warploom.isa.model.operand_layout import LayoutInputs
    from warploom.view.layout_grid import LayoutGrid

OK = 0
_QUERIES = ("lane", "item", "register", "row", "column", "byte", "bank", "cta", "tlane", "tcol")
_WIDTH = 120  # of a table where there is no terminal


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "layout",
        help="show where the elements of an instruction's operands lie",
        description="Show which lane and register, which byte of shared memory, or which lane and column of tensor"
        " memory (tlane and tcol) has each element of an operand of a matrix multiplication, a matrix load or store,"
        " or a tensor copy.",
        epilog="exit status: 0 well; 2 misuse.",
    )
    parser.set_defaults(verb=run)
    parser.add_argument("instruction", metavar="INSTRUCTION", help="an opcode, with its operands or without")
    parser.add_argument(
        "operand",
        metavar="OPERAND",
        nargs="?",
        help='A, B, C, D, metadata, "scale A", "scale B", R (registers of a load or store), box, or a name of the'
        " syntax line; without it all of them",
    )
    shown = parser.add_argument_group("what is printed").add_mutually_exclusive_group()
    for name, what in (
        ("text", "tables (as without any of these)"),
        ("csv", "comma-separated values"),
        ("json", "JSON"),
        ("svg", "a picture of one operand"),
        ("html", "one interactive page"),
    ):
        shown.add_argument(
            f"--{name}", dest="form", action="store_const", const=name, default="text", help=what
        )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, and not to standard output")
    asked = parser.add_argument_group(
        "only what matches", "one or several, such as --lane 5 --item 1 or --row 3 --column 4"
    )
    for name in _QUERIES:
        asked.add_argument(f"--{name}", metavar="N", type=int)
    given = parser.add_argument_group("what the opcode does not say")
    given.add_argument("--selector", metavar="N", type=int, help="the sparsity selector of metadata")
    given.add_argument("--byte-id", metavar="N", type=int, help="the byte id of block scales")
    given.add_argument("--thread-id", metavar="N", type=int, help="the thread id of block scales")
    given.add_argument(
        "--descriptor", metavar="NUMBER", help="the descriptor of a tile in shared memory, such as 0x…"
    )
    given.add_argument(
        "--idesc", metavar="NUMBER", help="the instruction descriptor of a multiplication in tensor memory"
    )
    given.add_argument("--swizzle", metavar="BYTES", type=int, help="0, 32, 64 or 128, of a tile or of a box")
    given.add_argument("--major", metavar="K|MN", help="of a tile in shared memory")
    given.add_argument(
        "--box", metavar="SIZES", help="the box of a tensor copy, outermost first, such as 64x32"
    )
    given.add_argument("--element", metavar="TYPE", help="the element type of the box, such as bf16")
    given.add_argument("--interleave", metavar="BYTES", type=int, help="0, 16 or 32, of the box")


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.isa.binding.layouts import all_with, operand_called, operands_of
    from warploom.view.layout_grid import grid_of

    given = _given(options)
    known = operands_of(options.instruction)
    if options.operand is None:
        chosen: Sequence[Operand] = all_with(known, given)
    else:
        chosen = (operand_called(known, options.operand, given),)
    grids = [grid_of(each.name, each.map(given)) for each in chosen]
    asked = {name: getattr(options, name) for name in _QUERIES if getattr(options, name) is not None}
    if asked:
        if options.form in ("svg", "html"):
            raise UsageError(f"--{next(iter(asked))} chooses entries, and --{options.form} shows them all")
        grids = _asked(grids, {"col" if name == "column" else name: value for name, value in asked.items()})
    if options.form == "text" and options.output is None:
        _print(grids, bool(asked))
        return OK
    _write(_written(options, chosen[0].opcode, grids, bool(asked)), options.output)
    return OK


def _given(options: argparse.Namespace) -> LayoutInputs:
    from warploom.isa.model.operand_layout import LayoutInputs
    from warploom.layout import box_fields

    tensor_map, swizzle = None, options.swizzle
    if options.descriptor is not None and swizzle is not None:
        raise UsageError("--swizzle is a field of --descriptor; expected one of them")
    if options.box is not None:
        sizes = options.box.split("x")
        if not all(size.isdecimal() and size.isascii() and len(size) < 7 for size in sizes):
            raise UsageError(f"--box: found {options.box!r}; expected sizes such as 64x32")
        if options.element is None:
            raise UsageError("--element is missing", hint="a box is of elements of a type, such as bf16")
        tensor_map = box_fields(
            [int(size) for size in sizes],
            options.element,
            swizzle=swizzle or 0,
            interleave=options.interleave or 0,
        )
        swizzle = None
    else:
        for name in ("element", "interleave"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} is for a --box")
    own = {name: getattr(options, name) for name in ("selector", "byte_id", "thread_id", "major")}
    return LayoutInputs(
        **{name: value for name, value in own.items() if value is not None},
        descriptor=_number("descriptor", options.descriptor, "0x4000004000010000"),
        swizzle=swizzle or 0,
        tensor_map=tensor_map,
        idesc=_number("idesc", options.idesc, "0x8100490"),
    )


def _number(name: str, text: str | None, such: str) -> int | None:
    if text is None:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"--{name}: found {text!r}; expected a number such as {such}") from None


def _asked(grids: Sequence[LayoutGrid], asked: dict[str, int]) -> list[LayoutGrid]:
    """What matches, of those operands that can be asked so."""
    spoken = {name: "column" if name == "col" else name for name in asked}
    fitting = [grid for grid in grids if set(asked) <= set(grid.memory.columns)]
    if not fitting:
        options = ", ".join(f"--{name}" for name in spoken.values())
        raise UsageError(
            f"{grids[0].operand} is in {grids[0].memory.name}; it cannot be asked with {options}"
        )
    found = [grid.select(asked) for grid in fitting]
    if not any(len(grid.entries) for grid in found):
        where = ", ".join(f"{spoken[name]} {value}" for name, value in asked.items())
        most = ", ".join(f"{spoken[name]} 0 to {fitting[0].column(name).max()}" for name in asked)
        raise UsageError(f"{fitting[0].operand} has nothing at {where}; it has {most}")
    return found


def _print(grids: Sequence[LayoutGrid], is_query: bool) -> None:
    """Tables to standard output, coloured where that is a terminal."""
    from warploom.view.layout_grid import text_lines

    if not sys.stdout.isatty():
        sys.stdout.write(_plain(grids, is_query))
        return
    from rich.console import Console
    from rich.text import Text

    from warploom.view.layout_grid import terminal_colour

    console = Console()
    if is_query:
        console.print(_plain(grids, is_query), end="", markup=False, highlight=False)
        return
    for grid in grids:
        for line in text_lines(grid, console.width):
            parts = ((text, "" if colour is None else terminal_colour(colour)) for text, colour in line)
            console.print(Text.assemble(*parts), soft_wrap=True)
        console.print()


def _plain(grids: Sequence[LayoutGrid], is_query: bool) -> str:
    from warploom.view.layout_grid import text_lines

    if is_query:
        return "".join(
            f"{grid.operand}: {grid.describe(number)}\n"
            for grid in grids
            for number in range(len(grid.entries))
        )
    tables = (
        "".join("".join(text for text, _ in line).rstrip() + "\n" for line in text_lines(grid, _WIDTH))
        for grid in grids
    )
    return "\n".join(tables)


def _written(options: argparse.Namespace, opcode: str, grids: Sequence[LayoutGrid], is_query: bool) -> str:
    if options.form == "text":
        return _plain(grids, is_query)
    if options.form == "csv":
        from warploom.view.layout_grid import csv_text

        return csv_text(grids)
    if options.form == "json":
        import json

        from warploom.view.layout_grid import json_data

        return json.dumps({"instruction": opcode, "operands": [json_data(grid) for grid in grids]}) + "\n"
    if options.form == "html":
        from warploom.view.layout_page import layout_page

        return layout_page(opcode, grids)
    if len(grids) > 1:
        names = ", ".join(grid.operand for grid in grids)
        raise UsageError(f"--svg is a picture of one operand; expected one of {names}")
    from warploom.view.layout_svg import layout_svg

    return layout_svg(grids[0])


def _write(text: str, file: str | None) -> None:
    if file is None:
        sys.stdout.write(text)
        return
    try:
        Path(file).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from None
