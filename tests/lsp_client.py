"""A client of the language server: a process, and messages over its standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from queue import SimpleQueue
from threading import Thread
from typing import Any

Message = dict[str, Any]
URI = "file:///kernels/k.ptx"


class Client:
    """One session with a server of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "warploom", "lsp", "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._heard: SimpleQueue[Message | None] = SimpleQueue()
        # Both sides may have much to say at once, so that one always listens.
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.version = 0
        self.seen: list[Message] = []
        """Notifications that nobody has asked for yet."""
        self._id = 0
        able = {"textDocument": {"rename": {"prepareSupport": True}}}
        answer = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": able})
        self.capabilities: Message = answer["capabilities"]
        self.tell("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._listener.join()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()

    def leave(self) -> int:
        """Shut the server down; its exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(30)

    # Messages -----------------------------------------------------------------------------------------------

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        """Send a request; the result that comes back."""
        answer = self.answer(method, params)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def answer(self, method: str, params: object) -> Message:
        """Send a request; the whole answer."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._id and "method" not in message:
                return message
            self.seen.append(message)

    def notified(self, method: str) -> Message:
        """The params of the next notification of a method."""
        while True:
            message = self.seen.pop(0) if self.seen else self._receive()
            if message.get("method") == method:
                return message["params"]

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self) -> Message:
        message = self._heard.get()
        assert message is not None, "the server has left"
        return message

    def _listen(self) -> None:
        """Read messages until the server has left."""
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                self._heard.put(None)
                return
            self._heard.put(json.loads(stream.read(length)))

    # Documents ----------------------------------------------------------------------------------------------

    def open(self, text: str) -> list[Message]:
        """Open the document; its diagnostics."""
        self.version += 1
        document = {"uri": URI, "languageId": "ptx", "version": self.version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics()

    def change(self, *changes: Message) -> list[Message]:
        """Change the document; its diagnostics."""
        self.type(*changes)
        return self.diagnostics()

    def type(self, *changes: Message) -> None:
        """Change the document, and wait for nothing."""
        self.version += 1
        document = {"uri": URI, "version": self.version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def diagnostics(self) -> list[Message]:
        """The next diagnostics."""
        return self.notified("textDocument/publishDiagnostics")["diagnostics"]


def position(text: str, offset: int) -> Message:
    """The position of an offset in a text whose lines end with newlines."""
    before = text[:offset]
    line = before[before.rfind("\n") + 1 :]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le", "surrogatepass")) // 2}


def span(text: str, start: int, end: int) -> Message:
    """The range of two offsets."""
    return {"start": position(text, start), "end": position(text, end)}


def at(text: str, offset: int) -> Message:
    """The params of a question about a place."""
    return {"textDocument": {"uri": URI}, "position": position(text, offset)}


def applied(text: str, edits: list[Message]) -> str:
    """The text after edits."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    places = [
        [starts[edit["range"][end]["line"]] + edit["range"][end]["character"] for end in ("start", "end")]
        for edit in edits
    ]
    placed = [(start, end, edit["newText"]) for (start, end), edit in zip(places, edits, strict=True)]
    for start, end, new in sorted(placed, reverse=True):
        text = text[:start] + new + text[end:]
    return text
