"""`warploom lsp`: the language server that editors start."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from warploom.diagnostics import UsageError

OK = 0
_PORTS = 65_536


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "lsp",
        help="serve editors: diagnostics, hover, completion, definitions, renaming, formatting, fixes",
        description="Serve an editor by the Language Server Protocol: diagnostics while one types, hover, completion of"
        " what is legal, definitions and references, renaming, formatting, and quick fixes.",
        epilog="Editors start it themselves; docs/editors.md says how. It needs the extra lsp.",
    )
    parser.set_defaults(verb=run)
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--stdio", action="store_true", help="speak over standard input and output (this is usual)"
    )
    way.add_argument("--tcp", type=int, metavar="PORT", help="listen on a port of this machine")


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    import warploom
    from warploom.providers import provider

    if options.tcp is not None and not 0 < options.tcp < _PORTS:
        raise UsageError(f"--tcp: found {options.tcp}; expected a port from 1 to {_PORTS - 1}")
    provider("language server").serve(options.tcp, version=warploom.__version__)
    return OK
