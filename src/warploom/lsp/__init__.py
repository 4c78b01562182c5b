"""Language server for PTX.

`document` holds an open text and its analysis, and `positions` converts offsets to the positions of editors. `names`,
`hover`, `completion`, `fixes`, `formatting` and `outline` implement the requests, with offsets as positions.
Only `server` uses the protocol and needs pygls.
"""

from importlib.util import find_spec

from warploom.diagnostics import UsageError


def serve(port: int | None = None, *, version: str = "") -> None:
    """Run the language server for one editor until the editor disconnects.

    The server listens on `port` of the local host. If `port` is None, it uses standard input and output. `version` is
    the version that the server reports to the editor.

    Errors: UsageError lsp.packages if pygls is not installed
    """
    if find_spec("pygls") is None:
        raise UsageError(
            "the language server needs pygls, which implements the protocol",
            code="lsp.packages",
            hint="pip install 'warploom[lsp]'",
        )
    from warploom.lsp.server import start

    start(port, version)
