"""`warploom explain`: print the page of a rule, an instruction, an intrinsic, a builtin, or a number."""

import argparse
import sys

from warploom.cli._options import OK, Add


def declare(add: Add) -> None:
    """Add the command `explain` to the command line."""
    parser = add(
        "explain",
        help="describe a rule, an instruction, a concept, an intrinsic, a builtin, a message or a packed word",
        description="Print the page of a rule code, an instruction, a family of instructions, a concept, an operation"
        " of MLIR's nvvm dialect, an intrinsic, or a builtin, a message, a function or a name of NVIDIA's compiler."
        " For a number, print the builtin, the intrinsic and the packed words that it may be. A prefix such as"
        " `descriptor:` selects the packed word: mma, move, tcgen05, collector, config, scaled or descriptor.",
        epilog="Some words of an instruction in their order, or some words of a message, are enough.",
    )
    parser.add_argument(
        "subject",
        metavar="RULE | INSTRUCTION | NAME | NUMBER",
        help="a rule code, a remark of ptxas such as C7508, an opcode, a concept such as swizzle, nvvm.…, llvm.nvvm.…,"
        " __hmma_…, sub_…, a message in quotation marks, or a number such as 0x…",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command `explain` and return its exit status."""
    from warploom.view.explain import explain

    page = explain(options.subject)
    if not sys.stdout.isatty():
        print(page, end="")
        return OK
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(page))
    return OK
