"""The language server: what Warploom knows of a PTX text, while it is written.

`document` holds a text and what is known of it, `positions` says where things stand as editors count; `names`,
`hover`, `completion`, `fixes`, `formatting` and `outline` answer questions about a document in offsets of its
text. `server` alone speaks the protocol, and it alone needs pygls.
"""

from __future__ import annotations

from importlib.util import find_spec

from warploom.diagnostics import UsageError


def serve(port: int | None = None, *, version: str = "") -> None:
    """Serve an editor over standard input and output, or over a port of this machine, until it leaves; `version`
    is what the editor is told.

    Errors: UsageError lsp.packages where pygls is not installed
    """
    if find_spec("pygls") is None:
        raise UsageError(
            "the language server needs pygls, which speaks the protocol",
            code="lsp.packages",
            hint="pip install 'warploom[lsp]'",
        )
    from warploom.lsp.server import start

    start(port, version)
