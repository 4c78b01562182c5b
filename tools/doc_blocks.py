r"""The code of a Markdown page, in order: what a reader types, saves, and sees.

- A fenced `python` block is typed into one session a page. An `output` block behind it is what it prints.
- A fenced `console` block has commands after `$ `, each followed by what it prints. A command may go on behind a `\\`.
  An indented block that begins with the name of a command is one too, without the `$`.
- A block with `title="FILE"` is saved as that file.
- `...` in an output stands for anything.
- `<!-- not run: REASON -->` before a block says that it is not run here, and why; `<!-- ends in 1 -->` that its last
  command has that exit status.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["python", "command", "file", "data"]

_BLOCK = re.compile(
    r"""
    ^<!--\ not\ run:\ (?P<reason>.*?)\ -->$
  | ^<!--\ ends\ in\ (?P<status>\d+)\ -->$
  | ^(?P<comment><!--.*?-->)$
  | ^(?P<fence>`{3,})(?P<language>[\w+-]*)[ ]*(?:title="(?P<title>[^"\n]+)")?[^\n]*\n(?P<text>.*?)^(?P=fence)$
  | (?:(?<=\n\n)|\A)(?P<indented>(?:\ {4}[^\n]*(?:\n|\Z))+)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:warploom(?:-lab)?|python|pip|make|uv|mkdir|cd|cat|source) ")


class BadPage(Exception):
    """A page has blocks that do not belong together."""


@dataclass
class Step:
    """One thing to do: run Python, run a command, save a file, or look at data in some language.

    `output` is what is printed, None where the page does not say. `reason` is why it is not run.
    """

    line: int
    kind: Kind
    text: str
    language: str = ""
    file: str = ""
    output: str | None = None
    reason: str = ""
    status: int = 0

    @property
    def words(self) -> list[str]:
        """A command's words, without a comment behind it."""
        return shlex.split(self.text, comments=True)

    @property
    def title(self) -> str:
        """The step in a line."""
        first = self.text.strip().partition("\n")[0]
        return f"save {self.file}" if self.kind == "file" else first[:90]


def _commands(line: int, text: str, reason: str, status: int, prompt: bool) -> Iterator[Step]:
    """The commands of a block with what they print."""
    step: Step | None = None
    goes_on = False
    for number, row in enumerate(text.splitlines(), line):
        if goes_on and step:
            step.text += row.removeprefix("> ").strip().removesuffix("\\")
        elif (row.startswith("$ ") if prompt else _COMMAND.match(row)) and row:
            if step:
                yield step
            step = Step(
                number, "command", row.removeprefix("$ ").removesuffix("\\"), "console", reason=reason
            )
        elif step:
            if row.strip() or step.output:
                step.output = f"{step.output or ''}{row}\n"
        else:
            raise BadPage(f"line {number}: {row!r} stands before any command")
        goes_on = row.endswith("\\") and step is not None and step.output is None
    if step:
        step.status = status
        yield step


def steps_of(text: str) -> list[Step]:
    """The steps of a page. Errors: BadPage."""
    steps: list[Step] = []
    reason, status = "", 0
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found["reason"]:
            reason = found["reason"]
            continue
        if found["status"]:
            status = int(found["status"])
            continue
        if found["comment"]:
            continue
        if found["indented"] is not None:
            body = "\n".join(row[4:] for row in found["indented"].splitlines())
            if not _COMMAND.match(body):
                continue  # a list's paragraph
            steps += _commands(line, body, reason, status, prompt=False)
        else:
            language, body = found["language"], found["text"]
            if language == "output":
                if not steps or steps[-1].kind != "python" or steps[-1].output is not None:
                    raise BadPage(f"line {line}: an output stands behind no Python")
                steps[-1].output = body
                continue
            if found["title"]:
                steps.append(Step(line + 1, "file", body, language, file=found["title"], reason=reason))
            elif language == "console":
                steps += _commands(line + 1, body, reason, status, prompt=True)
            else:
                kind: Kind = "python" if language == "python" else "data"
                steps.append(Step(line + 1, kind, body, language, reason=reason))
        reason, status = "", 0
    if reason or status:
        raise BadPage("a comment on the next block stands before none")
    return steps


def steps_in(path: Path) -> list[Step]:
    """The steps of the page at a path. Errors: BadPage."""
    return steps_of(path.read_text(encoding="utf-8"))


def agrees(expected: str, printed: str) -> bool:
    """Whether what was printed is what the page shows; blanks at the ends of lines do not count."""

    def plain(text: str) -> str:
        return "\n".join(row.rstrip() for row in text.strip("\n").splitlines())

    pattern = ".*?".join(re.escape(part) for part in plain(expected).split("..."))
    return re.fullmatch(pattern, plain(printed), re.DOTALL) is not None
