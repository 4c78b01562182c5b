"""The server: the Language Server Protocol on one side, documents and offsets on the other.

Source: Language Server Protocol 3.17
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Iterable

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from warploom.diagnostics import Diagnostic, Severity, Span, UsageError
from warploom.lsp.completion import completions
from warploom.lsp.document import Document, View
from warploom.lsp.fixes import fixes_in
from warploom.lsp.formatting import formatting
from warploom.lsp.hover import hover
from warploom.lsp.names import Names, Symbol
from warploom.lsp.outline import Entry, outline

HOST = "127.0.0.1"
_PAUSE = 0.02
"""Seconds without another edit after which diagnostics are found."""

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
    """Speaks with one editor about the documents that it has open."""

    def __init__(self, version: str) -> None:
        super().__init__("warploom", version)  # pyright: ignore[reportUnknownMemberType] -- *args
        self.documents: dict[str, Document] = {}
        self._pending: dict[str, asyncio.TimerHandle] = {}

    def view(self, uri: str) -> View | None:
        """The document as it is now; None where it is not open."""
        document = self.documents.get(uri)
        return None if document is None else document.view

    def open(self, uri: str, text: str) -> None:
        """A document is open from now on."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        self.documents[uri] = Document(uri, text, types.PositionEncodingKind(encoding).value)
        self.publish(uri)

    def close(self, uri: str) -> None:
        """A document is open no more."""
        self.documents.pop(uri, None)
        self._forget(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def publish_soon(self, uri: str) -> None:
        """Say what is wrong once no edit has come for a moment."""
        self._forget(uri)
        self._pending[uri] = asyncio.get_running_loop().call_later(_PAUSE, self.publish, uri)

    def publish(self, uri: str) -> None:
        """Say what is wrong."""
        self._forget(uri)
        view = self.view(uri)
        if view is not None:
            found = [_diagnostic(view, uri, each) for each in view.report]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def _forget(self, uri: str) -> None:
        pending = self._pending.pop(uri, None)
        if pending is not None:
            pending.cancel()


def start(port: int | None, version: str) -> None:
    """Serve until the editor leaves. Errors: UsageError lsp.port for a port that cannot be listened on."""
    gc.freeze()  # what imports made stays for good
    for name in ("pygls.protocol.json_rpc", "asyncio"):
        logging.getLogger(name).addFilter(_is_unexpected)
    server = make_server(version)
    if port is None:
        # The server closes what it writes to at its end; standard output stays open for who started it.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
            server.start_io(sys.stdin.buffer, output)
        return
    try:
        server.start_tcp(HOST, port)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise UsageError(f"port {port} cannot be listened on: {reason}", code="lsp.port") from None


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Whether the log is told of an exception: what people asked wrongly is said in the answer, and that the
    editor leaves is no fault.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcInvalidParams | SystemExit)


def make_server(version: str) -> Server:
    """A server with everything that it answers."""
    server = Server(version)
    _add_synchronisation(server)
    _add_questions(server)
    _add_changes(server)
    return server


# What is asked ----------------------------------------------------------------------------------------------


def _add_synchronisation(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
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


def _add_questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        view = server.view(params.text_document.uri)
        found = hover(view, _offset(view, params.position)) if view is not None else None
        if view is None or found is None:
            return None
        said = types.MarkupContent(types.MarkupKind.Markdown, found[0])
        return types.Hover(said, _range(view, found[1]))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "%", ":"])
    )
    def complete(params: types.CompletionParams) -> types.CompletionList:
        view = server.view(params.text_document.uri)
        found = completions(view, _offset(view, params.position)) if view is not None else []
        items = [
            types.CompletionItem(
                each.word,
                kind=_COMPLETIONS[each.kind],
                detail=each.detail or None,
                sort_text=f"{k:05}",
                filter_text=each.word,
                text_edit=types.TextEdit(_range(view, each.span), each.word),
            )
            for k, each in enumerate(found)
            if view is not None
        ]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        view, names, symbol = _symbol(server, params)
        place = names.definition(symbol) if names is not None and symbol is not None else None
        if view is None or place is None:
            return None
        return types.Location(params.text_document.uri, _range(view, place))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        view, names, symbol = _symbol(server, params)
        if view is None or names is None or symbol is None:
            return []
        places = names.references(symbol)
        if not params.context.include_declaration:
            declared = names.definition(symbol)
            places = [place for place in places if place != declared]
        return [types.Location(params.text_document.uri, _range(view, place)) for place in places]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        view, names, symbol = _symbol(server, params)
        if view is None or names is None or symbol is None:
            return []
        return [types.DocumentHighlight(_range(view, place)) for place in names.references(symbol)]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        view = server.view(params.text_document.uri)
        return [] if view is None else [_outlined(view, entry) for entry in outline(view)]


def _add_changes(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        view, names, symbol = _symbol(server, params)
        token = None if names is None else names.token_at(_offset(view, params.position))
        if view is None or symbol is None or token is None:
            return None
        start = view.reading.starts[token[0]]
        return _range(view, Span(start + token[1][0], start + token[1][1]))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        view, names, symbol = _symbol(server, params)
        if view is None or names is None or symbol is None:
            return None
        try:
            changes = names.rename(symbol, params.new_name)
        except UsageError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return types.WorkspaceEdit({params.text_document.uri: _edits(view, changes)})

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        view = server.view(params.text_document.uri)
        return [] if view is None else _edits(view, formatting(view))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        view = server.view(uri)
        if view is None:
            return []
        first, last = _offset(view, params.range.start), _offset(view, params.range.end)
        return [
            types.CodeAction(
                fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(view, uri, fix.finding)],
                edit=types.WorkspaceEdit({uri: _edits(view, fix.changes)}),
            )
            for fix in fixes_in(view, first, last)
        ]


# Between the two --------------------------------------------------------------------------------------------


def _offset(view: View | None, position: types.Position) -> int:
    return 0 if view is None else view.lines.offset(position.line, position.character)


def _range(view: View | None, span: Span) -> types.Range:
    assert view is not None
    start, end = view.lines.position(span.start), view.lines.position(span.end)
    return types.Range(types.Position(*start), types.Position(*end))


def _edits(view: View, changes: Iterable[tuple[Span, str]]) -> list[types.TextEdit]:
    return [types.TextEdit(_range(view, span), text) for span, text in changes]


_AtPlace = (
    types.DefinitionParams
    | types.ReferenceParams
    | types.DocumentHighlightParams
    | types.PrepareRenameParams
    | types.RenameParams
)


def _symbol(server: Server, params: _AtPlace) -> tuple[View | None, Names | None, Symbol | None]:
    view = server.view(params.text_document.uri)
    if view is None:
        return None, None, None
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


def _outlined(view: View, entry: Entry) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        entry.name,
        _SYMBOLS[entry.kind],
        _range(view, entry.span),
        _range(view, entry.name_span),
        detail=entry.detail or None,
        children=[_outlined(view, each) for each in entry.inner],
    )
