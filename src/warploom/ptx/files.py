"""Reading of PTX texts and files."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import os
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom.ptx.parser import parse
from warploom.ptx.tree import Module


def read(ptx: str | Path) -> Module:
    """Parse a PTX text, or the PTX file at a path.

    A string that contains a line break or `.version` is a text. Any other string is a path.

    Errors: ptx.file, ptx.text; every code of `PtxSyntaxError`
    """
    return parse(*text_of(ptx))


def text_of(ptx: str | Path) -> tuple[str, str]:
    """Return a PTX text and the name of its source. `ptx` is the text or a path, as for `read`.

    Errors: ptx.file, ptx.text
    """
    if isinstance(ptx, str) and (not ptx or "\n" in ptx or ".version" in ptx):
        return ptx, "<ptx>"
    if not isinstance(ptx, (str, os.PathLike)):
        raise UsageError(f"ptx is {ptx!r}; expected a text, a path or a Module", code="ptx.text")
    path = Path(ptx)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except FileNotFoundError:
        message = f"there is no file {path}"
    except UnicodeDecodeError:
        message = f"{path} is not a PTX text: it is not UTF-8"
    except OSError as error:
        message = f"{path} cannot be read: {(error.strerror or str(error)).lower()}"
    except ValueError:
        message = "a path cannot contain a zero byte"
    raise UsageError(message, code="ptx.file")
