"""The page of mistakes: what is written, and the message about it."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

from warploom import author
from warploom.author import Kernel
from warploom.diagnostics import WarploomError, render

PAGE = Path(__file__).with_suffix(".md")
_ENTRY = re.compile(r"^## (.+?)\n+```python\n(.*?)```\n+```text\n(.*?)```$", re.MULTILINE | re.DOTALL)
_FRAME = """@kernel
def k(x: pointer(f32), t: tensor_map, i: u32, j: u64, v: f32):
    p, sums = i < 4, [new(f32) for _ in range(8)]
"""


def entries():
    """Name, Python text and message of each mistake of the page."""
    return [found.groups() for found in _ENTRY.finditer(PAGE.read_text())]


def message_of(text):
    """What is said of a text: a whole module, or the body of a kernel with something to work with."""
    if "@" not in text:
        text = _FRAME + "".join(f"    {line}\n" for line in text.splitlines())
    linecache.cache["k.py"] = len(text), None, text.splitlines(keepends=True), "k.py"
    names = {name: getattr(author, name) for name in author.__all__}
    try:
        exec(compile(text, "k.py", "exec"), names)
        for made in [each for each in names.values() if isinstance(each, Kernel)]:
            made.text  # noqa: B018
    except WarploomError as error:
        return render(error.diagnostics)
    finally:
        del linecache.cache["k.py"]
    return "nothing is wrong\n"
