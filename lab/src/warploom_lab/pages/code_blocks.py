"""Code blocks of a Markdown page, in order: code to run, files to save, and expected outputs."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["python", "command", "file", "data"]

# All `python` blocks of a page run in one session. An `output` block has the expected output of the block before it.
# A `console` block has commands after `$ `, each followed by its expected output. A `\` at the end of a line continues
# the command. An indented block that begins with the name of a command is a console block without `$`.
# A block with `title="FILE"` is saved as that file. The two comments apply to the next block: the reason why it is not
# run, and the exit status of its last command.
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
    """Error for a page whose blocks are in the wrong order."""


@dataclass
class Step:
    """Step of a page: run Python, run a command, save a file, or parse data.

    `output` is the expected output, or None. `reason` says why the step is not run, or is empty.
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
        """Words of a command without its comment."""
        return shlex.split(self.text, comments=True)

    @property
    def title(self) -> str:
        """Description of the step in one line."""
        first = self.text.strip().partition("\n")[0]
        return f"save {self.file}" if self.kind == "file" else first[:90]


def _commands(line: int, text: str, reason: str, status: int, prompt: bool) -> Iterator[Step]:
    """Yield the commands of a block with their expected outputs.

    The block begins at `line` of the page. `status` is the exit status of the last command. `reason` says why the
    commands are not run. `prompt` is True if each command follows `$ `.
    """
    step: Step | None = None
    continued = False
    for number, row in enumerate(text.splitlines(), line):
        if continued and step:
            step.text += row.removeprefix("> ").strip().removesuffix("\\")
        elif (row.startswith("$ ") if prompt else _COMMAND.match(row)) and row:
            if step:
                yield step
            step = Step(number, "command", row.removeprefix("$ ").removesuffix("\\"), "console", reason=reason)
        elif step:
            if row.strip() or step.output:
                step.output = f"{step.output or ''}{row}\n"
        else:
            raise BadPage(f"line {number}: {row!r} precedes the first command")
        continued = row.endswith("\\") and step.output is None
    if step:
        step.status = status
        yield step


def steps_of(text: str) -> list[Step]:
    """Return the steps in the text of a page. Errors: BadPage."""
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
                continue  # a paragraph of a list
            steps += _commands(line, body, reason, status, prompt=False)
        else:
            language, body = found["language"], found["text"]
            if language == "output":
                if not steps or steps[-1].kind != "python" or steps[-1].output is not None:
                    raise BadPage(f"line {line}: an output does not follow a Python block")
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
        raise BadPage("a comment about the next block follows the last block")
    return steps


def steps_in(path: Path) -> list[Step]:
    """Return the steps of the page at a path. Errors: BadPage."""
    return steps_of(path.read_text(encoding="utf-8"))


def matches(expected: str, printed: str) -> bool:
    """Return True if the printed text matches the expected output. `...` matches any text."""

    # Spaces at line ends do not count.
    def plain(text: str) -> str:
        return "\n".join(row.rstrip() for row in text.strip("\n").splitlines())

    pattern = ".*?".join(re.escape(part) for part in plain(expected).split("..."))
    return re.fullmatch(pattern, plain(printed), re.DOTALL) is not None
