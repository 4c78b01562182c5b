"""`warploom-lab pages`: write the generated files of the repository."""

import argparse
import sys
from collections.abc import Callable

from warploom_lab.cli.status import DIFFERENT, OK, add_verb

_KINDS = (
    "reference", "stubs", "completions", "grammar", "architecture", "debugger", "concepts", "kernels", "speeds",
    "notebooks",
)  # fmt: skip

_DESCRIPTION = """\
Write generated files: the reference pages in docs/isa, docs/rules and docs/nvvm; the type stubs of the authoring
instructions; the shell completions; the grammar of the VS Code extension; the commands in docs/debugger.md;
the pictures of docs/architecture.md, docs/concepts, docs/kernels.md and docs/attention.md; and the outputs of the
notebooks in examples/notebooks, which are executed.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "pages",
        run,
        summary="write reference pages, stubs, shell completions, a grammar, pictures and notebooks",
        description=_DESCRIPTION,
        exit_status="0 success; 1 files are out of date (--check) or a notebook failed",
    )
    parser.add_argument(
        "kind", nargs="*", metavar="KIND", help=f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]} (default: all but notebooks)"
    )
    parser.add_argument("--check", action="store_true", help="only list the files that are out of date")


def run(options: argparse.Namespace) -> int:
    """Write the generated files, or compare them with the checkout. Return the exit status.

    Errors: UsageError for an unknown kind of files.
    """
    from warploom.diagnostics import UsageError
    from warploom_lab.pages import generated

    for kind in options.kind:
        if kind not in _KINDS:
            raise UsageError(f"unknown kind '{kind}'; expected one of {', '.join(_KINDS)}")
    kinds = [kind for kind in options.kind if kind != "notebooks"] if options.kind else generated.KINDS
    paths = generated.outdated(kinds) if options.check else generated.write(kinds)
    for path in paths:
        print(f"{path} {'is out of date' if options.check else 'written'}")
    status = DIFFERENT if options.check and paths else OK
    if "notebooks" in options.kind:
        status |= _run_notebooks(options.check)
    return status


def _run_notebooks(check: bool) -> int:
    from nbclient.exceptions import CellExecutionError

    from warploom_lab.pages import notebooks

    try:
        executed = notebooks.run_all()
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return DIFFERENT
    if not check:
        notebooks.write(executed)
        return OK
    lines = list(notebooks.differences(executed))
    print(*lines, sep="\n", end="\n" if lines else "")
    return DIFFERENT if lines else OK
