"""Readable names of C++ functions and variables."""

import re
from functools import lru_cache
from importlib.util import find_spec

_LONGEST = 32  # characters of template arguments that are shown
_BLANK = "\0"  # blank inside brackets, which does not end a word
_MANGLED = re.compile(r"(_Z\w+?)(_param_\d+)?")
_TOKEN = re.compile(
    r"(?P<atom>operator(?:\(\)|->\*?|<=>|<<=?|>>=?|[<>]=?| [\w:]+)|\(anonymous namespace\))"
    r"|(?P<open>[<({\[])|(?P<close>[>)}\]])|(?P<text>.)"
)
_OPENERS = {">": "<", ")": "(", "}": "{", "]": "["}
_QUALIFIERS = re.compile(r"(?: const| volatile| ?&&?)+(?=::|$)")


@lru_cache(maxsize=1024)
def readable_name(name: str) -> str:
    """Return a C++ name for messages, such as `cutlass::device_kernel<…>`.

    `name` is a mangled name. The result has no parameters and no long template arguments. The kernel parameter
    `f_param_0` keeps its suffix. Any other name is returned unchanged, and without the package pycxxfilt every name.

    Source: Itanium C++ ABI 5.1.
    """
    mangled = _MANGLED.fullmatch(name)
    if mangled is None:
        return name
    if find_spec("pycxxfilt") is None:  # WebAssembly
        return name
    from pycxxfilt import itanium_demangle  # most modules have no mangled names

    try:
        full = itanium_demangle(mangled[1])
    except ValueError:
        return name
    return name if full is None else f"{_shortened(full)}{mangled[2] or ''}"


def _shortened(full: str) -> str:
    """Return a demangled name without its result type, parameters, qualifiers and long template arguments."""
    enclosing: list[tuple[str, str]] = []  # open brackets, each with the text before it
    text = ""
    for token in _TOKEN.finditer(full):
        if token["open"]:
            enclosing.append((token[0], text))
            text = ""
        elif token["close"] and enclosing and enclosing[-1][0] == _OPENERS[token[0]]:
            opener, before = enclosing.pop()
            shown = "…" if opener == "<" and len(text) > _LONGEST else text.replace(" ", _BLANK)
            text = before if opener == "(" and not enclosing else f"{before}{opener}{shown}{token[0]}"
        else:
            text += token[0].replace(" ", _BLANK) if token["atom"] else token[0]
    return _QUALIFIERS.sub("", text).strip().split(" ")[-1].replace(_BLANK, " ")
