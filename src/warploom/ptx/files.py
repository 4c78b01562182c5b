"""Modules from texts and files."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import os
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom.ptx.parser import parse
from warploom.ptx.tree import Module


def read(ptx: str | Path) -> Module:
    """The module in a text, or in the file at a path. A string with a line's end or `.version` is a text.

    Errors: ptx.file, ptx.text; every code of `PtxSyntaxError`
    """
    return parse(*text_of(ptx))


def text_of(ptx: str | Path) -> tuple[str, str]:
    """A text and its name, from a text or the path of a file. Errors: ptx.file, ptx.text."""
    if isinstance(ptx, str) and (not ptx or "\n" in ptx or ".version" in ptx):
        return ptx, "<ptx>"
    if not isinstance(ptx, (str, os.PathLike)):
        raise UsageError(f"ptx is {ptx!r}; expected a text, a path or a Module", code="ptx.text")
    path = Path(ptx)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}", code="ptx.file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a PTX text: it is not UTF-8", code="ptx.file") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}", code="ptx.file") from None
    except ValueError:
        raise UsageError("a path cannot have a zero byte in it", code="ptx.file") from None
    return text, str(path)
