"""`warploom layout`: print the positions of the elements of a matrix instruction's operands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warploom.cli._options import OK, STANDARD, Add, add_output, check_writable, is_integer, write_text
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.isa.binding.layouts import Operand
    from warploom.isa.model.operand_layout import LayoutInputs
    from warploom.view.layout_grid import LayoutGrid

_QUERIES = ("lane", "item", "register", "row", "column", "byte", "bank", "cta", "tlane", "tcol")
_WIDTH = 120  # columns of a table without a terminal


def declare(add: Add) -> None:
    """Add the command `layout` to the command line."""
    parser = add(
        "layout",
        help="print the positions of the elements of an instruction's operands",
        description="Print the lane and register, the byte of shared memory, or the lane and column of tensor memory"
        " (tlane and tcol) of each element of an operand of a matrix multiplication, a matrix load or store, or a"
        " tensor copy.",
        epilog="Exit status: 0 success; 2 wrong use.",
    )
    parser.add_argument(
        "instruction", metavar="INSTRUCTION", help="an opcode or some of its words in order, or an opcode with operands"
    )
    parser.add_argument(
        "operand",
        metavar="OPERAND",
        nargs="?",
        help='A, B, C, D, metadata, "scale A", "scale B", R (registers of a load or store), box, or a name of the'
        " syntax line (default: all operands)",
    )
    formats = parser.add_argument_group("format").add_mutually_exclusive_group()
    for name, what in (
        ("text", "tables (the default)"),
        ("csv", "comma-separated values"),
        ("json", "JSON"),
        ("svg", "a picture of one operand"),
        ("html", "one interactive page"),
    ):
        formats.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="text", help=what)
    add_output(parser, "the file to write (standard output)")
    queries = parser.add_argument_group("selection", "one or several, such as --lane 5 --item 1 or --row 3 --column 4")
    for name in _QUERIES:
        queries.add_argument(f"--{name}", metavar="N", type=int)
    given = parser.add_argument_group("values that the opcode does not state")
    for name, value, read, what in (
        ("selector", "N", int, "the sparsity selector of metadata"),
        ("byte-id", "N", int, "the byte id of block scales"),
        ("thread-id", "N", int, "the thread id of block scales"),
        ("descriptor", "NUMBER", _int, "the descriptor of a tile in shared memory, such as 0x4000004000010000"),
        ("idesc", "NUMBER", _int, "the instruction descriptor of a multiplication in tensor memory, such as 0x8100490"),
        ("swizzle", "BYTES", int, "the swizzle of a tile or of a box: 0, 32, 64 or 128"),
        ("major", "K|MN", str, "the major axis of a tile in shared memory"),
        ("box", "SIZES", _sizes, "the box of a tensor copy, outermost first, such as 64x32"),
        ("element", "TYPE", str, "the element type of the box, such as bf16"),
        ("interleave", "BYTES", int, "the interleave of the box: 0, 16 or 32"),
    ):
        given.add_argument(f"--{name}", metavar=value, type=read, help=what)


def _int(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number such as 0x8100490") from None


def _sizes(text: str) -> list[int]:
    sizes = text.split("x")
    if not all(is_integer(size) and len(size) < 7 for size in sizes):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected sizes such as 64x32")
    return list(map(int, sizes))


def run(options: argparse.Namespace) -> int:
    """Run the command `layout` and return its exit status."""
    from warploom.isa.binding.layouts import complete, find_operand, operands_of, select_operands
    from warploom.view.concepts import concept_of
    from warploom.view.layout_grid import grid_of

    check_writable(options.output, "--output")
    given = _given(options)
    instruction = options.instruction
    if (concept := concept_of(instruction)) is not None:
        raise UsageError(
            f"{instruction!r} is a concept, not an instruction; expected an opcode", hint=f"try {concept.commands()}"
        )
    if completed := complete(instruction):
        instruction, *others = dict.fromkeys(completed)
        more = f"; other instructions with these words: {', '.join(others)}" if others else ""
        print(f"note: showing {instruction} for {options.instruction!r}{more}", file=sys.stderr)
    known = operands_of(instruction)
    if options.operand is None:
        chosen: Sequence[Operand] = select_operands(known, given)
    else:
        chosen = (find_operand(known, options.operand, given),)
    grids = [grid_of(each.name, each.map(given)) for each in chosen]
    query = {name: getattr(options, name) for name in _QUERIES if getattr(options, name) is not None}
    if query:
        if options.form in ("svg", "html"):
            raise UsageError(
                f"--{next(iter(query))} selects entries and --{options.form} shows all of them; expected one of the two"
            )
        grids = _select(grids, {"col" if name == "column" else name: value for name, value in query.items()})
    if options.form == "text" and options.output in (None, STANDARD):
        _print(grids, bool(query))
    else:
        write_text(options.output, _text(options.form, chosen[0].opcode, grids, bool(query)))
    return OK


def _given(options: argparse.Namespace) -> LayoutInputs:
    from warploom.isa.model.operand_layout import LayoutInputs
    from warploom.layout import box_fields

    tensor_map, swizzle = None, options.swizzle
    if options.descriptor is not None and swizzle is not None:
        raise UsageError("--swizzle is a field of --descriptor; expected one of them")
    if options.box is not None:
        if options.element is None:
            raise UsageError("--element is missing", hint="a box has elements of a type, such as bf16")
        tensor_map = box_fields(options.box, options.element, swizzle=swizzle or 0, interleave=options.interleave or 0)
        swizzle = None
    else:
        for name in ("element", "interleave"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} needs --box")
    own = {name: getattr(options, name) for name in ("selector", "byte_id", "thread_id", "major")}
    return LayoutInputs(
        **{name: value for name, value in own.items() if value is not None},
        descriptor=options.descriptor,
        swizzle=swizzle or 0,
        tensor_map=tensor_map,
        idesc=options.idesc,
    )


def _select(grids: Sequence[LayoutGrid], query: dict[str, int]) -> list[LayoutGrid]:
    """Return the grids with only the entries that match a query, such as {"lane": 5, "item": 1}.

    Grids without the columns of the query are omitted.

    Errors: UsageError if no grid has these columns, and if no entry matches.
    """
    names = {name: "column" if name == "col" else name for name in query}
    fitting = [grid for grid in grids if set(query) <= set(grid.memory.columns)]
    if not fitting:
        options = ", ".join(f"--{name}" for name in names.values())
        raise UsageError(f"{grids[0].operand} is in {grids[0].memory.name}; {options} does not apply to it")
    found = [grid.select(query) for grid in fitting]
    if not any(len(grid.entries) for grid in found):
        where = ", ".join(f"{names[name]} {value}" for name, value in query.items())
        most = ", ".join(f"{names[name]} 0 to {fitting[0].column(name).max()}" for name in query)
        raise UsageError(f"{fitting[0].operand} has no element at {where}; it has {most}")
    return found


def _print(grids: Sequence[LayoutGrid], is_query: bool) -> None:
    if is_query or not sys.stdout.isatty():
        sys.stdout.write(_plain(grids, is_query))
        return
    from rich.console import Console
    from rich.text import Text

    from warploom.view.layout_grid import terminal_colour, text_lines

    console = Console()
    for grid in grids:
        for line in text_lines(grid, console.width):
            parts = ((text, "" if colour is None else terminal_colour(colour)) for text, colour in line)
            console.print(Text.assemble(*parts), soft_wrap=True)
        console.print()


def _plain(grids: Sequence[LayoutGrid], is_query: bool) -> str:
    from warploom.view.layout_grid import text_lines

    if is_query:
        return "".join(
            f"{grid.operand}: {grid.describe(number)}\n" for grid in grids for number in range(len(grid.entries))
        )
    tables = (
        "".join("".join(text for text, _ in line).rstrip() + "\n" for line in text_lines(grid, _WIDTH))
        for grid in grids
    )
    return "\n".join(tables)


def _text(form: str, opcode: str, grids: Sequence[LayoutGrid], is_query: bool) -> str:
    match form:
        case "text":
            return _plain(grids, is_query)
        case "csv":
            from warploom.view.layout_grid import csv_text

            return csv_text(grids)
        case "json":
            import json

            from warploom.view.layout_grid import json_data

            return json.dumps({"instruction": opcode, "operands": [json_data(grid) for grid in grids]}) + "\n"
        case "html":
            from warploom.view.layout_pictures import layout_page

            return layout_page(opcode, grids)
        case _:
            if len(grids) > 1:
                names = ", ".join(grid.operand for grid in grids)
                raise UsageError(f"--svg draws one operand; expected one of {names}")
            from warploom.view.layout_pictures import layout_svg

            return layout_svg(grids[0])
