"""`warploom explain`: the page of a rule, an instruction, an intrinsic, a builtin, or a number."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

OK = 0


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "explain",
        help="say what a rule, an instruction, an intrinsic, a builtin or a packed word is",
        description="Print the page of a rule code, of an instruction, of a family of instructions, of an intrinsic,"
        " of a builtin of NVIDIA's compiler, or of a number: the builtin, the intrinsic and the packed words that it"
        " may be.",
        epilog="An instruction may be written as far as it is known: its first words are enough.",
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "subject",
        metavar="RULE | INSTRUCTION | NAME | NUMBER",
        help="a rule code, a remark of ptxas such as C7508, an opcode, llvm.nvvm.…, __hmma_…, or a number such as 0x…",
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.view.explain import explain

    _show(explain(options.subject))
    return OK


def _show(page: str) -> None:
    if not sys.stdout.isatty():
        print(page, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(page))
