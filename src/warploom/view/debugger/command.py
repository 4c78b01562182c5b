"""Declaration of the debugger's commands, their table, and the parser of command lines.

The console, the methods of `Debugger`, the help, the completion and the documentation all come from the table.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean, one_of

Read = Callable[[str], Any]
"""Function that reads the text of an argument. Errors: UsageError or ValueError."""
_CODE = "debug.command"
_WORD = re.compile(r"""(?:\[[^\]]*\]|\([^)]*\)|"[^"]*"|\S)+""")


def read_text(text: str) -> str:
    """Return the text of an argument as it is."""
    return text


def read_integer(text: str) -> int:
    """Return the integer that a decimal or hexadecimal text denotes. Errors: ValueError."""
    return int(text.replace(",", ""), 0)


def is_integer(text: str) -> bool:
    """Return True if a text denotes an integer, such as 12, 1,200 or 0x40."""
    return re.fullmatch(r"0[xX][0-9a-fA-F]+|\d[\d,]*", text) is not None


@dataclass(frozen=True, slots=True)
class Argument:
    """Positional argument of a command.

    - `syntax` is shown in the help. `words` are legal words, which are also completed.
    - `accepts` decides if an optional argument takes a word. If not, the next argument may take it.
    - `takes_rest` is set if the argument consists of all words up to the next option, and `repeats` if each of these
      words is one value of a tuple.
    """

    name: str
    syntax: str
    read: Read = read_text
    is_required: bool = True
    takes_rest: bool = False
    repeats: bool = False
    accepts: Callable[[str], bool] | None = None
    words: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """Syntax of the argument in a usage line."""
        text = f"{self.name.upper().replace('_', '-')}{'...' if self.repeats else ''}"
        return text if self.is_required else f"[{text}]"

    def takes(self, word: str) -> bool:
        """Return True if a word can be this argument."""
        return self.accepts is None or self.accepts(word)


@dataclass(frozen=True, slots=True)
class Option:
    """Optional part of a command, which begins with one of its `words`.

    `name` is the keyword argument in Python. `value` stands for the value in a usage line, and `syntax` describes it.
    An option without `read` is a flag. An option with `takes_line` contains the rest of the line; another option ends
    at the next option.
    """

    name: str
    words: tuple[str, ...]
    syntax: str
    value: str = ""
    read: Read | None = None
    takes_line: bool = False

    @property
    def usage(self) -> str:
        """Syntax of the option in a usage line."""
        return f"[{self.words[0]}]" if self.read is None else f"[{self.words[0]} {self.value}]"


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """Command of the debugger.

    `run` is called with the `Context`, the arguments in order, and the options as keyword arguments. Missing arguments
    and options are None, and missing flags False. Its docstring is the description in the help. `example` is a complete
    line. An empty line of the console repeats a command with `is_step`.
    """

    name: str
    aliases: tuple[str, ...]
    group: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    example: str
    is_step: bool
    run: Callable[..., Any]

    @property
    def method(self) -> str:
        """Name of the method of `Debugger`."""
        name = self.name.replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def description(self) -> str:
        """Description of the command; its first line is the summary."""
        return inspect.getdoc(self.run) or ""

    @property
    def summary(self) -> str:
        """Description of the command in one line."""
        return self.description.partition("\n")[0]

    @property
    def usage(self) -> str:
        """Name of the command with its arguments and options."""
        return " ".join([self.name, *(each.usage for each in (*self.arguments, *self.options))])

    @property
    def details(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Words and descriptions of the arguments and options."""
        for argument in self.arguments:
            yield (argument.name.upper().replace("_", "-"),), argument.syntax
        for option in self.options:
            yield option.words, option.syntax

    def option(self, word: str) -> Option | None:
        """Return the option that begins with a word, or None."""
        return next((each for each in self.options if word in each.words), None)


class Call(NamedTuple):
    """Command with the values of its arguments and options."""

    command: Command
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def run(self, context: Any) -> Any:
        """Run the command, and return its result. Errors: UsageError."""
        return self.command.run(context, *self.arguments, **self.options)


GROUPS = {
    "running": "Run and move", "breakpoints": "Breakpoints and watches", "warps": "Threads, warps and texts",
    "values": "Values", "help": "Help and settings",
}  # fmt: skip
"""Titles of the groups of commands."""
TABLE: dict[str, Command] = {}
"""Commands by name, in the order of their declaration."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def command(
    name: str, *aliases: str, group: str, example: str, args: Sequence[Argument | Option] = (), is_step: bool = False
) -> Callable[[_Function], _Function]:
    """Declare the decorated function as a command, and add it to the table.

    `example` is a complete line; a test executes it. `args` has the arguments in order, then the options.
    """

    def declare(function: _Function) -> _Function:
        arguments = tuple(each for each in args if isinstance(each, Argument))
        options = tuple(each for each in args if isinstance(each, Option))
        TABLE[name] = Command(name, aliases, group, arguments, options, example, is_step, function)
        return function

    return declare


# Lines ------------------------------------------------------------------------------------------------------------


def grouped() -> Iterator[tuple[str, list[Command]]]:
    """Yield the title and the commands of each group."""
    for group, title in GROUPS.items():
        yield title, [each for each in TABLE.values() if each.group == group]


def names() -> dict[str, Command]:
    """Return the commands by all their names."""
    return {name: each for each in TABLE.values() for name in (each.name, *each.aliases)}


def find(line: str) -> tuple[Command, str]:
    """Return the command of a line, and the text after the name.

    A name may be abbreviated, as long as one command alone begins with the text. An alias may have two words.

    Errors: UsageError debug.command.
    """
    words, known = line.split(), names()
    for count in (2, 1):
        if len(words) >= count and (found := known.get(" ".join(words[:count]))) is not None:
            return found, line.split(maxsplit=count)[count] if len(words) > count else ""
    if not words:
        raise UsageError("the line has no command", code=_CODE, hint="`help` lists the commands")
    meant = [name for name in TABLE if name.startswith(words[0])]
    if len(meant) == 1:
        return TABLE[meant[0]], line.split(maxsplit=1)[1] if len(words) > 1 else ""
    if meant:
        raise UsageError(f"'{words[0]}' is ambiguous: {one_of(sorted(meant))}", code=_CODE)
    hint = did_you_mean(words[0], known, "'") or "`help` lists the commands"
    raise UsageError(f"unknown command '{words[0]}'", code=_CODE, hint=hint)


def parse(line: str) -> Call:
    """Return the call that a line of the console describes.

    Errors: UsageError debug.command for an unknown command, debug.argument for wrong arguments.
    """
    found, rest = find(line)
    texts, options = _divide(found, rest)
    return Call(found, _arguments(found, texts), options)


def call(found: Command, given: Sequence[Any], options: dict[str, Any]) -> Call:
    """Return the call with values from Python: texts as in the console, numbers, or sequences of numbers.

    Errors: UsageError debug.argument.
    """
    known = {each.name: each for each in found.options}
    read: dict[str, Any] = {}
    for name, value in options.items():
        option = known.get(name)
        if option is None:
            hint = did_you_mean(name, known, "'")
            raise UsageError(f"{found.name} has no option '{name}'", code="debug.argument", hint=hint)
        read[name] = value if option.read is None or value is None else _read(found, option.read, name, as_text(value))
    texts = [text for value in given for text in _WORD.findall(as_text(value))]
    return Call(found, _arguments(found, texts), _defaults(found) | read)


def as_text(value: object) -> str:
    """Return a value from Python as text of a command line."""
    return ",".join(map(str, cast("Sequence[object]", value))) if isinstance(value, list | tuple) else str(value)


def _divide(found: Command, rest: str) -> tuple[list[str], dict[str, Any]]:
    """Return the words before the options, and the values of the options."""
    texts: list[str] = []
    options = _defaults(found)
    words = list(_WORD.finditer(rest))
    position = 0
    while position < len(words):
        word, option = words[position].group(), found.option(words[position].group())
        position += 1
        if option is None:
            texts.append(word)
            continue
        if option.read is None:
            options[option.name] = True
            continue
        first = position
        if option.takes_line:
            position = len(words)
        while position < len(words) and found.option(words[position].group()) is None:
            position += 1
        if first == position:
            message = f"'{option.words[0]}' needs a value: {option.syntax}"
            raise UsageError(message, code="debug.argument", hint=f"usage: {found.usage}")
        value = rest[words[first].start() : words[position - 1].end()]
        options[option.name] = _read(found, option.read, option.words[0], value)
    return texts, options


def _defaults(found: Command) -> dict[str, Any]:
    return {each.name: False if each.read is None else None for each in found.options}


def _arguments(found: Command, texts: Sequence[str]) -> tuple[Any, ...]:
    """Return the values of the arguments for the words before the options."""
    left, values = list(texts), list[Any]()
    for argument in found.arguments:
        if argument.repeats:
            values.append(tuple(_read(found, argument.read, argument.name, text) for text in left))
            left.clear()
        elif left and argument.takes_rest:
            values.append(_read(found, argument.read, argument.name, " ".join(left)))
            left.clear()
        elif left and (argument.is_required or argument.takes(left[0])):
            values.append(_read(found, argument.read, argument.name, left.pop(0)))
        elif argument.is_required:
            message = f"{found.name} needs an argument: {argument.syntax}"
            raise UsageError(message, code="debug.argument", hint=f"usage: {found.usage}")
        else:
            values.append(None)
    if left:
        known = [*(word for each in found.arguments for word in each.words), *_option_words(found)]
        hint = did_you_mean(left[0], known, "'") or f"usage: {found.usage}"
        raise UsageError(f"{found.name} does not take '{left[0]}'", code="debug.argument", hint=hint)
    return tuple(values)


def _option_words(found: Command) -> list[str]:
    return [word for each in found.options for word in each.words]


def _read(found: Command, read: Read, name: str, text: str) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(
            f"{found.name}: {name} is '{text}'; {error}", code="debug.argument", hint=f"usage: {found.usage}"
        ) from None


# Completion -------------------------------------------------------------------------------------------------------


def completions(line: str, words: Callable[[], Iterable[str]]) -> list[str]:
    """Return the words that may continue a line, whose last word is incomplete.

    `words` returns names of the program, such as registers and labels, which any argument may contain.
    """
    start, _, last = line.rpartition(" ")
    if not start.strip():
        return sorted(name for name in TABLE if name.startswith(last))
    try:
        found, _ = find(start)
    except UsageError:
        return []
    known = [*(word for each in found.arguments for word in each.words), *_option_words(found)]
    if found.arguments and last:
        known += words()
    return sorted({word for word in known if word.startswith(last)})
