"""`warploom lsp`: the language server that editors start."""

import argparse

from warploom.cli._options import OK, Add
from warploom.diagnostics import UsageError

_PORTS = 65_536


def declare(add: Add) -> None:
    """Add the command `lsp` to the command line."""
    parser = add(
        "lsp",
        help="serve editors: diagnostics, hover, completion, definitions, renaming, formatting, fixes",
        description="Serve an editor with the Language Server Protocol: diagnostics during typing, hover, completion"
        " with legal words, definitions and references, renaming, formatting, and quick fixes.",
        epilog="Editors start the server; docs/editors.md describes the settings. It needs the extra lsp.",
    )
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="use standard input and output (the default)")
    transport.add_argument("--tcp", type=int, metavar="PORT", help="listen on a local port")


def run(options: argparse.Namespace) -> int:
    """Run the command `lsp` and return its exit status."""
    from warploom.providers import provider
    from warploom.release import version

    if options.tcp is not None and not 0 < options.tcp < _PORTS:
        raise UsageError(f"--tcp: found {options.tcp}; expected a port from 1 to {_PORTS - 1}")
    provider("language server").serve(options.tcp, version=version())
    return OK
