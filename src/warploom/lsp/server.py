"""Language server: handlers of protocol messages.

Source: Language Server Protocol 3.17
"""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from warploom.diagnostics import Diagnostic, Severity, Span, UsageError
from warploom.lsp.completion import completions
from warploom.lsp.document import Document, View
from warploom.lsp.fixes import fixes_in
from warploom.lsp.formatting import formatting
from warploom.lsp.hover import hover
from warploom.lsp.layouts import instruction_text, layout_picture
from warploom.lsp.lenses import Lens, lenses_of_launch_file, lenses_of_ptx, lenses_of_python
from warploom.lsp.names import Names, Symbol
from warploom.lsp.outline import Entry, outline

HOST = "127.0.0.1"
_PAUSE = 0.02
"""Delay between the last edit of a document and the check of its text, in seconds."""

_PROGRAMS = {".py": lenses_of_python, ".toml": lenses_of_launch_file}
"""Functions that find kernels in other files than PTX, by suffix. These files have code lenses only."""
_LENSES = (("Run on the emulator", "warploom.run"), ("Sanitize", "warploom.sanitize"))
"""Titles and commands of the code lenses. The editor executes the commands."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_COMPLETIONS = {
    "instruction": types.CompletionItemKind.Function,
    "modifier": types.CompletionItemKind.EnumMember,
    "register": types.CompletionItemKind.Variable,
    "variable": types.CompletionItemKind.Field,
    "function": types.CompletionItemKind.Method,
    "label": types.CompletionItemKind.Reference,
}
_SYMBOLS = {
    "kernel": types.SymbolKind.Function,
    "function": types.SymbolKind.Method,
    "variable": types.SymbolKind.Variable,
    "label": types.SymbolKind.Key,
}


class Server(LanguageServer):
    """Language server of one editor. `documents` has the open documents by URI."""

    def __init__(self, version: str) -> None:
        super().__init__("warploom", version)  # pyright: ignore[reportUnknownMemberType] -- *args
        self.documents: dict[str, Document] = {}
        self._pending: dict[str, asyncio.TimerHandle] = {}

    def view(self, uri: str) -> View:
        """Return the latest version of a document, or an empty text for an unknown document."""
        return (self.documents.get(uri) or Document(uri, "")).view

    def open(self, uri: str, text: str) -> None:
        """Open a document and send its diagnostics to the editor."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        self.documents[uri] = Document(uri, text, types.PositionEncodingKind(encoding).value)
        self.publish(uri)

    def close(self, uri: str) -> None:
        """Close a document and remove its diagnostics from the editor."""
        self._cancel(uri)
        if self.documents.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def publish_soon(self, uri: str) -> None:
        """Send the diagnostics of a document to the editor after a pause in editing."""
        self._cancel(uri)
        self._pending[uri] = asyncio.get_running_loop().call_later(_PAUSE, self.publish, uri)

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a document to the editor."""
        self._cancel(uri)
        if uri in self.documents:
            view = self.view(uri)
            found = [_diagnostic(view, uri, each) for each in view.report]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def _cancel(self, uri: str) -> None:
        if (pending := self._pending.pop(uri, None)) is not None:
            pending.cancel()


def start(port: int | None, version: str) -> None:
    """Run the server on a local port, or on standard input and output, until the editor disconnects.

    `version` is the server's version in messages to the editor.

    Errors: UsageError lsp.port for a port that cannot be opened
    """
    gc.freeze()  # the collector skips the imported objects, which live as long as the process
    for name in ("pygls.protocol.json_rpc", "asyncio"):
        logging.getLogger(name).addFilter(_is_unexpected)
    server = make_server(version)
    if port is None:
        # The server closes its output at the end, but standard output must stay open.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
            server.start_io(sys.stdin.buffer, output)
        return
    try:
        server.start_tcp(HOST, port)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise UsageError(f"port {port} cannot be listened on: {reason}", code="lsp.port") from None


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Return False for log records of expected exceptions."""
    # Expected are refused requests and the exit of the editor.
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcInvalidParams | SystemExit)


def make_server(version: str) -> Server:
    """Return a server with handlers for all supported requests.

    `version` is the server's version in messages to the editor.
    """
    server = Server(version)
    _add_synchronisation(server)
    _add_queries(server)
    _add_edits(server)
    _add_lenses(server)
    _add_layouts(server)
    return server


# Features ---------------------------------------------------------------------------------------------------


def _add_synchronisation(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        if _suffix(params.text_document.uri) in _PROGRAMS:
            return
        server.open(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                first, last = change.range.start, change.range.end
                document.change((first.line, first.character), (last.line, last.character), change.text)
            else:
                document.replace(change.text)
        server.publish_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _add_queries(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        view = server.view(params.text_document.uri)
        found = hover(view, _offset(view, params.position))
        if found is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found[0]), _range(view, found[1]))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "%", ":"]))
    def complete(params: types.CompletionParams) -> types.CompletionList:
        view = server.view(params.text_document.uri)
        items = [
            types.CompletionItem(
                each.word,
                kind=_COMPLETIONS[each.kind],
                detail=each.detail or None,
                sort_text=f"{k:05}",
                filter_text=each.word,
                text_edit=types.TextEdit(_range(view, each.span), each.word),
            )
            for k, each in enumerate(completions(view, _offset(view, params.position)))
        ]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        view, names, symbol = _symbol(server, params)
        span = None if symbol is None else names.definition(symbol)
        return None if span is None else types.Location(params.text_document.uri, _range(view, span))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        view, names, symbol = _symbol(server, params)
        if symbol is None:
            return []
        hidden = None if params.context.include_declaration else names.definition(symbol)
        spans = [span for span in names.references(symbol) if span != hidden]
        return [types.Location(params.text_document.uri, _range(view, span)) for span in spans]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        view, names, symbol = _symbol(server, params)
        spans = [] if symbol is None else names.references(symbol)
        return [types.DocumentHighlight(_range(view, span)) for span in spans]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        view = server.view(params.text_document.uri)
        return [_document_symbol(view, entry) for entry in outline(view)]


def _add_edits(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        view, names, symbol = _symbol(server, params)
        found = names.token_at(_offset(view, params.position))
        if symbol is None or found is None:
            return None
        k, (begin, end, _) = found
        start = view.parsed.starts[k]
        return _range(view, Span(start + begin, start + end))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        view, names, symbol = _symbol(server, params)
        if symbol is None:
            return None
        try:
            changes = names.rename(symbol, params.new_name)
        except UsageError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return types.WorkspaceEdit({params.text_document.uri: _edits(view, changes)})

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        view = server.view(params.text_document.uri)
        return _edits(view, formatting(view))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        view = server.view(uri)
        first, last = _offset(view, params.range.start), _offset(view, params.range.end)
        return [
            types.CodeAction(
                fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(view, uri, fix.finding)],
                edit=types.WorkspaceEdit({uri: _edits(view, [(fix.span, fix.text)])}),
            )
            for fix in fixes_in(view, first, last)
        ]


def _add_layouts(server: Server) -> None:
    # Own requests: the parameters are the position of a hover request.
    def text_at(params: Any) -> str | None:
        view = server.view(params.textDocument.uri)
        position = types.Position(params.position.line, params.position.character)
        return instruction_text(view, _offset(view, position))

    @server.feature("warploom/instruction")
    def instruction(params: Any) -> str | None:
        return text_at(params)

    @server.feature("warploom/layoutPicture")
    def picture(params: Any) -> str | None:
        text = text_at(params)
        return None if text is None else layout_picture(text)


def _add_lenses(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        # Other features must not apply to Python and TOML, so that these languages have registrations of their own.
        text = server.client_capabilities.text_document
        able = (text and text.synchronization, text and text.code_lens)
        if not all(each and each.dynamic_registration for each in able):
            return
        files = [types.TextDocumentFilterPattern(f"**/*{suffix}", scheme="file") for suffix in _PROGRAMS]
        opened = types.TextDocumentRegistrationOptions(files)
        options = {
            types.TEXT_DOCUMENT_DID_OPEN: opened,
            types.TEXT_DOCUMENT_DID_CHANGE: types.TextDocumentChangeRegistrationOptions(
                types.TextDocumentSyncKind.Incremental, files
            ),
            types.TEXT_DOCUMENT_DID_CLOSE: opened,
            types.TEXT_DOCUMENT_CODE_LENS: types.CodeLensRegistrationOptions(files),
        }
        server.client_register_capability(
            types.RegistrationParams([types.Registration(name, name, each) for name, each in options.items()])
        )

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        file = Path(unquote(urlsplit(uri).path))
        if (find := _PROGRAMS.get(_suffix(uri))) is not None:
            found = find(server.workspace.get_text_document(uri).source, file)
        elif urlsplit(uri).scheme == "file":
            found = lenses_of_ptx(server.view(uri), file)
        else:
            found = []  # there is no file to run
        return [_code_lens(lens, title, command) for lens in found for title, command in _LENSES]


# Conversions ------------------------------------------------------------------------------------------------


def _suffix(uri: str) -> str:
    return PurePath(urlsplit(uri).path).suffix


def _offset(view: View, position: types.Position) -> int:
    return view.lines.offset(position.line, position.character)


def _range(view: View, span: Span) -> types.Range:
    start, end = view.lines.position(span.start), view.lines.position(span.end)
    return types.Range(types.Position(*start), types.Position(*end))


def _edits(view: View, changes: Iterable[tuple[Span, str]]) -> list[types.TextEdit]:
    return [types.TextEdit(_range(view, span), text) for span, text in changes]


_PositionParams = (
    types.DefinitionParams
    | types.ReferenceParams
    | types.DocumentHighlightParams
    | types.PrepareRenameParams
    | types.RenameParams
)


def _symbol(server: Server, params: _PositionParams) -> tuple[View, Names, Symbol | None]:
    view = server.view(params.text_document.uri)
    names = Names(view)
    return view, names, names.symbol_at(_offset(view, params.position))


def _diagnostic(view: View, uri: str, found: Diagnostic) -> types.Diagnostic:
    message = f"{found.message}; {found.hint}" if found.hint else found.message
    notes = [
        types.DiagnosticRelatedInformation(types.Location(uri, _range(view, note.span)), note.message)
        for note in found.notes
        if note.span is not None
    ]
    return types.Diagnostic(
        _range(view, found.span or Span(0, 0)),
        message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        source="warploom",
        related_information=notes or None,
    )


def _document_symbol(view: View, entry: Entry) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        entry.name,
        _SYMBOLS[entry.kind],
        _range(view, entry.span),
        _range(view, entry.name_span),
        detail=entry.detail or None,
        children=[_document_symbol(view, each) for each in entry.inner],
    )


def _code_lens(lens: Lens, title: str, command: str) -> types.CodeLens:
    line = types.Position(lens.line, 0)
    target = {"file": str(lens.file), "kernel": lens.kernel, "launchFiles": [str(each) for each in lens.launch_files]}
    return types.CodeLens(types.Range(line, line), types.Command(title, command, arguments=[target]))
