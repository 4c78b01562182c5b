"""Files that are written as a whole or not at all."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def replacement(path: Path) -> Generator[TextIO]:
    """Yield a text file that replaces the file `path` at the end of the `with` block.

    If the block raises an exception, the file `path` is unchanged. A link remains, and its target is replaced. A device
    or a pipe is not replaced: the text is written to it. Errors: OSError.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as file:
            yield file
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp lets only the owner read the file
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
