"""Language server for PTX. Only `server` needs pygls."""

from importlib.util import find_spec

from warploom.diagnostics import UsageError


def serve(port: int | None = None, *, version: str = "") -> None:
    """Run the language server for one editor until the editor disconnects.

    The server listens on `port` of the local host or, if `port` is None, on standard input. `version` is its version in
    messages to the editor.

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
