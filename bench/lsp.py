"""Time the answers of the language server to an editor with a large PTX file.

    python bench/lsp.py [FILE.ptx …] [--size BYTES] [--edits N] [--random N]

The kernels of each file are repeated under other names until the text has the given size (300,000 bytes). From the
first file a second text is made: one kernel of that size, whose body is repeated. A client opens each text in a new
server. It measures the time from opening to the first diagnostics, and from each edit to the next diagnostics. An edit
changes a digit in an instruction, begins an instruction, or adds a parameter to a kernel. `--random N` also makes N
random edits of a large text and asks a question after every tenth; no answer may be an exception.
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
"""Limits, in seconds."""

_QUESTIONS = ("hover", "completion", "definition", "documentSymbol", "formatting", "codeAction")


def main() -> int:
    """Print the table; return 1 if a limit is exceeded or a question ends in an exception, otherwise 0."""
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
    console.print(f"limits: first {FIRST * 1e3:.0f} ms, 95 % of edits {AFTER_EDIT * 1e3:.0f} ms")
    console.print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    if options.random:
        wrong = typed_at_random(options.random)
        console.print(f"{options.random:,} random edits, {wrong} answers that are errors")
        missed |= wrong > 0
    return int(missed)


def one_kernel(text: str, size: int) -> str:
    """Return a module with one kernel, whose body is repeated in braces until the module has `size` bytes.

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
    """Return the times to the first diagnostics, and from each edit to the next diagnostics, sorted.

    Units: seconds.
    """
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
    """Return the number of errors in the answers to questions after every tenth edit of a large text.

    The edits and the positions of the questions are random.
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
    """Return the number of errors in the answer to a question at a random position."""
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
