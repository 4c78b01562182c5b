"""How soon the language server answers an editor that has a large text open.

    python bench/lsp.py [FILE.ptx …] [--size BYTES] [--edits N] [--random N]

Kernels of a file are repeated under other names until the text has the size asked for (300,000 bytes); of the
first file there is a text besides that is one kernel of that size, whose body is that of the file again and again.
A client of the protocol opens it in a server of its own: the first diagnostics are timed from its opening, and
those after each edit from the edit. Edits are a digit in an instruction somewhere, an instruction that is begun, and
a parameter of a kernel. `--random` makes so many random edits of such a text besides, asks a question after every
tenth, and wants no exception.
"""

from __future__ import annotations

import argparse
import platform
import random
import re
import sys
import time
from pathlib import Path

from check import CORPUS, USUAL, enlarged
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from lsp_client import Client, Message, at, span
from typed import edit

FIRST, AFTER_EDIT = 1.0, 0.2
"""Bars, in seconds."""

_QUESTIONS = ("hover", "completion", "definition", "documentSymbol", "formatting", "codeAction")


def main() -> int:
    """Print the table; 1 when a bar is missed or a question ends in an exception."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--size", type=int, default=300_000)
    arguments.add_argument("--edits", type=int, default=30)
    arguments.add_argument("--random", type=int, default=0)
    options = arguments.parse_args()
    files: list[Path] = options.files or [CORPUS / f"{name}.ptx" for name in USUAL]
    table = Table(title=f"the language server, {options.edits} edits of each text")
    for heading in ("file", "kB", "first ms", "median edit ms", "95 % ms", "worst ms"):
        table.add_column(heading, justify="left" if heading == "file" else "right")
    missed = False
    texts = {path.stem: path.read_text(encoding="utf-8") for path in files}
    large = {name: enlarged(text, options.size) for name, text in texts.items()}
    large |= {f"{name}, one kernel": one_kernel(texts[name], options.size) for name in list(texts)[:1]}
    for name, text in large.items():
        first, edits = timed(text, options.edits)
        most = edits[int(len(edits) * 0.95)]
        missed |= first > FIRST or most > AFTER_EDIT
        cells = (len(text) / 1e3, *(1e3 * each for each in (first, edits[len(edits) // 2], most, edits[-1])))
        table.add_row(name, *(f"{cell:,.0f}" for cell in cells))
    console = Console()
    console.print(table)
    console.print(f"bars: first {FIRST * 1e3:.0f} ms, 95 % of edits {AFTER_EDIT * 1e3:.0f} ms")
    console.print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    if options.random:
        wrong = typed_at_random(options.random)
        console.print(f"{options.random:,} random edits, {wrong} answers that are errors")
        missed |= wrong > 0
    return int(missed)


def one_kernel(text: str, size: int) -> str:
    """Return a module of one kernel, whose body is repeated in braces until the module has a size.

    The labels of each repetition are different.
    """
    text = enlarged(text, 0)
    start = text.index("\n{", text.index(".entry")) + 2
    body = text[start : text.index("\n}", start)]
    labels = set(re.findall(r"^(\$?\w+):", body, re.MULTILINE))
    copies: list[str] = []
    while start + sum(map(len, copies)) < size:
        number = len(copies)
        copies.append(re.sub(r"[\w$]+", lambda m, n=number: f"{m[0]}__{n}" if m[0] in labels else m[0], body))
    return "\n".join((text[:start], *(f"{{{copy}\n}}" for copy in copies), "}", ""))


def timed(text: str, edits: int) -> tuple[float, list[float]]:
    """Seconds to the first diagnostics, and, sorted, to those after each edit."""
    rng = random.Random(1)
    with Client() as client:
        start = time.perf_counter()
        client.open(text)
        first = time.perf_counter() - start
        seconds: list[float] = []
        for k in range(edits):
            begin, end, new = (_digit, _begun, _parameter)[k % 3](text, rng)
            change: Message = {"range": span(text, begin, end), "text": new}
            start = time.perf_counter()
            client.change(change)
            seconds.append(time.perf_counter() - start)
            text = text[:begin] + new + text[end:]
        client.leave()
    return first, sorted(seconds)


def _digit(text: str, rng: random.Random) -> tuple[int, int, str]:
    """Return an edit that changes a digit of a register."""
    places = [match.end() for match in re.finditer(r"%r\d", text)]
    at = rng.choice(places)
    return at - 1, at, str(rng.randrange(1, 9))


def _begun(text: str, rng: random.Random) -> tuple[int, int, str]:
    """Return an edit that begins an instruction on a new line."""
    at = rng.choice([match.end() for match in re.finditer(r";\n", text)])
    return at, at, "\tadd.s32 %r1,\n"


def _parameter(text: str, rng: random.Random) -> tuple[int, int, str]:
    """Return an edit that adds a parameter to a kernel."""
    at = rng.choice([match.end() for match in re.finditer(r"\.entry\s+[\w$]+\s*\(", text)])
    return at, at, f"\n\t.param .u32 added_{rng.randrange(1_000_000)},"


def typed_at_random(edits: int) -> int:
    """Return the number of errors among answers to questions after every tenth edit of a large text.

    The questions are at random positions.
    """
    whole = enlarged((CORPUS / "wgmma_raw_sm90a.ptx").read_text(encoding="utf-8"), 300_000)
    rng = random.Random(2)
    text, wrong = whole, 0
    with Client() as client:
        client.open(text)
        for k in track(range(edits), "random edits", console=Console(stderr=True)):
            if k % 500 == 499:
                text = whole
                client.type({"text": text})
            else:
                begin, end, new = edit(text, rng)
                client.type({"range": span(text, begin, end), "text": new})
                text = text[:begin] + new + text[end:]
            if k % 10 == 0:
                wrong += _asked(client, text, rng)
        client.leave()
    return wrong


def _asked(client: Client, text: str, rng: random.Random) -> int:
    """How many errors follow from a question."""
    place = rng.randrange(len(text) + 1)
    question = rng.choice(_QUESTIONS)
    params = at(text, place) | {"options": {"tabSize": 4, "insertSpaces": False}}
    if question == "codeAction":
        params |= {"range": span(text, place, place), "context": {"diagnostics": []}}
    wrong = "error" in client.answer(f"textDocument/{question}", params)
    wrong += sum("showMessage" in message["method"] for message in client.seen)
    client.seen.clear()
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
