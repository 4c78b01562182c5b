"""A session of an editor with the server, over standard input and output."""

from __future__ import annotations

import random
import re
import socket
from pathlib import Path

import pytest
from lsp_client import URI, Client, applied, at, span
from typed import edited

from warploom.check import check
from warploom.cli import main
from warploom.lsp.positions import Lines
from warploom.ptx import parse

TEXT = (Path(__file__).parents[1] / "corpus" / "wgmma_raw_sm90a.ptx").read_text(encoding="utf-8")


def test_a_session() -> None:
    with Client() as client:
        assert client.capabilities["hoverProvider"]
        assert client.capabilities["renameProvider"] == {"prepareProvider": True}
        assert client.open(TEXT) == []

        # A misspelt instruction, behind a sign that UTF-16 counts twice
        begin = TEXT.index("wgmma.mma_async")
        broken = f"/* 😀 */ {TEXT[begin:]}".replace("sync.aligned", "sync.alignd", 1)
        (found,) = client.change({"range": span(TEXT, begin, len(TEXT)), "text": broken})
        text = TEXT[:begin] + broken
        assert found["code"].startswith("wgmma.")
        assert found["source"] == "warploom"
        line = text.splitlines()[found["range"]["start"]["line"]]
        units = line.encode("utf-16-le")
        marked = units[2 * found["range"]["start"]["character"] : 2 * found["range"]["end"]["character"]]
        assert marked.decode("utf-16-le") == "alignd"

        actions = client.ask(
            "textDocument/codeAction",
            {"textDocument": {"uri": URI}, "range": found["range"], "context": {"diagnostics": [found]}},
        )
        (edit,) = actions[0]["edit"]["changes"][URI]
        assert actions[0]["kind"] == "quickfix"
        assert client.change({"range": edit["range"], "text": edit["newText"]}) == []
        assert client.change({"text": TEXT}) == []

        hovered = client.ask("textDocument/hover", at(TEXT, begin))
        assert "(T128,V" in hovered["contents"]["value"]
        assert hovered["range"]["start"] == at(TEXT, begin)["position"]

        dot = TEXT.index(".", TEXT.index("aligned", begin)) + 1
        offered = client.ask("textDocument/completion", at(TEXT, dot))["items"]
        assert "m64n256k16" in [item["label"] for item in offered]

        jump = re.search(r"bra(?:\.uni)?\s+([\w$]+)", TEXT)
        assert jump is not None
        label, name = jump.start(1), jump[1]
        place = client.ask("textDocument/definition", at(TEXT, label))
        declared = TEXT.index(f"{name}:")
        assert place == {"uri": URI, "range": span(TEXT, declared, declared + len(name))}
        everywhere = client.ask("textDocument/references", at(TEXT, label) | {"context": {"includeDeclaration": True}})
        elsewhere = client.ask("textDocument/references", at(TEXT, label) | {"context": {"includeDeclaration": False}})
        assert len(everywhere) == len(elsewhere) + 1
        assert place in everywhere
        assert client.ask("textDocument/documentHighlight", at(TEXT, label))

        assert client.ask("textDocument/prepareRename", at(TEXT, label))
        renamed = client.ask("textDocument/rename", at(TEXT, label) | {"newName": "$elsewhere"})
        text = applied(TEXT, renamed["changes"][URI])
        assert text.count("$elsewhere") == len(everywhere)
        assert check(text).ok
        refused = client.answer("textDocument/rename", at(TEXT, label) | {"newName": "1"})
        assert refused["error"]["message"] == "'1' is not a legal name"

        options = {"tabSize": 4, "insertSpaces": False}
        edits = client.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": options})
        assert parse(applied(TEXT, edits)) == parse(TEXT)
        symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        assert [symbol["name"] for symbol in symbols if symbol["kind"] == 12] == list(parse(TEXT).functions)

        _type_at_random(client)
        client.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert client.diagnostics() == []
        assert client.ask("textDocument/hover", at(TEXT, begin)) is None
        assert client.leave() == 0


def _type_at_random(client: Client) -> None:
    """Edits of which only a part changes, and diagnostics that are those of the text at the end."""
    rng = random.Random(2)
    text = TEXT
    for _ in range(12):
        new = edited(text, rng)
        first = next((k for k, (a, b) in enumerate(zip(text, new, strict=False)) if a != b), min(len(text), len(new)))
        lines = Lines(text)
        start, end = lines.position(first), lines.position(len(text))
        found = client.change(
            {
                "range": {
                    "start": {"line": start.line, "character": start.character},
                    "end": {"line": end.line, "character": end.character},
                },
                "text": new[first:],
            }
        )
        text = new
    expected = [f"{each.message}; {each.hint}" if each.hint else each.message for each in check(text)]
    assert [each["message"] for each in found] == expected


def test_without_pygls_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("warploom.lsp.find_spec", lambda name: None)
    assert main(["lsp"]) == 2
    said = capsys.readouterr().err
    assert "needs pygls" in said
    assert "pip install 'warploom[lsp]'" in said


def test_a_port_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lsp", "--tcp", "70000"]) == 2
    assert "expected a port from 1 to 65535" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["lsp", "--tcp", str(port)]) == 2
    assert f"port {port} cannot be listened on: address already in use" in capsys.readouterr().err
